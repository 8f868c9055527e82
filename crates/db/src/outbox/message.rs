//! What is told of an effect: the same words to whoever takes it, the applier's own transaction or a destination.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use crate::{
    outbox::{ClaimedEffect, EffectToWrite},
    resources,
};

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
    fields: Cow<'a, RawValue>,
}

impl<'a> Message<'a> {
    /// What is told of a leased effect.
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
                fields: Cow::Borrowed(&effect.fields),
            },
        }
    }

    /// What is told of an effect that is written at `now`: the same as [`Message::of`] would tell of it later.
    pub fn of_new(effect: &'a EffectToWrite<'_>, now: Timestamp) -> Self {
        let EffectToWrite { effect_id, resource_id, effect, snapshot, .. } = effect;
        // Names and plain values, written to memory: there is nothing that can fail.
        let fields = to_raw_value(&resources::values(snapshot)).expect("fields are always JSON");
        Self {
            r#type: format!("{}.{}", resource_id.kind, effect.name),
            // As the table keeps it.
            timestamp: Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now),
            data: Data {
                effect_id: *effect_id,
                source: &resource_id.source,
                kind: &resource_id.kind,
                id: &resource_id.id,
                effect: &effect.name,
                key: &effect.key,
                status: &snapshot.status,
                version: snapshot.version.major,
                fields: Cow::Owned(fields),
            },
        }
    }

    /// What it tells of: `order.release_picking`.
    pub fn event_type(&self) -> &str {
        &self.r#type
    }

    /// As bytes.
    pub fn to_json(&self) -> Vec<u8> {
        // Texts, numbers and checked JSON, written to memory: there is nothing that can fail.
        serde_json::to_vec(self).expect("a message is always JSON")
    }
}
