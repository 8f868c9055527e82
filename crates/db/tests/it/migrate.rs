//! Migrations: under a lock, once, and judged by the daemons.

use std::time::Duration;

use db::SchemaState;
use testkit::Database;

#[tokio::test]
async fn four_migrators_at_once_all_succeed_and_apply_each_migration_once() {
    let database = Database::empty().await;
    assert_eq!(db::schema_state(&database.client().await).await.unwrap(), SchemaState::Missing);
    let migrators = (0..4).map(|_| async {
        let mut client = database.client().await;
        db::migrate(&mut client, Duration::from_secs(60)).await.unwrap()
    });
    let applied: Vec<i32> = futures_util::future::join_all(migrators).await.into_iter().flatten().collect();
    assert_eq!(applied, (1..=db::newest_version()).collect::<Vec<_>>());
    assert_eq!(db::schema_state(&database.client().await).await.unwrap(), SchemaState::Current);
}

#[tokio::test]
async fn an_unknown_schema_is_refused_with_the_way_out() {
    let database = Database::create().await;
    let client = database.client().await;
    client
        .execute(
            "insert into ordem_engine.schema_history (version, name, applied_on, checksum) values (9999, 'future', '', '0')",
            &[],
        )
        .await
        .unwrap();
    let state = db::schema_state(&client).await.unwrap();
    assert_eq!(state, SchemaState::Ahead { found: 9999 });
    let text = state.require_current().unwrap_err().to_string();
    assert!(text.contains("9999") && text.contains("use the release"), "{text}");
    assert!(SchemaState::Missing.require_current().unwrap_err().to_string().contains("ordem migrate"));
}
