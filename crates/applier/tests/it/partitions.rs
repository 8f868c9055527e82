//! Partitions are made ahead and dropped when their time is over.

use std::time::Duration;

use testkit::Event;

use crate::app::{App, noon};

const WEEK: Duration = Duration::from_secs(7 * 86_400);

#[tokio::test]
async fn partitions_that_ended_long_ago_go_unless_something_in_them_still_waits() {
    let app = App::new().await;
    let pool = app.database.pool();
    let client = pool.get().await.unwrap();
    let made = db::partitions::keep(&client, noon(), 1000 * WEEK).await.unwrap();
    assert!(made.made > 0);
    app.arrive(&[Event::new("ped_1", "paid", 2)]).await;
    let partition_of = "select tableoid::regclass::text from ordem_engine.inbox_events";
    assert_eq!(app.texts(partition_of).await, ["ordem_engine.inbox_events_20251229"]);

    let much_later = noon().checked_add(jiff::SignedDuration::from_hours(24 * 7 * 20)).unwrap();
    let kept = db::partitions::keep(&client, much_later, 10 * WEEK).await.unwrap();
    assert!(kept.dropped > 0, "the empty ones go");
    assert_eq!(app.count("select count(*) from ordem.events").await, 1, "what waits keeps its partition");

    app.apply().await;
    app.client.batch_execute("delete from ordem_engine.effect_queue").await.unwrap();
    db::partitions::keep(&client, much_later, 10 * WEEK).await.unwrap();
    assert_eq!(app.count("select count(*) from ordem.events").await, 0);
    assert_eq!(app.count("select count(*) from ordem.orders").await, 1, "rows of resources stay");
}

#[tokio::test]
async fn an_id_from_a_time_without_partition_is_stored_all_the_same() {
    let app = App::new().await;
    app.clock.advance_seconds(5 * 366 * 86_400);
    app.arrive(&[Event::new("ped_1", "paid", 2)]).await;
    app.apply().await;
    assert_eq!(app.order("ped_1").await.0, "paid");
}
