//! Reads Ordem's SQL views, the way anyone outside may.

use anyhow::Context as _;
use tokio_postgres::{Client, NoTls, Row};

/// The source that the sandbox plays.
pub const SOURCE: &str = "loja";

/// The destination that the sandbox plays.
pub const DESTINATION: &str = "fulfillment";

/// The rows of one run.
#[derive(Debug, Clone, Default)]
pub struct Views {
    /// `ordem.orders`.
    pub orders: Vec<OrderRow>,
    /// `ordem.events`.
    pub events: Vec<EventRow>,
    /// `ordem.effects`.
    pub effects: Vec<EffectRow>,
}

/// A row of `ordem.orders`.
#[derive(Debug, Clone)]
pub struct OrderRow {
    /// The order's id.
    pub id: String,
    /// Its status in Ordem's words.
    pub status: String,
    /// The version of the fact that gave it.
    pub version: i64,
    /// What the customer pays, in minor units.
    pub total_minor: Option<i64>,
    /// The currency of it.
    pub currency: Option<String>,
    /// The customer's address.
    pub customer_email: Option<String>,
}

/// A row of `ordem.events`.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// The store's id of the event, read from the dedup key; `None` for a polled fact.
    pub event: Option<String>,
    /// Who brought it.
    pub origin: String,
    /// What came of it, `None` while pending.
    pub outcome: Option<String>,
}

/// A row of `ordem.effects`.
#[derive(Debug, Clone)]
pub struct EffectRow {
    /// The order's id.
    pub order: String,
    /// The effect's name.
    pub effect: String,
    /// How far it is.
    pub state: String,
}

/// What waits in Ordem.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Events without an outcome.
    pub inbox: i64,
    /// Effects not delivered yet.
    pub outbox: i64,
}

impl Views {
    /// Reads the rows of all orders whose id begins with `order_prefix`.
    ///
    /// # Errors
    /// When a view cannot be read.
    pub async fn read(client: &Client, order_prefix: &str) -> anyhow::Result<Self> {
        let event_names = EventNames::of(order_prefix);
        let orders = client
            .query(include_str!("orders.sql"), &[&SOURCE, &order_prefix])
            .await
            .context("cannot read ordem.orders")?;
        let events = client
            .query(include_str!("events.sql"), &[&SOURCE, &order_prefix])
            .await
            .context("cannot read ordem.events")?;
        let effects = client
            .query(include_str!("effects.sql"), &[&SOURCE, &order_prefix, &DESTINATION])
            .await
            .context("cannot read ordem.effects")?;
        Ok(Self {
            orders: orders.iter().map(order).collect::<Result<_, _>>()?,
            events: events.iter().map(|row| event(row, &event_names)).collect::<Result<_, _>>()?,
            effects: effects.iter().map(effect).collect::<Result<_, _>>()?,
        })
    }

    /// Facts that came by the reconciler and changed something.
    pub fn recovered(&self) -> usize {
        let applied = |row: &&EventRow| row.outcome.as_deref() == Some("applied");
        let polled = self.events.iter().filter(|row| row.origin == "reconcile");
        polled.filter(applied).count()
    }
}

/// Connects without TLS: the sandbox is for a database at hand.
///
/// # Errors
/// When the database does not answer.
pub async fn connect(database_url: &str) -> anyhow::Result<Client> {
    let connected = tokio_postgres::connect(database_url, NoTls).await;
    let (client, connection) = connected.context("cannot connect to the database")?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "database connection ended");
        }
    });
    Ok(client)
}

/// Counts what waits in Ordem.
///
/// # Errors
/// When a view cannot be read.
pub async fn backlog(client: &Client) -> anyhow::Result<Backlog> {
    let row = client.query_one(include_str!("backlog.sql"), &[]);
    let row = row.await.context("cannot count the backlog")?;
    Ok(Backlog { inbox: row.try_get("inbox")?, outbox: row.try_get("outbox")? })
}

/// Finds the store's event id in a dedup key, whatever stands around it.
#[derive(Debug)]
pub struct EventNames {
    stem: String,
}

impl EventNames {
    /// Names of the events whose orders begin with `order_prefix`.
    pub fn of(order_prefix: &str) -> Self {
        let run = order_prefix.strip_suffix("ped_").unwrap_or(order_prefix);
        Self { stem: format!("{run}evt_") }
    }

    /// The event's id in a key: the stem, eight digits, an underscore and one digit.
    pub fn find(&self, dedup_key: &str) -> Option<String> {
        let from = dedup_key.find(&self.stem)?;
        let name = dedup_key.get(from..from + self.stem.len() + 10)?;
        Some(name.to_owned())
    }
}

fn order(row: &Row) -> Result<OrderRow, tokio_postgres::Error> {
    Ok(OrderRow {
        id: row.try_get("id")?,
        status: row.try_get("status")?,
        version: row.try_get("version")?,
        total_minor: row.try_get("total_minor")?,
        currency: row.try_get("currency")?,
        customer_email: row.try_get("customer_email")?,
    })
}

fn event(row: &Row, names: &EventNames) -> Result<EventRow, tokio_postgres::Error> {
    let dedup_key: Option<String> = row.try_get("dedup_key")?;
    Ok(EventRow {
        event: dedup_key.and_then(|key| names.find(&key)),
        origin: row.try_get("origin")?,
        outcome: row.try_get("outcome")?,
    })
}

fn effect(row: &Row) -> Result<EffectRow, tokio_postgres::Error> {
    Ok(EffectRow {
        order: row.try_get("resource_id")?,
        effect: row.try_get("effect")?,
        state: row.try_get("state")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_is_found_in_a_length_prefixed_key() {
        let names = EventNames::of("r1_ped_");
        let found = names.find("17:r1_evt_00000003_25:order").unwrap();
        assert_eq!(found, "r1_evt_00000003_2");
        assert_eq!(names.find("r1_evt_0000"), None);
        assert_eq!(names.find("evt_00000003_2"), None);
    }
}
