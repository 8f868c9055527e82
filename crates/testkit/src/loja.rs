//! Events as the store `loja` sends them.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

/// The secret tests sign with.
pub const SECRET: &str = "segredo";

/// Lower-case hex HMAC-SHA256 of the body: the value of `x-loja-signature`.
///
/// # Panics
/// Never: HMAC takes keys of any length.
pub fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key length");
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}

/// One event of an order.
#[derive(Debug, Clone)]
pub struct Event {
    /// The body's value; change it as the test needs.
    pub json: Value,
}

impl Event {
    /// `order.{status}` of an order at a sequence.
    pub fn new(order: &str, status: &str, sequence: i64) -> Self {
        let json = json!({
            "id": format!("evt_{order}_{sequence}_{status}"),
            "type": format!("order.{status}"),
            "sequence": sequence,
            "occurred_at": "2026-01-02T03:04:05.000Z",
            "data": {
                "id": order,
                "total_cents": 12990,
                "currency": "BRL",
                "customer_email": format!("{order}@example.com"),
            },
        });
        Self { json }
    }

    /// With another event id.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.json["id"] = json!(id);
        self
    }

    /// The body as sent.
    pub fn body(&self) -> Vec<u8> {
        self.json.to_string().into_bytes()
    }

    /// Sends it signed to a receiver (`http://host:port`) and returns the status.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn post(&self, client: &reqwest::Client, receiver: &str) -> reqwest::Result<u16> {
        let body = self.body();
        let answer = client
            .post(format!("{receiver}/webhooks/loja"))
            .header("content-type", "application/json")
            .header("x-loja-signature", sign(SECRET, &body))
            .body(body)
            .send()
            .await?;
        Ok(answer.status().as_u16())
    }
}
