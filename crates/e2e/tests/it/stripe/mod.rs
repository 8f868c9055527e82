//! Source `stripe` on real processes, driven by a public fake of Stripe that keeps state.

mod fake;
mod fates;
mod ripple;
mod rows;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use domain::Clock;
use fake::{Fake, KEY, SECRET};
use fates::{FATES, Payment, plan, subscribe, void};
use rows::{expected, rows};
use serde_json::json;
use service::SystemClock;
use testkit::{eventually, sign};

use testkit::packages::or_skip;

use crate::system::System;

/// What becomes of the webhooks for a while: twice on, down is the receiver, off is the endpoint at the provider.
const PHASES: [&str; 4] = ["on", "down", "off", "on again"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_equal_the_providers_state_whatever_was_lost_doubled_and_late() {
    let Some(fake) = or_skip(Fake::start().await) else { return };
    let environment = [
        ("STRIPE_WEBHOOK_SECRET", SECRET),
        ("STRIPE_API_URL", fake.url()),
        ("STRIPE_API_TOKEN", KEY),
        ("ORDEM__RECONCILER__EVERY", "300ms"),
        ("ORDEM__RECONCILER__LAG", "0s"),
    ];
    let mut system = System::new("", &environment).await;
    system.add("applier").await;
    let receiver = play(&fake, &mut system).await;
    settled(&system).await;
    let right = expected(&fake).await;
    let now = rows(&system).await;
    let wrong = right.iter().filter(|row| !now.contains(row)).count();
    assert!(wrong > 50, "much was lost: {wrong}");

    // The log of events is read from a day ago on, the newest first; what came is known by its id. A reader that dies
    // over it is followed by another.
    let reconciler = system.add("reconciler").await;
    let found = "select (count(*) > 0)::text from ordem.events where origin = 'reconcile'";
    eventually("the first are found", vec!["true".to_owned()], || system.strings(found)).await;
    system.daemons[reconciler].kill();
    system.add("reconciler").await;
    equal(&fake, &system).await;
    let origins = "select distinct origin from ordem.events order by 1";
    assert_eq!(system.strings(origins).await, ["reconcile", "webhook"]);
    assert_once(&system).await;

    // From then on it is read from where it was left. Nothing is sent any more, and all is told all the same.
    fake.register(&system.target("stripe"), false).await;
    for fate in FATES {
        let payment = Payment::begin(&fake, fate, 4000, None).await;
        payment.end(&fake).await;
    }
    equal(&fake, &system).await;

    // The webhooks of what was found come after all, in the spelling of webhooks: known, and nothing to wonder at.
    for event in fake.all("/v1/events").await.iter().take(20) {
        let (body, now) = (format!("{event:#}"), SystemClock.now().as_second());
        let signature = sign(SECRET, format!("{now}.{body}").as_bytes());
        let request = reqwest::Client::new().post(system.target("stripe")).body(body);
        let request = request.header("stripe-signature", format!("t={now},v1={signature}"));
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    let counted = async |body: &str| {
        let line = format!("ordem_receiver_duplicates_total{{source=\"stripe\",body=\"{body}\"}}");
        system.daemons[receiver].metric(&line).await
    };
    assert_eq!((counted("unknown").await, counted("different").await), (20.0, 0.0));

    // And all of it again: nothing of it is new.
    let filled = system.ordem(&["--json", "backfill", "stripe", "--from", "7d"]);
    let filled: serde_json::Value = serde_json::from_slice(&filled.stdout).unwrap();
    assert_eq!((&filled["stored"], &filled["complete"]), (&json!(0), &json!(true)), "{filled}");
    assert!(filled["items"].as_u64().unwrap() > 500, "{filled}");
    assert_once(&system).await;
}

/// Until every event that came was decided.
async fn settled(system: &System) {
    let open = "select count(*)::text from ordem.events where outcome is null";
    eventually("all is applied", vec!["0".to_owned()], || system.strings(open)).await;
}

/// The rows become what the provider's state is.
async fn equal(fake: &Fake, system: &System) {
    let right = expected(fake).await;
    let end = Instant::now() + Duration::from_secs(90);
    while rows(system).await != right && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_equal(&right, &rows(system).await);
}

fn assert_equal(right: &[String], now: &[String]) {
    let name = |row: &&String| row.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let differ = right.iter().filter(|row| !now.contains(row));
    let pairs: Vec<_> = differ.map(|row| (row, now.iter().find(|other| name(other) == name(&row)))).collect();
    assert!(pairs.is_empty(), "{} of {} rows differ: {pairs:#?}", pairs.len(), right.len());
    assert_eq!(now.len(), right.len());
}

/// Payments of every fate, begun in each phase and ended in each later one. Returns the receiver's place.
async fn play(fake: &Fake, system: &mut System) -> usize {
    let mut begun: HashMap<(usize, usize), Vec<Payment>> = HashMap::new();
    let mut invoices: Vec<(usize, String)> = Vec::new();
    plan(fake).await;
    let mut receiver = None;
    let mut count = 0;
    for (phase, name) in PHASES.into_iter().enumerate() {
        match (name, receiver.take()) {
            ("down", Some(place)) => {
                let daemon: &mut testkit::Daemon = &mut system.daemons[place];
                daemon.kill();
            }
            (_, Some(place)) => receiver = Some(place),
            (_, None) => receiver = Some(system.add("receiver").await),
        }
        fake.register(&system.target("stripe"), name != "off").await;
        for until in phase..PHASES.len() {
            for fate in FATES {
                count += 1;
                // There is an odd number of fates: each is met with an order and without.
                let order = (count % 2 == 0).then(|| format!("ped_{count}"));
                let payment = Payment::begin(fake, fate, 1000 + count, order.as_deref()).await;
                begun.entry((phase, until)).or_default().push(payment);
            }
            for works in [true, false] {
                invoices.push((until, subscribe(fake, works).await));
            }
        }
        for ((_, until), payments) in &begun {
            for payment in payments.iter().filter(|_| *until == phase) {
                payment.end(fake).await;
            }
        }
        for (_, invoice) in invoices.iter().filter(|(until, _)| *until == phase) {
            void(fake, invoice).await;
        }
        fake.settle().await;
    }
    receiver.unwrap()
}

/// Every event is there once, and every effect of an order.
async fn assert_once(system: &System) {
    let twice = [
        "select dedup_key from ordem.events group by 1 having count(*) > 1",
        "select resource_id from ordem.effects group by resource_id, effect having count(*) > 1",
    ];
    for sql in twice {
        assert!(system.strings(sql).await.is_empty(), "{sql}");
    }
}
