//! One order of the store, and the webhook that tells of each step of its life.

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    dice::Dice,
    store::life::{Life, Status},
};

/// What every order is paid in.
pub const CURRENCY: &str = "BRL";

/// What of an order never changes: derived from the seed and its number.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// Its number, from 0.
    pub number: u64,
    /// What happens to it.
    pub life: Life,
    dice: Dice,
}

impl Order {
    /// The order with this number in this seed's world.
    pub fn new(dice: Dice, number: u64) -> Self {
        Self { number, life: Life::of(dice, number), dice }
    }

    /// What the customer pays.
    pub fn total_cents(&self) -> i64 {
        12_990 + (self.number % 1_000) as i64
    }

    /// The customer's address after this step: some correct it when they pay.
    pub fn email(&self, sequence: usize) -> String {
        let n = self.number;
        if sequence >= 2 && self.dice.chance(0.05, "corrects address", &[n]) {
            format!("cliente{n}@correto.example.com")
        } else {
            format!("cliente{n}@example.com")
        }
    }

    /// Whether the webhook of this step leaves the address out, as providers do now and then.
    ///
    /// Only where every webhook of the order is sent, so that another one tells it.
    pub fn hides_email(&self, sequence: usize, lost_share: f64) -> bool {
        sequence > 2
            && self.dice.chance(0.20, "hides address", &[self.number, sequence as u64])
            && !(1..=self.life.steps().len()).any(|step| self.is_lost(step, lost_share))
    }

    /// Whether the webhook of this step is never sent.
    pub fn is_lost(&self, sequence: usize, lost_share: f64) -> bool {
        self.life.may_lose(sequence) && self.dice.chance(lost_share, "lost", &[self.number, sequence as u64])
    }

    /// The status after this step, counted from 1.
    pub fn status(&self, sequence: usize) -> Status {
        let steps = self.life.steps();
        steps[sequence.clamp(1, steps.len()) - 1]
    }

    /// The bytes of the webhook that tells of this step.
    ///
    /// # Errors
    /// When the event cannot be written as JSON, which its shape rules out.
    pub fn webhook(
        &self,
        names: &Names,
        sequence: usize,
        at: Timestamp,
        lost_share: f64,
    ) -> serde_json::Result<Bytes> {
        let email = self.email(sequence);
        let event = Event {
            id: &names.event(self.number, sequence),
            kind: self.status(sequence).event_type(),
            sequence,
            occurred_at: format!("{at:.3}"),
            data: Data {
                id: &names.order(self.number),
                total_cents: self.total_cents(),
                customer_email: (!self.hides_email(sequence, lost_share)).then_some(&*email),
                currency: CURRENCY,
                items: (0..ITEMS).map(|n| Item::of(self.number, n)).collect(),
            },
        };
        serde_json::to_vec(&event).map(Bytes::from)
    }
}

/// How orders and events are called; the prefix keeps several runs on one database apart.
#[derive(Debug, Clone, Default)]
pub struct Names {
    prefix: String,
}

impl Names {
    /// Names that begin with `prefix`.
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into() }
    }

    /// What all order names of this run begin with.
    pub fn order_prefix(&self) -> String {
        format!("{}ped_", self.prefix)
    }

    /// The order's id.
    pub fn order(&self, number: u64) -> String {
        format!("{}ped_{number:08}", self.prefix)
    }

    /// The id of the event that tells of a step.
    pub fn event(&self, number: u64, sequence: usize) -> String {
        format!("{}evt_{number:08}_{sequence}", self.prefix)
    }

    /// The number in an order's id, `None` for any other text.
    pub fn number(&self, id: &str) -> Option<u64> {
        let digits = id.strip_prefix(&self.prefix)?.strip_prefix("ped_")?;
        let number = digits.parse().ok()?;
        (self.order(number) == id).then_some(number)
    }
}

/// Order lines in a webhook: they make its size a realistic kilobyte.
const ITEMS: u64 = 6;

#[derive(Serialize)]
struct Event<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    sequence: usize,
    occurred_at: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    id: &'a str,
    total_cents: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_email: Option<&'a str>,
    currency: &'static str,
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    sku: String,
    qty: u64,
    price_cents: u64,
    title: String,
}

impl Item {
    fn of(order: u64, line: u64) -> Self {
        Self {
            sku: format!("SKU-{:05}", (order * 7 + line) % 9_973),
            qty: 1 + line % 3,
            price_cents: 990 + 10 * line,
            title: format!("Camiseta básica algodão tamanho {line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_no_other_text_is() {
        let names = Names::new("r1_");
        assert_eq!(names.number(&names.order(42)), Some(42));
        assert_eq!(names.number("ped_00000042"), None);
        assert_eq!(names.number("r1_ped_42"), None);
        assert_eq!(names.number("r1_ped_+0000042"), None);
    }

    #[test]
    fn the_webhook_has_the_shape_of_the_loja_provider() {
        let order = Order::new(Dice::new(7), 3);
        let at: Timestamp = "2026-01-01T00:01:00.25Z".parse().unwrap();
        let body = order.webhook(&Names::default(), 1, at, 0.0).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["id"], "evt_00000003_1");
        assert_eq!(value["type"], "order.created");
        assert_eq!(value["occurred_at"], "2026-01-01T00:01:00.250Z");
        assert_eq!(value["data"]["id"], "ped_00000003");
        assert_eq!(value["data"]["total_cents"], 12_993);
        assert_eq!(value["data"]["items"].as_array().unwrap().len(), 6);
    }
}
