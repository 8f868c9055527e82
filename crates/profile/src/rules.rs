//! From the tables of a profile to places, fields, rules and readers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::cel::Expression;
use crate::compile::Builder;
use crate::dedup::{Dedup, Policy};
use crate::field::Field;
use crate::place::{Place, QUERY};
use crate::reader::Reader;
use crate::rule::{Action, Pattern, Rule, Rules, StatusOf};
use crate::shape::Shape;
use crate::spec::{ApiSpec, DedupSpec, EventSpec, ItemSpec, RuleSpec, RuleStatusSpec, StatusSpec, Unknown};
use crate::version::VersionPlaces;

/// What the rules of a table fall back on.
struct Defaults<'a> {
    kind: &'a str,
    resource: Place,
    version: VersionPlaces,
    fields: BTreeMap<String, Field>,
    dedup: Dedup,
}

impl Builder<'_> {
    pub(crate) fn event(&mut self, spec: &EventSpec, dedup: &DedupSpec) -> Option<Reader> {
        let mut shape = Shape::new();
        let type_ = self.place("event.type", &spec.type_, &mut shape);
        if type_.as_ref().is_some_and(Place::names_type) {
            self.faults.add("event.type", "is computed from `type`, which is not known before");
        }
        let defaults = Defaults {
            kind: &spec.kind,
            resource: self.place("event.resource", &spec.resource, &mut shape)?,
            version: self.versions("event", spec.sequence.as_ref(), spec.instant.as_slice(), &mut shape),
            fields: self.fields("event.fields", &spec.fields, &mut shape),
            dedup: self.dedup("dedup", dedup, &mut shape),
        };
        let tests = spec.test.iter().enumerate();
        let tests = tests
            .filter_map(|(at, test)| self.condition(&format!("event.test[{at}]"), test, &mut shape))
            .collect();
        let mut rules = self.rules("event.rules", &spec.rules, &defaults, &mut shape);
        // The exact type counts before a beginning, and a longer beginning before a shorter one.
        let mut table: Vec<_> = spec.status.iter().collect();
        table.sort_by_key(|(pattern, _)| (pattern.ends_with('*'), Reverse(pattern.len())));
        for (pattern, status) in table {
            let key = format!("event.status.{pattern}");
            rules.extend(self.table_rule(&key, pattern, status, &defaults, &mut shape));
        }
        if rules.is_empty() {
            self.faults.add("event.status", "is empty: every event would be ignored");
        }
        Some(Reader {
            type_: Some(type_?),
            kind: spec.kind.clone(),
            resource: defaults.resource,
            dedup: defaults.dedup,
            rules: Rules::new(rules),
            version: defaults.version,
            unknown: spec.unknown,
            tests,
            shape,
        })
    }

    pub(crate) fn item(&mut self, key: &str, spec: &ItemSpec, kind: &str) -> Option<Reader> {
        let mut shape = Shape::new();
        let defaults = Defaults {
            kind: spec.kind.as_deref().unwrap_or(kind),
            resource: self.place(&format!("{key}.resource"), &spec.resource, &mut shape)?,
            version: self.versions(key, spec.sequence.as_ref(), spec.instant.as_slice(), &mut shape),
            fields: self.fields(&format!("{key}.fields"), &spec.fields, &mut shape),
            dedup: Dedup::default(),
        };
        for (at, rule) in spec.rules.iter().enumerate() {
            if !rule.types.is_empty() || rule.fetch.is_some() || rule.dedup.is_some() {
                self.faults
                    .add(format!("{key}.rules[{at}]"), "is of an item: it has no types, fetch or dedup");
            }
        }
        let mut rules = self.rules(&format!("{key}.rules"), &spec.rules, &defaults, &mut shape);
        if let Some(status) = &spec.status {
            let mapped = self.mapped(&format!("{key}.status"), status, &mut shape)?;
            rules.extend(self.rule(
                key,
                &RuleSpec::default(),
                Some(Action::Fact(mapped)),
                &defaults,
                &mut shape,
            ));
        }
        if rules.is_empty() {
            self.faults.add(format!("{key}.status"), "is missing, and there are no rules");
        }
        let (kind, resource) = (defaults.kind.to_owned(), defaults.resource.clone());
        Some(Reader {
            type_: None,
            kind,
            resource,
            dedup: Dedup::default(),
            rules: Rules::new(rules),
            version: defaults.version,
            unknown: Unknown::Ignore,
            tests: Vec::new(),
            shape,
        })
    }

    pub(crate) fn items(&mut self, api: Option<&ApiSpec>, kind: &str) -> BTreeMap<String, Reader> {
        let named = api.into_iter().flat_map(|api| &api.items);
        named
            .filter_map(|(name, spec)| {
                Some((name.clone(), self.item(&format!("api.items.{name}"), spec, kind)?))
            })
            .collect()
    }

    fn rules(
        &mut self,
        key: &str,
        specs: &[RuleSpec],
        defaults: &Defaults<'_>,
        shape: &mut Shape,
    ) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (at, spec) in specs.iter().enumerate() {
            let key = format!("{key}[{at}]");
            if self.is_on(&key, spec.option.as_deref()) {
                rules.extend(self.rule(&key, spec, None, defaults, shape));
            } else {
                // Only for its faults: what it would read is neither picked out nor kept.
                let used = self.headers.len();
                self.rule(&key, spec, None, defaults, &mut Shape::new());
                self.headers.truncate(used);
            }
        }
        rules
    }

    /// Whether the rule's option is as the rule wants it.
    fn is_on(&mut self, key: &str, option: Option<&str>) -> bool {
        let Some(option) = option else { return true };
        let (name, wanted) = option.strip_prefix('!').map_or((option, true), |name| (name, false));
        if !self.declared.contains_key(name) {
            self.faults.add(format!("{key}.option"), format!("{name:?} is not among [options]"));
        }
        self.options.contains(name) == wanted
    }

    fn table_rule(
        &mut self,
        key: &str,
        pattern: &str,
        status: &str,
        defaults: &Defaults<'_>,
        shape: &mut Shape,
    ) -> Option<Rule> {
        let spec = RuleSpec { types: vec![pattern.to_owned()], ..RuleSpec::default() };
        let action = Action::Fact(StatusOf::Fixed(status.to_owned()));
        self.rule(key, &spec, Some(action), defaults, shape)
    }

    fn rule(
        &mut self,
        key: &str,
        spec: &RuleSpec,
        action: Option<Action>,
        defaults: &Defaults<'_>,
        shape: &mut Shape,
    ) -> Option<Rule> {
        if spec.types.iter().any(String::is_empty) {
            self.faults.add(format!("{key}.types"), "has an empty one, which no event has");
        }
        if spec.ignore.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            self.faults.add(format!("{key}.ignore"), "is empty: it is the reason that people will read");
        }
        if spec.types.iter().any(|type_| type_.strip_suffix('*').unwrap_or(type_).contains('*')) {
            self.faults.add(format!("{key}.types"), "has a `*` elsewhere than at the end");
        }
        let when = match &spec.when {
            Some(text) => Some(self.expression(&format!("{key}.when"), text, shape)?),
            None => None,
        };
        let action = match action {
            Some(action) => action,
            None => self.action(key, spec, shape)?,
        };
        let resource = match &spec.resource {
            Some(place) => self.place(&format!("{key}.resource"), place, shape)?,
            None => defaults.resource.clone(),
        };
        let own = self.versions(key, spec.sequence.as_ref(), spec.instant.as_slice(), shape);
        let (sequence, sequence_is_text) = match own.sequence {
            Some(place) => (Some(place), own.sequence_is_text),
            None => (defaults.version.sequence.clone(), defaults.version.sequence_is_text),
        };
        let version = VersionPlaces {
            sequence,
            sequence_is_text,
            instants: if own.instants.is_empty() { defaults.version.instants.clone() } else { own.instants },
        };
        let mut fields = defaults.fields.clone();
        fields.extend(self.fields(&format!("{key}.fields"), &spec.fields, shape));
        let fields = match &action {
            Action::Fact(_) => crate::field::in_order(fields),
            Action::Ignore(_) | Action::Fetch { .. } => Vec::new(),
        };
        let dedup = match &spec.dedup {
            Some(dedup) => self.dedup(&format!("{key}.dedup"), dedup, shape),
            None => defaults.dedup.clone(),
        };
        let kind = spec.kind.as_deref().unwrap_or(defaults.kind).to_owned();
        Some(Rule {
            types: spec.types.iter().map(|text| Pattern::parse(text)).collect(),
            when,
            identity: format!("{kind}|{resource:?}|{dedup:?}"),
            kind,
            resource,
            version,
            fields,
            dedup,
            action,
        })
    }

    fn action(&mut self, key: &str, spec: &RuleSpec, shape: &mut Shape) -> Option<Action> {
        match (&spec.ignore, &spec.fetch, &spec.status) {
            (Some(reason), None, None) => Some(Action::Ignore(reason.clone())),
            (None, Some(name), None) => Some(Action::Fetch { name: name.clone(), expect: None }),
            (None, Some(name), Some(RuleStatusSpec::Fixed(status))) => {
                Some(Action::Fetch { name: name.clone(), expect: Some(status.clone()) })
            }
            (None, None, Some(RuleStatusSpec::Fixed(status))) => {
                Some(Action::Fact(StatusOf::Fixed(status.clone())))
            }
            (None, None, Some(RuleStatusSpec::Mapped(status))) => {
                self.mapped(&format!("{key}.status"), status, shape).map(Action::Fact)
            }
            _ => {
                self.faults.add(
                    key,
                    "needs exactly one of status, ignore and fetch (fetch may name the status expected)",
                );
                None
            }
        }
    }

    pub(crate) fn mapped(&mut self, key: &str, spec: &StatusSpec, shape: &mut Shape) -> Option<StatusOf> {
        if spec.map.is_empty() {
            self.faults.add(format!("{key}.map"), "is empty: no status would be known");
        }
        let place = self.place(&format!("{key}.path"), &spec.place(), shape)?;
        Some(StatusOf::Mapped { place, map: spec.map.clone(), unknown: spec.unknown })
    }

    pub(crate) fn expression(&mut self, key: &str, text: &str, shape: &mut Shape) -> Option<Expression> {
        let expression = self.faults.note(key, Expression::compile(text, shape))?;
        self.headers.extend(expression.headers().iter().map(|name| name.to_ascii_lowercase()));
        if !expression.queries().is_empty() {
            self.headers.push(QUERY.to_owned());
        }
        Some(expression)
    }

    pub(crate) fn dedup(&mut self, key: &str, spec: &DedupSpec, shape: &mut Shape) -> Dedup {
        let mut compositions = Vec::new();
        if spec.policy == Policy::Key {
            for (index, parts) in spec.keys.iter().enumerate() {
                let key = format!("{key}.keys[{index}]");
                compositions.push(parts.iter().filter_map(|part| self.place(&key, part, shape)).collect());
            }
        }
        Dedup { policy: spec.policy, compositions }
    }
}
