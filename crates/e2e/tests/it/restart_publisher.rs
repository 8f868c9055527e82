//! The publisher alone is stopped and started again in the middle of its work.

use std::{sync::Arc, time::Duration};

use testkit::{Database, eventually};

use crate::load::{
    check::{Order, all_is_right},
    fulfillment::{Fulfillment, Manners},
    plan::Plan,
    store::Store,
    system::{Driver, Pace, System},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orderly_restart_loses_nothing_and_repeats_nothing() {
    let database = Database::create().await;
    let plan = Arc::new(Plan::new(2, 300));
    let slow = Manners { pace: Duration::from_millis(300), ..Manners::GOOD };
    let (store, fulfillment) = (Store::start().await, Fulfillment::start(2, slow).await);
    let mut system = System::start(&database.url(), &store, &fulfillment).await;
    let driver = Driver::new(plan.clone());
    let (target, pace) = (system.target(), Pace { senders: 8, pause: Duration::ZERO });
    let restarting = async {
        for calls in [20, 120] {
            eventually("in the middle", true, || async { fulfillment.read(|book| book.calls.len()) > calls })
                .await;
            system.restart("publisher").await;
        }
    };
    tokio::join!(driver.send(&target, &store, pace), restarting);
    all_is_right(&database.url(), &plan, &driver.arrivals(), Order::AsAnswered, &fulfillment, || {
        system.logs()
    })
    .await;
    let repeated: Vec<String> = fulfillment.read(|book| {
        book.calls.iter().filter(|(_, calls)| **calls > 1).map(|(key, _)| key.clone()).collect()
    });
    assert!(repeated.is_empty(), "each call was made once, but for {repeated:?}");
}
