//! The seeds of the fuzz targets, and what is near them, through the very functions that are fuzzed.

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::shipped::root;

#[path = "../../../../fuzz/targets/mod.rs"]
mod targets;

/// What the fuzzer allows one input, and as much again for a build without optimisation on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(2);

type Check = fn(&[u8]);
const TARGETS: [(&str, Check); 3] = [
    ("extract", targets::extract::check),
    ("form", targets::form::check),
    ("headers", targets::headers::check),
];

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.collect();
    paths.sort();
    paths.iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    files(&root().join("fuzz/seeds").join(target))
}

#[test]
fn every_seed_is_taken_in_time() {
    for (target, check) in TARGETS {
        let seeds = seeds(target);
        assert!(seeds.len() >= 10, "{target} has {} seeds", seeds.len());
        for (name, input) in seeds {
            let began = Instant::now();
            check(&input);
            let took = began.elapsed();
            assert!(took < TIME_MAX, "{name} took {took:?}");
        }
    }
}

/// One change of the kind that a fuzzer makes.
#[derive(Clone, Debug)]
enum Change {
    Cut(Index),
    Set(Index, u8),
    Remove(Index),
    Repeat(Index, usize),
    Splice(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let telling = select(b"\0\n\"\\{}[],:=&;%+. v1\xff".to_vec());
    prop_oneof![
        any::<Index>().prop_map(Change::Cut),
        (any::<Index>(), prop_oneof![telling, any::<u8>()]).prop_map(|(at, byte)| Change::Set(at, byte)),
        any::<Index>().prop_map(Change::Remove),
        (any::<Index>(), 1_usize..40).prop_map(|(at, times)| Change::Repeat(at, times)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, from)| Change::Splice(at, from)),
    ]
}

fn changed(mut input: Vec<u8>, other: &[u8], changes: &[Change]) -> Vec<u8> {
    for change in changes {
        if input.is_empty() {
            break;
        }
        let size = input.len();
        match change {
            Change::Cut(at) => input.truncate(at.index(size)),
            Change::Set(at, byte) => input[at.index(size)] = *byte,
            Change::Remove(at) => drop(input.remove(at.index(size))),
            Change::Repeat(at, times) => {
                let part = input[at.index(size)..].iter().copied().take(8).collect::<Vec<_>>();
                input.extend(part.repeat(*times));
            }
            Change::Splice(at, from) => {
                input.truncate(at.index(size));
                input.extend(other.iter().skip(from.index(other.len().max(1))));
            }
        }
    }
    input
}

proptest! {
    #[test]
    fn what_is_near_a_seed_is_taken_too(
        target in select(TARGETS.to_vec()), one in any::<Index>(), other in any::<Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let (name, check) = target;
        let seeds = seeds(name);
        let (_, seed) = one.get(&seeds);
        check(&changed(seed.clone(), &other.get(&seeds).1, &changes));
    }
}
