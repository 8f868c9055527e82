//! What signing and verifying on the command line share: files, secrets, and the `[verify]` table.

use std::io::Read as _;

use anyhow::Context as _;
use secrecy::SecretString;
use signature::{Key, Scheme, SchemeSpec};

use crate::failure::BadInput;

/// The bytes of a file; `-` is standard input.
pub(crate) fn bytes(file: &str) -> anyhow::Result<Vec<u8>> {
    if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(file).map_err(|error| BadInput::new(format!("{file}: {error}")).into())
}

/// Headers from `Name: value` lines or from a JSON object.
pub(crate) fn headers(file: &str) -> anyhow::Result<Vec<(String, String)>> {
    let text = String::from_utf8(bytes(file)?).map_err(|_| BadInput::new(format!("{file}: is not UTF-8")))?;
    if text.trim_start().starts_with('{') {
        let map: std::collections::BTreeMap<String, String> =
            serde_json::from_str(&text).map_err(|error| BadInput::new(format!("{file}: {error}")))?;
        return Ok(map.into_iter().collect());
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| header(line).map_err(|_| BadInput::new(format!("{file}: {line:?} is no header")).into()))
        .collect()
}

/// `Name: value`
pub(crate) fn header(line: &str) -> Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or("write 'Name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// The scheme of a profile's file; the rest of the file may still be unfinished.
pub(crate) fn scheme(file: &str, text: &str) -> anyhow::Result<Scheme> {
    #[derive(serde::Deserialize)]
    struct Verify {
        verify: SchemeSpec,
    }
    let bad = |error: String| BadInput::new(format!("{file}: verify: {}", error.trim()));
    let spec: Verify = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
    Ok(Scheme::compile(&spec.verify).map_err(|error| bad(error.to_string()))?)
}

/// A key for each secret: what a person typed, then those in variables. Each with what to call it.
pub(crate) fn keys(
    scheme: &Scheme,
    typed: &[String],
    variables: &[String],
) -> anyhow::Result<(Vec<String>, Vec<Key>)> {
    let (mut names, mut keys) = (Vec::new(), Vec::new());
    let mut add = |name: String, secret: String| -> anyhow::Result<()> {
        let key = scheme
            .key(&SecretString::from(secret))
            .map_err(|error| BadInput::new(format!("{name}: {error}")))?;
        names.push(name);
        keys.push(key);
        Ok(())
    };
    for (at, secret) in typed.iter().enumerate() {
        add(format!("--secret number {}", at + 1), secret.clone())?;
    }
    for name in variables {
        let secret = std::env::var(name).map_err(|error| BadInput::new(format!("{name}: {error}")))?;
        add(format!("env:{name}"), secret)?;
    }
    Ok((names, keys))
}

/// `NAME=VALUE`, for constants.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The text of a profile's file.
pub(crate) fn profile_text(file: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(file)
        .map_err(|error| BadInput::new(error.to_string()))
        .with_context(|| file.to_owned())
}
