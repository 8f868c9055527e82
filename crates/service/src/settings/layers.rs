//! The layers: embedded defaults < files of the folder < environment.

use std::path::{Path, PathBuf};

use config::{Config, Environment, File, FileFormat, Value};
use serde::de::DeserializeOwned;

use crate::settings::Fault;

const EMBEDDED: [&str; 4] = [
    include_str!("../../../../config/ordem.toml"),
    include_str!("../../../../config/sources.toml"),
    include_str!("../../../../config/destinations.toml"),
    include_str!("../../../../config/flows.toml"),
];

const PREFIX: &str = "ORDEM__";

/// All layers, merged, with each one kept for telling where a fault stands.
pub(crate) struct Layers {
    merged: Config,
    files: Vec<(String, toml::Table)>,
}

impl Layers {
    /// Reads the folder. A folder that does not exist is no layer, unless it is not the default one.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub(crate) fn read(dir: &Path) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut files = Vec::new();
        let mut builder = Config::builder();
        for text in EMBEDDED {
            builder = builder.add_source(File::from_str(text, FileFormat::Toml));
        }
        for path in toml_files(dir).map_err(|fault| vec![fault])? {
            let name = path.display().to_string();
            match std::fs::read_to_string(&path).map_err(|error| error.to_string()).and_then(parsed) {
                Ok((text, table)) => {
                    builder = builder.add_source(File::from_str(&text, FileFormat::Toml));
                    files.push((name, table));
                }
                Err(reason) => faults.push(Fault { file: name, key: String::new(), reason }),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let environment = Environment::with_prefix("ORDEM").prefix_separator("__").separator("__");
        let whole = |error: config::ConfigError| {
            vec![Fault { file: "configuration".to_owned(), key: String::new(), reason: error.to_string() }]
        };
        Ok(Self { merged: builder.add_source(environment).build().map_err(whole)?, files })
    }

    /// The names of the tables below `path`; of the top when it is empty.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let table = if path.is_empty() {
            self.merged.cache.clone().into_table()
        } else {
            self.merged.get::<Value>(path).and_then(Value::into_table)
        };
        let mut names: Vec<String> = table.map(|table| table.into_keys().collect()).unwrap_or_default();
        names.sort();
        names
    }

    /// One table as its type, or the fault in it.
    pub(crate) fn section<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        let value: Value = self.merged.get(path).map_err(|error| self.fault(path, error.to_string()))?;
        self.typed(path, value)
    }

    /// A part of what stands at `path` as its type, or the fault in it.
    pub(crate) fn typed<T: DeserializeOwned>(&self, path: &str, part: impl Into<Value>) -> Result<T, Fault> {
        serde_path_to_error::deserialize(part.into()).map_err(|error| {
            let inner = error.path().to_string();
            let key = if inner == "." { path.to_owned() } else { format!("{path}.{inner}") };
            self.fault(&key, reason_of(error.inner()))
        })
    }

    /// A fault at this key, with the layer that set it.
    pub(crate) fn fault(&self, key: &str, reason: impl Into<String>) -> Fault {
        Fault { file: self.origin(key), key: key.to_owned(), reason: reason.into() }
    }

    fn origin(&self, key: &str) -> String {
        // The key of a fault may go on below what a layer can tell; its longest known beginning decides.
        let mut parts: Vec<&str> =
            key.split('.').map(|part| part.split('[').next().unwrap_or(part)).collect();
        let mut is_whole = self.files.iter().all(|(_, table)| !has(table, &parts));
        while !parts.is_empty() {
            let variable = format!("{PREFIX}{}", parts.join("__").to_uppercase());
            if std::env::vars_os().any(|(name, _)| name.to_string_lossy().to_uppercase() == variable) {
                return format!("environment {variable}");
            }
            let below = format!("{variable}__");
            let set_below =
                |name: &std::ffi::OsStr| name.to_string_lossy().to_uppercase().starts_with(&below);
            if is_whole && let Some((name, _)) = std::env::vars_os().find(|(name, _)| set_below(name)) {
                // An unknown section exists only because something below it is set.
                return format!("environment {}", name.to_string_lossy());
            }
            is_whole = false;
            if let Some((name, _)) = self.files.iter().rev().find(|(_, table)| has(table, &parts)) {
                return name.clone();
            }
            parts.pop();
        }
        "defaults".to_owned()
    }
}

fn parsed(text: String) -> Result<(String, toml::Table), String> {
    let table = text.parse().map_err(|error: toml::de::Error| error.to_string().trim().to_owned())?;
    Ok((text, table))
}

fn has(table: &toml::Table, parts: &[&str]) -> bool {
    let Some((first, rest)) = parts.split_first() else { return true };
    match table.get(*first) {
        Some(toml::Value::Table(inner)) => has(inner, rest),
        Some(_) => rest.is_empty(),
        None => false,
    }
}

fn toml_files(dir: &Path) -> Result<Vec<PathBuf>, Fault> {
    let fault = |reason: String| Fault { file: dir.display().to_string(), key: String::new(), reason };
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        // Without any folder the embedded defaults and the environment are enough.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && dir == Path::new("config") => {
            return Ok(Vec::new());
        }
        Err(error) => {
            return Err(fault(format!(
                "cannot be read as the configuration folder (--config, ORDEM_CONFIG): {error}"
            )));
        }
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| fault(error.to_string()))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn reason_of(error: &config::ConfigError) -> String {
    use config::ConfigError::{At, Message, Type};
    match error {
        At { error, .. } => reason_of(error),
        Message(text) => text.clone(),
        Type { unexpected, expected, .. } => format!("is {unexpected}, expected {expected}"),
        other => other.to_string(),
    }
}
