//! What `docs/ARCHITECTURE.md` promises about the parts, as far as a test can see it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Longest file of a crate's sources.
const LINES_MAX: usize = 400;

/// Who may speak SQL: `db`, and what only tests and demos use.
const SQL: [&str; 4] = ["db", "testkit", "e2e", "sandbox"];

/// Files elsewhere that may, and what they say.
const SPEAKS: [(&str, &str); 2] = [
    ("applier/src/batch.rs", "begin, commit, rollback: sent in one trip with the claim"),
    ("service/src/database.rs", "select 1: whether the database answers"),
];

/// Files elsewhere that may use the driver's own types.
const DRIVER: [(&str, &str); 2] = [
    ("ordem/src/session.rs", "to name a database without its password"),
    ("receiver/src/committer.rs", "one connection with the prepared statement of `db` for each committer"),
];

/// Calls that take a statement as text.
const CALLS: [&str; 5] = [".batch_execute(", ".query_one(", ".query_opt(", ".query_raw(", ".simple_query("];

/// Beginnings of statements, as they stand in string literals.
const STATEMENTS: [&str; 6] =
    ["\"select ", "\"insert into ", "\"update ", "\"delete from ", "\"with ", "\"create table "];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn names() -> BTreeSet<String> {
    let entries = fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().join("Cargo.toml").exists());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Every file below a crate's `src`.
fn sources(name: &str) -> Vec<PathBuf> {
    fn below(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { below(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    below(&crates().join(name).join("src"), &mut found);
    found
}

/// The code of a file: without its tests, where they stand at its end, and without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

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

/// Place and code of each source file outside of the crates that may speak SQL; a file of SQL counts as such.
fn code_outside_of_db() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in names().into_iter().filter(|name| !SQL.contains(&name.as_str())) {
        for path in sources(&name) {
            let place = path.strip_prefix(crates()).unwrap().display().to_string();
            if extension(&path) == "sql" {
                found.push((place, STATEMENTS[0].to_owned()));
            } else if !is_test(&path) {
                found.push((place, code(&path)));
            }
        }
    }
    found
}

/// Unit tests in files of their own.
fn is_test(path: &Path) -> bool {
    path.file_name().is_some_and(|file| file == "tests.rs")
        || path.components().any(|part| part.as_os_str() == "tests")
}

fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
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
fn only_the_receiver_is_built_on_actix() {
    let users: Vec<String> =
        names().into_iter().filter(|name| dependencies(name).contains("actix-web")).collect();
    assert_eq!(users, ["receiver"]);
}

#[test]
fn sql_is_spoken_in_one_crate() {
    let mut found = Vec::new();
    for (place, code) in code_outside_of_db() {
        let code = code.to_lowercase();
        let speaks = |words: &[&'static str]| words.iter().copied().find(|word| code.contains(word));
        let allowed = SPEAKS.iter().any(|(allowed, _)| *allowed == place);
        if let Some(word) = speaks(&STATEMENTS).or_else(|| speaks(&CALLS))
            && !allowed
        {
            found.push(format!("{place}: {word}…"));
        }
    }
    assert_none("SQL outside of db", found);
}

#[test]
fn only_db_and_the_receiver_hold_a_driver_of_the_database() {
    let mut found = Vec::new();
    for (place, code) in code_outside_of_db() {
        let holds = code.contains("tokio_postgres::") || code.contains("deadpool_postgres::");
        if holds && !DRIVER.iter().any(|(allowed, _)| *allowed == place) {
            found.push(place);
        }
    }
    assert_none("a driver of the database is used by", found);
}

#[test]
fn no_source_file_is_longer_than_a_reader_can_hold() {
    let mut found = Vec::new();
    for name in names() {
        for path in sources(&name).into_iter().filter(|path| extension(path) == "rs") {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            if lines > LINES_MAX {
                found.push(format!("{}: {lines} lines", path.strip_prefix(crates()).unwrap().display()));
            }
        }
    }
    assert_none("longer than 400 lines", found);
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let mut found = Vec::new();
    for name in names() {
        let manifest = fs::read_to_string(crates().join(&name).join("Cargo.toml")).unwrap();
        if !manifest.contains("[lints]\nworkspace = true") {
            found.push(name);
        }
    }
    assert_none("no lints of the workspace", found);
}

#[test]
fn every_module_says_what_it_is() {
    let mut found = Vec::new();
    for name in names() {
        for path in sources(&name).into_iter().filter(|path| extension(path) == "rs" && !is_test(path)) {
            if !fs::read_to_string(&path).unwrap().starts_with("//!") {
                found.push(path.strip_prefix(crates()).unwrap().display().to_string());
            }
        }
    }
    assert_none("no module documentation at the top", found);
}

#[test]
fn every_sql_file_names_the_function_that_runs_it() {
    let mut found = Vec::new();
    for path in sources("db").into_iter().filter(|path| extension(path) == "sql") {
        if !fs::read_to_string(&path).unwrap().starts_with("-- db::") {
            found.push(path.strip_prefix(crates()).unwrap().display().to_string());
        }
    }
    assert_none("no name on the first line", found);
}
