//! `ordem check`, and `ordem --check`.

use testkit::Database;

use crate::world::{World, ordem};

#[tokio::test]
async fn a_good_configuration_and_a_migrated_database_have_no_fault() {
    let world = World::new().await;
    let said = world.json(&["check"]);
    assert_eq!(said["ok"], true);
    assert_eq!(said["faults"], serde_json::json!([]));
    assert_eq!(said["sources_on"], serde_json::json!(["loja"]));
    assert_eq!(said["destinations_on"], serde_json::json!(["fulfillment"]));
    assert_eq!(said["database"]["reachable"], true);
    assert_eq!(said["database"]["schema_needed"], db::newest_version());
    assert!(world.ordem(&["check"]).expect(0).out.contains("no fault"));
}

#[test]
fn what_is_off_is_a_warning() {
    let said = ordem(&[], &["check", "--offline"]).expect(0);
    assert!(said.out.contains("warning: sources.loja is off"), "{}", said.out);
    assert!(said.out.contains("warning: destinations.fulfillment is off"), "{}", said.out);
    assert_eq!(said.out, ordem(&[], &["--check"]).expect(0).out);
}

#[test]
fn each_fault_is_listed_with_file_key_and_reason() {
    let environment = [("ORDEM__APPLIER__WORKERS", "0"), ("LOJA_WEBHOOK_SECRET", "")];
    let said = ordem(&environment, &["check", "--json"]).expect(1).json();
    let faults: Vec<String> = said["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| format!("{} {} {}", fault["file"], fault["key"], fault["reason"]))
        .collect();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].contains("ORDEM__APPLIER__WORKERS") && faults[0].contains("applier.workers"),
        "{faults:?}"
    );
    assert!(faults[1].contains("sources.loja.secrets") && faults[1].contains("empty"), "{faults:?}");
}

#[test]
fn required_secrets_that_are_missing_are_faults() {
    let said = ordem(&[("ORDEM__SOURCES__LOJA__REQUIRED", "true")], &["check", "--offline"]).expect(1);
    assert!(said.out.contains("sources.loja: is required, but not set"), "{}", said.out);
}

#[tokio::test]
async fn a_database_that_is_away_or_not_migrated_is_a_fault() {
    let away = ordem(&[("DATABASE_URL", "postgres://ana:geheim@127.0.0.1:1/shop")], &["check"]).expect(1);
    assert!(away.out.contains("database shop at 127.0.0.1:1 as ana: database.url:"), "{}", away.out);
    assert!(!away.out.contains("geheim"));
    let database = Database::empty().await;
    let empty = ordem(&[("DATABASE_URL", &database.url())], &["check", "--json"]).expect(1).json();
    assert_eq!(empty["database"]["reachable"], true);
    assert!(empty["faults"][0]["reason"].as_str().unwrap().contains("run `ordem migrate`"));
}
