//! Programs and schemas that do not belong together.

use std::{
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use testkit::{Daemon, Database, bin, eventually};

use crate::load::system::DAEMONS;

/// What a daemon says that must not start, and its exit code.
async fn refusal(name: &'static str, database: &Database) -> (Option<i32>, String) {
    let port = testkit::free_port();
    let output = Command::new(bin(name))
        .env("DATABASE_URL", database.url())
        .env("LOJA_WEBHOOK_SECRET", "segredo")
        .env("ORDEM__RECEIVER__LISTEN", format!("127.0.0.1:{port}"))
        .env(format!("ORDEM__{}__ADMIN", name.to_uppercase()), format!("127.0.0.1:{}", testkit::free_port()))
        .args(["--config", concat!(env!("CARGO_MANIFEST_DIR"), "/../../config")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    (output.status.code(), text)
}

#[tokio::test]
async fn no_daemon_starts_on_a_database_without_the_schema() {
    let database = Database::empty().await;
    for name in DAEMONS {
        let (code, said) = refusal(name, &database).await;
        assert_eq!(code, Some(1), "{name}: {said}");
        assert!(
            said.contains("has no Ordem schema") && said.contains("run `ordem migrate`"),
            "{name}: {said}"
        );
    }
}

#[tokio::test]
async fn no_daemon_starts_on_a_newer_schema() {
    let database = Database::create().await;
    let newer = "insert into ordem_engine.schema_history (version, name, applied_on, checksum)
                 values (9999, 'future', '', '0')";
    database.client().await.execute(newer, &[]).await.unwrap();
    for name in DAEMONS {
        let (code, said) = refusal(name, &database).await;
        assert_eq!(code, Some(1), "{name}: {said}");
        assert!(said.contains("9999") && said.contains("use the release that belongs"), "{name}: {said}");
    }
}

#[tokio::test]
async fn migrators_at_once_wait_for_each_other_and_daemons_start_on_what_they_leave() {
    let database = Database::empty().await;
    let start = |_| -> Child {
        let mut command = Command::new(bin("ordem"));
        command.env("DATABASE_URL", database.url()).args(["migrate", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<Child> = (0..4).map(start).collect();
    let ended: Vec<Output> = running.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let mut applied = 0;
    for output in ended {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        applied += said["applied"].as_array().unwrap().len();
    }
    assert_eq!(applied, usize::try_from(db::newest_version()).unwrap(), "each migration ran once");
    for name in ["applier", "publisher", "reconciler"] {
        let mut daemon = Daemon::start(name, &database.url(), &[]);
        daemon.ready().await;
        assert!(daemon.stop(Duration::from_secs(10)).await.success(), "{}", daemon.log());
    }
}

#[tokio::test]
async fn a_daemon_that_waits_for_its_database_starts_once_it_is_there() {
    let database = Database::create().await;
    let (line, url) = testkit::Line::to(&database.url()).await;
    line.open(false);
    let mut daemon = Daemon::start("applier", &url, &[]);
    eventually("alive, not ready", Some(503), || async { Some(daemon.get("readyz").await?.0) }).await;
    assert_eq!(daemon.get("healthz").await.unwrap().0, 200);
    line.open(true);
    daemon.ready().await;
}
