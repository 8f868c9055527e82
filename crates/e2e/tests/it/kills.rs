//! Everything is killed, at random instants, under a load.

use std::{process::Command, sync::Arc, time::Duration};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use testkit::{Database, bin, eventually_within};

use crate::{
    cluster::Cluster,
    load::{
        check::{Order, all_is_right},
        fulfillment::{Fulfillment, Manners},
        plan::Plan,
        store::Store,
        system::{DAEMONS, Driver, Pace, System},
    },
};

const SLOWLY: Pace = Pace { senders: 6, pause: Duration::from_millis(20) };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_killed_at_random_lose_nothing_and_do_nothing_twice() {
    let database = Database::create().await;
    let plan = Arc::new(Plan::new(3, 600));
    let (store, fulfillment) = (Store::start().await, Fulfillment::start(3, Manners::BAD).await);
    let mut system = System::start(&database.url(), &store, &fulfillment).await;
    let driver = Driver::new(plan.clone());
    let target = system.target();
    let mut dice = StdRng::seed_from_u64(plan.sends.len() as u64);
    let killing = async {
        let mut kills = 0;
        // On through the load and, some times more, while the rest is worked off.
        let mut after = 6;
        while kills < 60 && after > 0 {
            tokio::time::sleep(Duration::from_millis(dice.random_range(150..500))).await;
            system.kill_and_restart(DAEMONS[dice.random_range(0..DAEMONS.len())]);
            kills += 1;
            after -= i32::from(driver.begun() == plan.sends.len());
        }
        kills
    };
    let ((), kills) = tokio::join!(driver.send(&target, &store, SLOWLY), killing);
    assert!(kills > 10, "only {kills} kills");
    all_is_right(&database.url(), &plan, &driver.arrivals(), Order::Any, &fulfillment, || system.logs())
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgresql_killed_twice_loses_nothing_that_was_answered() {
    let Some(mut cluster) = Cluster::start().await else {
        let why = "no PostgreSQL server programs on this machine, or nobody to run them as";
        // At a desk that may be so; where it decides over a change it is a fault.
        assert!(std::env::var_os("CI").is_none_or(|ci| ci.is_empty()), "{why}");
        println!("skipped: {why}");
        return;
    };
    let migrated =
        Command::new(bin("ordem")).env("DATABASE_URL", cluster.url()).arg("migrate").output().unwrap();
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let plan = Arc::new(Plan::new(4, 400));
    let (store, fulfillment) = (Store::start().await, Fulfillment::start(4, Manners::BAD).await);
    let system = System::start(&cluster.url(), &store, &fulfillment).await;
    let driver = Driver::new(plan.clone());
    let target = system.target();
    let (url, sends) = (cluster.url(), plan.sends.len());
    let killing = async {
        for share in [3, 2] {
            let wanted = sends / share;
            eventually_within(Duration::from_secs(60), "under load", true, || async {
                driver.begun() >= wanted
            })
            .await;
            cluster.kill_and_restart().await;
        }
    };
    tokio::join!(driver.send(&target, &store, SLOWLY), killing);
    all_is_right(&url, &plan, &driver.arrivals(), Order::Any, &fulfillment, || system.logs()).await;
}
