//! Appliers as processes: several at once, killed, stopped.

use std::time::Duration;

use testkit::{Daemon, Event, eventually, eventually_within};

use crate::app::App;

async fn start(app: &App) -> Daemon {
    let mut daemon =
        Daemon::start("applier", &app.database.url(), &[("ORDEM__APPLIER__BATCH_MAX", "50".to_owned())]);
    daemon.ready().await;
    daemon
}

/// Lives of orders in which arrival differs from the order of facts.
fn lives(count: usize) -> Vec<Event> {
    (0..count)
        .flat_map(|n| {
            let order = format!("ped_{n}");
            [("paid", 2), ("created", 1), ("canceled", 3)]
                .map(|(status, sequence)| Event::new(&order, status, sequence))
        })
        .collect()
}

/// All events have one outcome, and every row is what its facts make it.
async fn all_applied(app: &App, orders: i64) {
    let pending = "select count(*) from ordem.events where outcome is null";
    eventually_within(Duration::from_secs(60), "all applied", 0, || app.count(pending)).await;
    assert_eq!(app.count("select count(*) from ordem.orders where status = 'canceled'").await, orders);
    assert_eq!(
        app.count("select count(*) from ordem_engine.inbox_outcomes").await,
        3 * orders,
        "one outcome an event"
    );
}

/// One applier at a time applies in the order of arrival: every payment was released before it was halted.
async fn all_released_and_halted(app: &App, orders: i64) {
    all_applied(app, orders).await;
    assert_eq!(
        app.count("select count(*) from ordem.effects where effect = 'release_picking'").await,
        orders
    );
    assert_eq!(app.count("select count(*) from ordem.effects where effect = 'halt_picking'").await, orders);
}

/// Several appliers may take a cancellation before a payment that came first; what was released is halted.
async fn all_that_was_released_is_halted(app: &App, orders: i64) {
    all_applied(app, orders).await;
    let of = |effect: &str| format!("select count(*) from ordem.effects where effect = '{effect}'");
    let released = app.count(&of("release_picking")).await;
    assert!(released > 0 && released <= orders);
    assert_eq!(app.count(&of("halt_picking")).await, released);
}

#[tokio::test]
async fn three_appliers_share_the_work_and_write_everything_once() {
    let app = App::new().await;
    let appliers = [start(&app).await, start(&app).await, start(&app).await];
    app.arrive(&lives(300)).await;
    all_that_was_released_is_halted(&app, 300).await;
    for daemon in &appliers {
        assert!(!daemon.log().contains("deadlock"), "{}", daemon.log());
    }
}

#[tokio::test]
async fn killed_again_and_again_nothing_is_lost_and_nothing_done_twice() {
    let app = App::new().await;
    app.arrive(&lives(400)).await;
    for turn in 0..5_u64 {
        let mut daemon = start(&app).await;
        tokio::time::sleep(Duration::from_millis(10 + turn * 7)).await;
        daemon.kill();
    }
    let _last = start(&app).await;
    all_released_and_halted(&app, 400).await;
}

#[tokio::test]
async fn a_hint_wakes_it_long_before_its_poll() {
    let app = App::new().await;
    let environment = [("ORDEM__APPLIER__POLL", "60s".to_owned())];
    let mut daemon = Daemon::start("applier", &app.database.url(), &environment);
    daemon.ready().await;
    let listening = "select count(*) from pg_stat_activity where datname = current_database() and query = 'listen ordem_inbox'";
    eventually("listens", 1, || app.count(listening)).await;
    app.arrive(&[Event::new("ped_1", "paid", 2)]).await;
    db::Channel::Inbox.notify(&app.client).await.unwrap();
    eventually("applied", 1, || app.count("select count(*) from ordem.orders")).await;
}

#[tokio::test]
async fn sigterm_ends_it_between_batches_with_zero_and_its_metrics_told_the_story() {
    let app = App::new().await;
    let mut daemon = start(&app).await;
    app.arrive(&lives(10)).await;
    all_released_and_halted(&app, 10).await;
    eventually("counted", true, || async {
        (daemon.metric("ordem_events_outcome_total{source=\"loja\",outcome=\"applied\"}").await - 20.0).abs()
            < 0.5
    })
    .await;
    assert!((daemon.metric("ordem_effects_written_total").await - 20.0).abs() < 0.5);
    assert!(daemon.stop(Duration::from_secs(10)).await.success(), "{}", daemon.log());
}

#[tokio::test]
async fn each_daemon_gets_by_with_the_rights_of_its_own_role() {
    let app = App::new().await;
    let login = format!("applier_{}", app.database.url().rsplit('_').next().unwrap());
    app.client
        .batch_execute(&format!("create role {login} login; grant ordem_applier to {login}"))
        .await
        .unwrap();
    let mut daemon = Daemon::start("applier", &app.database.url_as(&login), &[]);
    daemon.ready().await;
    app.arrive(&lives(5)).await;
    all_released_and_halted(&app, 5).await;
    let denied = app.database.url_as(&login);
    let (client, connection) = tokio_postgres::connect(&denied, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    assert!(client.execute("delete from ordem_engine.inbox_events", &[]).await.is_err(), "least privilege");
    drop((daemon, client));
    app.client.batch_execute(&format!("drop role {login}")).await.unwrap();
}

#[tokio::test]
async fn a_resource_that_a_stuck_session_holds_stops_no_other() {
    let app = App::new().await;
    let stuck = app.database.client().await;
    let order = |id: &str| domain::ResourceId { source: "loja".into(), kind: "order".into(), id: id.into() };
    let numbers = db::resources::lock_numbers(&[order("ped_stuck")]);
    stuck.execute("select pg_advisory_lock($1)", &[&numbers[0]]).await.unwrap();
    let _applier = start(&app).await;
    app.arrive(&[Event::new("ped_stuck", "paid", 2), Event::new("ped_1", "paid", 2)]).await;
    let applied = "select count(*) from ordem.orders where id = 'ped_1'";
    eventually_within(Duration::from_secs(5), "the other is applied", 1, || app.count(applied)).await;
    let waiting =
        app.texts("select attempts || ' ' || last_error from ordem.events where outcome is null").await;
    assert_eq!(waiting, ["0 another session holds the resource"], "it costs no attempt");
    drop(stuck);
    eventually("applied once it is free", 2, || app.count("select count(*) from ordem.orders")).await;
}

#[tokio::test]
async fn a_batch_is_bounded_by_the_bytes_of_its_bodies_and_large_events_still_get_through() {
    let app = App::new().await;
    let events: Vec<Event> = (0..12)
        .map(|n| {
            let mut event = Event::new(&format!("ped_{n}"), "paid", 2);
            event.json["note"] = "x".repeat(10_000).into();
            event
        })
        .collect();
    app.arrive(&events).await;
    let environment = [("ORDEM__APPLIER__BATCH_BYTES_MAX", "25000".to_owned())];
    let mut daemon = Daemon::start("applier", &app.database.url(), &environment);
    daemon.ready().await;
    all_applied_of(&app, 12).await;
    let batches = daemon.metric("ordem_applier_batch_events_count").await;
    assert!(batches > 5.5, "two events a batch, not {batches} batches");
}

async fn all_applied_of(app: &App, orders: i64) {
    eventually("applied", orders, || app.count("select count(*) from ordem.orders where status = 'paid'"))
        .await;
}
