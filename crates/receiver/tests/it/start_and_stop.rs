//! How it starts, refuses to start, and stops.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use testkit::{Daemon, Database, Event, bin, eventually, free_port};

use crate::app::App;

#[tokio::test]
async fn sigterm_finishes_what_was_begun_and_ends_with_zero() {
    let mut app = App::start().await;
    // A lock on the queue holds the commit up, so that requests are in flight when the stop comes.
    let mut holder = app.database.client().await;
    let held = holder.transaction().await.unwrap();
    held.batch_execute("lock table ordem_engine.inbox_queue in access exclusive mode").await.unwrap();
    let posts: Vec<_> = (0..20)
        .map(|n| {
            let (client, url) = (app.client.clone(), app.url.clone());
            tokio::spawn(async move { Event::new(&format!("ped_{n}"), "paid", 2).post(&client, &url).await })
        })
        .collect();
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '-- db::inbox::store%' \
                   and datname = current_database() and application_name = 'ordem receiver'";
    eventually("the commit waits", 1, || app.database.count(waiting)).await;
    eventually("all are in flight", true, || async {
        app.daemon.metric("ordem_receiver_requests_total").await < 0.5
            && app.daemon.metric("ordem_receiver_verified_total").await > 19.5
    })
    .await;
    app.daemon.signal("TERM");
    eventually("stopping", true, || async { app.daemon.log().contains("a second signal ends at once") })
        .await;
    held.rollback().await.unwrap();
    for post in posts {
        assert_eq!(post.await.unwrap().unwrap(), 200, "what was begun is answered");
    }
    assert!(app.daemon.ended(Duration::from_secs(20)).await.success(), "{}", app.daemon.log());
    assert_eq!(app.events().await, 20);
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let mut app = App::start_with(&[("ORDEM__RECEIVER__BODY_TIMEOUT", "60s")]).await;
    // A body that does not come on holds the drain up.
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", app.port)).await.unwrap();
    let head = b"POST /webhooks/loja HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc";
    tokio::io::AsyncWriteExt::write_all(&mut stream, head).await.unwrap();
    // Answered requests say that the one before them has been taken in.
    assert_eq!(app.post(Event::new("ped_1", "paid", 2).body()).await.status(), 200);
    app.daemon.signal("TERM");
    eventually("stopping", true, || async { app.daemon.log().contains("a second signal ends at once") })
        .await;
    let began = Instant::now();
    let status = app.daemon.stop(Duration::from_secs(5)).await;
    assert_eq!(status.code(), Some(130), "{}", app.daemon.log());
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn waiting_for_the_database_ends_with_the_first_signal() {
    let mut daemon = Daemon::start(
        "receiver",
        "postgres://postgres@127.0.0.1:1/none",
        &[("ORDEM__RECEIVER__LISTEN", format!("127.0.0.1:{}", free_port()))],
    );
    eventually("alive", Some(200), || async { daemon.get("healthz").await.map(|(status, _)| status) }).await;
    assert_eq!(daemon.get("readyz").await.unwrap().0, 503);
    assert!(daemon.stop(Duration::from_secs(5)).await.success(), "{}", daemon.log());
}

#[tokio::test]
async fn an_unknown_schema_is_refused_with_the_way_out() {
    let database = Database::empty().await;
    let output = Command::new(bin("receiver"))
        .env("DATABASE_URL", database.url())
        .env("ORDEM__RECEIVER__ADMIN", format!("127.0.0.1:{}", free_port()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("run `ordem migrate`"));
}

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let output =
        Command::new(bin("receiver")).args(arguments).envs(environment.iter().copied()).output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), text)
}

#[test]
fn bad_configuration_never_starts_half() {
    let bad = [("ORDEM__RECEIVER__LISTEN", "nowhere"), ("ORDEM__APPLIER__LINGER", "soon")];
    let (code, text) = run(&[], &bad);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("environment ORDEM__RECEIVER__LISTEN: receiver.listen"), "{text}");
    assert!(text.contains("environment ORDEM__APPLIER__LINGER: applier.linger"), "{text}");
    assert_eq!(run(&["--check"], &bad).0, Some(1));
    let (code, text) = run(&[], &[("LOJA_WEBHOOK_SECRET", " ")]);
    assert_eq!(code, Some(2), "an empty secret is an error, not a switch: {text}");
    assert!(text.contains("env:LOJA_WEBHOOK_SECRET is set but empty"), "{text}");
}

#[test]
fn an_address_that_is_none_is_found_before_anything_starts() {
    let (code, text) = run(&[], &[("DATABASE_URL", "mysql//nowhere")]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("DATABASE_URL") && text.contains("expected postgres://"), "{text}");
    assert!(!text.contains("starting"), "{text}");
    for url in ["mysql//nowhere", " "] {
        let (code, text) = run(&["--check"], &[("DATABASE_URL", url)]);
        assert_eq!((code, text.contains("database.url")), (Some(1), true), "{text}");
    }
}

#[test]
fn a_section_nobody_knows_is_found_in_the_environment() {
    let (code, text) = run(&[], &[("ORDEM__FOO__BAR", "1")]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("environment ORDEM__FOO__BAR: foo: unknown section"), "{text}");
}

#[test]
fn check_help_and_version() {
    assert_eq!(
        run(&["--check"], &[("LOJA_WEBHOOK_SECRET", "s"), ("DATABASE_URL", "postgres://localhost/x")]).0,
        Some(0)
    );
    let (code, text) = run(&["--version"], &[]);
    assert_eq!((code, text.starts_with("receiver ")), (Some(0), true), "{text}");
    let (_, help) = run(&["--help"], &[]);
    for flag in ["--config", "--check", "--health", "--version", "ORDEM_CONFIG"] {
        assert!(help.contains(flag), "{flag} not in {help}");
    }
}
