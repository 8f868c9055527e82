//! Verifies kept samples again: after a wrong secret was put right, nothing that was kept is lost.

use std::collections::BTreeMap;

use db::{
    Client,
    ids::new_id_in_order,
    inbox::{self, NewEvent, Origin},
    operations::{self, RefusedSample},
};
use profile::{Envelope, Incoming, KeptHeaders, Profile};
use serde::Serialize;
use service::{
    SourceKeys,
    settings::{Configured, Source},
};
use signature::{Headers as _, Key, Request, Target};
use uuid::Uuid;

use crate::{report::Report, session::Session, table::table};

/// Samples of one transaction: their bodies are held in memory.
const PAGE: i64 = 100;

/// Which samples, and whether to change anything.
pub(crate) struct Wanted<'a> {
    pub(crate) from: Uuid,
    pub(crate) source: Option<&'a str>,
    pub(crate) dry_run: bool,
}

/// What the second look brought, by source.
#[derive(Debug, Serialize)]
pub(crate) struct Reverified {
    dry_run: bool,
    sources: BTreeMap<String, Counts>,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    /// Samples looked at.
    samples: u64,
    /// Those that verify now.
    verified: u64,
    /// Events that entered the inbox from them.
    events_stored: u64,
    /// Events that were in the inbox already.
    duplicates: u64,
    /// Those that are still refused.
    still_refused: u64,
    /// Those of which only the beginning was kept.
    cut: u64,
    /// Those whose source is off in this environment.
    source_off: u64,
}

/// Goes through the samples, page by page, one transaction each.
pub(crate) async fn run(
    session: &Session,
    client: &mut Client,
    wanted: &Wanted<'_>,
) -> anyhow::Result<Reverified> {
    let keys = keys(&session.configured)?;
    let mut reverified = Reverified { dry_run: wanted.dry_run, sources: BTreeMap::new() };
    let mut after = Uuid::nil();
    loop {
        let page = operations::refused_samples(client, after, wanted.from, wanted.source, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.refusal_id;
        let good: Vec<(&RefusedSample, &Profile)> =
            page.iter().filter_map(|sample| reverified.judge(&session.configured, &keys, sample)).collect();
        if !wanted.dry_run && !good.is_empty() {
            store(session, client, &good, &mut reverified).await?;
        }
    }
    if reverified.sources.values().any(|counts| counts.events_stored > 0) {
        db::Channel::Inbox.notify(client).await?;
    }
    Ok(reverified)
}

fn keys(configured: &Configured) -> anyhow::Result<BTreeMap<&str, Vec<Key>>> {
    let keys_of = |source: &Source| -> anyhow::Result<Vec<Key>> {
        let secrets = SourceKeys::resolve(&source.settings).map_err(anyhow::Error::msg)?;
        Ok(secrets.keys(&source.profile)?.keys)
    };
    configured.sources.iter().map(|(name, source)| Ok((name.as_str(), keys_of(source)?))).collect()
}

impl Reverified {
    /// The sample with its profile if it verifies now; counts it either way.
    fn judge<'a>(
        &mut self,
        configured: &'a Configured,
        keys: &BTreeMap<&str, Vec<Key>>,
        sample: &'a RefusedSample,
    ) -> Option<(&'a RefusedSample, &'a Profile)> {
        let counts = self.sources.entry(sample.source.clone()).or_default();
        counts.samples += 1;
        let (Some(source), Some(keys)) =
            (configured.sources.get(&sample.source), keys.get(sample.source.as_str()))
        else {
            counts.source_off += 1;
            return None;
        };
        if i64::try_from(sample.body.len()) != Ok(sample.body_bytes) {
            counts.cut += 1;
            return None;
        }
        let headers = KeptHeaders::parse(Some(&sample.headers));
        let now = sample.refused_at.as_second();
        let kept = |name: &str| {
            let mut value = String::new();
            headers.for_each(name, &mut |line| value = String::from_utf8_lossy(line).into_owned());
            value
        };
        let (query, path) = (kept(profile::QUERY), kept(":path"));
        let constants: Vec<_> = source.settings.constants.clone().into_iter().collect();
        let target = Target {
            method: "POST",
            path: &path,
            query: &query,
            url: source.settings.public_url.as_deref().unwrap_or_default(),
            constants: &constants,
        };
        let request = Request::new(&headers, &sample.body, now).to(target);
        if source.profile.scheme().verify(&request, keys).is_err() {
            counts.still_refused += 1;
            return None;
        }
        counts.verified += 1;
        Some((sample, &source.profile))
    }

    fn counts(&mut self, source: &str) -> &mut Counts {
        self.sources.entry(source.to_owned()).or_default()
    }
}

/// Stores the events of the samples and forgets the samples, in one transaction.
async fn store(
    session: &Session,
    client: &mut Client,
    good: &[(&RefusedSample, &Profile)],
    reverified: &mut Reverified,
) -> anyhow::Result<()> {
    let headers: Vec<_> = good.iter().map(|(sample, _)| KeptHeaders::parse(Some(&sample.headers))).collect();
    let mut envelopes: Vec<(&RefusedSample, Envelope<'_>)> = Vec::new();
    for ((sample, profile), headers) in good.iter().zip(&headers) {
        let found = profile.envelopes(&Incoming { body: &sample.body, headers });
        envelopes.extend(found.into_iter().map(|envelope| (*sample, envelope)));
    }
    // All processes store in this order, or they wait for each other in a circle.
    envelopes
        .sort_by(|(a, left), (b, right)| (&a.source, &left.dedup_key).cmp(&(&b.source, &right.dedup_key)));
    let events: Vec<NewEvent<'_>> = envelopes
        .iter()
        .enumerate()
        .map(|(place, (sample, envelope))| event(new_id_in_order(session.now, place), sample, envelope))
        .collect();
    let transaction = client.transaction().await.map_err(db::Error::from)?;
    let duplicates = inbox::store(&transaction, &events).await?;
    let samples: Vec<Uuid> = good.iter().map(|(sample, _)| sample.refusal_id).collect();
    operations::forget_refused(&transaction, &samples).await?;
    transaction.commit().await.map_err(db::Error::from)?;
    for event in &events {
        let is_duplicate = duplicates.iter().any(|duplicate| duplicate.event_id == event.event_id);
        let counts = reverified.counts(event.source);
        if is_duplicate { counts.duplicates += 1 } else { counts.events_stored += 1 }
    }
    Ok(())
}

fn event<'a>(event_id: Uuid, sample: &'a RefusedSample, envelope: &'a Envelope<'_>) -> NewEvent<'a> {
    NewEvent {
        event_id,
        source: &sample.source,
        dedup_key: envelope.dedup_key.as_deref(),
        body_hash: db::inbox::body_hash(&envelope.body),
        event_type: envelope.event_type.as_deref(),
        kind: envelope.kind.as_deref(),
        resource_id: envelope.resource_id.as_deref(),
        origin: Origin::Webhook,
        received_at: sample.refused_at,
        headers: Some(sample.headers.as_str()).filter(|headers| *headers != "{}"),
        body: &envelope.body,
    }
}

impl Report for Reverified {
    fn text(&self) -> String {
        if self.sources.is_empty() {
            return "no refused requests\n".to_owned();
        }
        let rows = self.sources.iter().map(|(source, counts)| {
            let numbers = [
                counts.samples,
                counts.verified,
                counts.events_stored,
                counts.duplicates,
                counts.still_refused,
                counts.cut,
                counts.source_off,
            ];
            std::iter::once(source.clone()).chain(numbers.map(|number| number.to_string())).collect()
        });
        let headings = [
            "source",
            "samples",
            "verify now",
            "events stored",
            "duplicates",
            "still refused",
            "cut",
            "source off",
        ];
        let ending = if self.dry_run { "dry run: nothing was changed\n" } else { "" };
        table(&headings, rows) + ending
    }
}
