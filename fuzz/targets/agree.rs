//! Reads a request twice: as the receiver does, and as the applier does from what the inbox keeps.

use std::sync::LazyLock;

use domain::{Flow, FlowSpec};
use jiff::Timestamp;
use profile::{Incoming, KeptHeaders, Origin, Profile, Reading, Stored};

/// Inflated, no body becomes larger.
const BYTES_MAX: usize = 1024 * 1024;

const FULL: &str = include_str!("../../crates/profile/tests/it/full.toml");

/// A profile of every key; the same without its form field, so that fields are the event; and a plain one.
static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let bare = FULL.replace("unwrap = \"payload\"", "").replace("split = \"batches[].events[].event\"", "");
    let plain = include_str!("../../profiles/loja.toml");
    [FULL, &bare, plain].map(|text| Profile::parse("fuzz.toml", text).unwrap()).into()
});

static FLOW: LazyLock<Flow> = LazyLock::new(|| {
    let statuses = ["created", "paid", "shipped", "canceled", "refunded"].map(str::to_owned).to_vec();
    FlowSpec { statuses, ..FlowSpec::default() }.compile().unwrap()
});

/// Panics where the two disagree.
pub(crate) fn check(body: &[u8], headers: &[(&str, &[u8])]) {
    // No HTTP server lets control characters through in a header.
    let whole = |(_, value): &&(&str, &[u8])| value.iter().all(|byte| *byte >= b' ' && *byte != 0x7f);
    let headers: Vec<_> = headers.iter().filter(whole).copied().collect();
    for profile in PROFILES.iter() {
        let _ = profile.handshake("POST", &headers, body, BYTES_MAX);
        let Ok(envelopes) = profile.envelopes_within(&Incoming { body, headers: &headers }, BYTES_MAX) else {
            continue;
        };
        assert!(!envelopes.is_empty(), "a request is at least one event");
        let kept = KeptHeaders::parse(profile.keep(&headers).as_deref());
        for envelope in envelopes {
            let stored = Stored {
                source: "fuzz",
                origin: Origin::Webhook,
                body: &envelope.body,
                headers: &kept,
                event_type: envelope.event_type.as_deref(),
                event_key: "key",
                received_at: Timestamp::MAX,
            };
            match profile.read(&stored, &|_| Some(&FLOW)) {
                Reading::Fact { resource, .. } | Reading::Fetch { resource, .. } => {
                    assert_eq!(Some(resource.id.as_str()), envelope.resource_id.as_deref());
                    assert_eq!(Some(resource.kind.as_str()), envelope.kind.as_deref());
                }
                Reading::Ignored(_) | Reading::Test(_) | Reading::Malformed(_) => {}
            }
        }
    }
}
