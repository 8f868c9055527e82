//! Which part knows which.

use std::{collections::BTreeSet, process::Command};

use super::{NOT_SHIPPED, assert_none, code, crates, extension, is_test, names, place, sources};

/// Where a client of HTTP is made.
const OUTBOUND: &str = "service/src/outbound.rs";

/// All that a crate is built from, itself left out.
fn dependencies(name: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--package",
            name,
        ])
        .current_dir(crates())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let all = text.lines().filter_map(|line| line.split(' ').next()).map(ToOwned::to_owned);
    all.filter(|dependency| dependency != name).collect()
}

#[test]
fn the_pure_crates_know_no_runtime_no_database_and_no_http() {
    let impure =
        ["tokio", "tokio-postgres", "postgres-types", "hyper", "reqwest", "actix-web", "axum", "http", "mio"];
    let mut found = Vec::new();
    for name in ["domain", "signature", "profile"] {
        let dependencies = dependencies(name);
        assert!(!dependencies.is_empty() || name == "domain", "{name}: cargo tree says nothing");
        found.extend(
            impure
                .iter()
                .filter(|impure| dependencies.contains(**impure))
                .map(|impure| format!("{name}: {impure}")),
        );
    }
    assert_none("a pure crate is built from", found);
}

#[test]
fn the_domain_knows_no_other_crate_of_ours() {
    let ours = names();
    let known: Vec<String> = dependencies("domain").intersection(&ours).cloned().collect();
    assert_none("domain depends on", known);
}

#[test]
fn the_daemons_do_not_know_each_other() {
    let daemons = ["receiver", "applier", "publisher", "reconciler"];
    let mut found = Vec::new();
    for name in daemons {
        let dependencies = dependencies(name);
        found.extend(
            daemons
                .iter()
                .filter(|other| dependencies.contains(**other))
                .map(|other| format!("{name}: {other}")),
        );
    }
    assert_none("a daemon depends on another", found);
}

#[test]
fn the_daemons_do_without_the_schema_for_editors() {
    let daemons = ["receiver", "applier", "publisher", "reconciler"];
    let users = daemons.into_iter().filter(|name| dependencies(name).contains("schemars"));
    assert_none("a daemon is built with schemars", users.map(ToOwned::to_owned).collect());
    assert!(dependencies("ordem").contains("schemars"));
}

#[test]
fn only_the_receiver_is_built_on_actix() {
    let users: Vec<String> =
        names().into_iter().filter(|name| dependencies(name).contains("actix-web")).collect();
    assert_eq!(users, ["receiver"]);
}

/// Place and code of the shipped sources, without tests.
fn shipped() -> Vec<(String, String)> {
    let names = names().into_iter().filter(|name| !NOT_SHIPPED.contains(&name.as_str()));
    let files = names.flat_map(|name| sources(&name));
    let files = files.filter(|path| extension(path) == "rs" && !is_test(path));
    files.map(|path| (place(&path), code(&path))).collect()
}

#[test]
fn clients_of_http_are_made_in_one_place_with_its_guard_and_bounds() {
    let ways = ["reqwest::Client", "reqwest::get", "reqwest::blocking", "ClientBuilder", "hyper::", "ureq::"];
    let mut found = Vec::new();
    for (place, code) in shipped() {
        // What a list imports.
        let imports = code.split("use reqwest::").skip(1).filter_map(|rest| rest.split(';').next());
        let imported =
            imports.flat_map(|list| list.split(['{', '}', ',', ' ', '\n'])).any(|word| word == "Client");
        let way = ways.into_iter().find(|way| code.contains(way)).or(imported.then_some("Client"));
        if let Some(way) = way
            && place != OUTBOUND
        {
            found.push(format!("{place}: {way}"));
        }
    }
    assert_none("a client of HTTP is made in", found);
}

#[test]
fn only_publisher_reconciler_and_ordem_send_call_out() {
    // The last: `ordem send` posts to a receiver, for an operator.
    let callers = ["publisher/", "reconciler/", "ordem/src/command/send/"];
    let mut found = Vec::new();
    for (place, code) in shipped() {
        let calls = code.contains("outbound::") || code.contains("reqwest::");
        if calls && place != OUTBOUND && !callers.iter().any(|caller| place.starts_with(caller)) {
            found.push(place);
        }
    }
    assert_none("outbound requests are made in", found);
}
