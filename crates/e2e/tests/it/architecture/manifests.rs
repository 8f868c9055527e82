//! What the manifests demand is what the sources use.

use std::{collections::BTreeSet, fs, path::Path};

use toml::Table;

use super::{assert_none, below, code, crates, extension, is_test, names};

/// Dependencies that no source names, and why they are there.
const SILENT: [(&str, &str, &str); 0] = [];

fn manifest(path: &Path) -> Table {
    fs::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap()
}

/// The dependencies of a manifest under this heading.
fn listed(manifest: &Table, heading: &str) -> Vec<String> {
    let table = manifest.get(heading).and_then(toml::Value::as_table);
    table.into_iter().flat_map(|table| table.keys().cloned()).collect()
}

/// The sources of a crate: what is built into it, and everything.
fn texts(name: &str) -> (String, String) {
    let root = crates().join(name);
    let (mut built, mut all) = (String::new(), String::new());
    for path in below(&root).into_iter().filter(|path| extension(path) == "rs") {
        if path.starts_with(root.join("src")) && !is_test(&path) {
            built.push_str(&code(&path));
        }
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            all.push_str(line);
            all.push('\n');
        }
    }
    (built, all)
}

/// Whether the code names this crate: at the beginning of a path, or in a `use` of itself.
fn names_crate(code: &str, dependency: &str) -> bool {
    let word = dependency.replace('-', "_");
    code.match_indices(&word).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        let is_inside = before.ends_with(|letter: char| letter.is_alphanumeric() || "_:.".contains(letter));
        let is_used = before.ends_with("use ") && after.starts_with([';', ' ']);
        !is_inside && (after.starts_with("::") || is_used)
    })
}

#[test]
fn a_crate_uses_what_it_depends_on() {
    let mut found = Vec::new();
    for name in names() {
        let manifest = manifest(&crates().join(&name));
        let (built, all) = texts(&name);
        for (heading, code) in [("dependencies", &built), ("dev-dependencies", &all)] {
            for dependency in listed(&manifest, heading) {
                let is_silent =
                    SILENT.iter().any(|(of, silent, _)| *of == name && *silent == dependency.as_str());
                if !is_silent && !names_crate(code, &dependency) {
                    found.push(format!("{name}, {heading}: {dependency}"));
                }
            }
        }
    }
    assert_none("depended on and not used", found);
}

#[test]
fn a_crate_uses_what_the_workspace_offers() {
    let mut used = BTreeSet::new();
    for name in names() {
        let manifest = manifest(&crates().join(&name));
        for heading in ["dependencies", "dev-dependencies", "build-dependencies"] {
            used.extend(listed(&manifest, heading));
        }
    }
    let workspace = manifest(&crates().join(".."));
    let offered = listed(workspace["workspace"].as_table().unwrap(), "dependencies");
    assert!(offered.len() > 20, "{offered:?}");
    assert_none("offered and not used", offered.into_iter().filter(|name| !used.contains(name)).collect());
}
