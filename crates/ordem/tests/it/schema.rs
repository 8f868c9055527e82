//! `ordem profile schema`: editors are told the same shape that the reader demands.

use std::{collections::BTreeSet, path::Path};

use jsonschema::Validator;
use serde_json::Value;

use crate::world::ordem;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn text(file: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap()
}

fn printed() -> Value {
    ordem(&[], &["profile", "schema"]).expect(0).json()
}

fn validator() -> Validator {
    jsonschema::draft7::new(&printed()).unwrap()
}

/// Every profile that ships, the template, and one that uses every key.
fn profiles() -> Vec<(String, toml::Table)> {
    let shipped = std::fs::read_dir(Path::new(ROOT).join("profiles")).unwrap();
    let paths = shipped.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let mut profiles: Vec<_> =
        files.map(|path| format!("profiles/{}", path.file_name().unwrap().to_str().unwrap())).collect();
    profiles.push("crates/ordem/src/command/profile/template.toml".to_owned());
    profiles.push("crates/profile/tests/it/full.toml".to_owned());
    profiles.into_iter().map(|file| (file.clone(), text(&file).parse().unwrap())).collect()
}

fn json(table: &toml::Table) -> Value {
    serde_json::to_value(table).unwrap()
}

#[test]
fn the_stored_schema_is_the_one_that_is_generated() {
    let stored = text("docs/profile.schema.json");
    let hint = "ordem profile schema > docs/profile.schema.json";
    assert!(stored == ordem(&[], &["profile", "schema"]).expect(0).out, "out of date: {hint}");
    assert_eq!(printed(), ordem(&[], &["profile", "schema", "--json"]).expect(0).json());
    assert!(!stored.contains("\"null\""), "TOML has no null");
}

#[test]
fn every_profile_that_ships_is_valid() {
    let validator = validator();
    let profiles = profiles();
    assert!(profiles.len() >= 19, "{}", profiles.len());
    for (file, table) in profiles {
        let errors: Vec<String> = validator
            .iter_errors(&json(&table))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{file}: {errors:#?}");
    }
}

/// Keys that no text explains, but for those that tell which variant is meant.
fn unexplained(schema: &Value, at: &str, found: &mut Vec<String>) {
    let members = schema.as_object().into_iter().flatten();
    for (name, value) in members {
        if name == "properties" {
            let keys = value.as_object().unwrap().iter();
            let bare = keys.filter(|(_, of)| of["description"].is_null() && of["const"].is_null());
            found.extend(bare.map(|(key, _)| format!("{at}: {key}")));
        }
        unexplained(value, &format!("{at}/{name}"), found);
    }
    for item in schema.as_array().into_iter().flatten() {
        unexplained(item, at, found);
    }
}

#[test]
fn an_editor_can_say_of_every_key_what_it_is_for() {
    let mut found = Vec::new();
    unexplained(&printed(), "", &mut found);
    assert!(found.is_empty(), "give these a doc comment: {found:#?}");
}

/// The same table with one key, somewhere in it, written otherwise: once for each key there is.
fn misspelt(table: &toml::Table) -> Vec<(String, toml::Table)> {
    let mut all = Vec::new();
    for (key, value) in table {
        let mut wrong = table.clone();
        let moved = wrong.remove(key).unwrap();
        wrong.insert(format!("{key}x"), moved);
        all.push((key.clone(), wrong));
        for (path, inner) in misspelt_in(value) {
            let mut wrong = table.clone();
            wrong.insert(key.clone(), inner);
            all.push((format!("{key}.{path}"), wrong));
        }
    }
    all
}

fn misspelt_in(value: &toml::Value) -> Vec<(String, toml::Value)> {
    match value {
        toml::Value::Table(table) => {
            misspelt(table).into_iter().map(|(path, wrong)| (path, toml::Value::Table(wrong))).collect()
        }
        toml::Value::Array(items) => {
            let wrong = items.iter().enumerate().flat_map(|(at, item)| {
                misspelt_in(item).into_iter().map(move |(path, wrong)| {
                    let mut items = items.clone();
                    items[at] = wrong;
                    (format!("{at}.{path}"), toml::Value::Array(items))
                })
            });
            wrong.collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the reader refuses the shape, before it looks at what it means.
fn is_misshapen(table: &toml::Table) -> bool {
    let faults = profile::Profile::parse("p.toml", &table.to_string()).err().unwrap_or_default();
    let words =
        ["unknown field", "missing field", "expected", "unknown variant", "did not match", "invalid type"];
    faults.iter().any(|fault| words.iter().any(|word| fault.reason.contains(word)))
}

#[test]
fn a_misspelt_key_is_no_more_valid_than_it_is_readable() {
    let validator = validator();
    let (mut refused, mut taken) = (0, 0);
    // One case of a key is enough, wherever it stands in a list and in whatever file.
    let mut seen = BTreeSet::new();
    for (file, table) in profiles() {
        for (path, wrong) in misspelt(&table) {
            let key: Vec<&str> = path.split('.').filter(|part| part.parse::<usize>().is_err()).collect();
            if !seen.insert(key.join(".")) {
                continue;
            }
            let valid = validator.is_valid(&json(&wrong));
            let misshapen = is_misshapen(&wrong);
            assert_eq!(
                valid,
                !misshapen,
                "{file}: {path}: {:?}",
                profile::Profile::parse("p", &wrong.to_string()).err()
            );
            if misshapen { refused += 1 } else { taken += 1 }
        }
    }
    // Names that a profile chooses itself (fields, statuses, options) may be anything.
    assert!(refused > 250 && taken > 100, "{refused} refused, {taken} taken");
}
