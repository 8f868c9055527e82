//! Profiles, flows and short ways to read.

use domain::{Fact, Flow, FlowSpec};
use jiff::Timestamp;
use profile::{Envelope, Incoming, Origin, Profile, Reading, Stored};

pub(crate) const LOJA: &str = include_str!("../../../../profiles/loja.toml");

/// Later than every instant in the tests' events that is meant to be believed.
pub(crate) const ARRIVAL: &str = "2026-12-31T00:00:00Z";

pub(crate) fn loja() -> Profile {
    parse(LOJA)
}

pub(crate) fn parse(toml: &str) -> Profile {
    Profile::parse("profiles/test.toml", toml).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The loja profile with one piece of its text replaced.
pub(crate) fn loja_with(from: &str, to: &str) -> Profile {
    assert!(LOJA.contains(from), "{from:?} is not in the profile");
    parse(&LOJA.replace(from, to))
}

pub(crate) fn flow() -> Flow {
    let statuses = ["created", "paid", "shipped", "canceled", "refunded"];
    let spec = FlowSpec { statuses: statuses.map(str::to_owned).to_vec(), ..FlowSpec::default() };
    spec.compile().unwrap()
}

pub(crate) fn envelopes<'a>(profile: &'a Profile, body: &'a [u8]) -> Vec<Envelope<'a>> {
    profile.envelopes(&Incoming { body, headers: &() })
}

pub(crate) fn read_at(profile: &Profile, origin: Origin, body: &[u8], received_at: &str) -> Reading {
    let flow = flow();
    let received_at: Timestamp = received_at.parse().unwrap();
    let stored = Stored {
        source: "loja",
        origin,
        body,
        headers: &(),
        event_type: None,
        event_key: "key",
        received_at,
    };
    profile.read(&stored, &|kind| (kind == "order").then_some(&flow))
}

pub(crate) fn read(profile: &Profile, body: &str) -> Reading {
    read_at(profile, Origin::Webhook, body.as_bytes(), ARRIVAL)
}

pub(crate) fn fact(profile: &Profile, body: &str) -> Fact {
    match read(profile, body) {
        Reading::Fact { fact, .. } => fact,
        other => panic!("{body} gives {other:?}"),
    }
}

pub(crate) fn malformed(profile: &Profile, body: &str) -> String {
    match read(profile, body) {
        Reading::Malformed(reason) => reason,
        other => panic!("{body} gives {other:?}"),
    }
}
