//! The four daemons under a load, left alone.

use std::{sync::Arc, time::Duration};

use testkit::Database;

use crate::load::{
    check::{Order, all_is_right, differences},
    fulfillment::{Fulfillment, Manners},
    plan::Plan,
    store::Store,
    system::{Driver, Pace, System},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_and_effects_equal_the_truth_whatever_the_order_the_repetition_and_the_loss() {
    let database = Database::create().await;
    let plan = Arc::new(Plan::new(1, 600));
    assert!(plan.orders.iter().filter(|order| order.is_last_lost).count() > 5, "some are lost");
    let (store, fulfillment) = (Store::start().await, Fulfillment::start(1, Manners::BAD).await);
    let system = System::start(&database.url(), &store, &fulfillment).await;
    let driver = Driver::new(plan.clone());
    driver.send(&system.target(), &store, Pace { senders: 16, pause: Duration::ZERO }).await;
    all_is_right(&database.url(), &plan, &driver.arrivals(), Order::AsAnswered, &fulfillment, || {
        system.logs()
    })
    .await;
    assert!(store.requests() > 5, "the API was read");

    // And the check itself: it sees an altered e-mail, an effect that nobody wrote, and an event that is gone.
    let alterations = [
        "update ordem_engine.resources set fields = fields || '{\"customer_email\": \"x@example.com\"}' where id = 'ped_7'",
        "delete from ordem_engine.effects where effect_id = (select effect_id from ordem_engine.effects limit 1)",
        "delete from ordem_engine.inbox_events where event_id = (select event_id from ordem.events where origin = 'webhook' limit 1)",
    ];
    let mut seen = 0;
    for alteration in alterations {
        database.client().await.execute(alteration, &[]).await.unwrap();
        let (url, arrivals) = (database.url(), driver.arrivals());
        let found = differences(&url, &plan, &arrivals, Order::AsAnswered, &fulfillment).await;
        assert!(found.len() > seen, "{alteration}: {found:?}");
        seen = found.len();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_of_each_share_the_work_and_do_everything_once() {
    let database = Database::create().await;
    let plan = Arc::new(Plan::new(5, 400));
    let (store, fulfillment) = (Store::start().await, Fulfillment::start(5, Manners::BAD).await);
    let mut system = System::start(&database.url(), &store, &fulfillment).await;
    for name in ["applier", "applier", "publisher", "reconciler"] {
        system.add(name).await;
    }
    let driver = Driver::new(plan.clone());
    driver.send(&system.target(), &store, Pace { senders: 16, pause: Duration::ZERO }).await;
    all_is_right(&database.url(), &plan, &driver.arrivals(), Order::Any, &fulfillment, || system.logs())
        .await;
}
