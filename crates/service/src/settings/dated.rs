//! A secret that may have an end, so that an old one leaves by itself after a change.

use std::fmt;

use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{
        Error, MapAccess, Visitor,
        value::{MapAccessDeserializer, StrDeserializer},
    },
};

use crate::settings::SecretRef;

/// One of the live secrets of a source: where it is, and until when it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedSecret {
    /// Where it is.
    pub from: SecretRef,
    /// Signatures with it are refused after this instant.
    pub until: Option<Timestamp>,
}

impl<'de> Deserialize<'de> for DatedSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// Either the reference alone, or a table. Not an untagged enum: that would hide why a reference is wrong.
struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = DatedSecret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a reference to a secret, or { from = \"env:NAME\", until = \"2026-12-31T00:00:00Z\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<DatedSecret, E> {
        let from = SecretRef::deserialize(StrDeserializer::new(text))?;
        Ok(DatedSecret { from, until: None })
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<DatedSecret, M::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            from: SecretRef,
            until: String,
        }
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        let until = table
            .until
            .parse()
            .map_err(|_| M::Error::custom("until is no instant: write it like \"2026-12-31T00:00:00Z\""))?;
        Ok(DatedSecret { from: table.from, until: Some(until) })
    }
}
