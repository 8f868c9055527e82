//! The shape of files.

use std::fs;

use super::{assert_none, below, crates, extension, is_test, names, place, sources};

/// Longest file of a crate's sources.
const LINES_MAX: usize = 300;

/// Longest file of tests and examples.
const TEST_LINES_MAX: usize = 400;

#[test]
fn no_file_is_longer_than_a_reader_can_hold() {
    let mut found = Vec::new();
    for name in names() {
        let files = below(&crates().join(&name));
        for path in files.into_iter().filter(|path| extension(path) == "rs") {
            let is_source = place(&path).starts_with(&format!("{name}/src/")) && !is_test(&path);
            let most = if is_source { LINES_MAX } else { TEST_LINES_MAX };
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            if lines > most {
                found.push(format!("{}: {lines} lines, at most {most}", place(&path)));
            }
        }
    }
    assert_none("too long", found);
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
                found.push(place(&path));
            }
        }
    }
    assert_none("no module documentation at the top", found);
}
