//! The real process: the lead, the stop, the logs.

use std::time::Duration;

use testkit::{Daemon, eventually};

use crate::{
    store::{Answer, TOKEN},
    world::World,
};

fn start(world: &World) -> Daemon {
    let environment = [
        ("LOJA_API_URL", world.store.url()),
        ("LOJA_API_TOKEN", TOKEN.to_owned()),
        ("ORDEM__RECONCILER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
        ("ORDEM__RECONCILER__EVERY", "200ms".to_owned()),
        ("ORDEM__RECONCILER__ATTEMPTS_MAX", "1".to_owned()),
        ("ORDEM__TELEMETRY__LOG_FILTER", "trace".to_owned()),
    ];
    // With the rights of its own role and no more.
    let url = format!("{}?options=-c%20role%3Dordem_reconciler", world.database.url());
    Daemon::start("reconciler", &url, &environment)
}

/// An instant that lies before the lag of the machine's own clock.
fn recently() -> String {
    use domain::Clock as _;
    let now = service::SystemClock.now();
    (now - Duration::from_secs(60)).to_string()
}

#[tokio::test]
async fn one_process_leads_and_when_it_is_killed_another_takes_over() {
    let world = World::new().await;
    let leads = async |daemon: &Daemon| daemon.metric("ordem_reconciler_leader{").await;
    let mut first = start(&world);
    first.ready().await;
    eventually("the first leads", 1.0, async || leads(&first).await).await;
    let mut second = start(&world);
    second.ready().await;
    world.store.put("ped_1", "paid", 2, &recently());
    eventually("the gap is filled", 1, async || world.events().await.len()).await;
    assert_eq!(leads(&second).await, 0.0);
    assert_eq!(first.metric("ordem_reconciler_recovered_total{").await, 1.0);
    assert_eq!(second.metric("ordem_reconciler_requests_total{").await, 0.0);
    assert!(first.metric("ordem_reconciler_lag_seconds{").await < 30.0);
    first.kill();
    eventually("the second leads", 1.0, async || leads(&second).await).await;
    world.store.put("ped_2", "paid", 2, &recently());
    eventually("the second reads", 2, async || world.events().await.len()).await;
    let status = second.stop(Duration::from_secs(5)).await;
    assert!(status.success(), "{status}: {}", second.log());
}

#[tokio::test]
async fn a_lost_session_is_noticed_and_the_lead_taken_again() {
    let world = World::new().await;
    let mut daemon = start(&world);
    daemon.ready().await;
    eventually("it leads", 1.0, async || daemon.metric("ordem_reconciler_leader{").await).await;
    let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid()";
    assert!(world.database.count(cut).await > 0);
    eventually("the loss is noticed", true, async || daemon.log().contains("no session for the lead")).await;
    eventually("it leads again", 1.0, async || daemon.metric("ordem_reconciler_leader{").await).await;
    world.store.put("ped_1", "paid", 2, &recently());
    let client = world.database.client().await;
    eventually("it reads again", 1i64, async || {
        client.query_one("select count(*) from ordem.events", &[]).await.unwrap().get(0)
    })
    .await;
}

#[tokio::test]
async fn a_stop_during_a_slow_page_gives_it_up_in_time_and_the_token_is_in_no_log() {
    let world = World::new().await;
    world.store.script([Answer::Slow(Duration::from_secs(60))]);
    let mut daemon = start(&world);
    daemon.ready().await;
    eventually("the first request", 1, async || world.store.seen().len()).await;
    let status = daemon.stop(Duration::from_secs(5)).await;
    assert!(status.success(), "{status}: {}", daemon.log());
    assert!(world.events().await.is_empty());
    assert!(!daemon.log().contains(TOKEN), "{}", daemon.log());
}

#[tokio::test]
async fn a_refused_token_leaves_the_daemon_ready_and_names_the_variable() {
    let world = World::new().await;
    world.store.script((0..1000).map(|_| Answer::Status(401, "x-why", "no".to_owned())));
    let mut daemon = start(&world);
    daemon.ready().await;
    let says = "the provider refuses the token (status 401): check env:LOJA_API_TOKEN";
    eventually("the reason", true, async || daemon.log().contains(says)).await;
    assert_eq!(daemon.get("readyz").await.unwrap().0, 200);
    assert!(!daemon.log().contains(TOKEN));
}

#[tokio::test]
async fn a_source_without_an_api_is_one_warning_and_the_daemon_still_stops() {
    let world = World::new().await;
    let mut daemon = Daemon::start("reconciler", &world.database.url(), &[]);
    daemon.ready().await;
    let says = "sources.loja is not reconciled: api_url: env:LOJA_API_URL is not set";
    assert_eq!(daemon.log().matches(says).count(), 1, "{}", daemon.log());
    assert!(daemon.stop(Duration::from_secs(5)).await.success());
}
