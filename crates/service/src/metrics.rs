//! The Prometheus recorder, and the names of all metrics.
//!
//! Names end in their unit and, for counters, in `_total`. Label values come from bounded sets: configured names,
//! status codes, words from enums; never ids and never error texts. `docs/METRICS.md` explains each.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Requests the receiver answered. Labels: `source`, `status`.
pub const RECEIVER_REQUESTS: &str = "ordem_receiver_requests_total";
/// Requests whose signature was refused. Labels: `source`, `reason`.
pub const RECEIVER_REFUSED: &str = "ordem_receiver_refused_total";
/// Verified requests, by the live secret that matched. Labels: `source`, `secret` (its place among the secrets that are set, from 0).
pub const RECEIVER_VERIFIED: &str = "ordem_receiver_verified_total";
/// Deliveries whose key was known. Labels: `source`, `body` (`same`, `different`, `unknown`).
pub const RECEIVER_DUPLICATES: &str = "ordem_receiver_duplicates_total";
/// Events stored. Labels: `source`.
pub const RECEIVER_STORED: &str = "ordem_receiver_events_stored_total";
/// From the last byte of a request to its answer, in seconds.
pub const RECEIVER_SECONDS: &str = "ordem_receiver_request_duration_seconds";
/// Events of one commit.
pub const RECEIVER_BATCH: &str = "ordem_receiver_batch_events";
/// One commit, in seconds.
pub const RECEIVER_COMMIT_SECONDS: &str = "ordem_receiver_commit_duration_seconds";
/// Requests waiting for a commit.
pub const RECEIVER_QUEUED: &str = "ordem_receiver_queued_requests";

/// What became of events. Labels: `source`, `outcome`.
pub const EVENTS_OUTCOME: &str = "ordem_events_outcome_total";
/// Rows that an older fact made final although a newer one had been followed. Labels: `source`.
pub const FACTS_OVERRULED: &str = "ordem_facts_overruled_total";
/// From the arrival of an event to its outcome, in seconds. Labels: `origin`.
pub const APPLY_LAG_SECONDS: &str = "ordem_applier_lag_seconds";
/// One transaction of the applier, in seconds.
pub const APPLY_BATCH_SECONDS: &str = "ordem_applier_batch_duration_seconds";
/// Events of one transaction of the applier.
pub const APPLY_BATCH: &str = "ordem_applier_batch_events";
/// Attempts of single events that failed. Labels: `source`.
pub const APPLY_FAILURES: &str = "ordem_applier_failures_total";
/// Effects written. Labels: `effect`, `destination`.
pub const EFFECTS_WRITTEN: &str = "ordem_effects_written_total";
/// Effects that were discarded with the one they undo, since that was never sent. Labels: `effect`, `destination`.
pub const EFFECTS_CANCELED: &str = "ordem_effects_canceled_total";
/// Events that wait for their first attempt or their next.
pub const INBOX_BACKLOG: &str = "ordem_inbox_backlog";
/// Age of the oldest event that waits, in seconds.
pub const INBOX_OLDEST_SECONDS: &str = "ordem_inbox_oldest_age_seconds";
/// Keys deleted because they were older than `applier.keys_retention`. Labels: `ledger`.
pub const KEYS_TRIMMED: &str = "ordem_keys_trimmed_total";

/// Calls to destinations. Labels: `destination`, `result`.
pub const DELIVERIES: &str = "ordem_deliveries_total";
/// One call to a destination, in seconds. Labels: `destination`.
pub const DELIVERY_SECONDS: &str = "ordem_delivery_duration_seconds";
/// From the birth of an effect to its delivery, in seconds. Labels: `destination`.
pub const DELIVERY_LAG_SECONDS: &str = "ordem_delivery_lag_seconds";
/// Effects given up. Labels: `destination`.
pub const EFFECTS_DEAD: &str = "ordem_effects_dead_total";
/// Effects that wait. Labels: `destination`, `state` (`due`, `waiting`, `leased`).
pub const OUTBOX_BACKLOG: &str = "ordem_outbox_backlog";
/// Age of the oldest effect that waits, in seconds. Labels: `destination`.
pub const OUTBOX_OLDEST_SECONDS: &str = "ordem_outbox_oldest_age_seconds";

/// Items read from providers' APIs. Labels: `source`.
pub const RECONCILER_ITEMS: &str = "ordem_reconciler_items_total";
/// Facts that the API had first, those that no webhook has brought so far: the gap. Labels: `source`.
pub const RECONCILER_RECOVERED: &str = "ordem_reconciler_recovered_total";
/// Requests to providers' APIs. Labels: `source`, `result`.
pub const RECONCILER_REQUESTS: &str = "ordem_reconciler_requests_total";
/// Single look-ups of providers' APIs. Labels: `source`, `result`.
pub const RECONCILER_LOOKUPS: &str = "ordem_reconciler_lookups_total";
/// Whether the provider's subscription that sends to us is there and on: 1 or 0. Labels: `source`.
pub const SUBSCRIPTION_HEALTHY: &str = "ordem_subscription_healthy";
/// Look-ups that wait. Labels: `source`.
pub const LOOKUPS_WAITING: &str = "ordem_lookups_waiting";
/// Age of the oldest look-up that waits, in seconds. Labels: `source`.
pub const LOOKUPS_OLDEST_SECONDS: &str = "ordem_lookups_oldest_age_seconds";
/// How far the cursor is behind now, in seconds. Labels: `source`.
pub const RECONCILER_LAG_SECONDS: &str = "ordem_reconciler_lag_seconds";
/// Whether this process leads the source. Labels: `source`.
pub const RECONCILER_LEADER: &str = "ordem_reconciler_leader";

/// Whether the database answers: 1 or 0.
pub const DATABASE_UP: &str = "ordem_database_up";

const SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 300.0];
const EVENTS: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1000.0];

/// Installs the recorder for the whole process.
///
/// # Errors
/// When one is installed already.
pub(crate) fn install() -> anyhow::Result<PrometheusHandle> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_batch_events".to_owned()), &EVENTS)?;
    Ok(builder.install_recorder()?)
}
