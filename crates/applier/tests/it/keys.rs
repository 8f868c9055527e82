//! Ledgers of keys are trimmed: old keys go, a few pages at a time, and what still waits keeps its key.

use std::time::Duration;

use db::{
    Error,
    keys::{self, Ledger, Trimmed},
};
use jiff::Timestamp;
use testkit::{Event, eventually};

use crate::app::{App, noon};

const DAY: Duration = Duration::from_secs(86_400);
const RETENTION: Duration = Duration::from_secs(400 * 86_400);
const INBOX_KEYS: &str = "select count(*) from ordem_engine.inbox_keys";
const EFFECT_KEYS: &str = "select count(*) from ordem_engine.effect_keys";

fn after(days: i64) -> Timestamp {
    noon().checked_add(jiff::SignedDuration::from_hours(24 * days)).unwrap()
}

/// Keys of both ledgers whose ids are of this instant, numbered from 1.
async fn insert_keys(app: &App, prefix: &str, at: Timestamp, count: i32) {
    let id = "(left(ordem_engine.first_id($2::timestamptz)::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";
    for values in [
        format!("inbox_keys (source, dedup_key, event_id, body_hash) select 'loja', $1::text || n, {id}, 1"),
        format!(
            "effect_keys (source, kind, resource_id, effect, effect_key, effect_id) \
             select 'loja', 'order', $1::text || n, 'release_picking', '', {id}"
        ),
    ] {
        let sql = format!("insert into ordem_engine.{values} from generate_series(1, $3::int4) n");
        app.client.execute(&sql, &[&prefix, &at, &count]).await.unwrap();
    }
}

/// One step through a table that is shorter than it.
async fn trim(app: &App, ledger: Ledger, now: Timestamp) -> Trimmed {
    keys::trim(&app.database.pool().get().await.unwrap(), ledger, now, RETENTION, 500).await.unwrap()
}

#[tokio::test]
async fn old_keys_go_and_young_ones_stay() {
    let app = App::new().await;
    insert_keys(&app, "old_", noon(), 3).await;
    insert_keys(&app, "young_", after(2), 2).await;
    for (ledger, names) in [
        (Ledger::Inbox, "select dedup_key from ordem_engine.inbox_keys order by 1"),
        (Ledger::Effects, "select resource_id from ordem_engine.effect_keys order by 1"),
    ] {
        assert_eq!(trim(&app, ledger, after(399)).await, Trimmed { keys: 0, wrapped: true });
        assert_eq!(trim(&app, ledger, after(401)).await, Trimmed { keys: 3, wrapped: true });
        assert_eq!(app.texts(names).await, ["young_1", "young_2"]);
    }
}

#[tokio::test]
async fn what_still_waits_keeps_its_key() {
    let app = App::new().await;
    insert_keys(&app, "old_", noon(), 4).await;
    let nth = |ledger: &str, id: &str, n: u8| {
        format!("(select {id} from ordem_engine.{ledger} where {id}::text like '%{n}' limit 1)")
    };
    let event = |n| nth("inbox_keys", "event_id", n);
    app.client
        .batch_execute(&format!(
            "insert into ordem_engine.inbox_queue values ({});
             insert into ordem_engine.inbox_retries values ({}, now(), 1, 'boom');
             insert into ordem_engine.lookup_events values ({}, gen_random_uuid());
             insert into ordem_engine.effect_queue (effect_id, destination, lane, sequence, due_at)
             values ({}, 'fulfillment', 1, 0, now());",
            event(1),
            event(2),
            event(3),
            nth("effect_keys", "effect_id", 1),
        ))
        .await
        .unwrap();
    assert_eq!(trim(&app, Ledger::Inbox, after(401)).await.keys, 1);
    assert_eq!(trim(&app, Ledger::Effects, after(401)).await.keys, 3);

    app.client
        .batch_execute(
            "delete from ordem_engine.inbox_queue; delete from ordem_engine.inbox_retries;
             delete from ordem_engine.lookup_events; delete from ordem_engine.effect_queue;",
        )
        .await
        .unwrap();
    assert_eq!(trim(&app, Ledger::Inbox, after(402)).await.keys, 3);
    assert_eq!(trim(&app, Ledger::Effects, after(402)).await.keys, 1);
}

#[tokio::test]
async fn an_event_that_comes_again_after_its_key_went_changes_nothing_of_its_row() {
    let app = App::new().await;
    app.arrive(&[Event::new("ped_1", "created", 1), Event::new("ped_1", "paid", 2)]).await;
    app.apply().await;
    app.client.batch_execute("delete from ordem_engine.effect_queue").await.unwrap();
    app.clock.advance_seconds(401 * 86_400);
    assert_eq!(trim(&app, Ledger::Inbox, after(401)).await.keys, 2);
    assert_eq!(trim(&app, Ledger::Effects, after(401)).await.keys, 1);
    let before = app.texts("select row_to_json(r)::text from ordem_engine.resources r").await;

    app.arrive(&[Event::new("ped_1", "paid", 2), Event::new("ped_1", "paid", 2)]).await;
    app.apply().await;
    assert_eq!(app.outcomes().await, ["applied", "applied", "stale"], "it is new, and known from then on");
    assert_eq!(app.texts("select row_to_json(r)::text from ordem_engine.resources r").await, before);
    assert_eq!(app.effects().await["ped_1"], ["release_picking"], "the row knows that it was written");
}

#[tokio::test]
async fn a_table_of_thirty_thousand_keys_is_walked_in_bounded_steps() {
    let app = App::new().await;
    insert_keys(&app, "old_", noon(), 15_000).await;
    insert_keys(&app, "young_", after(300), 15_000).await;
    let pages = |table: &str| format!("select pg_relation_size('ordem_engine.{table}') / 8192");
    // As the applier's connections are, and as they must not be: neither makes it read the whole table.
    for (ledger, plans) in [(Ledger::Inbox, "force_generic_plan"), (Ledger::Effects, "auto")] {
        let table = ledger.as_str();
        let expected = app.count(&pages(table)).await.div_euclid(50) + 1;
        assert!(expected > 5, "{expected} steps are no walk");
        let client = app.database.pool().get().await.unwrap();
        client.batch_execute(&format!("set plan_cache_mode = {plans}")).await.unwrap();
        let (mut steps, mut gone, mut read_before) = (0, 0, 0);
        loop {
            client.batch_execute("begin").await.unwrap();
            let trimmed = keys::trim(&client, ledger, after(500), RETENTION, 50).await.unwrap();
            // What this session has not yet told the server's statistics; reading by ranges of pages is no scan there.
            let read = "select seq_scan, seq_tup_read from pg_stat_xact_user_tables where relname = $1";
            let read = client.query_one(read, &[&table]).await.unwrap();
            client.batch_execute("commit").await.unwrap();
            let (whole_scans, rows) = (read.get::<_, i64>(0), read.get::<_, i64>(1));
            // The count begins again from zero when the session has told it.
            let rows_now = if rows < read_before { rows } else { rows - read_before };
            read_before = rows;
            assert!(
                whole_scans == 0 && rows_now <= 50 * 150,
                "{table}: {whole_scans} scans, {rows_now} rows"
            );
            assert!(trimmed.keys <= 50 * 150);
            (steps, gone) = (steps + 1, gone + trimmed.keys);
            if trimmed.wrapped {
                break;
            }
        }
        assert_eq!((steps, gone), (expected, 15_000), "{table}");
        assert_eq!(app.count(&format!("select count(*) from ordem_engine.{table}")).await, 15_000);
    }
}

#[tokio::test]
async fn the_walk_rests_an_hour_at_the_end_and_no_longer_for_a_wrong_clock() {
    let app = App::new().await;
    let end = after(401);
    assert!(trim(&app, Ledger::Inbox, end).await.wrapped);
    insert_keys(&app, "old_", noon(), 3).await;
    let soon = end.checked_add(jiff::SignedDuration::from_mins(59)).unwrap();
    assert_eq!(trim(&app, Ledger::Inbox, soon).await, Trimmed { keys: 0, wrapped: true });
    let later = end.checked_add(jiff::SignedDuration::from_mins(60)).unwrap();
    assert_eq!(trim(&app, Ledger::Inbox, later).await, Trimmed { keys: 3, wrapped: true });

    insert_keys(&app, "again_", noon(), 1).await;
    app.client.batch_execute("update ordem_engine.key_trims set ended_at = '2199-01-01'").await.unwrap();
    assert_eq!(trim(&app, Ledger::Inbox, later).await.keys, 1);
}

#[tokio::test]
async fn two_at_once_do_not_collide() {
    let app = App::new().await;
    insert_keys(&app, "old_", noon(), 10).await;
    let mut first = app.database.pool().get().await.unwrap();
    let transaction = first.transaction().await.unwrap();
    let inner = transaction.client();
    let sql = "select deleted from ordem_engine.trim_keys('inbox_keys', $1, interval '400 days', 500)";
    assert_eq!(inner.query_one(sql, &[&after(401)]).await.unwrap().get::<_, i64>(0), 10);
    assert_eq!(
        trim(&app, Ledger::Inbox, after(401)).await,
        Trimmed { keys: 0, wrapped: true },
        "it does not wait"
    );
    assert_eq!(trim(&app, Ledger::Effects, after(401)).await.keys, 10, "the other ledger is free");
    transaction.rollback().await.unwrap();
    assert_eq!(trim(&app, Ledger::Inbox, after(401)).await.keys, 10, "what was undone is walked again");
}

#[tokio::test]
async fn no_retention_deletes_what_is_not_old() {
    let app = App::new().await;
    insert_keys(&app, "key_", noon(), 2).await;
    let client = app.database.pool().get().await.unwrap();
    // Some of these end before 1970, where no id is.
    for (day, years) in [(1, 1), (2, 57), (3, 99), (4, 100_000)] {
        let trimmed = keys::trim(&client, Ledger::Inbox, after(day), DAY * 366 * years, 500).await.unwrap();
        assert_eq!(trimmed, Trimmed { keys: 0, wrapped: true }, "{years} years");
    }
    for (retention, pages) in [(Duration::ZERO, 500), (RETENTION, 0), (RETENTION, 10_001)] {
        let refused = keys::trim(&client, Ledger::Inbox, noon(), retention, pages).await.unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{refused:?}");
    }
    let other = "select ordem_engine.trim_keys('resources', now(), interval '1 day', 1)";
    let refused = client.batch_execute(other).await.unwrap_err();
    assert!(refused.as_db_error().unwrap().message().contains("no ledger \"resources\""), "{refused:?}");
    assert_eq!(app.count(INBOX_KEYS).await, 2);
}

#[tokio::test]
async fn the_appliers_role_may_trim_and_nothing_more() {
    let app = App::new().await;
    insert_keys(&app, "old_", noon(), 3).await;
    let client = app.database.pool().get().await.unwrap();
    client.batch_execute("set role ordem_applier").await.unwrap();
    for ledger in Ledger::ALL {
        assert_eq!(keys::trim(&client, ledger, after(401), RETENTION, 500).await.unwrap().keys, 3);
    }
    for sql in [
        "delete from ordem_engine.effect_keys",
        "delete from ordem_engine.inbox_keys",
        "select from ordem_engine.key_trims",
        "update ordem_engine.key_trims set next_page = 0",
    ] {
        let refused = client.batch_execute(sql).await.unwrap_err();
        assert_eq!(refused.code().unwrap().code(), "42501", "{sql}");
    }
    for role in ["ordem_receiver", "ordem_publisher", "ordem_reconciler", "ordem_operator"] {
        client.batch_execute(&format!("reset role; set role {role}")).await.unwrap();
        let refused = keys::trim(&client, Ledger::Inbox, after(401), RETENTION, 500).await;
        assert!(refused.is_err(), "{role} may trim");
    }
}

#[tokio::test]
async fn a_running_applier_trims_both_ledgers() {
    let app = App::with_settings("[applier]\nretention = \"10d\"\nkeys_retention = \"20d\"\n").await;
    app.clock.advance_seconds(21 * 86_400);
    insert_keys(&app, "old_", noon(), 3).await;
    insert_keys(&app, "young_", after(2), 2).await;
    let context = app.context();
    let shutdown = context.shutdown.clone();
    let running = tokio::spawn(applier::run(context));
    eventually("old dedup keys are gone", 2, || app.count(INBOX_KEYS)).await;
    eventually("old keys of effects are gone", 2, || app.count(EFFECT_KEYS)).await;
    shutdown.trigger();
    running.await.unwrap().unwrap();
}
