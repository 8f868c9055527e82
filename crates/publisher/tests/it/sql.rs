//! A function as a destination: called in the transaction that marks the effect.

use std::time::Duration;

use db::{
    Options, PlanShape,
    outbox::{FunctionName, HandOver, hand_over},
};
use domain::Clock as _;
use service::{
    SystemClock,
    settings::{Reach, SqlSettings},
};

use crate::stage::{Shown, Stage, span};

const POINTS: &str = "
    create schema club;
    create table club.given (effect_id uuid not null, customer text not null);
    create function club.give(message jsonb) returns void language plpgsql as $$
    begin
        perform pg_sleep((message #>> '{data,fields,sleep}')::float8);
        if message #>> '{data,effect}' = 'refused' then
            raise exception 'not today';
        end if;
        insert into club.given values ((message #>> '{data,effect_id}')::uuid, message #>> '{data,fields,customer_email}');
    end $$;";

async fn stage() -> Stage {
    let mut stage = Stage::new("http://127.0.0.1:9").await;
    stage.run_sql(POINTS).await;
    let function = "club.give".to_owned();
    stage.destination.settings.reach = Reach::Sql(SqlSettings { function, in_transaction: false });
    stage
}

async fn given(stage: &Stage) -> i64 {
    stage.database.count("select count(*) from club.given").await
}

fn state(shown: &Shown) -> (&str, i32, &str) {
    (&shown.state, shown.attempts, shown.last_error.as_deref().unwrap_or_default())
}

#[tokio::test]
async fn the_call_and_the_mark_are_one() {
    let stage = stage().await;
    let effect = stage.effect("ped_1", "give", 0).await;
    let next = stage.effect("ped_1", "give_more", 1).await;
    let courier = stage.courier();
    assert_eq!(courier.round().await.unwrap(), 1);
    assert_eq!(state(&stage.shown(effect).await), ("delivered", 1, ""));
    assert_eq!(stage.tried(effect).await.len(), 1, "the attempt is told like any other");
    assert_eq!(courier.round().await.unwrap(), 1, "the next of the resource is free to go");
    assert_eq!(state(&stage.shown(next).await), ("delivered", 1, ""));
    let same = "select count(*) from club.given join ordem_engine.effect_outcomes o using (effect_id)
        where given.xmin = o.xmin";
    assert_eq!(stage.database.count(same).await, 2, "one transaction wrote both");
}

#[tokio::test]
async fn a_lost_lease_means_no_call() {
    let stage = stage().await;
    stage.effect("ped_1", "give", 0).await;
    let courier = stage.courier();
    let leased = courier.claim(jiff::Timestamp::UNIX_EPOCH, 1).await.unwrap();
    // Another publisher has it now.
    stage.run_sql("update ordem_engine.effect_queue set lease_token = gen_random_uuid()").await;
    let report = courier.deliver(&leased.claim.effects[0], leased.expires, false).await.unwrap();
    courier.record(&[report]).await.unwrap();
    assert_eq!((given(&stage).await, stage.count("pending").await), (0, 1));
}

#[tokio::test]
async fn two_publishers_that_both_believe_in_their_lease_call_once() {
    let stage = stage().await;
    stage.effect("ped_1", "give", 0).await;
    let leased = stage.courier().claim(jiff::Timestamp::UNIX_EPOCH, 1).await.unwrap();
    let effect = &leased.claim.effects[0];
    let function = FunctionName::parse("club.give").unwrap();
    let options = Options { plans: PlanShape::Pinned, ..stage.database.options() };
    let pool = db::pool(&options, tokio::runtime::Handle::current()).unwrap();
    let call = async || {
        let mut client = pool.get().await.unwrap();
        let time = Duration::from_secs(5);
        let started_at = SystemClock.now();
        hand_over(&mut client, HandOver { function: &function, effect, started_at, time }).await
    };
    let (first, second) = tokio::join!(call(), call());
    let done = [first, second].into_iter().filter(|handed| matches!(handed, Ok(true))).count();
    assert_eq!(done, 1, "the other found the lease gone, or was ended as one of a deadlock");
    assert_eq!((given(&stage).await, stage.count("delivered").await), (1, 1));
}

#[tokio::test]
async fn what_is_wrong_with_the_data_is_permanent_and_an_exception_is_not() {
    let stage = stage().await;
    let refused = stage.effect("ped_1", "refused", 0).await;
    let nameless = stage.effect_with("ped_2", "give", 0, serde_json::json!({})).await;
    stage.courier().round().await.unwrap();
    let shown = stage.shown(refused).await;
    assert_eq!(state(&shown), ("pending", 1, "function club.give: not today (SQLSTATE P0001)"));
    let shown = stage.shown(nameless).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("dead", 1));
    assert!(shown.last_error.unwrap().ends_with("(SQLSTATE 23502)"));
    assert_eq!(given(&stage).await, 0);
}

#[tokio::test]
async fn a_missing_function_is_waited_for() {
    let stage = stage().await;
    let effect = stage.effect("ped_1", "give", 0).await;
    stage.run_sql("drop function club.give(jsonb)").await;
    stage.courier().round().await.unwrap();
    let shown = stage.shown(effect).await;
    assert_eq!(shown.state, "pending");
    assert!(shown.last_error.unwrap().contains("function club.give(jsonb) does not exist"));
}

#[tokio::test]
async fn a_slow_function_is_ended_by_the_server_and_leaves_nothing() {
    let mut stage = stage().await;
    stage.care().request_timeout = Some(span(200));
    let slow = serde_json::json!({"sleep": 30, "customer_email": "ana@example.com"});
    let effect = stage.effect_with("ped_1", "give", 0, slow).await;
    stage.courier().round().await.unwrap();
    let shown = stage.shown(effect).await;
    let told = "function club.give: canceling statement due to statement timeout (SQLSTATE 57014)";
    assert_eq!(state(&shown), ("pending", 1, told));
    let running = "select count(*) from pg_stat_activity where datname = current_database() and query like '%call_with_each%' and state = 'active' and pid <> pg_backend_pid()";
    assert_eq!((given(&stage).await, stage.database.count(running).await), (0, 0));
}

#[tokio::test]
async fn many_calls_at_once_use_their_own_connections() {
    let stage = stage().await;
    let slow = serde_json::json!({"sleep": 0.3, "customer_email": "ana@example.com"});
    for number in 0..8 {
        stage.effect_with(&format!("ped_{number}"), "give", 0, slow.clone()).await;
    }
    let courier = stage.courier();
    let round = courier.round();
    let others = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        // All calls are under way; whoever claims for another destination finds a connection at once.
        let other = tokio::time::timeout(Duration::from_millis(150), stage.pool.get()).await;
        assert!(other.is_ok_and(|client| client.is_ok()));
    };
    let (claimed, ()) = tokio::join!(round, others);
    assert_eq!(claimed.unwrap(), 8);
    assert_eq!(given(&stage).await, 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_function_slower_than_its_lease_is_called_once_and_renewals_wait_for_no_row() {
    let mut stage = stage().await;
    stage.settings.lease = span(600);
    stage.settings.request_timeout = span(20_000);
    let fields = serde_json::json!({"sleep": 2.5, "customer_email": "ana@example.com"});
    // As many calls as the publisher has connections for renewals, twice.
    for number in 0..16 {
        let resource = format!("ped_{number}");
        stage.effect_with(&resource, "give", 0, fields.clone()).await;
    }
    let running = crate::running::Running::start(&stage, Duration::from_millis(50));
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    testkit::eventually("as many as there are connections are called", 8, || async {
        let sql = "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
        stage.database.count(sql).await
    })
    .await;
    // Two thirds of the lease are over by now, or soon.
    for _ in 0..20 {
        assert_eq!(stage.database.count(waiting).await, 0);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    testkit::eventually("delivered", 16, || stage.count("delivered")).await;
    running.stop().await;
    assert_eq!(given(&stage).await, 16);
    assert_eq!(stage.database.count("select count(*) from ordem.effects where attempts > 1").await, 0);
}
