//! How a list of what changed is asked for: pure descriptions, no calls.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::{encoded, with_constants};
use crate::page::PageShape;
use crate::paging::Paging;

/// A list, read page by page.
#[derive(Clone, Debug)]
pub struct List {
    /// The name of its cursor.
    pub name: String,
    /// Path below the API's base URL.
    pub path: String,
    /// The body of the call where it is a `POST`: parameters stand in it, at dotted paths.
    pub body: Option<Map<String, Value>>,
    /// Parameters that are always sent.
    pub query: Vec<(String, String)>,
    /// Takes the instant to read from.
    pub since: Option<Bound>,
    /// Takes the instant to read to.
    pub until: Option<Bound>,
    /// The parameter that takes the page size, if there is one.
    pub limit_param: Option<String>,
    /// The page size.
    pub limit: u32,
    /// How the next page is found.
    pub paging: Paging,
    /// Whether the provider promises that the list ascends by the instant it was changed at. Only then may a cursor
    /// move before the list is read to its end.
    pub sorted: bool,
    /// What its items are.
    pub items: ItemOf,
    /// Longest stretch of time in one call.
    pub window_max: Option<Duration>,
    /// How far back the provider can tell.
    pub retention: Option<Duration>,
    /// Each round reads this much before now, instead of what lies behind a cursor.
    pub sliding: Option<Duration>,
    /// Instead of `reconciler.every`.
    pub every: Option<Duration>,
    /// Instead of `reconciler.overlap`.
    pub overlap: Option<Duration>,
    /// Instead of `reconciler.lag`.
    pub lag: Option<Duration>,
    pub(crate) page: PageShape,
}

/// What the items of a list are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemOf {
    /// Resources, read by `[api.item]`.
    Item,
    /// Resources, read by `[api.items.NAME]`.
    Named(String),
    /// The events that are sent as webhooks as well.
    Event,
}

/// A parameter that takes an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Its name.
    pub param: String,
    /// How the instant is spelt.
    pub format: SinceFormat,
}

/// How an instant is spelt in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SinceFormat {
    /// `2026-01-02T03:04:05Z`, with a fraction where there is one.
    #[default]
    Rfc3339,
    /// Whole seconds since 1970.
    EpochSeconds,
    /// Milliseconds since 1970.
    EpochMilliseconds,
    /// `2026-01-02`. In which zone the provider counts its days does not matter: the earliest day that it may be then.
    Date,
    /// `Fri, 02 Jan 2026 03:04:05 +0000`.
    Rfc2822,
}

impl SinceFormat {
    /// Spells an instant; what the format cannot hold is cut downwards, so that nothing is skipped.
    pub fn spell(self, instant: Timestamp) -> String {
        match self {
            Self::Rfc3339 => instant.to_string(),
            Self::EpochSeconds => instant.as_nanosecond().div_euclid(1_000_000_000).to_string(),
            Self::EpochMilliseconds => instant.as_nanosecond().div_euclid(1_000_000).to_string(),
            Self::Date => day(instant, WEST),
            Self::Rfc2822 => {
                jiff::fmt::rfc2822::to_string(&instant.to_zoned(TimeZone::UTC)).unwrap_or_default()
            }
        }
    }

    /// Spells the end of a stretch; what the format cannot hold is rounded up.
    pub fn spell_end(self, instant: Timestamp) -> String {
        match self {
            Self::Rfc3339 => self.spell(instant),
            Self::EpochSeconds | Self::Rfc2822 => self.spell(up(instant, 1_000_000_000)),
            Self::EpochMilliseconds => self.spell(up(instant, 1_000_000)),
            Self::Date => day(instant, EAST),
        }
    }

    fn as_number(self) -> bool {
        matches!(self, Self::EpochSeconds | Self::EpochMilliseconds)
    }
}

/// The offsets of the zones in which a day begins last and first.
const WEST: SignedDuration = SignedDuration::from_hours(-12);
const EAST: SignedDuration = SignedDuration::from_hours(14);

fn day(instant: Timestamp, offset: SignedDuration) -> String {
    instant.saturating_add(offset).unwrap_or(instant).to_zoned(TimeZone::UTC).date().to_string()
}

fn up(instant: Timestamp, unit: i128) -> Timestamp {
    let whole = (instant.as_nanosecond() + unit - 1).div_euclid(unit) * unit;
    Timestamp::from_nanosecond(whole).unwrap_or(Timestamp::MAX)
}

/// One call for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Where it goes: a path below the base, or a whole address that the provider named.
    pub to: Address,
    /// Parameters besides.
    pub query: Vec<(String, String)>,
    /// The body of a `POST`; a `GET` has none.
    pub body: Option<String>,
}

/// Where a call goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A path below the API's base URL.
    Path(String),
    /// What the provider named, whole or relative. It must not lead to another host.
    Named(String),
}

impl List {
    /// The call for one page of what changed from `since` to `until`, at `page` when the answer before named one.
    pub fn call(
        &self,
        since: Timestamp,
        until: Timestamp,
        page: Option<&str>,
        constants: &[(String, String)],
    ) -> Call {
        if let (true, Some(address)) = (self.paging.is_address(), page) {
            return Call { to: Address::Named(address.to_owned()), query: Vec::new(), body: None };
        }
        let spelled = |bound: &Bound, text: String| (bound.param.clone(), text, bound.format.as_number());
        let mut parameters = Vec::new();
        if let Some(bound) = &self.since {
            parameters.push(spelled(bound, bound.format.spell(since)));
        }
        if let Some(bound) = &self.until {
            parameters.push(spelled(bound, bound.format.spell_end(until)));
        }
        if let Some(param) = &self.limit_param {
            parameters.push((param.clone(), self.limit.to_string(), true));
        }
        if let Some((param, value)) = self.paging.parameter(page) {
            parameters.push((param.to_owned(), value, self.paging.is_numbered()));
        }
        let always = self.query.iter().cloned();
        let query = always.map(|(name, value)| (name, with_constants(&value, constants, str::to_owned)));
        let mut query: Vec<_> = query.collect();
        let body = match &self.body {
            None => {
                query.extend(parameters.into_iter().map(|(name, value, _)| (name, value)));
                None
            }
            Some(body) => Some(filled(body.clone(), parameters)),
        };
        let path = with_constants(&self.path, constants, encoded);
        Call { to: Address::Path(path), query, body }
    }
}

/// Sets each parameter at its dotted path.
fn filled(mut body: Map<String, Value>, parameters: Vec<(String, String, bool)>) -> String {
    for (path, text, is_number) in parameters {
        let number = is_number.then(|| text.parse::<i64>().ok()).flatten();
        set(&mut body, &path, number.map_or(Value::String(text), Value::from));
    }
    Value::Object(body).to_string()
}

fn set(body: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((key, rest)) = path.split_once('.') else {
        body.insert(path.to_owned(), value);
        return;
    };
    let child = body.entry(key).or_insert_with(|| Value::Object(Map::new()));
    if !child.is_object() {
        *child = Value::Object(Map::new());
    }
    if let Value::Object(child) = child {
        set(child, rest, value);
    }
}
