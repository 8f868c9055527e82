//! From the first schema to the newest, with data present; and what each binary may do there.

use std::time::Duration;

use db::{
    SchemaState,
    inbox::{self, ClaimLimit},
    lookups::{self, Answered, Ask},
};
use testkit::Database;
use uuid::Uuid;

mod embedded {
    refinery::embed_migrations!("../../migrations");
}

const LIMIT: ClaimLimit = ClaimLimit { events: 10, bytes: i64::MAX };
/// One event that waits, one that failed and one that is done.
const DATA: &str = "
    insert into ordem_engine.inbox_events (event_id, source, origin, received_at, body)
    select id::uuid, 'pay', 'webhook', now(), '{}'
      from unnest(array['019b76da-a800-7000-8000-000000000001', '019b76da-a800-7000-8000-000000000002',
                        '019b76da-a800-7000-8000-000000000003']) id;
    insert into ordem_engine.inbox_queue values ('019b76da-a800-7000-8000-000000000001');
    insert into ordem_engine.inbox_retries values ('019b76da-a800-7000-8000-000000000002', now(), 2, 'boom');
    insert into ordem_engine.inbox_outcomes (event_id, outcome, applied_at)
    values ('019b76da-a800-7000-8000-000000000003', 'applied', now());";
const EVENTS: &str = "select string_agg(concat_ws(' ', outcome, attempts, last_error), ', ' order by event_id) from ordem.events";

#[tokio::test]
async fn what_was_there_before_look_ups_is_still_there_and_goes_on() {
    let database = Database::empty().await;
    let mut client = database.client().await;
    client.batch_execute("create schema ordem_engine").await.unwrap();
    let mut first = embedded::migrations::runner().set_target(refinery::Target::Version(1));
    first.set_migration_table_name("ordem_engine.schema_history");
    first.run_async(&mut client).await.unwrap();
    assert_eq!(db::schema_state(&client).await.unwrap(), SchemaState::Behind { found: 1 });
    client.batch_execute(DATA).await.unwrap();
    let before: String = client.query_one(EVENTS, &[]).await.unwrap().get(0);
    assert_eq!(before, "0, 2 boom, applied 0");

    let applied = db::migrate(&mut client, Duration::from_secs(60)).await.unwrap();
    assert_eq!(applied, (2..=db::newest_version()).collect::<Vec<_>>());
    assert_eq!(client.query_one(EVENTS, &[]).await.unwrap().get::<_, String>(0), before);
    let pooled = database.pool().get().await.unwrap();
    assert_eq!(inbox::claim(&pooled, Uuid::nil(), LIMIT).await.unwrap().len(), 1);
    let now = jiff::Timestamp::from_second(4_000_000_000).unwrap();
    let retried = inbox::claim_due_retries(&pooled, now, LIMIT).await.unwrap();
    assert_eq!((retried.len(), retried[0].attempts, &retried[0].answer), (1, 2, &None));
}

#[tokio::test]
async fn each_binary_has_just_the_rights_that_its_part_of_a_look_up_takes() {
    let database = Database::create().await;
    let client = database.pool().get().await.unwrap();
    client.batch_execute(DATA).await.unwrap();
    let now = jiff::Timestamp::from_second(4_000_000_000).unwrap();
    let become_role = |role: &'static str| {
        let client = &client;
        async move { client.batch_execute(&format!("set role {role}")).await.unwrap() }
    };

    become_role("ordem_applier").await;
    let event = inbox::claim(&client, Uuid::nil(), LIMIT).await.unwrap().remove(0);
    let (source, fetch, resource_id) = ("pay", "payment", "pay_1");
    let ask = Ask { source, fetch, resource_id, due_at: now, event_id: Some(event.event_id), expect: None };
    lookups::ask(&client, now, &[ask]).await.unwrap();

    become_role("ordem_reconciler").await;
    let lookup = lookups::claim(&client, "pay", now, now, 1).await.unwrap().remove(0);
    assert!(lookups::ask_again(&client, &lookup, now, "status 404").await.unwrap());
    let lookup = lookups::claim(&client, "pay", now, now, 1).await.unwrap().remove(0);
    assert_eq!(lookups::answer(&client, &lookup, now, Answered::Body(b"{}")).await.unwrap(), Some(1));
    assert!(client.execute("delete from ordem_engine.inbox_outcomes", &[]).await.is_err());
    assert!(client.execute("delete from ordem_engine.inbox_retries", &[]).await.is_err());

    become_role("ordem_applier").await;
    let answered = inbox::claim_due_retries(&client, now, LIMIT).await.unwrap();
    let event = answered.iter().find(|event| event.answer.is_some()).unwrap();
    lookups::forget_answers(&client, &[event.event_id]).await.unwrap();
    assert!(client.execute("delete from ordem_engine.lookups", &[]).await.is_err());

    become_role("ordem_receiver").await;
    assert!(client.query("select from ordem_engine.inbox_answers", &[]).await.is_err());
    assert!(client.query("select outcome from ordem.events", &[]).await.is_ok());
    client.batch_execute("reset role").await.unwrap();
}
