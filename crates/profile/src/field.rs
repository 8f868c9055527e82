//! The fields of a fact: what type each has, and its exact value.

use std::collections::BTreeMap;

use domain::Value;
use jiff::Timestamp;
use serde::Deserialize;

use crate::instant::Spelling;
use crate::leaf::{Leaf, integer};
use crate::money;
use crate::place::Place;
use crate::shape::Leaves;

/// Type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum FieldType {
    /// A whole number of 64 bits.
    Integer,
    /// An amount in minor units: a whole number.
    MoneyMinor,
    /// An amount in the currency's own unit, as a text or number with decimals.
    MoneyDecimal,
    /// Three letters.
    Currency,
    /// An instant.
    Instant,
    /// A text.
    Text,
    /// True or false.
    Boolean,
}

/// One field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) type_: FieldType,
    /// Where the currency of an amount stands, if not in the field `currency`.
    pub(crate) currency: Option<Place>,
    pub(crate) spelling: Spelling,
    /// Whether all values are texts here, so that the text of a number is one.
    pub(crate) all_texts: bool,
    /// Whether it never falls at the provider.
    pub(crate) grows: bool,
}

/// The fields in the order to read them: amounts come last, for their scale hangs on the currency.
pub(crate) fn in_order(fields: BTreeMap<String, Field>) -> Vec<Field> {
    let mut fields: Vec<Field> = fields.into_values().collect();
    fields.sort_by_key(|field| field.type_ == FieldType::MoneyDecimal);
    fields
}

/// Reads all fields, given [in their order](in_order); null and absent ones are left out.
pub(crate) fn read(
    fields: &[Field],
    leaves: &Leaves<'_>,
    headers: &dyn signature::Headers,
) -> Result<BTreeMap<String, Value>, String> {
    let mut values = BTreeMap::new();
    for field in fields {
        let leaf = field.place.leaf(leaves, headers).map_err(|error| error.to_string())?;
        let currency = match &field.currency {
            _ if field.type_ != FieldType::MoneyDecimal => None,
            Some(place) => currency_code(place.leaf(leaves, headers).map_err(|error| error.to_string())?),
            None => match values.get("currency") {
                Some(Value::Text(code)) => currency_code(Leaf::Text(code.as_str().into())),
                _ => None,
            },
        };
        if let Some(value) = field.value(leaf, currency.as_deref())? {
            values.insert(field.name.clone(), value);
        }
    }
    Ok(values)
}

impl Field {
    fn value(&self, leaf: Leaf<'_>, currency: Option<&str>) -> Result<Option<Value>, String> {
        let place = &self.place;
        let leaf = if self.all_texts { self.type_.of_text(leaf) } else { leaf };
        match (self.type_, leaf) {
            (_, Leaf::Absent | Leaf::Null) => Ok(None),
            (FieldType::Integer | FieldType::MoneyMinor, Leaf::Number(digits)) => integer(&digits)
                .map(|value| Some(Value::Integer(value)))
                .ok_or_else(|| format!("{place} is not a whole number of 64 bits")),
            (FieldType::MoneyDecimal, Leaf::Number(digits) | Leaf::Text(digits)) => {
                let currency = currency.ok_or_else(|| format!("{place} is an amount without a currency"))?;
                let minor = money::minor(&digits, currency).map_err(|reason| format!("{place} {reason}"))?;
                Ok(Some(Value::Integer(minor)))
            }
            (FieldType::Currency, leaf @ Leaf::Text(_)) => currency_code(leaf)
                .map(|code| Some(Value::Text(code)))
                .ok_or_else(|| format!("{place} is no currency of three letters")),
            (FieldType::Instant, leaf @ (Leaf::Text(_) | Leaf::Number(_))) => {
                let instant: Timestamp =
                    self.spelling.read(&leaf).map_err(|reason| format!("{place}: {reason}"))?;
                Ok(Some(Value::Text(instant.to_string())))
            }
            (FieldType::Text, Leaf::Text(text)) => Ok(Some(Value::Text(without_nul(&text)))),
            // Ids are numbers with many providers; as a text they stay exact.
            (FieldType::Text, Leaf::Number(digits)) => Ok(Some(Value::Text(digits.into_owned()))),
            (FieldType::Boolean, Leaf::Boolean(value)) => Ok(Some(Value::Boolean(value))),
            (type_, other) => Err(format!("{place} is {}, not {}", other.describe(), type_.describe())),
        }
    }
}

impl FieldType {
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::MoneyMinor | Self::MoneyDecimal)
    }

    /// What a text says where there is nothing but texts.
    fn of_text(self, leaf: Leaf<'_>) -> Leaf<'_> {
        match (self, leaf) {
            (Self::Integer | Self::MoneyMinor, Leaf::Text(text))
                if text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') =>
            {
                Leaf::Number(text)
            }
            (Self::Boolean, Leaf::Text(text)) if text.eq_ignore_ascii_case("true") => Leaf::Boolean(true),
            (Self::Boolean, Leaf::Text(text)) if text.eq_ignore_ascii_case("false") => Leaf::Boolean(false),
            (_, leaf) => leaf,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::MoneyMinor => "an amount in minor units",
            Self::MoneyDecimal => "an amount",
            Self::Currency => "a currency",
            Self::Instant => "an instant",
            Self::Text => "a text",
            Self::Boolean => "true or false",
        }
    }
}

fn currency_code(leaf: Leaf<'_>) -> Option<String> {
    match leaf {
        Leaf::Text(text) if text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            Some(text.to_ascii_uppercase())
        }
        _ => None,
    }
}

/// NUL cannot be stored in a text column and says nothing in a field.
fn without_nul(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').collect()
}
