//! From a claimed event to what it means; whatever is in it, nothing here ends the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use db::inbox::{Answer, Claimed};
use domain::{Fact, Flow};
use profile::{KeptHeaders, Profile, Reading, Stored, TIE};
use service::settings::Configured;

/// Reads an event by its source's profile: one reading, or one for each resource in what the provider said when it was
/// asked for the event's sake.
///
/// # Errors
/// When the source is not configured or reading it panicked: an attempt that failed, to be tried again.
pub(crate) fn read(configured: &Configured, event: &Claimed) -> Result<Vec<Reading>, String> {
    let Some(profile) = configured.profiles.get(&event.source) else {
        return Err(format!(
            "source \"{}\" is not configured: add [sources.{0}], then it is tried again",
            event.source
        ));
    };
    let headers = KeptHeaders::parse(event.headers.as_deref());
    let stored = Stored {
        source: &event.source,
        origin: event.origin,
        body: &event.body,
        headers: &headers,
        event_type: event.event_type.as_deref(),
        event_key: event.dedup_key.as_deref().unwrap_or_default(),
        received_at: event.received_at,
    };
    // A defect in reading one event must cost that event alone.
    catch_unwind(AssertUnwindSafe(|| meaning(profile, &stored, event.answer.as_ref(), configured)))
        .map_err(|_| "reading the event panicked: this is a defect, please report it".to_owned())
}

/// What the event tells, or what the answer tells in its place.
fn meaning(
    profile: &Profile,
    stored: &Stored<'_>,
    answer: Option<&Answer>,
    configured: &Configured,
) -> Vec<Reading> {
    let flow_of = |kind: &str| configured.flow(kind);
    let reading = profile.read(stored, &flow_of);
    let (fetch, event_type) = match (&reading, answer) {
        (Reading::Fetch { fetch, event_type, .. }, Some(_)) => (fetch, event_type),
        (Reading::Fact { .. }, Some(Answer::Body(body))) => {
            return settled(profile, stored, reading, body, &flow_of);
        }
        _ => return vec![reading],
    };
    let Some(answer) = answer else { return vec![reading] };
    // A profile that lost the look-up meanwhile asks anew, and the reconciler says what is missing.
    let Some(fetch) = profile.fetch(fetch) else { return vec![reading] };
    match answer {
        Answer::Nothing(reason) => vec![Reading::Ignored(reason.clone())],
        Answer::Body(body) => match profile.read_answer(fetch, stored, event_type, body, &flow_of) {
            Ok(readings) if readings.is_empty() => {
                vec![Reading::Ignored("the provider's answer holds nothing".to_owned())]
            }
            Ok(readings) => readings.into_iter().map(told).collect(),
            Err(error) => vec![Reading::Malformed(format!("the provider's answer: {error}"))],
        },
    }
}

/// What an event tells that contradicts another of the same moment, once the provider has been asked: its word first, so
/// that the row does not go astray meanwhile, then what the event itself told, which is older than that unless the
/// answer is. An answer that cannot be read, or is about something else, settles nothing.
fn settled<'f>(
    profile: &Profile,
    stored: &Stored<'_>,
    own: Reading,
    answer: &[u8],
    flow_of: &dyn Fn(&str) -> Option<&'f Flow>,
) -> Vec<Reading> {
    let (Some(fetch), Reading::Fact { resource, fact }) = (profile.fetch(TIE), &own) else {
        return vec![own];
    };
    let told = profile.read_answer(fetch, stored, &fact.event_type, answer, flow_of).unwrap_or_default();
    let words = told.into_iter().filter_map(|reading| match reading {
        Reading::Fact { resource: of, fact } if of == *resource => {
            Some(Reading::Fact { resource: of, fact: Fact { version: fact.version.asked(), ..fact } })
        }
        _ => None,
    });
    let mut readings: Vec<Reading> = words.collect();
    readings.push(own);
    readings
}

/// An answer is the provider's own word: it cannot lead to another question.
fn told(reading: Reading) -> Reading {
    match reading {
        Reading::Fetch { resource, .. } => {
            Reading::Malformed(format!("the answer about {} asks again", resource.id))
        }
        Reading::Malformed(reason) => Reading::Malformed(format!("the provider's answer: {reason}")),
        other => other,
    }
}
