//! Source `stripe` on real processes, driven by a public fake of Stripe that keeps state.

mod fake;
mod fates;
mod ripple;
mod rows;

use std::collections::HashMap;

use fake::{Fake, KEY, SECRET};
use fates::{FATES, Payment, plan, subscribe, void};
use rows::{expected, rows};
use testkit::{eventually, sign};

use crate::{senders::libraries::or_skip, system::System};

/// What becomes of the webhooks for a while: twice on, down is the receiver, off is the endpoint at the provider.
const PHASES: [&str; 4] = ["on", "down", "off", "on again"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_equal_the_providers_state_whatever_was_lost_doubled_and_late() {
    let Some(fake) = or_skip(Fake::start().await) else { return };
    let environment =
        [("STRIPE_WEBHOOK_SECRET", SECRET), ("STRIPE_API_URL", fake.url()), ("STRIPE_API_TOKEN", KEY)];
    let mut system = System::new("", &environment).await;
    system.add("applier").await;
    play(&fake, &mut system).await;

    let right = expected(&fake).await;
    let settled = "select count(*)::text from ordem.events where outcome is null";
    eventually("all that came is applied", vec!["0".to_owned()], || system.strings(settled)).await;
    let wrong = rows(&system).await.iter().filter(|row| !right.contains(row)).count();
    assert!(wrong > 20, "much was lost: {wrong}");
    recover(&fake, &system).await;
    eventually("all is applied", vec!["0".to_owned()], || system.strings(settled)).await;
    assert_equal(&right, &rows(&system).await);
    assert_once(&system).await;
}

fn assert_equal(right: &[String], now: &[String]) {
    let name = |row: &&String| row.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let differ = right.iter().filter(|row| !now.contains(row));
    let pairs: Vec<_> = differ.map(|row| (row, now.iter().find(|other| name(other) == name(&row)))).collect();
    assert!(pairs.is_empty(), "{} of {} rows differ: {pairs:#?}", pairs.len(), right.len());
    assert_eq!(now.len(), right.len());
}

/// Payments of every fate, begun in each phase and ended in each later one.
async fn play(fake: &Fake, system: &mut System) {
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
                for has_order in [true, false] {
                    count += 1;
                    let order = has_order.then(|| format!("ped_{count}"));
                    let payment = Payment::begin(fake, fate, 1000 + count, order.as_deref()).await;
                    begun.entry((phase, until)).or_default().push(payment);
                }
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
}

/// The provider sends everything once more, the newest first, as its list has it.
async fn recover(fake: &Fake, system: &System) {
    let client = reqwest::Client::new();
    let now = domain::Clock::now(&service::SystemClock).as_second();
    for event in fake.all("/v1/events").await {
        let body = event.to_string();
        let signature = sign(SECRET, format!("{now}.{body}").as_bytes());
        let request = client.post(system.target("stripe")).header("content-type", "application/json");
        let request = request.header("stripe-signature", format!("t={now},v1={signature}")).body(body);
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
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
