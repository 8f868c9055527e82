//! The fields of a fact: our name, where it stands, what type it must have.

use std::collections::BTreeMap;

use domain::Value;
use serde::Deserialize;

use crate::leaf::{Leaf, integer};
use crate::shape::Leaves;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FieldType {
    /// A whole number.
    Integer,
    /// An amount in minor units (cents): a whole number.
    MoneyMinor,
    Text,
    Boolean,
}

/// One field, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) slot: usize,
    pub(crate) type_: FieldType,
}

/// Reads all fields. Null and absent are left out: they are no information.
///
/// # Errors
/// A value of another type, by its path: the fact would be half understood.
pub(crate) fn read(fields: &[Field], leaves: &Leaves<'_>) -> Result<BTreeMap<String, Value>, String> {
    let mut values = BTreeMap::new();
    for field in fields {
        let leaf =
            Leaf::read(leaves.raw(field.slot)).map_err(|error| format!("`{}`: {error}", field.path))?;
        if let Some(value) = field.value(leaf)? {
            values.insert(field.name.clone(), value);
        }
    }
    Ok(values)
}

impl Field {
    fn value(&self, leaf: Leaf<'_>) -> Result<Option<Value>, String> {
        match (self.type_, leaf) {
            (_, Leaf::Absent | Leaf::Null) => Ok(None),
            (FieldType::Integer | FieldType::MoneyMinor, Leaf::Number(digits)) => integer(digits)
                .map(|value| Some(Value::Integer(value)))
                .ok_or_else(|| format!("`{}` is not a whole number of 64 bits", self.path)),
            (FieldType::Text, Leaf::Text(text)) => Ok(Some(Value::Text(without_nul(&text)))),
            (FieldType::Boolean, Leaf::Boolean(value)) => Ok(Some(Value::Boolean(value))),
            (type_, other) => {
                Err(format!("`{}` is {}, not {}", self.path, other.describe(), type_.describe()))
            }
        }
    }
}

impl FieldType {
    fn describe(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::MoneyMinor => "an amount in minor units",
            Self::Text => "a text",
            Self::Boolean => "true or false",
        }
    }
}

/// Drops NUL characters: valid in JSON, and PostgreSQL's jsonb refuses them.
fn without_nul(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').collect()
}
