//! The four daemons under a load, left alone.

use std::{sync::Arc, time::Duration};

use testkit::Database;

use crate::load::{
    check::{Order, all_is_right},
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
    all_is_right(&database.url(), &plan, &driver.arrivals(), Order::AsAnswered, &fulfillment, || system.logs()).await;
    assert!(store.requests() > 5, "the API was read");
}
