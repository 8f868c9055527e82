//! What the provider says about its orders, and in which order it is sent. All by a seed.

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::{Value, json};

/// The lives that orders lead: their statuses in the order of facts.
const LIVES: [&[&str]; 9] = [
    &["created", "paid", "shipped"],
    &["created", "paid", "shipped"],
    &["created", "paid"],
    &["created", "canceled"],
    &["created", "paid", "canceled"],
    &["created", "paid", "refunded"],
    &["created", "paid", "canceled", "refunded"],
    &["created", "paid", "shipped", "refunded"],
    // The payment came after the cancellation: nothing leaves `canceled` but a refund.
    &["created", "canceled", "paid"],
];

/// One fact of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) status: &'static str,
    pub(crate) sequence: i64,
    pub(crate) total: Option<i64>,
    pub(crate) email: Option<String>,
}

/// One order.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) id: String,
    /// In the order of facts.
    pub(crate) facts: Vec<Fact>,
    /// Whether the webhook of the last fact is never sent.
    pub(crate) is_last_lost: bool,
}

/// The whole load.
pub(crate) struct Plan {
    pub(crate) orders: Vec<Order>,
    /// What is sent: numbers of order and fact, duplicates among them.
    pub(crate) sends: Vec<(usize, usize)>,
}

impl Plan {
    /// `ORDEM_E2E_SEED` makes other plans of the same kind.
    pub(crate) fn new(seed: u64, orders: usize) -> Self {
        let other = std::env::var("ORDEM_E2E_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = other.unwrap_or(0_u64).wrapping_mul(1000) + seed;
        let mut dice = StdRng::seed_from_u64(seed);
        let orders: Vec<Order> = (0..orders).map(|n| Order::new(n, &mut dice)).collect();
        let mut sends: Vec<(usize, usize)> = Vec::new();
        for (n, order) in orders.iter().enumerate() {
            for at in 0..order.sent().len() {
                sends.push((n, at));
                if dice.random_bool(0.1) {
                    sends.push((n, at));
                }
            }
        }
        sends.shuffle(&mut dice);
        Self { orders, sends }
    }

    /// How many distinct events are sent.
    pub(crate) fn distinct_sent(&self) -> usize {
        self.orders.iter().map(|order| order.sent().len()).sum()
    }
}

impl Order {
    fn new(n: usize, dice: &mut StdRng) -> Self {
        let id = format!("ped_{n}");
        let life = LIVES[dice.random_range(0..LIVES.len())];
        let mut facts = Vec::new();
        for (at, status) in life.iter().enumerate() {
            let total = (at == 0 || dice.random_bool(0.3)).then(|| dice.random_range(100..1_000_000));
            let email = dice.random_bool(0.5).then(|| format!("{id}.{at}@example.com"));
            let sequence = i64::try_from(at + 1).unwrap();
            facts.push(Fact { status, sequence, total, email });
        }
        let ends_last = facts.last().map(|fact| fact.status) == Some(ending(&facts).0);
        Self { id, is_last_lost: ends_last && dice.random_bool(0.03), facts }
    }

    /// The facts whose webhooks are sent.
    pub(crate) fn sent(&self) -> &[Fact] {
        &self.facts[..self.facts.len() - usize::from(self.is_last_lost)]
    }

    /// The body of a fact's webhook.
    pub(crate) fn body(&self, fact: &Fact) -> Vec<u8> {
        let mut data = json!({"id": self.id, "currency": "BRL"});
        if let Some(total) = fact.total {
            data["total_cents"] = json!(total);
        }
        // Null and absent both say nothing.
        data["customer_email"] = json!(fact.email);
        json!({
            "id": format!("evt_{}_{}", self.id, fact.sequence),
            "type": format!("order.{}", fact.status),
            "sequence": fact.sequence,
            "occurred_at": "2026-01-02T03:04:05Z",
            "data": data,
        })
        .to_string()
        .into_bytes()
    }

    /// The order as the store's own API tells it.
    pub(crate) fn item(&self, updated_at: &str) -> Value {
        let truth = Truth::of(&self.facts);
        let status = if truth.status == "created" { "open" } else { truth.status };
        json!({
            "id": self.id, "status": status, "sequence": truth.version, "updated_at": updated_at,
            "total_cents": truth.total, "customer_email": truth.email,
        })
    }
}

/// What an order's row must say in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) status: &'static str,
    pub(crate) version: i64,
    pub(crate) total: Option<i64>,
    pub(crate) email: Option<String>,
}

impl Truth {
    /// All facts in their order: the last status, save that `canceled` leads only to `refunded`, and the newest of each
    /// field.
    pub(crate) fn of(facts: &[Fact]) -> Self {
        let mut facts = facts.to_vec();
        facts.sort_by_key(|fact| fact.sequence);
        let (status, version) = ending(&facts);
        let total = facts.iter().rev().find_map(|fact| fact.total);
        let email = facts.iter().rev().find_map(|fact| fact.email.clone());
        Self { status, version, total, email }
    }
}

fn ending(facts: &[Fact]) -> (&'static str, i64) {
    let mut now = (facts[0].status, facts[0].sequence);
    for fact in &facts[1..] {
        let may = match now.0 {
            "canceled" => fact.status == "refunded" || fact.status == "canceled",
            "refunded" => fact.status == "refunded",
            _ => true,
        };
        if may {
            now = (fact.status, fact.sequence);
        }
    }
    now
}

/// The effects that facts demand which arrive in this order.
pub(crate) fn demanded(arrival: &[Fact]) -> Vec<&'static str> {
    let mut effects = Vec::new();
    let mut known: Vec<Fact> = Vec::new();
    let mut status = "";
    for fact in arrival {
        let is_first = !known.iter().any(|other| other.status == fact.status);
        known.push(fact.clone());
        let now = Truth::of(&known).status;
        let entered = if now == status { "" } else { now };
        status = now;
        if entered == "paid" && !effects.contains(&"release_picking") {
            effects.push("release_picking");
        }
        let was_shipped = known.iter().any(|other| other.status == "shipped");
        if is_first && fact.status == "canceled" && effects.contains(&"release_picking") && !was_shipped {
            effects.push("halt_picking");
        }
        if entered == "refunded" && !effects.contains(&"notify_refund") {
            effects.push("notify_refund");
        }
    }
    effects
}

#[test]
fn the_demanded_effects_follow_the_rules_of_the_flow() {
    let fact = |status: &'static str, sequence| Fact { status, sequence, total: None, email: None };
    let of = |facts: &[(&'static str, i64)]| {
        let facts: Vec<Fact> = facts.iter().map(|(status, sequence)| fact(status, *sequence)).collect();
        demanded(&facts)
    };
    assert_eq!(of(&[("created", 1), ("paid", 2), ("shipped", 3)]), ["release_picking"]);
    assert_eq!(of(&[("shipped", 3), ("paid", 2)]), [""; 0]);
    assert_eq!(of(&[("paid", 2), ("canceled", 3)]), ["release_picking", "halt_picking"]);
    assert_eq!(of(&[("canceled", 3), ("paid", 2)]), [""; 0]);
    assert_eq!(of(&[("paid", 3), ("created", 1), ("canceled", 2)]), ["release_picking", "halt_picking"]);
    let late = of(&[("paid", 2), ("refunded", 4), ("canceled", 3)]);
    assert_eq!(late, ["release_picking", "notify_refund", "halt_picking"]);
}
