//! The rows that a case has made so far.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio_postgres::Client;

/// Greater versions are instants in a scheme of the files' own.
const SEQUENCE_MAX: i64 = 1_000_000_000_000;

/// Orders and effects by the order's name: sources other than the case's own stand before it.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) orders: BTreeMap<String, Order>,
    pub(crate) effects: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
pub(crate) struct Order {
    status: String,
    version: i64,
    total: Option<i64>,
    currency: Option<String>,
    email: Option<String>,
}

impl Rows {
    pub(crate) async fn read(client: &Client, source: &str) -> Self {
        let name = format!("case when source = '{source}' then '' else source || '/' end");
        let sql = format!(
            "select {name} || id, status, version, total_minor, currency, customer_email from ordem.orders"
        );
        let mut rows = Self::default();
        for row in client.query(&sql, &[]).await.unwrap() {
            let order = Order {
                status: row.get(1),
                version: row.get(2),
                total: row.get(3),
                currency: row.get(4),
                email: row.get(5),
            };
            rows.orders.insert(row.get(0), order);
        }
        let sql = format!(
            "select {name} || resource_id, effect from ordem_engine.effects order by resource_id, sequence"
        );
        for row in client.query(&sql, &[]).await.unwrap() {
            rows.effects.entry(row.get(0)).or_default().push(row.get(1));
        }
        rows
    }
}

impl Order {
    /// Whether it is what a file tells of it.
    pub(crate) fn is(&self, told: &Value) -> bool {
        told.as_object().unwrap().iter().all(|(key, told)| match key.as_str() {
            "status" => *told == self.status.as_str(),
            "total_cents" | "total_minor" => told.as_i64() == self.total,
            "currency" => told.as_str() == self.currency.as_deref(),
            "customer_email" => told.as_str() == self.email.as_deref(),
            "version" => told.as_i64().is_none_or(|told| told >= SEQUENCE_MAX || told == self.version),
            _ => false,
        })
    }
}
