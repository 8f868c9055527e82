//! Rows come back as they were saved, whatever is in them.

use std::collections::{BTreeMap, BTreeSet};

use db::resources::{load, load_lockable, load_locked, lock_numbers, save};
use domain::{Fact, FlowSpec, Resource, ResourceId, Value, Version, decide};
use testkit::Database;

fn id(name: &str) -> ResourceId {
    ResourceId { source: "loja".to_owned(), kind: "order".to_owned(), id: name.to_owned() }
}

fn row() -> Resource {
    let statuses = vec!["created".to_owned(), "paid".to_owned()];
    let flow = FlowSpec { statuses, ..FlowSpec::default() }.compile().unwrap();
    let fact = |status: &str, version, fields| Fact {
        version,
        status: status.to_owned(),
        fields,
        growing: BTreeSet::new(),
        event_type: String::new(),
        event_key: String::new(),
    };
    let fields = BTreeMap::from([
        ("total_minor".to_owned(), Value::Integer(i64::MAX)),
        ("note".to_owned(), Value::Text("\u{1f600} \"quoted\" \\ é".to_owned())),
        ("gift".to_owned(), Value::Boolean(true)),
    ]);
    let first = decide(None, &fact("paid", Version::new(i64::MAX, 255), fields), &flow).resource;
    let second = fact(
        "created",
        Version::new(-(1 << 61), 1),
        BTreeMap::from([("early".to_owned(), Value::Integer(-1))]),
    );
    let mut row = decide(Some(&first), &second, &flow).resource;
    row.effects_written = BTreeSet::from(["release_picking".to_owned()]);
    row.next_effect = 7;
    row
}

#[tokio::test]
async fn a_row_that_was_saved_and_loaded_is_the_row_that_was_not() {
    let database = Database::create().await;
    let client = database.pool().get().await.unwrap();
    let (name, row) = (id("ped_1"), row());
    for _ in 0..2 {
        save(&client, "2026-01-02T03:04:05Z".parse().unwrap(), &[(&name, &row)]).await.unwrap();
        let loaded = load(&client, &[name.clone(), id("ped_2")]).await.unwrap();
        assert_eq!(loaded.len(), 1);
        assert_eq!(loaded[&name], row);
    }
}

#[tokio::test]
async fn a_resource_that_another_session_holds_is_told_apart_without_waiting() {
    let database = Database::create().await;
    let (holder, pool) = (database.client().await, database.pool());
    let client = pool.get().await.unwrap();
    holder.execute("select pg_advisory_lock($1)", &[&lock_numbers(&[id("held")])[0]]).await.unwrap();
    client.batch_execute("begin; set local lock_timeout = '50ms'").await.unwrap();
    let (_, held) = load_lockable(&client, &[id("held"), id("free")]).await.unwrap();
    assert_eq!(held.into_iter().collect::<Vec<_>>(), [id("held")]);
    let error = load_locked(&client, &[id("held")]).await.unwrap_err();
    assert!(error.is_lock_timeout(), "{error}");
    client.batch_execute("rollback").await.unwrap();
}
