//! Failure cases of other systems (`cases/*.json`), played against this one.
//!
//! Each case is passed, or skipped with its reason, or differs for a reason that stands below. The test fails when
//! anything else happens: also when a case that is listed here begins to pass.

mod api;
mod case;
mod destination;
mod judge;
mod play;
mod stage;
mod wire;

use std::{collections::BTreeMap, path::Path};

use case::Case;
use destination::Destination;
use play::Play;
use stage::{House, Stage};

/// Cases of other providers: each comes with its provider's profile.
const OTHER_PROVIDERS: [&str; 20] = [
    "W001", "W003", "W011", "W012", "W016", "W017", "W021", "W022", "W028", "W030", "W041", "W043", "W055",
    "W061", "W066", "W073", "W079", "W090", "W092", "W104",
];

/// Cases of `loja` that need what this version, or this runner, does not have.
const SKIPPED: [(&str, &str); 5] = [
    ("W089", "expect operator_alert"),
    ("W094", "step api_returns for one order"),
    ("W136", "config destination_success"),
    ("W137", "config destination_409"),
    ("W139", "expect connections_to_private_addresses, step configure_destination"),
];

/// Cases that end differently here, and why.
const DIFFERENT: [(&str, &str); 4] = [
    ("W031", "a compressed body is set aside, not inflated"),
    (
        "W033",
        "a compressed body is set aside as it is and answered 200: nothing is inflated, so nothing is too large",
    ),
    (
        "W087",
        "the stop is written when the cancellation is known, which here is after the refund and its notice",
    ),
    ("W124", "a batch waits for the lock of an order that another process holds"),
];

/// What became of a case.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Skipped(String),
    Differs(Vec<String>),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_ends_right_or_is_listed_with_its_reason() {
    let house = House::new().await;
    let only = std::env::var("ORDEM_CASE").ok();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, text) in files() {
        if only.as_ref().is_some_and(|only| *only != id) {
            continue;
        }
        let began = tokio::time::Instant::now();
        let verdict = verdict(&house, &text).await;
        let (word, note) = match &verdict {
            Verdict::Passed => ("passed", String::new()),
            Verdict::Skipped(reason) => ("skipped", reason.clone()),
            Verdict::Differs(lines) => ("differs", lines.join("; ")),
        };
        *counts.entry(word).or_default() += 1;
        println!("{id}  {word:8}  {:>5} ms  {note}", began.elapsed().as_millis());
        if !is_as_listed(&id, &verdict) {
            wrong.push(format!("{id} {word}: {note}"));
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "not as listed:\n{}", wrong.join("\n"));
}

fn is_as_listed(id: &str, verdict: &Verdict) -> bool {
    let listed = |list: &[(&str, &str)]| {
        list.iter().find(|(listed, _)| *listed == id).map(|(_, why)| (*why).to_owned())
    };
    match verdict {
        Verdict::Passed => {
            listed(&SKIPPED).is_none() && listed(&DIFFERENT).is_none() && !OTHER_PROVIDERS.contains(&id)
        }
        Verdict::Skipped(reason) if OTHER_PROVIDERS.contains(&id) => {
            reason == "the provider comes with its profile"
        }
        Verdict::Skipped(reason) => listed(&SKIPPED).as_ref() == Some(reason),
        Verdict::Differs(_) => listed(&DIFFERENT).is_some(),
    }
}

fn files() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
        files.insert(id, std::fs::read_to_string(path).unwrap());
    }
    files
}

async fn verdict(house: &House, text: &str) -> Verdict {
    let case = Case::read(text);
    // A case that cannot be judged as a whole is skipped, but what can be judged of it must still hold.
    let only_expectations = case.unknown.iter().all(|unknown| unknown.starts_with("expect"));
    if !only_expectations {
        return Verdict::Skipped(case.unknown.join(", "));
    }
    if case.secret.is_empty() {
        return refused_at_start(house);
    }
    for _ in 0..case.number("repeat", 1) {
        house.clear().await;
        let destination = Destination::start(&Case::destination_scripts(text)).await;
        let stage = Stage::set(house, &case, destination).await;
        let (stage, seen) = Play::new(&case, stage).await.run().await;
        let found = judge::differences(&case, &stage, &seen).await;
        if !found.is_empty() {
            return Verdict::Differs(found);
        }
    }
    if case.unknown.is_empty() { Verdict::Passed } else { Verdict::Skipped(case.unknown.join(", ")) }
}

/// With an empty secret nothing can be delivered: the receiver says so and does not start.
fn refused_at_start(house: &House) -> Verdict {
    let (code, said) = house.refused_start("");
    if code == Some(2) && said.contains("LOJA_WEBHOOK_SECRET") {
        return Verdict::Passed;
    }
    Verdict::Differs(vec![format!("exit {code:?}: {said}")])
}
