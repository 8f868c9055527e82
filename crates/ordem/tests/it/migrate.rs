//! `ordem migrate`.

use std::time::{Duration, Instant};

use testkit::Database;

use crate::world::{World, ordem};

#[tokio::test]
async fn an_empty_database_is_migrated_and_a_migrated_one_left_alone() {
    let database = Database::empty().await;
    let url = database.url();
    let environment = [("DATABASE_URL", url.as_str())];
    let newest = db::newest_version();
    let first = ordem(&environment, &["migrate", "--json"]).expect(0).json();
    assert_eq!(first["applied"].as_array().unwrap().len(), usize::try_from(newest).unwrap());
    assert_eq!(first["version"], newest);
    let second = ordem(&environment, &["migrate"]).expect(0);
    assert_eq!(second.out, format!("already at version {newest}\n"));
    assert_eq!(ordem(&environment, &["migrate", "--json"]).json()["applied"], serde_json::json!([]));
}

#[tokio::test]
async fn two_migrators_at_once_both_succeed_and_one_of_them_works() {
    let database = Database::empty().await;
    let url = database.url();
    let migrate = |url: String| {
        std::thread::spawn(move || {
            ordem(&[("DATABASE_URL", url.as_str())], &["migrate", "--json"]).expect(0).json()
        })
    };
    let both = [migrate(url.clone()), migrate(url)].map(|running| running.join().unwrap());
    let applied: usize = both.iter().map(|said| said["applied"].as_array().unwrap().len()).sum();
    assert_eq!(applied, usize::try_from(db::newest_version()).unwrap());
}

#[tokio::test]
async fn a_migrator_that_hangs_is_waited_for_and_then_named_by_its_process() {
    let database = Database::empty().await;
    let url = database.url();
    let hanging = database.client().await;
    hanging
        .batch_execute("set application_name = 'a hanging one'; select pg_advisory_lock(478660552045)")
        .await
        .unwrap();
    let pid: i32 = hanging.query_one("select pg_backend_pid()", &[]).await.unwrap().get(0);
    let began = Instant::now();
    let environment = [("DATABASE_URL", url.as_str())];
    let said = ordem(&environment, &["migrate", "--wait", "1s"]).expect(1);
    assert!(began.elapsed() >= Duration::from_secs(1) && began.elapsed() < Duration::from_secs(10));
    let named = format!(
        "another migrator holds the lock, gave up after 1 s: server process {pid} (\"a hanging one\", idle)"
    );
    assert!(said.err.contains(&named), "{}", said.err);
    let ended = database.client().await.execute("select pg_terminate_backend($1)", &[&pid]).await;
    assert!(ended.is_ok(), "as the message says: {ended:?}");
    ordem(&environment, &["migrate"]).expect(0);
}

#[tokio::test]
async fn a_newer_schema_is_left_alone_and_the_way_out_is_named() {
    let world = World::new().await;
    world
        .run("insert into ordem_engine.schema_history (version, name, applied_on, checksum) values (9999, 'future', '', '0')")
        .await;
    for arguments in [["migrate"], ["status"]] {
        let said = world.ordem(&arguments).expect(1);
        assert!(
            said.err.contains("9999") && said.err.contains("use the release that belongs"),
            "{}",
            said.err
        );
    }
}

#[tokio::test]
async fn an_old_schema_is_named_with_the_way_out() {
    let database = Database::empty().await;
    let said = ordem(&[("DATABASE_URL", &database.url())], &["status"]).expect(1);
    assert!(
        said.err.contains("has no Ordem schema") && said.err.contains("run `ordem migrate`"),
        "{}",
        said.err
    );
}

#[test]
fn a_database_that_is_away_is_waited_for_and_then_named_without_its_password() {
    let began = Instant::now();
    let url = "postgres://ana:geheim@127.0.0.1:1/shop";
    let said = ordem(&[("DATABASE_URL", url)], &["migrate", "--wait", "1s"]).expect(1);
    assert!(began.elapsed() >= Duration::from_secs(1) && began.elapsed() < Duration::from_secs(10));
    assert!(said.err.contains("database shop at 127.0.0.1:1 as ana: gave up after 1 s"), "{}", said.err);
    assert!(!said.err.contains("geheim"), "{}", said.err);
}

#[test]
fn the_other_commands_do_not_wait_for_a_database_that_is_away() {
    let url = "postgres://ana:geheim@127.0.0.1:1/shop";
    for arguments in [&["status"][..], &["explain", "loja", "order", "x"], &["resume", "fulfillment"]] {
        let said = ordem(&[("DATABASE_URL", url)], arguments).expect(1);
        assert!(
            said.err.contains("database shop at 127.0.0.1:1 as ana: database unavailable"),
            "{}",
            said.err
        );
        assert!(!said.err.contains("geheim"), "{}", said.err);
    }
}
