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

async fn all_applied(app: &App, orders: i64) {
    let pending = "select count(*) from ordem.events where outcome is null";
    eventually_within(Duration::from_secs(60), "all applied", 0, || app.count(pending)).await;
    assert_eq!(app.count("select count(*) from ordem.orders where status = 'canceled'").await, orders);
    assert_eq!(
        app.count("select count(*) from ordem.effects where effect = 'release_picking'").await,
        orders
    );
    assert_eq!(app.count("select count(*) from ordem.effects where effect = 'halt_picking'").await, orders);
    assert_eq!(
        app.count("select count(*) from ordem_engine.inbox_outcomes").await,
        3 * orders,
        "one outcome an event"
    );
}

#[tokio::test]
async fn three_appliers_share_the_work_and_write_everything_once() {
    let app = App::new().await;
    let appliers = [start(&app).await, start(&app).await, start(&app).await];
    app.arrive(&lives(300)).await;
    all_applied(&app, 300).await;
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
    all_applied(&app, 400).await;
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
    all_applied(&app, 10).await;
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
    all_applied(&app, 5).await;
    let denied = app.database.url_as(&login);
    let (client, connection) = tokio_postgres::connect(&denied, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    assert!(client.execute("delete from ordem_engine.inbox_events", &[]).await.is_err(), "least privilege");
    drop((daemon, client));
    app.client.batch_execute(&format!("drop role {login}")).await.unwrap();
}
