//! The ripple on real programs: signed events, a fifth of them twice and shuffled, become ledger, points, last visit and
//! received mail, while the publisher, the mail server and the points fail on the way.

use std::collections::{BTreeMap, BTreeSet};

use domain::Clock as _;
use futures_util::{StreamExt as _, stream};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use service::SystemClock;
use testkit::{SmtpServer, eventually_within, packages::or_skip, sign};
use tokio_postgres::Client;

use super::{
    example, install,
    sale::{Sale, rekeyed},
};
use crate::system::System;

const SALES: usize = 240;
const CUSTOMERS: usize = 40;
const SECRET: &str = "whsec_booking";
const LONG: std::time::Duration = std::time::Duration::from_secs(90);

fn sales(dice: &mut StdRng) -> Vec<Sale> {
    let paid_at = SystemClock.now().as_second() - 7200;
    let sale = |at: usize, dice: &mut StdRng| {
        let total = dice.random_range(1..200) * 50;
        let refunds = match dice.random_range(0..10) {
            0 => vec![total],
            1 => vec![total / 2],
            2 => vec![total / 4, total / 2, total],
            _ => Vec::new(),
        };
        let dispute = match dice.random_range(0..20) {
            0 => vec!["needs_response", "under_review", "lost"],
            1 => vec!["needs_response", "won"],
            _ => Vec::new(),
        };
        Sale {
            name: format!("s{at}"),
            is_invoice: at.is_multiple_of(3),
            customer: at % CUSTOMERS,
            total,
            currency: if at.is_multiple_of(7) { "jpy" } else { "brl" },
            refunds: refunds.into_iter().filter(|part| *part > 0).collect(),
            dispute,
            // Each its own instant: which visit was the last is no question.
            paid_at: paid_at + 3 * i64::try_from(at).unwrap(),
        }
    };
    (0..SALES).map(|at| sale(at, dice)).collect()
}

/// All events, a tenth of them again and a tenth under another id, in no order.
fn deliveries(sales: &[Sale], dice: &mut StdRng) -> Vec<String> {
    let events: Vec<String> = sales.iter().flat_map(Sale::events).collect();
    let mut all = events.clone();
    for event in &events {
        match dice.random_range(0..10) {
            0 => all.push(event.clone()),
            1 => all.push(rekeyed(event)),
            _ => {}
        }
    }
    all.shuffle(dice);
    all
}

/// The example's configuration as one file, its templates by their whole path.
fn settings() -> String {
    let files = ["flows.toml", "destinations.toml", "sources.toml"];
    let text: Vec<String> =
        files.map(|file| std::fs::read_to_string(example().join("config").join(file)).unwrap()).into();
    text.join("\n").replace("\"../templates", &format!("\"{}", example().join("templates").display()))
}

async fn post(system: &System, events: &[String]) {
    let (client, url) = (reqwest::Client::new(), system.target("stripe"));
    let answers = stream::iter(events).map(|event| {
        let now = SystemClock.now().as_second();
        let signature = sign(SECRET, format!("{now}.{event}").as_bytes());
        let request = client.post(&url).header("stripe-signature", format!("t={now},v1={signature}"));
        request.body(event.clone()).send()
    });
    let answers: Vec<_> = answers.buffer_unordered(16).collect().await;
    for answer in answers {
        assert_eq!(answer.unwrap().status(), 200);
    }
}

/// How many effects of these destinations are in this state.
async fn effects(system: &System, destinations: &str, state: &str) -> i64 {
    let sql = format!(
        "select count(*) from ordem.effects where destination in ({destinations}) and state = '{state}'"
    );
    system.database.count(&sql).await
}

/// Every event is applied, and nothing of these destinations waits.
async fn quiet_but_for(system: &System, waiting: &str) {
    let sql = format!(
        "select (select count(*) from ordem.events where outcome is null) +
                (select count(*) from ordem.effects where state = 'pending' and destination not in ({waiting}))"
    );
    eventually_within(LONG, &format!("all but {waiting} is done"), 0, || system.database.count(&sql)).await;
}

async fn rows(client: &Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_becomes_ledger_points_last_visit_and_one_receipt() {
    let Some(mut mail) = or_skip(SmtpServer::start()) else { return };
    let mut dice = StdRng::seed_from_u64(20_261_203);
    let sales = sales(&mut dice);
    let events = deliveries(&sales, &mut dice);
    let url = mail.url();
    let environment = [
        ("STRIPE_WEBHOOK_SECRET", SECRET),
        ("SMTP_URL", url.as_str()),
        ("ORDEM__PUBLISHER__LEASE", "4s"),
        ("ORDEM__PUBLISHER__BACKOFF_BASE", "100ms"),
        ("ORDEM__PUBLISHER__BACKOFF_CAP", "1s"),
        ("ORDEM__PUBLISHER__BREAKER_PAUSE_MAX", "500ms"),
        ("ORDEM__PUBLISHER__ATTEMPTS_MAX", "100"),
    ];
    let mut system = System::new(&settings(), &environment).await;
    install(&system.database).await;
    for daemon in ["receiver", "applier", "publisher"] {
        system.add(daemon).await;
    }
    let publisher = 2;
    let (first, second) = events.split_at(events.len() / 2);

    // The points are stuck: nothing else waits for them.
    let mut stuck = system.database.client().await;
    let lock = stuck.transaction().await.unwrap();
    lock.batch_execute("lock table booking.loyalty_movements in exclusive mode").await.unwrap();
    post(&system, first).await;
    quiet_but_for(&system, "'loyalty'").await;
    assert!(effects(&system, "'loyalty'", "pending").await > 0);
    assert_eq!(effects(&system, "'loyalty'", "delivered").await, 0);
    let received = i64::try_from(mail.mails().len()).unwrap();
    assert!(received > 0 && received == effects(&system, "'receipt'", "delivered").await);
    lock.rollback().await.unwrap();

    // The mail server is gone, and the publisher is killed in the middle: what is not mail goes on.
    mail.kill();
    let (before_kill, after_kill) = second.split_at(second.len() / 2);
    post(&system, before_kill).await;
    system.daemons[publisher].kill();
    post(&system, after_kill).await;
    let publisher = system.add("publisher").await;
    quiet_but_for(&system, "'receipt'").await;
    assert!(effects(&system, "'receipt'", "pending").await > 0, "receipts wait for their server");

    // It is back, dies once more in the middle of the mails, and so does the publisher.
    let goal = mail.mails().len() + 10;
    mail.start_again();
    eventually_within(LONG, "mails go out again", true, || async { mail.mails().len() >= goal }).await;
    mail.kill();
    system.daemons[publisher].kill();
    mail.start_again();
    system.add("publisher").await;
    quiet_but_for(&system, "'nothing'").await;
    assert_eq!(
        system.database.count("select count(*) from ordem.effects where state <> 'delivered'").await,
        0
    );

    let client = system.database.client().await;
    receipts_are_right(&mail, &sales);
    let mut booked = rows(
        &client,
        "select concat_ws(' ', kind, id, paid_minor, refunded_minor, disputed_minor) from booking.positions",
    )
    .await;
    booked.sort();
    let mut right: Vec<String> = sales.iter().flat_map(Sale::booked).collect();
    right.sort();
    assert_eq!(booked, right);
    let mut points = BTreeMap::new();
    let mut visits = BTreeMap::new();
    for sale in &sales {
        *points.entry(sale.email()).or_insert(0) += sale.points();
        let last = visits.entry(sale.email()).or_insert(0);
        *last = sale.visited_at().max(*last);
    }
    let told =
        rows(&client, "select concat_ws(' ', customer, points) from booking.loyalty order by customer").await;
    assert_eq!(told, points.iter().map(|(who, points)| format!("{who} {points}")).collect::<Vec<_>>());
    let told = rows(&client, "select concat_ws(' ', customer, extract(epoch from last_visit_at)::bigint, is_lost) from booking.customers order by customer").await;
    assert_eq!(told, visits.iter().map(|(who, at)| format!("{who} {at} f")).collect::<Vec<_>>());
    let checked = system.ordem(&["ledger", "check"]);
    println!(
        "{} sales, {} deliveries, {} mails, {}",
        sales.len(),
        events.len(),
        mail.mails().len(),
        String::from_utf8_lossy(&checked.stdout).trim()
    );
}

/// One receipt for each sale by its Message-ID, to its customer. A mail may have come twice under one id where the
/// server died before its answer.
fn receipts_are_right(mail: &SmtpServer, sales: &[Sale]) {
    let mails = mail.mails();
    let distinct: BTreeSet<(String, String, String)> = mails
        .iter()
        .map(|mail| {
            (mail.id().to_owned(), mail.to.join(" "), mail.header("Subject").unwrap_or_default().to_owned())
        })
        .collect();
    let ids: BTreeSet<&str> = mails.iter().map(testkit::Mail::id).collect();
    assert_eq!(distinct.len(), ids.len(), "one id, one mail");
    let mut told: Vec<String> = distinct.iter().map(|(_, to, subject)| format!("{to} {subject}")).collect();
    told.sort();
    let mut right: Vec<String> =
        sales.iter().map(|sale| format!("{} Receipt for {}", sale.email(), sale.receipt_for())).collect();
    right.sort();
    assert_eq!(told, right);
    println!("{} mails for {} receipts", mails.len(), ids.len());
}
