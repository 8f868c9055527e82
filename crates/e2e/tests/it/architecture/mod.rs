//! What `docs/ARCHITECTURE.md` promises about the parts, as far as a test can see it.

mod deployments;
mod files;
mod manifests;
mod parts;
mod sql;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// What only tests and demos use.
const NOT_SHIPPED: [&str; 3] = ["testkit", "e2e", "sandbox"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn names() -> BTreeSet<String> {
    let entries = fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().join("Cargo.toml").exists());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Every file below a folder.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found
}

/// Every file below a crate's `src`.
fn sources(name: &str) -> Vec<PathBuf> {
    below(&crates().join(name).join("src"))
}

/// A file's path below the folder of crates.
fn place(path: &Path) -> String {
    path.strip_prefix(crates()).unwrap().display().to_string()
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

/// Unit tests in files of their own.
fn is_test(path: &Path) -> bool {
    path.file_name().is_some_and(|file| file == "tests.rs")
        || Path::new(&place(path)).components().any(|part| part.as_os_str() == "tests")
}

fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}
