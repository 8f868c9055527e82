//! From the tables of a profile to handshakes and look-ups.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::compile::{Builder, span};
use crate::fetch::{Fetch, WAIT};
use crate::handshake::{Answer, Handshake};
use crate::page::PageShape;
use crate::shape::Shape;
use crate::spec::{AnswerForm, AnswerSpec, ApiSpec, FetchSpec, HandshakeSpec, PlaceSpec, ProfileSpec};

impl Builder<'_> {
    pub(crate) fn handshake(&mut self, at: usize, spec: &HandshakeSpec) -> Option<Handshake> {
        let key = format!("receive.handshakes[{at}]");
        let mut shape = Shape::new();
        let conditions: Vec<_> = spec
            .conditions
            .iter()
            .filter_map(|condition| self.condition(&format!("{key}.where"), condition, &mut shape))
            .collect();
        if conditions.is_empty() {
            self.faults.add(format!("{key}.where"), "is empty: every request would be one");
        }
        if !(200..300).contains(&spec.status) {
            self.faults.add(format!("{key}.status"), format!("{} is not between 200 and 299", spec.status));
        }
        let body = match &spec.body {
            None => Answer::Text(String::new()),
            Some(AnswerSpec::Text(text)) => Answer::Text(text.clone()),
            Some(AnswerSpec::Place(PlaceSpec::Table(table))) if table.query.is_some() => {
                Answer::Query(table.query.clone().unwrap_or_default())
            }
            Some(AnswerSpec::Place(_)) => {
                self.faults.add(format!("{key}.body"), "is neither a text nor { query = \"name\" }");
                return None;
            }
        };
        let method = spec.method.clone().unwrap_or_else(|| "POST".to_owned());
        if !["GET", "POST"].contains(&method.as_str()) {
            self.faults.add(format!("{key}.method"), format!("{method:?} is neither GET nor POST"));
        }
        Some(Handshake { method, shape, conditions, body, signed: spec.signed, status: spec.status })
    }

    /// The look-ups, and that all which rules name are there.
    pub(crate) fn fetches(&mut self, spec: &ProfileSpec) -> BTreeMap<String, Fetch> {
        for (at, rule) in spec.event.rules.iter().enumerate() {
            if let Some(name) = rule.fetch.as_ref().filter(|name| !spec.fetch.contains_key(*name)) {
                self.faults.add(format!("event.rules[{at}].fetch"), format!("there is no [fetch.{name}]"));
            }
        }
        let compiled =
            spec.fetch.iter().map(|(name, fetch)| (name.clone(), self.fetch(name, fetch, spec.api.as_ref())));
        compiled.collect()
    }

    fn fetch(&mut self, name: &str, spec: &FetchSpec, api: Option<&ApiSpec>) -> Fetch {
        let key = format!("fetch.{name}");
        let known = match (&spec.reader, api) {
            (_, None) => false,
            (None, Some(api)) => api.item.is_some(),
            (Some(reader), Some(api)) => api.items.contains_key(reader),
        };
        if !known {
            self.faults.add(format!("{key}.reader"), "nothing under [api] says how to read the answer");
        }
        if !spec.path.contains("{id}") {
            self.faults.add(format!("{key}.path"), "has no {id}");
        }
        let (at, is_list) = match (&spec.item, &spec.items) {
            (Some(_), Some(_)) => {
                self.faults.add(&key, "has both item and items");
                ("", false)
            }
            (None, Some(items)) => (items.as_str(), true),
            (Some(item), None) => (item.as_str(), false),
            (None, None) => ("", false),
        };
        let place: PageShape = self.page(&format!("{key}.item"), at);
        let mut span = |name: &str, text: Option<&str>, usual: Duration| {
            span(&format!("{key}.{name}"), text, self.faults).unwrap_or(usual)
        };
        let (missing_for, settle) = (
            span("missing_for", spec.missing_for.as_deref(), WAIT),
            span("settle", spec.settle.as_deref(), WAIT),
        );
        let delay = span("delay", spec.delay.as_deref(), Duration::ZERO);
        Fetch {
            path: self.path(&format!("{key}.path"), &spec.path),
            reader: spec.reader.clone(),
            is_list,
            is_xml: spec.answer == AnswerForm::Xml,
            place,
            missing: spec.missing.clone().unwrap_or_else(|| vec![404]),
            missing_for,
            settle,
            delay,
        }
    }
}
