//! The end of a run: nothing waits any more, and everything is as the truth demands.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;
use tokio_postgres::{Client, NoTls};

use super::{
    fulfillment::Fulfillment,
    plan::{Fact, Plan, Truth, demanded},
    system::Arrivals,
};

/// How much is known of the order in which facts were applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// That of the answers; what only the API told came last.
    AsAnswered,
    /// None: a process that was killed held some of them back.
    Any,
}

/// Waits until nothing waits, then compares. Panics with every difference.
pub(crate) async fn all_is_right(
    url: &str,
    plan: &Plan,
    arrivals: &Arrivals,
    order: Order,
    fulfillment: &Fulfillment,
    logs: impl Fn() -> String,
) {
    let client = dial(url).await;
    let waiting = || async {
        let sql = "select (select count(*) from ordem.events where outcome is null),
                          (select count(*) from ordem.effects where state = 'pending'),
                          (select count(*) from ordem.orders)";
        let row = client.query_one(sql, &[]).await.unwrap();
        (row.get::<_, i64>(0), row.get::<_, i64>(1), row.get::<_, i64>(2), lost_rows(&client, plan).await)
    };
    let orders = i64::try_from(plan.orders.len()).unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let now = waiting().await;
        if now == (0, 0, orders, 0) {
            break;
        }
        let told = "(events without outcome, effects pending, orders, orders not recovered)";
        assert!(Instant::now() < end, "not settled: {now:?} {told}\n{}", logs());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut found = differences(url, plan, arrivals, order, fulfillment).await;
    found.truncate(20);
    assert!(found.is_empty(), "{}\n{}", found.join("\n"), logs());
}

/// What is not as the truth demands, one line each.
pub(crate) async fn differences(
    url: &str,
    plan: &Plan,
    arrivals: &Arrivals,
    order: Order,
    fulfillment: &Fulfillment,
) -> Vec<String> {
    let client = dial(url).await;
    let mut found = Vec::new();
    rows(&client, plan, &mut found).await;
    events(&client, plan, &mut found).await;
    let written = effects(&client, plan, arrivals, order, &mut found).await;
    delivered(&client, fulfillment, &written, &mut found).await;
    found
}

async fn dial(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Orders whose last fact only the API tells, and that are not there yet.
async fn lost_rows(client: &Client, plan: &Plan) -> usize {
    let lost: Vec<&str> =
        plan.orders.iter().filter(|order| order.is_last_lost).map(|order| order.id.as_str()).collect();
    let sql = "select id, version from ordem.orders where id = any ($1)";
    let rows = client.query(sql, &[&lost]).await.unwrap();
    let versions: BTreeMap<String, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let is_there = |id: &str, version: i64| versions.get(id) == Some(&version);
    let orders = plan.orders.iter().filter(|order| order.is_last_lost);
    orders.filter(|order| !is_there(&order.id, Truth::of(&order.facts).version)).count()
}

async fn rows(client: &Client, plan: &Plan, found: &mut Vec<String>) {
    let sql = "select id, status, version, total_minor, customer_email, currency, source from ordem.orders";
    let mut rows = BTreeMap::new();
    for row in client.query(sql, &[]).await.unwrap() {
        let fields: (String, i64, Option<i64>, Option<String>) =
            (row.get(1), row.get(2), row.get(3), row.get(4));
        let rest: (Option<String>, String) = (row.get(5), row.get(6));
        rows.insert(row.get::<_, String>(0), (fields, rest));
    }
    for order in &plan.orders {
        let Truth { status, version, total, email } = Truth::of(&order.facts);
        let wanted =
            ((status.to_owned(), version, total, email), (Some("BRL".to_owned()), "loja".to_owned()));
        let row = rows.remove(&order.id);
        if row.as_ref() != Some(&wanted) {
            found.push(format!("order {} is {row:?}, not {wanted:?}", order.id));
        }
    }
    found.extend(rows.keys().map(|id| format!("order {id} was never told of")));
}

async fn events(client: &Client, plan: &Plan, found: &mut Vec<String>) {
    let sql = "select outcome, origin, count(*) from ordem.events group by 1, 2";
    let mut webhooks = 0;
    for row in client.query(sql, &[]).await.unwrap() {
        let (outcome, origin, count): (Option<String>, String, i64) = (row.get(0), row.get(1), row.get(2));
        let known = ["applied", "stale", "terminal_regression"];
        if !outcome.as_deref().is_some_and(|outcome| known.contains(&outcome)) {
            found.push(format!("{count} events ended {outcome:?}"));
        }
        webhooks += if origin == "webhook" { count } else { 0 };
    }
    let sent = i64::try_from(plan.distinct_sent()).unwrap();
    if webhooks != sent {
        found.push(format!("{webhooks} events came as webhooks, {sent} were sent"));
    }
}

/// The effects of each order, and whether they are those that the arrival of its facts demands.
async fn effects(
    client: &Client,
    plan: &Plan,
    arrivals: &Arrivals,
    known: Order,
    found: &mut Vec<String>,
) -> BTreeMap<String, Vec<String>> {
    let sql = "select resource_id, effect from ordem_engine.effects order by resource_id, sequence";
    let mut written: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in client.query(sql, &[]).await.unwrap() {
        written.entry(row.get(0)).or_default().push(row.get(1));
    }
    let nothing = Vec::new();
    for (order, arrival) in plan.orders.iter().zip(arrivals) {
        let mine = written.get(&order.id).unwrap_or(&nothing);
        let mut arrived: Vec<Fact> = arrival.iter().map(|at| order.facts[*at].clone()).collect();
        // The store shows an order after its webhooks.
        arrived.extend(order.facts.last().filter(|_| order.is_last_lost).cloned());
        let ways = match known {
            Order::AsAnswered => vec![arrived.clone()],
            Order::Any => permutations(&order.facts),
        };
        if !ways.iter().any(|way| demanded(way) == *mine) {
            let statuses: Vec<&str> = arrived.iter().map(|fact| fact.status).collect();
            found.push(format!("order {}: {statuses:?} demand other effects than {mine:?}", order.id));
        }
    }
    written
}

fn permutations(facts: &[Fact]) -> Vec<Vec<Fact>> {
    let Some((first, rest)) = facts.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for at in 0..=shorter.len() {
            let mut way = shorter.clone();
            way.insert(at, first.clone());
            all.push(way);
        }
    }
    all
}

async fn delivered(
    client: &Client,
    fulfillment: &Fulfillment,
    written: &BTreeMap<String, Vec<String>>,
    found: &mut Vec<String>,
) {
    let sql = "select effect_id::text, resource_id, effect, state from ordem.effects";
    let mut keys = BTreeMap::new();
    for row in client.query(sql, &[]).await.unwrap() {
        let state: String = row.get(3);
        if state != "delivered" {
            found.push(format!(
                "effect {} of {} is {state}",
                row.get::<_, String>(2),
                row.get::<_, String>(1)
            ));
        }
        keys.insert(row.get::<_, String>(0), (row.get::<_, String>(1), row.get::<_, String>(2)));
    }
    fulfillment.read(|book| {
        found.extend(book.bad.iter().cloned());
        for (key, work) in &keys {
            if book.done.get(key) != Some(work) {
                found.push(format!("{work:?} is missing at the destination"));
            }
        }
        let unknown = book.done.iter().filter(|(key, _)| !keys.contains_key(*key));
        found.extend(unknown.map(|(key, work)| format!("{work:?} was done under {key}, which nobody wrote")));
        // Both hold each key once, so equal lists mean: none missing, none twice, in the order they were written.
        for (order, effects) in written {
            if book.orders.get(order) != Some(effects) {
                found.push(format!("order {order} got {:?}, not {effects:?}", book.orders.get(order)));
            }
        }
    });
}
