//! The keys that the kinds `hmac`, `digest`, `ed25519`, `rsa` and `token` have in common.

use serde::Deserialize;

use crate::scheme::SchemeError;
use crate::template::TextSpec;
use crate::{Encoding, KeyForm};

/// How a signature is made, where it stands and how it is spelt.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignedSpec {
    /// `hmac-sha1`, `hmac-sha256`, `hmac-sha512`; of a digest `sha1`, `sha256`, `sha512`.
    pub algorithm: Option<String>,
    /// Hash of the message before it is signed (`ed25519`): `sha256`.
    pub prehash: Option<String>,
    /// Hash of `rsa`: `sha256`.
    pub hash: Option<String>,
    /// Header that holds the signature, in any case.
    pub header: Option<String>,
    /// Query parameter that holds it.
    pub query: Option<String>,
    /// Path in the JSON body that holds it.
    pub json: Option<String>,
    /// How the value is built.
    #[serde(default)]
    pub format: Format,
    /// Between pairs (`,`), or between entries of a list (a blank).
    pub separator: Option<String>,
    /// Between key and value of a pair (`=`).
    pub assign: Option<String>,
    /// Keys of pairs that are signatures; all others are skipped.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Key of the pair that holds the signed time.
    pub timestamp_key: Option<String>,
    /// Between version and signature of a list's entry (`,`).
    pub version_separator: Option<String>,
    /// Versions of a list that count; all others are skipped.
    #[serde(default)]
    pub versions: Vec<String>,
    /// How the signature's bytes are spelt (`hex` unless set).
    #[serde(default)]
    pub encoding: Encoding,
    /// What stands before it, such as `sha256=`.
    #[serde(default)]
    pub prefix: String,
    /// Whether a value without the prefix is refused. When it is not, we sign without the prefix.
    #[serde(default = "yes")]
    pub prefix_required: bool,
    /// What is signed; the raw body unless set.
    pub text: Option<TextSpec>,
    /// How the key is written in the secret.
    #[serde(default)]
    pub key: KeyForm,
    /// What is cut off the secret first, such as `whsec_`.
    #[serde(default)]
    pub key_prefix: String,
    /// Whether the secret is written with HTML entities.
    #[serde(default)]
    pub html_unescape: bool,
    /// The signed time, where there is one.
    pub timestamp: Option<TimestampSpec>,
    /// Refused: not yet.
    pub certificate_url_header: Option<String>,
    /// Which of the source's `more_secrets` count, instead of its `secrets`.
    pub secrets: Option<String>,
}

impl SignedSpec {
    /// Refuses what a table of this kind would silently leave unread: whoever wrote it believes that it is checked.
    pub(crate) fn refuse_foreign(&self, kind: &str) -> Result<(), SchemeError> {
        let pairs = self.format == Format::Pairs;
        let list = self.format == Format::List;
        let token = kind == "token";
        let rules = [
            (self.algorithm.is_some() && !matches!(kind, "hmac" | "digest"), "algorithm", "hmac and digest"),
            (self.prehash.is_some() && kind != "ed25519", "prehash", "ed25519"),
            (self.hash.is_some() && kind != "rsa", "hash", "rsa"),
            (self.text.is_some() && token, "text", "kinds that sign, not token"),
            (self.timestamp.is_some() && token, "timestamp", "kinds that sign, not token"),
            (self.separator.is_some() && !pairs && !list, "separator", "the formats pairs and list"),
            (self.assign.is_some() && !pairs, "assign", "the format pairs"),
            (!self.keys.is_empty() && !pairs, "keys", "the format pairs"),
            (self.timestamp_key.is_some() && !pairs, "timestamp_key", "the format pairs"),
            (self.version_separator.is_some() && !list, "version_separator", "the format list"),
            (!self.versions.is_empty() && !list, "versions", "the format list"),
        ];
        let foreign = rules.into_iter().find(|(foreign, ..)| *foreign);
        foreign.map_or(Ok(()), |(_, key, of)| Err(SchemeError::Foreign(key, of)))
    }
}

fn yes() -> bool {
    true
}

impl Default for SignedSpec {
    fn default() -> Self {
        Self {
            algorithm: None,
            prehash: None,
            hash: None,
            header: None,
            query: None,
            json: None,
            format: Format::default(),
            separator: None,
            assign: None,
            keys: Vec::new(),
            timestamp_key: None,
            version_separator: None,
            versions: Vec::new(),
            encoding: Encoding::default(),
            prefix: String::new(),
            prefix_required: true,
            text: None,
            key: KeyForm::default(),
            key_prefix: String::new(),
            html_unescape: false,
            timestamp: None,
            certificate_url_header: None,
            secrets: None,
        }
    }
}

/// How the signature's value is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The signature alone.
    #[default]
    Plain,
    /// `k=v,k=v`.
    Pairs,
    /// `version,signature version,signature`.
    List,
}

/// `timestamp = { … }`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimestampSpec {
    /// `signature` (its `timestamp_key`), or `header:NAME`.
    #[serde(default = "in_signature")]
    pub from: String,
    /// Its unit.
    #[serde(default)]
    pub unit: Unit,
    /// Seconds that it may differ from now.
    pub tolerance_seconds: u32,
    /// In which direction it may not.
    #[serde(default)]
    pub sides: Sides,
}

fn in_signature() -> String {
    "signature".to_owned()
}

/// Unit of a signed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Seconds since 1970.
    #[default]
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
}

/// In which direction a signed time is bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// Neither too old nor too far ahead.
    #[default]
    Both,
    /// Not too old.
    Past,
}
