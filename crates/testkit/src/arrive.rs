//! Events in the inbox without a receiver.

use db::{
    GenericClient,
    ids::new_id_in_order,
    inbox::{self, NewEvent, Origin},
};
use jiff::Timestamp;
use profile::{Incoming, Profile};
use uuid::Uuid;

/// Stores bodies as the receiver would, all at this instant and in this order; returns the ids of their events.
///
/// # Panics
/// When the database refuses.
pub async fn arrive(
    client: &impl GenericClient,
    profile: &Profile,
    source: &str,
    now: Timestamp,
    bodies: &[Vec<u8>],
) -> Vec<Uuid> {
    let mut ids = Vec::new();
    for body in bodies {
        for envelope in profile.envelopes(&Incoming { body, headers: &() }) {
            let event_id = new_id_in_order(now, ids.len());
            let event = NewEvent {
                event_id,
                source,
                dedup_key: envelope.dedup_key.as_deref(),
                body_hash: 0,
                event_type: envelope.event_type.as_deref(),
                kind: envelope.kind.as_deref(),
                resource_id: envelope.resource_id.as_deref(),
                origin: Origin::Webhook,
                received_at: now,
                headers: None,
                body: &envelope.body,
            };
            inbox::store(client, &[event]).await.expect("the event is stored");
            ids.push(event_id);
        }
    }
    ids
}
