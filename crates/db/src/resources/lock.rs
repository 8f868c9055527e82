//! Serialises the facts of one resource, also while its row does not exist yet.

use domain::ResourceId;
use sha2::{Digest, Sha256};

/// The advisory lock numbers of these resources, sorted and without repetition.
///
/// Sorted by the number and not by the name: names may share a number, and two processes that lock the same
/// numbers in different orders wait for each other. The hash must be the same in every release, so it is the
/// first eight bytes of a SHA-256 over length-prefixed parts.
pub fn lock_numbers<'a>(resources: impl IntoIterator<Item = &'a ResourceId>) -> Vec<i64> {
    let mut numbers: Vec<i64> = resources.into_iter().map(lane).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The number of one resource: its advisory lock, and its lane in the effect queue.
pub(crate) fn lane(resource: &ResourceId) -> i64 {
    let mut hash = Sha256::new();
    for part in [&resource.source, &resource.kind, &resource.id] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(source: &str, id: &str) -> ResourceId {
        ResourceId { source: source.to_owned(), kind: "order".to_owned(), id: id.to_owned() }
    }

    #[test]
    fn numbers_are_sorted_and_distinct() {
        let resources = [resource("loja", "b"), resource("loja", "a"), resource("loja", "b")];
        let numbers = lock_numbers(&resources);
        assert_eq!(numbers.len(), 2);
        assert!(numbers[0] < numbers[1]);
    }

    #[test]
    fn parts_cannot_run_into_each_other() {
        assert_ne!(lane(&resource("loj", "a")), lane(&resource("loja", "")));
    }

    #[test]
    fn the_number_of_a_resource_never_changes_between_releases() {
        assert_eq!(lane(&resource("loja", "ped_1")), 8_925_800_708_416_114_197);
    }
}
