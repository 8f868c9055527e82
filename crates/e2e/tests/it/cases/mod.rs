//! Failure cases of other systems (`cases/*.json`), and some of our own for the profiles that ship (`cases/own`),
//! played against this one.
//!
//! `ORDEM_CASE=W005` plays one of them, `ORDEM_CASES=/folder` those of another folder.
//!
//! Each case is passed, or skipped with its reason, or differs for a reason that stands below. The test fails when
//! anything else happens: also when a case that is listed here begins to pass.

mod api;
mod case;
mod destination;
mod faults;
mod judge;
mod notary;
mod play;
mod receiver;
mod rows;
mod source;
mod stage;
mod wire;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use case::Case;
use destination::Destination;
use play::Play;
use serde_json::{Value, json};
use stage::{House, Stage};

/// Cases that need what this version, or this runner, does not have.
const SKIPPED: [(&str, &str); 1] =
    [("W139", "expect connections_to_private_addresses, step configure_destination")];

/// Cases that end differently here: how their differences begin, and why.
const DIFFERENT: [(&str, &[&str], &str); 1] = [(
    "W087",
    &["effects are {\"ped_1\": [\"release_picking\", \"notify_refund\", \"halt_picking\"]}"],
    "the stop is written when the cancellation is known, which here is after the refund and its notice; a refund \
         that wrote the stop itself would fail W085 and W090, where nothing but the refund is told",
)];

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
    let skipped = SKIPPED.iter().find(|(listed, _)| *listed == id).map(|(_, reason)| *reason);
    let different = DIFFERENT.iter().find(|(listed, ..)| *listed == id).map(|(_, lines, _)| *lines);
    match verdict {
        Verdict::Passed => skipped.is_none() && different.is_none(),
        Verdict::Skipped(reason) => skipped == Some(reason),
        Verdict::Differs(found) => different.is_some_and(|lines| {
            lines.len() == found.len() && found.iter().zip(lines).all(|(found, line)| found.starts_with(line))
        }),
    }
}

fn files() -> BTreeMap<String, String> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let folders = match std::env::var_os("ORDEM_CASES") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => vec![shipped.join("own"), shipped],
    };
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let named = |path: PathBuf| {
        let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (id, std::fs::read_to_string(path).unwrap())
    };
    paths.map(named).collect()
}

async fn verdict(house: &House, text: &str) -> Verdict {
    let case = match Case::read(text) {
        Ok(case) => case,
        Err(reason) => return Verdict::Skipped(reason),
    };
    // A case that cannot be judged as a whole is skipped, but what can be judged of it must still hold.
    let only_expectations = case.unknown.iter().all(|unknown| unknown.starts_with("expect"));
    if !only_expectations {
        return Verdict::Skipped(case.unknown.join(", "));
    }
    if case.source.secrets.iter().any(|secret| secret.trim().is_empty()) {
        return refused_at_start(house, &case);
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
fn refused_at_start(house: &House, case: &Case) -> Verdict {
    let (code, said) = house.refused_start(&case.source);
    if code == Some(2) && said.contains("secret_0 is set but empty") {
        return Verdict::Passed;
    }
    Verdict::Differs(vec![format!("exit {code:?}: {said}")])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_expectation_is_noticed() {
    let house = House::new().await;
    let files = files();
    let text = |id: &str| files[id].clone();
    let wrong = [
        ("W003", "/expect/verify_input", json!("tx-0001|2026-01-02T03:04:05Z|WHID-TESTE|1")),
        ("W003", "/signing/webhook_id", json!("WHID-TESTE-2")),
        ("W005", "/expect/http/0", json!(401)),
        ("W005", "/expect/orders/ped_1/status", json!("shipped")),
        ("W005", "/expect/orders/ped_1/total_cents", json!(12991)),
        ("W005", "/expect/orders/ped_1/customer_email", json!("b@example.com")),
        ("W005", "/expect/orders", json!({})),
        ("W005", "/expect/effects", json!([])),
        ("W005", "/expect/inbox_result/0", json!("stale")),
        ("W005", "/expect/inbox_result", json!(["applied", "duplicate"])),
        ("W006", "/expect/stored_raw_sha256", json!("00")),
        ("W028", "/steps/1/api_returns/status", json!(404)),
        ("W033", "/expect/peak_memory_mib_under", json!(20)),
        ("W038", "/expect/inbox_result", json!(["applied", "applied"])),
        ("W050", "/expect/field/ped_1.nome", json!("Ana")),
        ("W069", "/expect/inbox_rows", json!(2)),
        ("W082", "/expect/orders/ped_1/version", json!(2)),
        (
            "W087",
            "/expect/effects",
            json!(["ped_1:halt_picking", "ped_1:release_picking", "ped_1:notify_refund"]),
        ),
        ("W089", "/expect/operator_alert", json!([])),
        ("W106", "/expect/inbox_result/0", json!("stale")),
        ("W107", "/expect/inbox_result/2", json!("duplicate")),
        ("W109", "/expect/second_request_since_max", json!("2025-01-01T00:00:00Z")),
        ("W114", "/expect/answer_ms_under", json!(0)),
        ("W121", "/expect/idempotency_keys_per_effect", json!(2)),
        ("W121", "/expect/destination_distinct_effects", json!(2)),
        ("W136", "/steps/0/destination_returns/body_utf8", json!("{\"ok\":true}")),
        ("W137", "/config/destination_409", json!("retry")),
        ("W141", "/expect/peak_memory_mib_under", json!(1)),
        ("W142", "/expect/attempts_recorded", json!(1)),
        ("W142", "/expect/destination_calls", json!(["ped_1:release_picking#1"])),
        ("W055", "/expect/orders/ped_1/total_minor", json!(100)),
        ("W055", "/expect/orders/ped_1/currency", json!("BRL")),
        ("W066", "/clock", json!("2026-01-02T03:14:05Z")),
        ("W079", "/signing/secret", json!("whsec_teste_2")),
        ("W090", "/expect/after_step/2/ped_1/status", json!("refunded")),
        ("W104", "/steps/5/api_returns/body/payment_status", json!("pending")),
        ("W144", "/expect/never_delivered_after", json!({"ped_1:halt_picking": "ped_1:liberar_separacao"})),
    ];
    for (id, place, value) in wrong {
        let mut case: Value = serde_json::from_str(&text(id)).unwrap();
        *case.pointer_mut(place).unwrap() = value;
        let verdict = verdict(&house, &case.to_string()).await;
        assert!(matches!(verdict, Verdict::Differs(_)), "{id} {place}: {verdict:?}");
    }
}
