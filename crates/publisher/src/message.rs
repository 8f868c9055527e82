//! What a destination receives: the body, the same at each attempt, and the headers that sign it.

use db::outbox::ClaimedEffect;
use jiff::Timestamp;
use reqwest::RequestBuilder;
use serde::Serialize;
use serde_json::value::RawValue;
use signature::{Key, standard_webhooks};
use uuid::Uuid;

/// `{"type":"order.release_picking","timestamp":…,"data":{…}}`. It is made of what was stored when the effect was born,
/// so each attempt sends the same bytes. Templates see the same names.
#[derive(Debug, Serialize)]
pub struct Message<'a> {
    r#type: String,
    timestamp: Timestamp,
    data: Data<'a>,
}

#[derive(Debug, Serialize)]
struct Data<'a> {
    effect_id: Uuid,
    source: &'a str,
    kind: &'a str,
    id: &'a str,
    effect: &'a str,
    key: &'a str,
    status: &'a str,
    version: i64,
    fields: &'a RawValue,
}

impl<'a> Message<'a> {
    /// What is told of this effect.
    pub fn of(effect: &'a ClaimedEffect) -> Self {
        Self {
            r#type: format!("{}.{}", effect.kind, effect.effect),
            timestamp: effect.created_at,
            data: Data {
                effect_id: effect.effect_id,
                source: &effect.source,
                kind: &effect.kind,
                id: &effect.resource_id,
                effect: &effect.effect,
                key: &effect.effect_key,
                status: &effect.status,
                version: effect.version_major,
                fields: &effect.fields,
            },
        }
    }

    /// As bytes.
    pub fn to_json(&self) -> Vec<u8> {
        // Texts, numbers and checked JSON, written to memory: there is nothing that can fail.
        serde_json::to_vec(self).expect("a message is always JSON")
    }
}

/// Adds body and headers: `webhook-id` and `Idempotency-Key` are the effect's id at each attempt, the time is that
/// of the attempt, and each key signs. Without keys there is no signature.
pub fn sign(
    request: RequestBuilder,
    effect_id: Uuid,
    now: Timestamp,
    body: Vec<u8>,
    keys: &[Key],
) -> RequestBuilder {
    let id = effect_id.to_string();
    let seconds = now.as_second();
    let signatures: Vec<String> =
        keys.iter().map(|key| standard_webhooks::sign(&id, seconds, &body, key)).collect();
    let mut request =
        request.header("webhook-id", &id).header("webhook-timestamp", seconds).header("idempotency-key", &id);
    if !signatures.is_empty() {
        request = request.header("webhook-signature", signatures.join(" "));
    }
    request.body(body)
}
