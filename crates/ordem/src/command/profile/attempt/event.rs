//! One event of what was tried, and what the flow makes of it.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, sync::Arc};

use domain::{Fact, Flow, Version, decide};
use jiff::Timestamp;
use profile::{Envelope, Origin, Profile, Reading, Stored};
use serde::Serialize;
use service::settings::Configured;
use signature::Headers;

use crate::{failure::BadInput, words};

/// One event.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Event {
    /// `fact`, `fetching`, `ignored`, `test` or `malformed`.
    pub(crate) outcome: &'static str,
    reason: Option<String>,
    dedup_key: Option<String>,
    event_type: Option<String>,
    kind: Option<String>,
    resource: Option<String>,
    status: Option<String>,
    version: Option<Version>,
    fields: BTreeMap<String, domain::Value>,
    /// What the flow makes of it.
    decision: Option<&'static str>,
    /// `NAME -> DESTINATION`
    effects: Vec<String>,
}

/// What reads events, and what is known besides them.
pub(crate) struct Maker<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) source: &'a str,
    /// The status that the resource has already.
    pub(crate) after: Option<&'a str>,
    pub(crate) now: Timestamp,
    flows: BTreeMap<String, Arc<Flow>>,
}

impl<'a> Maker<'a> {
    /// With the flows of the configuration, where there is one.
    pub(crate) fn new(
        profile: &'a Profile,
        dir: &Path,
        source: &'a str,
        after: Option<&'a str>,
        now: Timestamp,
    ) -> Self {
        let flows = Configured::load(dir).map(|configured| configured.flows).unwrap_or_default();
        Self { profile, source, after, now, flows }
    }

    /// The flow of a kind.
    pub(crate) fn flow(&self, kind: &str) -> Option<&Flow> {
        self.flows.get(kind).map(AsRef::as_ref)
    }

    /// As the inbox would keep it.
    pub(crate) fn stored<'s>(
        &'s self,
        origin: Origin,
        envelope: &'s Envelope<'_>,
        headers: &'s dyn Headers,
    ) -> Stored<'s> {
        Stored {
            source: self.source,
            origin,
            body: &envelope.body,
            headers,
            event_type: envelope.event_type.as_deref(),
            event_key: envelope.dedup_key.as_deref().unwrap_or_default(),
            received_at: self.now,
        }
    }

    /// What is stored and then read.
    pub(crate) fn event(
        &self,
        origin: Origin,
        envelope: &Envelope<'_>,
        headers: &dyn Headers,
    ) -> Result<Event, BadInput> {
        let stored = self.stored(origin, envelope, headers);
        let mut event = self.told(self.profile.read(&stored, &|kind| self.flow(kind)))?;
        event.dedup_key.clone_from(&envelope.dedup_key);
        event.event_type = envelope.event_type.as_deref().map(ToOwned::to_owned).or(event.event_type);
        event.kind = envelope.kind.as_deref().map(ToOwned::to_owned).or(event.kind);
        event.resource = envelope.resource_id.as_deref().map(ToOwned::to_owned).or(event.resource);
        Ok(event)
    }

    /// What a reading tells.
    pub(crate) fn told(&self, reading: Reading) -> Result<Event, BadInput> {
        let mut event = Event::default();
        let (outcome, reason) = match reading {
            Reading::Fact { resource, fact } => {
                if let Some(flow) = self.flow(&resource.kind) {
                    self.decide(&mut event, &fact, flow)?;
                }
                (event.kind, event.resource) = (Some(resource.kind), Some(resource.id));
                event.status = Some(fact.status);
                event.version = Some(fact.version);
                event.fields = fact.fields;
                ("fact", None)
            }
            Reading::Fetch { resource, fetch, .. } => {
                ("fetching", Some(format!("the provider is asked about {} by [fetch.{fetch}]", resource.id)))
            }
            Reading::Ignored(reason) => ("ignored", Some(reason)),
            Reading::Test(reason) => ("test", Some(reason)),
            Reading::Malformed(reason) => ("malformed", Some(reason)),
        };
        (event.outcome, event.reason) = (outcome, reason);
        Ok(event)
    }

    fn decide(&self, event: &mut Event, fact: &Fact, flow: &Flow) -> Result<(), BadInput> {
        let before = match self.after {
            None => None,
            Some(status) if flow.rank(status).is_none() => {
                let known = flow.statuses().join(", ");
                return Err(BadInput::new(format!("--after: no status \"{status}\" (there are: {known})")));
            }
            Some(status) => {
                let version = Version::new(fact.version.major.saturating_sub(1), 0);
                let earlier =
                    Fact { version, status: status.to_owned(), fields: BTreeMap::new(), ..fact.clone() };
                Some(decide(None, &earlier, flow).resource)
            }
        };
        let decision = decide(before.as_ref(), fact, flow);
        event.decision = Some(decision.outcome.as_str());
        let told = decision.effects.iter().map(|effect| format!("{} -> {}", effect.name, effect.destination));
        event.effects = told.collect();
        Ok(())
    }
}

impl Event {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let mut text = format!("event: {}{reason}\n", self.outcome);
        let effects = (!self.effects.is_empty()).then(|| self.effects.join(", "));
        let version = self.version.map(words::version);
        let decision = self.decision.map(ToOwned::to_owned);
        for (label, value) in [
            ("dedup key", &self.dedup_key),
            ("type", &self.event_type),
            ("kind", &self.kind),
            ("resource", &self.resource),
            ("status", &self.status),
            ("version", &version),
            ("decision", &decision),
            ("effects", &effects),
        ] {
            if let Some(value) = value {
                let _ = writeln!(text, "  {label:<10} {}", words::one_line(value));
            }
        }
        for (name, value) in &self.fields {
            let value = serde_json::to_string(value).unwrap_or_default();
            let _ = writeln!(text, "  field      {name} = {value}");
        }
        text
    }
}
