//! `ordem profile try --answer`: answers of a provider's API, as the reconciler would read them.

use serde_json::{Value, json};

use crate::world::{Said, ordem};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Tries an answer with a profile that ships.
fn attempt(profile: &str, answer: &str, more: &[&str]) -> Said {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("answer");
    std::fs::write(&file, answer).unwrap();
    let profile = if profile.contains('\n') {
        written(&dir, profile)
    } else {
        format!("{ROOT}/profiles/{profile}.toml")
    };
    let mut arguments = vec!["profile", "try", &profile, "--answer", file.to_str().unwrap()];
    arguments.extend(["--now", "2026-12-31T00:00:00Z"]);
    arguments.extend(more);
    ordem(&[], &arguments)
}

fn written(dir: &tempfile::TempDir, text: &str) -> String {
    let file = dir.path().join("p.toml");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn samples(name: &str) -> Value {
    let text = std::fs::read_to_string(format!("{ROOT}/profiles/samples/{name}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn order(id: &str, status: &str, sequence: u64) -> Value {
    json!({"id": id, "status": status, "sequence": sequence, "updated_at": "2026-01-02T03:04:05Z",
           "total_cents": 1990, "currency": "BRL", "customer_email": "a@example.com"})
}

#[test]
fn a_page_is_shown_item_by_item_with_what_the_flow_makes_of_each() {
    let page = json!({"data": [order("ped_1", "paid", 3), order("ped_2", "lost", 1), 7], "next": "abc"});
    let said = attempt("loja", &page.to_string(), &["--json"]).expect(1).json();
    assert!(said["read_as"].as_str().unwrap().starts_with("list:"), "{said}");
    assert_eq!(said["next_page"], "abc");
    let events = said["events"].as_array().unwrap();
    let outcomes: Vec<_> = events.iter().map(|event| event["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["fact", "ignored", "malformed"], "{said}");
    assert_eq!(events[0]["resource"], "ped_1");
    assert_eq!(events[0]["status"], "paid");
    assert_eq!(events[0]["fields"]["total_minor"], 1990);
    assert_eq!(events[0]["decision"], "applied");
    assert!(events[0]["dedup_key"].as_str().unwrap().contains("ped_1"), "{said}");
    let one = attempt("loja", &order("ped_1", "paid", 3).to_string(), &["--reader", "item"]).expect(0);
    assert!(one.out.starts_with("read as item: 1 item\nevent: fact\n"), "{}", one.out);
}

#[test]
fn an_answer_to_a_look_up_is_read_in_the_place_of_the_event() {
    let samples = samples("mercadopago");
    let answer =
        samples["answers"].as_array().unwrap().iter().find(|answer| answer["expect"]["reading"] == "fact");
    let answer = answer.unwrap();
    let whole = attempt("mercadopago", answer["body"].as_str().unwrap(), &["--reader", "item", "--json"]);
    let event = &whole.expect(0).json()["events"][0];
    for (shown, expected) in [("status", "status"), ("resource", "resource"), ("kind", "kind")] {
        assert_eq!(event[shown], answer["expect"][expected], "{event}");
    }
    let known = attempt("mercadopago", "{}", &["--reader", "fetch:nothing"]).expect(2);
    let names = known.err.split("there are: ").nth(1).unwrap();
    let fetch = names.split([',', ')']).map(str::trim).find(|name| name.starts_with("fetch:")).unwrap();
    let said =
        attempt("mercadopago", answer["body"].as_str().unwrap(), &["--reader", fetch, "--json"]).expect(0);
    assert_eq!(said.json()["events"][0]["status"], answer["expect"]["status"]);
}

#[test]
fn what_is_no_answer_says_why_and_what_there_is_to_read() {
    let said = attempt("loja", r#"{"orders": []}"#, &[]).expect(1);
    assert!(said.out.contains("no answer for list:") && said.out.contains("missing"), "{}", said.out);
    let said = attempt("loja", "{}", &["--reader", "cancelations"]).expect(2);
    assert!(said.err.contains("no \"cancelations\" (there are: list:"), "{}", said.err);
    let alone = std::fs::read_to_string(format!("{ROOT}/profiles/standard_webhooks.toml")).unwrap();
    let said = attempt(&alone, "{}", &[]).expect(2);
    assert!(said.err.contains("says nothing about the provider's API"), "{}", said.err);
}

#[test]
fn each_event_that_carries_its_own_signature_is_verified_by_it() {
    let samples = samples("adyen");
    let request = &samples["requests"][0];
    let dir = tempfile::tempdir().unwrap();
    let (headers, body) = (dir.path().join("headers"), dir.path().join("body"));
    std::fs::write(&headers, request["headers"].to_string()).unwrap();
    std::fs::write(&body, request["body"].as_str().unwrap()).unwrap();
    let profile = format!("{ROOT}/profiles/adyen.toml");
    let arguments = ["profile", "try", &profile, "--headers", headers.to_str().unwrap(), "--body"];
    let arguments = [&arguments[..], &[body.to_str().unwrap(), "--secret-env", "S"]].concat();
    let secret = samples["secret"].as_str().unwrap();
    let said = ordem(&[("S", secret)], &arguments).expect(0);
    assert!(said.out.starts_with("verified by env:S\nevent: fact"), "{}", said.out);
    let other = secret.replace('4', "5");
    assert!(ordem(&[("S", &other)], &arguments).expect(1).out.starts_with("refused: "));
}
