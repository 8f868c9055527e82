//! Where SQL stands.

use std::collections::BTreeSet;
use std::fs;

use super::{NOT_SHIPPED, assert_none, code, extension, is_test, names, place, sources};

/// Files elsewhere that may use the driver's own types.
const DRIVER: [(&str, &str); 2] = [
    ("ordem/src/session.rs", "to name a database without its password"),
    ("receiver/src/committer.rs", "one connection with the prepared statement of `db` for each committer"),
];

/// Calls that take a statement.
const CALLS: [&str; 11] = [
    ".batch_execute(",
    ".execute(",
    ".prepare(",
    ".prepare_cached(",
    ".prepare_typed(",
    ".query(",
    ".query_one(",
    ".query_opt(",
    ".query_raw(",
    ".query_typed(",
    ".simple_query(",
];

/// What `db` hands to them besides files: statements prepared from one.
const PREPARED: [&str; 4] = ["&statement", "statement", "&self.statement", "&lock"];

/// Every other call: its file, what it takes, and why it may.
const MAY: [(&str, &str, &str); 21] = [
    ("profile/src/cel.rs", "&context", "an expression of CEL, no statement"),
    ("applier/src/batch.rs", "BEGIN", "sent in one trip with the claim"),
    ("applier/src/batch.rs", "\"commit\"", "ends what BEGIN began"),
    ("applier/src/batch.rs", "\"rollback\"", "ends what BEGIN began"),
    ("applier/src/failure.rs", "BEGIN", "a transaction of the same kind, for one event"),
    ("applier/src/failure.rs", "\"commit\"", "ends what BEGIN began"),
    ("applier/src/failure.rs", "\"rollback\"", "ends what BEGIN began"),
    ("receiver/src/committer.rs", "STORE", "each committer prepares the statement of `db` once"),
    ("service/src/database.rs", "\"select 1\"", "whether the database answers"),
    ("service/src/outbound.rs", "request", "a request of HTTP, no statement"),
    ("db/src/cursors/lead.rs", "\"\"", "an empty statement: whether the connection lives"),
    ("db/src/inbox/store.rs", "STORE", "a file, shared with the receiver's committers"),
    ("db/src/notify.rs", "\"select pg_notify($1, '')\"", "one function and the channel's name"),
    ("db/src/notify.rs", "&command", "`listen` takes its channel as a word, not as a parameter"),
    ("db/src/operations/requeue.rs", "WAIT", "how long its transaction waits for a lock"),
    ("db/src/pool.rs", "&options.session()", "settings of a session, made from the options"),
    ("db/src/pool.rs", "&session", "settings of a session, made from the options"),
    ("db/src/schema.rs", "\"create schema if not exists ordem_engine\"", "before the first migration"),
    ("db/src/schema.rs", "\"select pg_advisory_unlock($1)\"", "one function and the lock's number"),
    ("db/src/schema.rs", "\"select pg_try_advisory_lock($1)\"", "one function and the lock's number"),
    ("db/src/schema.rs", "\"select to_regclass($1) is not null\"", "asked where no table is known to exist"),
];

/// Beginnings of statements, as they stand in string literals.
const STATEMENTS: [&str; 6] =
    ["\"select ", "\"insert into ", "\"update ", "\"delete from ", "\"with ", "\"create table "];

/// What each call that takes a statement is given: a string, or the words up to a comma or the end.
fn statements(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for call in CALLS {
        for (at, _) in code.match_indices(call) {
            let given = code[at + call.len()..].trim_start();
            found.push(&given[..end(given)]);
        }
    }
    found
}

fn end(given: &str) -> usize {
    if let Some(text) = given.strip_prefix('"') {
        return text.find('"').map_or(given.len(), |quote| quote + 2);
    }
    let mut depth = 0;
    for (at, letter) in given.char_indices() {
        match letter {
            ',' | ')' if depth == 0 => return at,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    given.len()
}

/// Crate, place and code of each file that may hold calls; the tests' own crates say what they like.
fn speakers() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for name in names().into_iter().filter(|name| name != "testkit" && name != "e2e") {
        for path in sources(&name).into_iter().filter(|path| extension(path) == "rs" && !is_test(path)) {
            found.push((name.clone(), place(&path), code(&path)));
        }
    }
    found
}

#[test]
fn every_call_takes_a_file_of_db_or_is_listed_with_its_reason() {
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for (name, place, code) in speakers() {
        let has_files = name == "db" || name == "sandbox";
        for given in statements(&code) {
            let is_file = given.starts_with("include_str!(") || PREPARED.contains(&given);
            if has_files && is_file {
                continue;
            }
            match MAY.iter().find(|(file, statement, _)| *file == place && *statement == given) {
                Some(may) => _ = used.insert(may),
                None => found.push(format!("{place}: {given}")),
            }
        }
    }
    let stale = MAY.iter().filter(|may| !used.contains(may));
    found.extend(stale.map(|(file, statement, _)| format!("{file}: {statement} is listed and not said")));
    assert_none("SQL outside of db's files", found);
}

#[test]
fn no_statement_stands_in_a_string_outside_of_db() {
    let mut found = Vec::new();
    for (name, place, code) in speakers().into_iter().filter(|(name, ..)| name != "db") {
        let code = code.to_lowercase();
        let listed = |text: &str| MAY.iter().any(|(file, may, _)| *file == place && text.starts_with(may));
        let lines = STATEMENTS.iter().flat_map(|word| code.match_indices(word));
        let lines = lines.map(|(at, _)| code[at..].lines().next().unwrap_or_default());
        found.extend(lines.filter(|text| !listed(text)).map(|text| format!("{name}, {place}: {text}")));
    }
    assert_none("SQL outside of db", found);
}

#[test]
fn files_of_sql_stand_in_db_and_in_the_demo_alone() {
    let mut found = Vec::new();
    for name in names().into_iter().filter(|name| name != "db" && name != "sandbox") {
        let files = sources(&name).into_iter().filter(|path| extension(path) == "sql");
        found.extend(files.map(|path| place(&path)));
    }
    assert_none("files of SQL outside of db", found);
}

#[test]
fn only_db_and_the_receiver_hold_a_driver_of_the_database() {
    let mut found = Vec::new();
    for (place, code) in outside() {
        let holds = code.contains("tokio_postgres::") || code.contains("deadpool_postgres::");
        if holds && !DRIVER.iter().any(|(allowed, _)| *allowed == place) {
            found.push(place);
        }
    }
    assert_none("a driver of the database is used by", found);
}

/// Place and code of the shipped sources outside of `db`.
fn outside() -> Vec<(String, String)> {
    let shipped = |name: &str| name != "db" && !NOT_SHIPPED.contains(&name);
    let speakers = speakers().into_iter().filter(|(name, ..)| shipped(name));
    speakers.map(|(_, place, code)| (place, code)).collect()
}

#[test]
fn every_sql_file_names_the_function_that_runs_it() {
    let mut found = Vec::new();
    for path in sources("db").into_iter().filter(|path| extension(path) == "sql") {
        if !fs::read_to_string(&path).unwrap().starts_with("-- db::") {
            found.push(place(&path));
        }
    }
    assert_none("no name on the first line", found);
}
