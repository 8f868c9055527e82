//! The profiles that ship: each has its samples and its section in the documentation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Profiles of the systems that the end-to-end tests follow step by step; they need no samples besides.
const FOLLOWED: [&str; 1] = ["loja"];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of the files with this ending in a folder.
fn names(folder: &str, ending: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(root().join(folder)).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

pub(crate) fn shipped() -> BTreeSet<String> {
    let mut shipped = names("profiles", "toml");
    shipped.retain(|name| !FOLLOWED.contains(&name.as_str()));
    shipped
}

pub(crate) fn samples(name: &str) -> Value {
    let text = std::fs::read_to_string(root().join(format!("profiles/samples/{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn each_has_samples_and_a_section_with_its_settings() {
    let shipped = shipped();
    assert!(shipped.len() >= 15, "{shipped:?}");
    assert_eq!(names("profiles/samples", "json"), shipped);
    let page = std::fs::read_to_string(root().join("docs/PROFILES.md")).unwrap();
    for name in &shipped {
        for part in [
            format!("(#{name})"),
            format!("<a id=\"{name}\"></a>"),
            format!("[sources.{name}]"),
            format!("profile = \"{name}\""),
        ] {
            assert!(page.contains(&part), "docs/PROFILES.md has no {part}");
        }
    }
}

#[test]
fn the_page_tells_the_weaknesses_and_options_that_the_files_tell() {
    let page = std::fs::read_to_string(root().join("docs/PROFILES.md")).unwrap();
    for name in shipped() {
        let file = std::fs::read_to_string(root().join(format!("profiles/{name}.toml"))).unwrap();
        let profile: toml::Table = file.parse().unwrap();
        let weaknesses = profile["weaknesses"].as_array().unwrap();
        assert!(!weaknesses.is_empty(), "{name}");
        for weakness in weaknesses {
            let weakness = weakness.as_str().unwrap();
            assert!(page.contains(&format!("- {weakness}\n")), "{name}: the page lacks: {weakness}");
        }
        let options = profile.get("options").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        for (option, meaning) in options {
            let line = format!("- `{option}`: {}\n", meaning.as_str().unwrap());
            assert!(page.contains(&line), "{name}: the page lacks: {line}");
        }
        assert!(
            profile.contains_key("gives_up_after"),
            "{name} does not say how long deliveries are repeated"
        );
    }
}

#[test]
fn each_sample_set_has_what_goes_wrong_in_practice() {
    for name in shipped() {
        let samples = samples(&name);
        let requests = samples["requests"].as_array().unwrap();
        let has = |reading: &str| requests.iter().any(|sample| sample["expect"]["reading"] == reading);
        assert!(has("fact") || has("fetch"), "{name}: nothing is read");
        assert!(has("ignored"), "{name}: no type that is not ours");
        assert!(
            requests.iter().any(|sample| sample["expect"]["verified"] == false),
            "{name}: nothing is refused"
        );
        // Where only the resource counts there are no keys.
        let repeated = requests.iter().any(|sample| sample.get("same_key_as").is_some());
        assert!(repeated || has("fetch"), "{name}: nothing is delivered again");
    }
}
