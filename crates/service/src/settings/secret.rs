//! References to secrets: never the secrets themselves.

use std::{fmt, path::PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de::Error};

/// Where a secret is: an environment variable or a file.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretRef {
    /// `env:NAME`
    Environment(String),
    /// `file:/path`; one trailing line end is not part of the secret.
    File(PathBuf),
}

impl SecretRef {
    /// Reads it. `None` when a variable is not set or a file is not there.
    ///
    /// # Errors
    /// When it is there but empty or unreadable.
    pub fn resolve(&self) -> Result<Option<SecretString>, String> {
        let text = match self {
            Self::Environment(name) => match std::env::var(name) {
                Ok(text) => text,
                Err(std::env::VarError::NotPresent) => return Ok(None),
                Err(std::env::VarError::NotUnicode(_)) => return Err(format!("{self} is not UTF-8")),
            },
            Self::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => text
                    .strip_suffix('\n')
                    .map(|text| text.strip_suffix('\r').unwrap_or(text))
                    .unwrap_or(&text)
                    .to_owned(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(format!("{self} cannot be read: {error}")),
            },
        };
        let secret = SecretString::from(text);
        if secret.expose_secret().trim().is_empty() {
            return Err(format!("{self} is set but empty: give it a value, or unset it to switch this off"));
        }
        Ok(Some(secret))
    }

    /// Whether it can change while a process runs.
    pub const fn can_change(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

impl fmt::Debug for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'de> Deserialize<'de> for SecretRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() => Ok(Self::Environment(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            // The text may be the secret itself: it is not repeated.
            _ => Err(D::Error::custom("is no reference to a secret: write env:NAME or file:/path")),
        }
    }
}
