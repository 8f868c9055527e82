//! Ids of events and effects: UUIDv7, made here so that they grow with time and name their partition.
//!
//! The twelve bits after the milliseconds hold the fraction of the millisecond (RFC 9562, section 6.2, method 3), so
//! ids keep the order of arrival to a quarter of a microsecond, also between processes of one machine.

use jiff::{SignedDuration, Timestamp};
use uuid::{Builder, Uuid};

/// The step between two instants that ids can tell apart, rounded up.
const STEP_NANOSECONDS: i64 = 245;

/// A new id for something that happens at `now`.
pub fn new_id(now: Timestamp) -> Uuid {
    let random = Uuid::new_v4().into_bytes();
    let mut rest: [u8; 10] = [0; 10];
    rest.copy_from_slice(&random[6..]);
    [rest[0], rest[1]] = fraction(now).to_be_bytes();
    Builder::from_unix_timestamp_millis(milliseconds(now), &rest).into_uuid()
}

/// A new id for the `at`-th of several things that came together at `now`: they keep their order.
pub fn new_id_in_order(now: Timestamp, at: usize) -> Uuid {
    let steps = i64::try_from(at).unwrap_or(i64::MAX / STEP_NANOSECONDS);
    let later = SignedDuration::from_nanos(steps.saturating_mul(STEP_NANOSECONDS));
    new_id(now.checked_add(later).unwrap_or(now))
}

/// The smallest id of this instant: everything made earlier is below it.
pub fn first_id(instant: Timestamp) -> Uuid {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&milliseconds(instant).to_be_bytes()[2..]);
    Builder::from_bytes(bytes).into_uuid()
}

fn milliseconds(instant: Timestamp) -> u64 {
    u64::try_from(instant.as_millisecond()).unwrap_or(0)
}

/// The fraction of the millisecond in units of 1/4096.
fn fraction(instant: Timestamp) -> u16 {
    let nanoseconds = u64::try_from(instant.subsec_nanosecond().rem_euclid(1_000_000)).unwrap_or(0);
    u16::try_from(nanoseconds * 4096 / 1_000_000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_with_time_and_the_first_id_is_below_all_of_its_instant() {
        let now = Timestamp::from_second(1_767_225_600).unwrap();
        let later = Timestamp::from_millisecond(1_767_225_600_001).unwrap();
        assert!(first_id(now) < new_id(now));
        assert!(new_id(now) < first_id(later));
        assert_eq!(new_id(now).get_version_num(), 7);
    }

    #[test]
    fn ids_keep_the_order_of_arrival_within_a_millisecond() {
        let at =
            |microseconds: i64| Timestamp::from_microsecond(1_767_225_600_000_000 + microseconds).unwrap();
        let ids: Vec<Uuid> = (0..999).map(|step| new_id(at(step))).collect();
        assert!(ids.is_sorted());
        let batch: Vec<Uuid> = (0..1000).map(|place| new_id_in_order(at(0), place)).collect();
        assert!(batch.is_sorted());
    }
}
