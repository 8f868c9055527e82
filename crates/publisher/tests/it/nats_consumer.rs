//! `examples/nats-consumer` as it stands: a public client reads what the publisher sends, and works on each effect once.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use async_nats::jetstream::{self, message::PublishMessage, stream};
use serde_json::Value;
use testkit::{
    Daemon, NatsServer, eventually, eventually_within,
    packages::{or_skip, python_environment},
};

use crate::stage::Stage;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/nats-consumer");
const DESTINATION: &str = "[destinations.fanout]\ntype = \"nats\"\nurl = \"env:FANOUT_URL\"\n\
                           subject = \"ordem.{{ data.kind }}.{{ data.effect }}\"\n";

/// Effects of one resource each.
const EFFECTS: i32 = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_effect_is_worked_on_once_whatever_comes_twice_and_is_killed() {
    let Some(server) = or_skip(NatsServer::start()) else { return };
    let requirements = std::fs::read_to_string(format!("{EXAMPLE}/requirements.txt")).unwrap();
    let Some(python) = or_skip(python_environment("nats-consumer", &requirements)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut stage = Stage::new("http://127.0.0.1:9/").await;
    stage.destination.name = "fanout".to_owned();
    let jetstream = with_stream(&server).await;

    let mut first = consumer(&python, &server, folder.path(), None);
    let mut publisher = publisher(&stage, &server, folder.path());
    stage.effects(EFFECTS, 1).await;
    let database = folder.path().join("points.db");
    eventually("some are done", true, || async { count(&python, &database, "done") > 10 }).await;
    first.kill().unwrap();
    first.wait().unwrap();
    publisher.kill();
    let _again = self::publisher(&stage, &server, folder.path());
    let all = i64::from(EFFECTS);
    eventually_within(Duration::from_secs(60), "delivered", all, || stage.count("delivered")).await;
    repeat_some(&jetstream).await;

    // The first one's messages come again after their time; the second sees all that is left before that and after.
    let output = consumer(&python, &server, folder.path(), Some(6)).wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["known"].as_i64().unwrap() >= 20, "what was repeated was known: {said}");
    assert_eq!(count(&python, &database, "done"), all);
    assert_eq!(count(&python, &database, "points where effects = 1"), all);
}

async fn with_stream(server: &NatsServer) -> jetstream::Context {
    let jetstream = jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let config = stream::Config {
        name: "ORDEM".to_owned(),
        subjects: vec!["ordem.>".to_owned()],
        // So short that a repetition is stored again.
        duplicate_window: Duration::from_millis(100),
        ..Default::default()
    };
    jetstream.create_stream(config).await.unwrap();
    jetstream
}

/// Publishes the first twenty messages once more, after the stream has forgotten their ids.
async fn repeat_some(jetstream: &jetstream::Context) {
    let mut stream = jetstream.get_stream("ORDEM").await.unwrap();
    let before = stream.info().await.unwrap().state.messages;
    for sequence in 1..=20 {
        let message = stream.get_raw_message(sequence).await.unwrap();
        let again = PublishMessage::build().headers(message.headers).payload(message.payload);
        jetstream.send_publish(message.subject, again).await.unwrap().await.unwrap();
    }
    assert_eq!(stream.info().await.unwrap().state.messages, before + 20, "stored again");
}

fn publisher(stage: &Stage, server: &NatsServer, folder: &Path) -> Daemon {
    std::fs::write(folder.join("destinations.toml"), DESTINATION).unwrap();
    let environment = [
        ("ORDEM_TEST_CONFIG", folder.display().to_string()),
        ("FANOUT_URL", server.url()),
        ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
        ("ORDEM__PUBLISHER__LEASE", "2s".to_owned()),
        ("ORDEM__PUBLISHER__REQUEST_TIMEOUT", "1s".to_owned()),
    ];
    Daemon::start("publisher", &stage.database.url(), &environment)
}

fn consumer(python: &Path, server: &NatsServer, folder: &Path, until_idle: Option<u32>) -> Child {
    let mut command = Command::new(python.join("bin/python3"));
    command.arg(format!("{EXAMPLE}/consumer.py")).args([
        "--server",
        &server.url(),
        "--ack-wait",
        "3",
        "--database",
    ]);
    command.arg(folder.join("points.db")).stdin(Stdio::null()).stdout(Stdio::piped());
    if let Some(seconds) = until_idle {
        command.args(["--until-idle", &seconds.to_string()]);
    }
    command.spawn().unwrap()
}

/// Rows, by Python's own `SQLite`.
fn count(python: &Path, database: &Path, what: &str) -> i64 {
    let script = "import sqlite3, sys\n\
                  rows = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True, timeout=30)\n\
                  print(rows.execute('select count(*) from ' + sys.argv[2]).fetchone()[0])";
    let output = Command::new(python.join("bin/python3"))
        .args(["-c", script])
        .arg(database)
        .arg(what)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    // Not there yet.
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(0)
}
