//! Ids of events and effects: UUIDv7, made here so that they grow with time and name their partition.

use jiff::Timestamp;
use uuid::{Builder, NoContext, Uuid};

/// A new id for something that happens at `now`. Ids of one millisecond are in no order.
pub fn new_id(now: Timestamp) -> Uuid {
    let milliseconds = u64::try_from(now.as_millisecond()).unwrap_or(0);
    let seconds = milliseconds / 1000;
    let nanoseconds = u32::try_from(milliseconds % 1000).unwrap_or(0) * 1_000_000;
    Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, seconds, nanoseconds))
}

/// The smallest id of this instant: everything made earlier is below it.
pub fn first_id(instant: Timestamp) -> Uuid {
    let milliseconds = u64::try_from(instant.as_millisecond()).unwrap_or(0);
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&milliseconds.to_be_bytes()[2..]);
    Builder::from_bytes(bytes).into_uuid()
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
    }
}
