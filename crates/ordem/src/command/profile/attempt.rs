//! `ordem profile try`: what a captured request would become, without storing anything.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use domain::{Clock as _, Fact, Flow, Version, decide};
use jiff::Timestamp;
use profile::{Envelope, Incoming, Origin, Profile, Reading, Stored};
use serde::Serialize;
use service::{SystemClock, settings::Configured};
use signature::{Request, Target};

use super::{check, verify};
use crate::{failure::BadInput, report::Report, words};

/// Show what a captured request would become: verified or not, and what each event in it means
///
/// Exit code 0 when it was understood (an ignored or a test event is), 1 when it was refused or is malformed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The profile.
    #[arg(value_name = "FILE")]
    file: String,
    /// File of `Name: value` lines, or a JSON object; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    headers: String,
    /// File with the body; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    body: String,
    /// The query of the request, without the question mark.
    #[arg(long, default_value = "")]
    query: String,
    /// The address as registered with the provider.
    #[arg(long, value_name = "URL", default_value = "")]
    public_url: String,
    /// A constant that the signature covers.
    #[arg(long, value_name = "NAME=VALUE", value_parser = verify::pair)]
    constant: Vec<(String, String)>,
    /// A secret. It stays in the shell's history: prefer --secret-env.
    #[arg(long)]
    secret: Vec<String>,
    /// A variable with a secret.
    #[arg(long, value_name = "NAME")]
    secret_env: Vec<String>,
    /// The instant that counts as now.
    #[arg(long, value_name = "INSTANT")]
    now: Option<Timestamp>,
    /// The source's name, as part of the resource.
    #[arg(long, value_name = "NAME", default_value = "try")]
    source: String,
    /// The status that the resource has already.
    #[arg(long, value_name = "STATUS")]
    after: Option<String>,
}

/// What became of the request.
#[derive(Debug, Serialize)]
pub(crate) struct Tried {
    understood: bool,
    /// Which secret it was signed with; null when refused.
    verified_by: Option<String>,
    /// The stable name of the reason why it was refused.
    refused: Option<&'static str>,
    /// The same for people.
    reason: Option<String>,
    /// What is wrong with the profile.
    faults: Vec<check::Found>,
    events: Vec<Event>,
}

/// One event.
#[derive(Debug, Default, Serialize)]
struct Event {
    /// `fact`, `ignored`, `test` or `malformed`.
    outcome: &'static str,
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

impl Args {
    /// Tries.
    pub(crate) fn run(&self, dir: &Path) -> anyhow::Result<Tried> {
        let text = verify::profile_text(&self.file)?;
        let mut tried = Tried {
            understood: false,
            verified_by: None,
            refused: None,
            reason: None,
            faults: Vec::new(),
            events: Vec::new(),
        };
        let profile = match Profile::parse(&self.file, &text) {
            Ok(profile) => profile,
            Err(faults) => {
                tried.faults = check::found(&text, faults).collect();
                return Ok(tried);
            }
        };
        let (headers, body) = (verify::headers(&self.headers)?, verify::bytes(&self.body)?);
        let now = self.now.unwrap_or_else(|| SystemClock.now());
        let (names, keys) = verify::keys(profile.scheme(), &self.secret, &self.secret_env)?;
        let (path, constants) = (format!("/webhooks/{}", self.source), self.constant.as_slice());
        let target =
            Target { method: "POST", path: &path, query: &self.query, url: &self.public_url, constants };
        let request = Request::new(&headers, &body, now.as_second()).to(target);
        match profile.scheme().verify(&request, &keys) {
            Ok(verified) => {
                tried.verified_by = Some(names.get(verified.key_index).cloned().unwrap_or_default())
            }
            Err(refusal) => {
                tried.refused = Some(refusal.as_str());
                tried.reason = Some(refusal.to_string());
            }
        }
        let flows = Configured::load(dir).map(|configured| configured.flows).unwrap_or_default();
        let flow_of = |kind: &str| flows.get(kind).map(AsRef::as_ref);
        for envelope in profile.envelopes(&Incoming { body: &body, headers: &headers }) {
            let event_key = envelope.dedup_key.clone().unwrap_or_default();
            let stored = Stored {
                source: &self.source,
                origin: Origin::Webhook,
                body: &envelope.body,
                headers: &headers,
                event_type: envelope.event_type.as_deref(),
                event_key: &event_key,
                received_at: now,
            };
            tried.events.push(self.event(&envelope, profile.read(&stored, &flow_of), &flow_of)?);
        }
        let malformed = tried.events.iter().any(|event| event.outcome == "malformed");
        tried.understood = tried.refused.is_none() && !malformed;
        Ok(tried)
    }

    fn event<'f>(
        &self,
        envelope: &Envelope<'_>,
        reading: Reading,
        flow_of: &dyn Fn(&str) -> Option<&'f Flow>,
    ) -> anyhow::Result<Event> {
        let mut event = Event {
            dedup_key: envelope.dedup_key.clone(),
            event_type: envelope.event_type.as_deref().map(ToOwned::to_owned),
            kind: envelope.kind.as_deref().map(ToOwned::to_owned),
            resource: envelope.resource_id.as_deref().map(ToOwned::to_owned),
            ..Event::default()
        };
        let (outcome, reason) = match reading {
            Reading::Fact { resource, fact } => {
                if let Some(flow) = flow_of(&resource.kind) {
                    self.decide(&mut event, &fact, flow)?;
                }
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
        event.outcome = outcome;
        event.reason = reason;
        Ok(event)
    }

    fn decide(&self, event: &mut Event, fact: &Fact, flow: &Flow) -> anyhow::Result<()> {
        let before = match &self.after {
            None => None,
            Some(status) if flow.rank(status).is_none() => {
                let known = flow.statuses().join(", ");
                return Err(
                    BadInput::new(format!("--after: no status \"{status}\" (there are: {known})")).into()
                );
            }
            Some(status) => {
                let version = Version::new(fact.version.major.saturating_sub(1), 0);
                let earlier =
                    Fact { version, status: status.clone(), fields: BTreeMap::new(), ..fact.clone() };
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

impl Report for Tried {
    fn text(&self) -> String {
        let faults: String = self.faults.iter().map(|fault| fault.told() + "\n").collect();
        let mut text = match (&self.verified_by, &self.reason) {
            (Some(secret), _) => format!("verified by {secret}\n"),
            (None, Some(reason)) => format!("refused: {reason}\n"),
            (None, None) => faults,
        };
        for event in &self.events {
            let reason = event.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let _ = writeln!(text, "event: {}{reason}", event.outcome);
            let effects = (!event.effects.is_empty()).then(|| event.effects.join(", "));
            let version = event.version.map(words::version);
            let decision = event.decision.map(ToOwned::to_owned);
            for (label, value) in [
                ("dedup key", &event.dedup_key),
                ("type", &event.event_type),
                ("kind", &event.kind),
                ("resource", &event.resource),
                ("status", &event.status),
                ("version", &version),
                ("decision", &decision),
                ("effects", &effects),
            ] {
                if let Some(value) = value {
                    let _ = writeln!(text, "  {label:<10} {}", words::one_line(value));
                }
            }
            for (name, value) in &event.fields {
                let value = serde_json::to_string(value).unwrap_or_default();
                let _ = writeln!(text, "  field      {name} = {value}");
            }
        }
        text
    }

    fn is_trouble(&self) -> bool {
        !self.understood
    }
}
