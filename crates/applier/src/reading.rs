//! From a claimed event to what it means; whatever is in it, nothing here ends the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use db::inbox::Claimed;
use profile::{KeptHeaders, Reading, Stored};
use service::settings::Configured;

/// Reads an event by its source's profile.
///
/// # Errors
/// When the source is not configured or reading it panicked: an attempt that failed, to be tried again.
pub(crate) fn read(configured: &Configured, event: &Claimed) -> Result<Reading, String> {
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
        event_key: event.dedup_key.as_deref().unwrap_or_default(),
        received_at: event.received_at,
    };
    // A defect in reading one event must cost that event alone.
    catch_unwind(AssertUnwindSafe(|| profile.read(&stored, &|kind| configured.flow(kind))))
        .map_err(|_| "reading the event panicked: this is a defect, please report it".to_owned())
}
