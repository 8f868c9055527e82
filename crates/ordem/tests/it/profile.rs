//! `ordem profile` and `ordem sign`: without a database, and mostly without a configuration.

use std::path::Path;

use serde_json::json;

use crate::world::{Said, ordem};

const LOJA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/loja.toml");
const BODY: &str = r#"{"id":"evt_1","type":"order.paid","sequence":3,"occurred_at":"2026-01-02T03:04:05Z",
    "data":{"id":"ord_1","total_cents":1990,"currency":"BRL"}}"#;
const SECRET: (&str, &str) = ("S", "a secret of the store");

fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Tries the body with the headers that `ordem sign` made for `signed`.
fn attempt(dir: &Path, signed: &str, body: &str, more: &[&str]) -> Said {
    let signed = write(dir, "signed.json", signed);
    let headers = ordem(&[SECRET], &["sign", "--profile", LOJA, "--body", &signed, "--secret-env", "S"]);
    let headers = write(dir, "headers.txt", &headers.expect(0).out);
    let body = write(dir, "body.json", body);
    let mut arguments = vec!["profile", "try", LOJA, "--headers", &headers, "--body", &body];
    arguments.extend(["--secret-env", "S", "--now", "2026-01-02T03:05:00Z", "--json"]);
    arguments.extend(more);
    ordem(&[SECRET], &arguments)
}

#[test]
fn a_new_profile_passes_the_check_and_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().to_str().unwrap();
    ordem(&[], &["profile", "new", "acme", "--dir", place]).expect(0);
    let file = dir.path().join("acme.toml");
    let said = ordem(&[], &["profile", "check", file.to_str().unwrap()]).expect(0);
    assert!(said.out.contains("no fault"), "{}", said.out);
    let again = ordem(&[], &["profile", "new", "acme", "--dir", place]).expect(2);
    assert!(again.err.contains("acme.toml"), "{}", again.err);
    let wrong = ordem(&[], &["profile", "new", "../acme", "--dir", place]).expect(2);
    assert!(wrong.err.contains("a-z"), "{}", wrong.err);
}

#[test]
fn every_key_that_a_new_profile_has_in_comments_is_one_that_there_is() {
    let dir = tempfile::tempdir().unwrap();
    ordem(&[], &["profile", "new", "acme", "--dir", dir.path().to_str().unwrap()]).expect(0);
    let template = std::fs::read_to_string(dir.path().join("acme.toml")).unwrap();
    let is_key = |line: &str| {
        let name = line.split_once(" = ").map_or("", |(name, _)| name);
        line.starts_with('[') || (!name.is_empty() && !name.contains(' '))
    };
    let lines =
        template.lines().map(|line| line.strip_prefix("# ").filter(|rest| is_key(rest)).unwrap_or(line));
    let whole = write(dir.path(), "whole.toml", &lines.collect::<Vec<_>>().join("\n"));
    let said = ordem(&[], &["profile", "check", &whole]).expect(0);
    assert!(said.out.contains("no fault") && !said.out.contains("api: is missing"), "{}", said.out);
}

#[test]
fn every_fault_is_told_with_file_key_line_and_reason() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(LOJA).unwrap();
    let header = write(dir.path(), "a.toml", &text.replace("\"x-loja-signature\"", "\"x loja\""));
    let status = write(dir.path(), "b.toml", &text.replace("paid = \"paid\"", "paid = \"payed\""));
    let said = ordem(&[], &["profile", "check", &header, &status, "--json"]).expect(1).json();
    let line = 1 + text.lines().position(|line| line.starts_with("[verify]")).unwrap();
    let faults = said["faults"].as_array().unwrap();
    let first = &faults[0];
    assert_eq!(first["file"], header);
    assert!(first["key"].as_str().unwrap().starts_with("verify"), "{first}");
    assert!(first["line"].as_u64().unwrap() >= line as u64, "{first}");
    assert!(first["reason"].as_str().unwrap().contains("x loja"), "{first}");
    let flow = faults.iter().find(|fault| fault["file"] == status.as_str()).unwrap();
    assert!(flow["reason"].as_str().unwrap().contains("\"payed\" is no status"), "{flow}");
    let place = 1 + text.lines().position(|line| line.contains("paid = \"paid\"")).unwrap();
    assert!(flow["key"].as_str().unwrap().contains("paid"), "{flow}");
    assert_eq!(flow["line"].as_u64(), Some(place as u64), "{flow}");
}

#[test]
fn without_a_configuration_folder_the_flows_are_left_out_and_that_is_said() {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("ordem");
    command.env_clear().args(["--config", "/nowhere", "profile", "check", LOJA]);
    let said = Said::of(&command.output().unwrap()).expect(0);
    assert!(said.out.contains("not compared with any flow"), "{}", said.out);
}

#[test]
fn a_signed_event_is_shown_as_what_it_would_become() {
    let dir = tempfile::tempdir().unwrap();
    let said = attempt(dir.path(), BODY, BODY, &[]).expect(0).json();
    assert_eq!(said["verified_by"], "env:S");
    let event = &said["events"][0];
    assert_eq!(event["outcome"], "fact");
    assert_eq!(event["dedup_key"], "evt_1");
    assert_eq!(event["resource"], "ord_1");
    assert_eq!(event["status"], "paid");
    assert_eq!(event["version"], json!([3, 0]));
    assert_eq!(event["fields"]["total_minor"], 1990);
    assert_eq!(event["decision"], "applied");
    assert_ne!(event["effects"], json!([]));
    let after = attempt(dir.path(), BODY, BODY, &["--after", "paid"]).expect(0).json();
    assert_eq!(after["events"][0]["effects"], json!([]), "it was paid before");
}

#[test]
fn what_is_refused_ignored_or_malformed_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let other = BODY.replace("1990", "1");
    let said = attempt(dir.path(), BODY, &other, &[]).expect(1).json();
    assert_eq!(said["refused"], "mismatch");
    assert_eq!(said["verified_by"], json!(null));
    let unknown = BODY.replace("order.paid", "order.lost");
    let said = attempt(dir.path(), &unknown, &unknown, &[]).expect(0).json();
    assert_eq!(said["events"][0]["outcome"], "ignored");
    assert!(said["events"][0]["reason"].as_str().unwrap().contains("order.lost"), "{said}");
    let said = attempt(dir.path(), "[]", "[]", &[]).expect(1).json();
    assert_eq!(said["events"][0]["outcome"], "malformed");
}

#[test]
fn what_only_the_provider_can_sign_is_not_signed() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[verify]\nkind = \"ed25519\"\nheader = \"x-sig\"\nencoding = \"hex\"\nkey = \"hex\"\n";
    let profile = write(dir.path(), "p.toml", text);
    let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let arguments = ["sign", "--profile", &profile, "--body", LOJA, "--secret-env", "S"];
    let said = ordem(&[("S", key)], &arguments).expect(2);
    assert!(said.err.contains("private key, which only the provider has"), "{}", said.err);
}
