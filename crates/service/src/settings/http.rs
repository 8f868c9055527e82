//! `type = "http"`: how a destination's requests are made, and which answers are a success.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use serde::{Deserialize, Deserializer};

use crate::{
    Escape, Template,
    settings::{SecretRef, template_file},
};

/// A signed request for each effect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    /// Its address.
    pub url: SecretRef,
    /// Each signs.
    #[serde(default)]
    pub secrets: Vec<SecretRef>,
    /// How calls are signed.
    #[serde(default)]
    pub signing: Signing,
    /// The method.
    #[serde(default)]
    pub method: HttpMethod,
    /// A template of what is added to the path of the address; values are percent-encoded.
    pub path: Option<String>,
    /// Headers besides those that sign: a text, or a reference to a secret.
    #[serde(default)]
    pub headers: BTreeMap<String, HeaderSource>,
    /// A template of the body instead of Ordem's message; values are written as JSON.
    pub body: Option<String>,
    /// The file of such a template, relative to the configuration folder.
    pub body_file: Option<PathBuf>,
    /// Instead of `application/json`.
    pub content_type: Option<String>,
    /// Which statuses are a success, instead of 2xx: `[200, 409]`, `["2xx", 409]`.
    #[serde(default)]
    pub success_status: Vec<StatusRange>,
    /// What an answer must say to be a success, besides its status.
    pub success: Option<SuccessRule>,
    /// What a 409 means that answers another attempt than the first.
    #[serde(default)]
    pub conflict: Conflict,
}

impl HttpSettings {
    /// The plainest: Ordem's message, signed.
    pub fn signed(url: SecretRef, secrets: Vec<SecretRef>) -> Self {
        Self {
            url,
            secrets,
            signing: Signing::StandardWebhooks,
            method: HttpMethod::Post,
            path: None,
            headers: BTreeMap::new(),
            body: None,
            body_file: None,
            content_type: None,
            success_status: Vec::new(),
            success: None,
            conflict: Conflict::Retry,
        }
    }

    /// What is added to the path of the address.
    ///
    /// # Errors
    /// What is wrong in the template.
    pub fn path_template(&self) -> Result<Option<Template>, String> {
        self.path.as_deref().map(|text| Template::compile(text, Escape::Path)).transpose()
    }

    /// The body, where it is not Ordem's message.
    ///
    /// # Errors
    /// What is wrong in the template, or why its file cannot be read.
    pub fn body_template(&self) -> Result<Option<Template>, String> {
        let text = match (&self.body, &self.body_file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => template_file(path)?,
            (None, None) => return Ok(None),
        };
        let type_ = self.content_type.as_deref().unwrap_or(JSON).to_ascii_lowercase();
        let escape = match type_.split(';').next().unwrap_or_default().trim() {
            "application/x-www-form-urlencoded" => Escape::Path,
            type_ if type_.ends_with("json") => Escape::Json,
            type_ if type_.ends_with("html") || type_.ends_with("xml") => Escape::Html,
            _ => Escape::Text,
        };
        Template::compile(&text, escape).map(Some)
    }
}

/// The type of Ordem's own message.
pub const JSON: &str = "application/json";

/// How calls are signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signing {
    /// By Standard Webhooks, with each of the secrets.
    #[default]
    StandardWebhooks,
    /// Not at all: the destination knows us by a header or the address.
    None,
}

/// The methods that carry a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "RFC 9110 and RFC 5789 say what they are")]
pub enum HttpMethod {
    #[default]
    #[serde(rename = "POST")]
    Post,
    #[serde(rename = "PUT")]
    Put,
    #[serde(rename = "PATCH")]
    Patch,
}

/// The value of a header: a text, or where a secret is.
#[derive(Debug, Clone)]
pub enum HeaderSource {
    /// As it stands.
    Text(String),
    /// By reference.
    Secret(SecretRef),
}

impl<'de> Deserialize<'de> for HeaderSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_reference = ["env:", "file:"].iter().any(|prefix| text.starts_with(prefix));
        if is_reference {
            let inner = serde::de::value::StringDeserializer::<D::Error>::new(text);
            return SecretRef::deserialize(inner).map(Self::Secret);
        }
        Ok(Self::Text(text))
    }
}

/// One status, or a hundred of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StatusRange {
    from: u16,
    to: u16,
}

impl StatusRange {
    /// Whether the status is one of them.
    pub const fn contains(self, status: u16) -> bool {
        self.from <= status && status <= self.to
    }

    fn parse(text: &str) -> Option<Self> {
        let class = text.strip_suffix("xx").and_then(|class| class.parse::<u16>().ok());
        let range = match class {
            Some(class) => Self { from: class * 100, to: class * 100 + 99 },
            None => text.parse().ok().map(|status| Self { from: status, to: status })?,
        };
        // What follows a redirect or precedes an answer is no success.
        let good = (200..300).contains(&range.from) || (400..600).contains(&range.from);
        good.then_some(range)
    }
}

impl fmt::Debug for StatusRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.from, self.to)
    }
}

impl<'de> Deserialize<'de> for StatusRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u16),
            Text(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Number(number) => number.to_string(),
            Written::Text(text) => text,
        };
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "\"{text}\" is no status of a success: write it like 200, 409 or \"2xx\""
            ))
        })
    }
}

/// A value in a destination's JSON answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuccessRule {
    /// Where: keys joined by dots.
    pub field: String,
    /// What must stand there.
    pub equals: Said,
}

/// A plain value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Said {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

/// What a 409 to a repeated call means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Conflict {
    /// The call before is still in work: try again.
    #[default]
    Retry,
    /// The call before did it.
    Delivered,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_numbers_or_classes_and_never_redirects() {
        let has = |text: &str, status| StatusRange::parse(text).is_some_and(|range| range.contains(status));
        assert!(has("200", 200) && !has("200", 201) && has("2xx", 299) && has("409", 409));
        for text in ["302", "3xx", "1xx", "6xx", "99", "xx", "2x", "", "twohundred"] {
            assert!(StatusRange::parse(text).is_none(), "{text}");
        }
    }
}
