//! What a destination receives: the body, the same at each attempt, and the headers that sign it.

use db::outbox::ClaimedEffect;
use jiff::Timestamp;
use reqwest::{RequestBuilder, header};
use serde::Serialize;
use serde_json::value::RawValue;
use signature::{Key, standard_webhooks};
use uuid::Uuid;

#[derive(Serialize)]
struct Message<'a> {
    r#type: String,
    timestamp: Timestamp,
    data: Data<'a>,
}

#[derive(Serialize)]
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

/// The body: `{"type":"order.release_picking","timestamp":…,"data":{…}}`. It is made of what was stored when the effect
/// was born, so each attempt sends the same bytes.
pub fn body(effect: &ClaimedEffect) -> Vec<u8> {
    let message = Message {
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
    };
    // Texts, numbers and checked JSON, written to memory: there is nothing that can fail.
    serde_json::to_vec(&message).expect("a message is always JSON")
}

/// Adds body and headers: `webhook-id` and `Idempotency-Key` are the effect's id at each attempt, the time is that
/// of the attempt, and each live key signs.
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
    request
        .header(header::CONTENT_TYPE, "application/json")
        .header("webhook-id", &id)
        .header("webhook-timestamp", seconds)
        .header("webhook-signature", signatures.join(" "))
        .header("idempotency-key", &id)
        .body(body)
}
