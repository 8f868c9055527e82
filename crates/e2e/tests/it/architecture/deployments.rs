//! What the shipped configuration reads, the shipped deployments hand on.

use std::fs;

use super::{assert_none, crates};

/// The variables that a file of the configuration names.
fn variables(file: &str) -> Vec<String> {
    let text = fs::read_to_string(crates().join("..").join(file)).unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let names =
        lines.flat_map(|line| line.split("\"env:").skip(1).map(ToOwned::to_owned).collect::<Vec<_>>());
    names.filter_map(|rest| rest.split('"').next().map(ToOwned::to_owned)).collect()
}

#[test]
fn compose_and_kubernetes_know_every_source_and_destination_that_ships() {
    let mut found = Vec::new();
    let mut names = variables("config/sources.toml");
    names.extend(variables("config/destinations.toml"));
    assert!(names.len() >= 12 && names.iter().any(|name| name == "STRIPE_WEBHOOK_SECRET"), "{names:?}");
    for file in ["docker-compose.yml", "deploy/kubernetes/secrets.example.yaml"] {
        let text = fs::read_to_string(crates().join("..").join(file)).unwrap();
        // A name that is only the beginning of another does not count.
        let missing = names.iter().filter(|name| !text.contains(&format!(" {name}:")));
        found.extend(missing.map(|name| format!("{file}: {name}")));
    }
    assert_none("read by the configuration and not handed on", found);
}
