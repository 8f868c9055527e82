//! Look-ups: one read serves all events that came before it, none is lost, none ends twice.

use db::{
    Client, GenericClient,
    inbox::{self, Answer, ClaimLimit, Claimed, NewEvent, Origin},
    lookups::{self, Answered, Ask, ClaimedLookup},
};
use jiff::{SignedDuration, Timestamp};
use testkit::Database;
use uuid::Uuid;

const LIMIT: ClaimLimit = ClaimLimit { events: 1000, bytes: i64::MAX };

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600).unwrap() + SignedDuration::from_secs(seconds)
}

/// Stores events without a key, takes them out of the queue and lets them wait for `pay_1`.
async fn thin(client: &mut Client, seconds: i64, events: usize) -> Vec<Uuid> {
    let ids: Vec<Uuid> = (0..events).map(|place| db::ids::new_id_in_order(at(seconds), place)).collect();
    let stored: Vec<NewEvent<'_>> = ids.iter().map(|id| event(*id, at(seconds))).collect();
    inbox::store(client, &stored).await.unwrap();
    let transaction = client.transaction().await.unwrap();
    assert_eq!(inbox::claim(&transaction, Uuid::nil(), LIMIT).await.unwrap().len(), events);
    let asks: Vec<Ask<'_>> = ids.iter().map(|id| ask(Some(*id), at(seconds))).collect();
    lookups::ask(&transaction, at(seconds), &asks).await.unwrap();
    transaction.commit().await.unwrap();
    ids
}

fn event(event_id: Uuid, received_at: Timestamp) -> NewEvent<'static> {
    NewEvent {
        event_id,
        source: "pay",
        dedup_key: None,
        body_hash: 0,
        event_type: Some("payment"),
        kind: None,
        resource_id: None,
        origin: Origin::Webhook,
        received_at,
        headers: None,
        body: b"{}",
    }
}

fn ask(event_id: Option<Uuid>, due_at: Timestamp) -> Ask<'static> {
    Ask { source: "pay", fetch: "payment", resource_id: "pay_1", due_at, event_id, expect: Some("paid") }
}

async fn claim(client: &Client, seconds: i64) -> Vec<ClaimedLookup> {
    lookups::claim(client, "pay", at(seconds), at(seconds + 60), 10).await.unwrap()
}

async fn retried(client: &mut Client, seconds: i64) -> Vec<Claimed> {
    inbox::claim_due_retries(client, at(seconds), LIMIT).await.unwrap()
}

#[tokio::test]
async fn two_do_not_share_out_the_retries_of_one_resource() {
    let database = Database::create().await;
    let mut client = database.pool().get().await.unwrap();
    let ids: Vec<Uuid> = (0..3).map(|place| db::ids::new_id_in_order(at(0), place)).collect();
    let stored: Vec<NewEvent<'_>> = ids.iter().map(|id| event(*id, at(0))).collect();
    inbox::store(&client, &stored).await.unwrap();
    inbox::claim_these(&client, &ids).await.unwrap();
    for id in ids.iter().rev() {
        let failed = inbox::Failed { event_id: *id, attempts: 1, due_at: at(1), error: "held".to_owned() };
        inbox::postpone(&client, &failed).await.unwrap();
    }
    let two = ClaimLimit { events: 2, ..LIMIT };
    let first = client.transaction().await.unwrap();
    let claimed = inbox::claim_due_retries(&first, at(1), two).await.unwrap();
    assert_eq!(claimed.iter().map(|event| event.event_id).collect::<Vec<_>>(), ids[..2]);
    let pooled = database.pool().get().await.unwrap();
    assert!(inbox::claim_due_retries(&pooled, at(1), two).await.unwrap().is_empty());
    first.commit().await.unwrap();
    let rest = inbox::claim_due_retries(&pooled, at(1), two).await.unwrap();
    assert_eq!(rest.iter().map(|event| event.event_id).collect::<Vec<_>>(), ids[2..]);
}

async fn outcomes(client: &impl GenericClient) -> Vec<Option<String>> {
    let rows = client.query("select outcome from ordem.events order by event_id", &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn one_read_serves_all_events_that_came_before_it() {
    let database = Database::create().await;
    let mut client = database.pool().get().await.unwrap();
    thin(&mut client, 0, 60).await;
    thin(&mut client, 1, 40).await;
    assert_eq!(outcomes(&client).await, vec![Some("fetching".to_owned()); 100]);
    let claimed = claim(&client, 2).await;
    let [lookup] = &claimed[..] else { panic!("one read: {claimed:?}") };
    assert_eq!(
        (lookup.asked_at, lookup.attempts, &lookup.expected[..]),
        (at(1), 1, &["paid".to_owned()][..])
    );
    let served = lookups::answer(&client, lookup, at(3), Answered::Body(b"{\"id\":1}")).await.unwrap();
    assert_eq!(served, Some(100));
    assert_eq!(outcomes(&client).await, vec![None; 100]);
    let events = retried(&mut client, 3).await;
    assert_eq!(events.len(), 100);
    assert!(events.iter().all(|event| event.answer == Some(Answer::Body(b"{\"id\":1}".to_vec()))));
    assert!(lookups::backlog(&client).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_event_that_comes_during_a_read_gets_a_read_of_its_own() {
    let database = Database::create().await;
    let mut client = database.pool().get().await.unwrap();
    let early = thin(&mut client, 0, 1).await;
    let first = claim(&client, 1).await.remove(0);
    let late = thin(&mut client, 2, 1).await;
    let second = claim(&client, 3).await.remove(0);
    assert_ne!(first.lookup_id, second.lookup_id);
    assert_eq!(lookups::answer(&client, &first, at(4), Answered::Body(b"1")).await.unwrap(), Some(1));
    assert_eq!(retried(&mut client, 4).await.iter().map(|event| event.event_id).collect::<Vec<_>>(), early);
    assert_eq!(lookups::answer(&client, &second, at(5), Answered::Nothing("404")).await.unwrap(), Some(1));
    let events = retried(&mut client, 5).await;
    assert_eq!(events.iter().map(|event| event.event_id).collect::<Vec<_>>(), late);
    assert_eq!(events[0].answer, Some(Answer::Nothing("404".to_owned())));
}

#[tokio::test]
async fn asked_again_it_takes_its_events_to_the_look_up_that_was_opened_meanwhile() {
    let database = Database::create().await;
    let mut client = database.pool().get().await.unwrap();
    thin(&mut client, 0, 2).await;
    let first = claim(&client, 1).await.remove(0);
    thin(&mut client, 2, 3).await;
    assert!(lookups::ask_again(&client, &first, at(10), "status 404").await.unwrap());
    assert_eq!(claim(&client, 9).await, []);
    let claimed = claim(&client, 10).await;
    let [only] = &claimed[..] else { panic!("merged: {claimed:?}") };
    assert_eq!(only.asked_at, at(2));
    assert_eq!(lookups::answer(&client, only, at(11), Answered::Body(b"1")).await.unwrap(), Some(5));
}

#[tokio::test]
async fn asked_again_alone_it_waits_with_its_error_and_is_joined() {
    let database = Database::create().await;
    let mut client = database.pool().get().await.unwrap();
    thin(&mut client, 0, 1).await;
    let first = claim(&client, 1).await.remove(0);
    assert!(lookups::ask_again(&client, &first, at(10), "status 503").await.unwrap());
    let error: String = client.query_one("select last_error from ordem.events", &[]).await.unwrap().get(0);
    assert_eq!(error, "status 503");
    let backlog = lookups::backlog(&client).await.unwrap();
    assert_eq!((backlog[0].lookups, backlog[0].failing, backlog[0].oldest), (1, 1, at(0)));
    thin(&mut client, 2, 1).await;
    let again = claim(&client, 10).await;
    assert_eq!((again.len(), again[0].attempts, again[0].lookup_id), (1, 2, first.lookup_id));
}

#[tokio::test]
async fn a_reader_that_was_killed_loses_its_lease_and_nothing_else() {
    let database = Database::create().await;
    let mut client = database.pool().get().await.unwrap();
    thin(&mut client, 0, 1).await;
    let lost = claim(&client, 1).await.remove(0);
    assert_eq!(claim(&client, 60).await, []);
    let taken = claim(&client, 61).await.remove(0);
    assert_eq!((lost.lookup_id, taken.attempts), (taken.lookup_id, 2));
    assert_eq!(lookups::answer(&client, &lost, at(62), Answered::Body(b"old")).await.unwrap(), None);
    assert!(!lookups::ask_again(&client, &lost, at(62), "late").await.unwrap());
    assert_eq!(lookups::answer(&client, &taken, at(63), Answered::Body(b"new")).await.unwrap(), Some(1));
    assert_eq!(retried(&mut client, 63).await[0].answer, Some(Answer::Body(b"new".to_vec())));
}

#[tokio::test]
async fn two_readers_never_hold_the_same_look_up() {
    let database = Database::create().await;
    let pool = database.pool();
    let mut first = pool.get().await.unwrap();
    thin(&mut first, 0, 1).await;
    let second = database.client().await;
    second.batch_execute("begin; select from ordem_engine.lookups for update").await.unwrap();
    assert_eq!(claim(&first, 1).await, [], "held by another session: skipped without waiting");
    second.batch_execute("rollback").await.unwrap();
    assert_eq!(claim(&first, 1).await.len(), 1);
    assert_eq!(claim(&first, 1).await, []);
}

#[tokio::test]
async fn a_look_up_that_nobody_waits_for_is_read_as_well() {
    let database = Database::create().await;
    let client = database.pool().get().await.unwrap();
    lookups::ask(&client, at(0), &[ask(None, at(5)), ask(None, at(4))]).await.unwrap();
    assert_eq!(claim(&client, 3).await, []);
    let tie = claim(&client, 4).await.remove(0);
    assert_eq!(lookups::answer(&client, &tie, at(6), Answered::Body(b"1")).await.unwrap(), Some(0));
}
