//! From the tables of a profile to places, fields, rules and readers.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::PageShape;
use crate::cel::Expression;
use crate::compile::{Builder, span, zone};
use crate::dedup::{Dedup, Policy};
use crate::fetch::Fetch;
use crate::field::Field;
use crate::handshake::{Answer, Handshake};
use crate::instant::Spelling;
use crate::place::{Edits, Place, QUERY};
use crate::reader::{Mark, Reader};
use crate::rule::{Action, Pattern, Rule, Rules, StatusOf};
use crate::shape::Shape;
use crate::spec::{
    AnswerSpec, ApiSpec, ConditionSpec, DedupSpec, EventSpec, FetchSpec, FieldSpec, HandshakeSpec, HashSpec,
    InstantSpec, ItemSpec, PlaceSpec, ProfileSpec, RuleSpec, RuleStatusSpec, StatusSpec, TablePlace, Unknown,
};
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
        for (pattern, status) in &spec.status {
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
        let version = VersionPlaces {
            sequence: own.sequence.or_else(|| defaults.version.sequence.clone()),
            instants: if own.instants.is_empty() { defaults.version.instants.clone() } else { own.instants },
        };
        let mut fields = defaults.fields.clone();
        fields.extend(self.fields(&format!("{key}.fields"), &spec.fields, shape));
        let fields = match &action {
            Action::Fact(_) => fields.into_values().collect(),
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

    fn mapped(&mut self, key: &str, spec: &StatusSpec, shape: &mut Shape) -> Option<StatusOf> {
        if spec.map.is_empty() {
            self.faults.add(format!("{key}.map"), "is empty: no status would be known");
        }
        let place = self.place(&format!("{key}.path"), &spec.place(), shape)?;
        Some(StatusOf::Mapped { place, map: spec.map.clone(), unknown: spec.unknown })
    }

    fn expression(&mut self, key: &str, text: &str, shape: &mut Shape) -> Option<Expression> {
        let expression = self.faults.note(key, Expression::compile(text, shape))?;
        self.headers.extend(expression.headers().iter().map(|name| name.to_ascii_lowercase()));
        if !expression.queries().is_empty() {
            self.headers.push(QUERY.to_owned());
        }
        Some(expression)
    }

    fn dedup(&mut self, key: &str, spec: &DedupSpec, shape: &mut Shape) -> Dedup {
        let mut compositions = Vec::new();
        if spec.policy == Policy::Key {
            for (index, parts) in spec.keys.iter().enumerate() {
                let key = format!("{key}.keys[{index}]");
                compositions.push(parts.iter().filter_map(|part| self.place(&key, part, shape)).collect());
            }
        }
        Dedup { policy: spec.policy, compositions }
    }

    /// Compiles a place; headers and parameters that nothing signs must be marked.
    pub(crate) fn place(&mut self, key: &str, spec: &PlaceSpec, shape: &mut Shape) -> Option<Place> {
        let table = match spec {
            PlaceSpec::Path(path) => return self.path_in(key, path, shape),
            PlaceSpec::Table(table) => table,
        };
        let place = self.bare_place(key, table, shape)?;
        let edits = Edits {
            lower: table.lower,
            upper: table.upper,
            strip_prefix: table.strip_prefix.clone(),
            map: table.map.clone(),
            default: table.default.clone(),
        };
        Some(if edits == Edits::default() { place } else { Place::Edited(Box::new(place), edits) })
    }

    fn bare_place(&mut self, key: &str, table: &TablePlace, shape: &mut Shape) -> Option<Place> {
        let mut list = |builder: &mut Self, specs: &[PlaceSpec]| -> Vec<Place> {
            specs.iter().filter_map(|spec| builder.place(key, spec, shape)).collect()
        };
        match table {
            TablePlace { first: Some(specs), .. } => Some(Place::First(list(self, specs))),
            TablePlace { join: Some(specs), .. } => Some(Place::Join(
                list(self, specs),
                table.separator.clone().unwrap_or_else(|| ".".to_owned()),
            )),
            TablePlace { hash: Some(HashSpec::Places(specs)), .. } => {
                Some(Place::Hash(Some(list(self, specs))))
            }
            TablePlace { hash: Some(HashSpec::Body(word)), .. } => {
                if word != "body" {
                    self.faults.add(key, format!("hash = {word:?} is neither \"body\" nor a list of places"));
                }
                Some(Place::Hash(None))
            }
            TablePlace { path: Some(path), .. } => self.path_in(key, path, shape),
            TablePlace { constant: Some(text), .. } => Some(Place::Constant(text.clone())),
            TablePlace { cel: Some(text), .. } => self.expression(key, text, shape).map(Place::Cel),
            TablePlace { header: Some(header), .. } => {
                let name = header.to_ascii_lowercase();
                let covered = self.scheme.is_some_and(|scheme| scheme.covers_header(&name));
                self.demand_mark(key, covered || table.unsigned, &format!("header {name:?}"));
                self.headers.push(name.clone());
                Some(Place::Header { name })
            }
            TablePlace { query: Some(name), .. } => {
                let covered = self.scheme.is_some_and(|scheme| scheme.covers_query(name));
                self.demand_mark(key, covered || table.unsigned, &format!("query parameter {name:?}"));
                self.headers.push(QUERY.to_owned());
                Some(Place::Query { name: name.clone() })
            }
            _ => {
                self.faults
                    .add(key, "names no place: one of path, header, query, constant, first, join, hash, cel");
                None
            }
        }
    }

    fn demand_mark(&mut self, key: &str, marked: bool, what: &str) {
        if !marked {
            self.faults.add(key, format!("the signature does not cover {what}: add `unsigned = true`"));
        }
    }

    pub(crate) fn path_in(&mut self, key: &str, path: &str, shape: &mut Shape) -> Option<Place> {
        let slot = self.faults.note(key, shape.slot(path))?;
        Some(Place::Body { slot, path: path.to_owned() })
    }

    fn versions(
        &mut self,
        key: &str,
        sequence: Option<&PlaceSpec>,
        instants: &[InstantSpec],
        shape: &mut Shape,
    ) -> VersionPlaces {
        let sequence = sequence.and_then(|place| self.place(&format!("{key}.sequence"), place, shape));
        let key = format!("{key}.instant");
        let compiled = instants.iter().filter_map(|spec| match spec {
            InstantSpec::Place(place) => Some((self.place(&key, place, shape)?, self.spelling.clone())),
            InstantSpec::Own(own) => {
                let spelling = self.own_spelling(&key, own.zone.as_deref(), own.epoch);
                Some((self.path_in(&key, &own.path, shape)?, spelling))
            }
        });
        VersionPlaces { sequence, instants: compiled.collect() }
    }

    fn own_spelling(
        &mut self,
        key: &str,
        name: Option<&str>,
        epoch: Option<crate::instant::Epoch>,
    ) -> Spelling {
        let own = zone(key, name, self.faults);
        Spelling { zone: own.or_else(|| self.spelling.zone.clone()), epoch: epoch.or(self.spelling.epoch) }
    }

    fn fields(
        &mut self,
        key: &str,
        specs: &BTreeMap<String, FieldSpec>,
        shape: &mut Shape,
    ) -> BTreeMap<String, Field> {
        let mut fields = BTreeMap::new();
        for (name, spec) in specs {
            let key = format!("{key}.{name}");
            let Some(place) = self.place(&key, &spec.place(), shape) else { continue };
            let currency = spec.currency.as_ref().and_then(|place| self.place(&key, place, shape));
            let spelling = self.own_spelling(&key, spec.zone.as_deref(), spec.epoch);
            let field = Field { name: name.clone(), place, type_: spec.type_, currency, spelling };
            fields.insert(name.clone(), field);
        }
        fields
    }

    fn condition(&mut self, key: &str, spec: &ConditionSpec, shape: &mut Shape) -> Option<(Place, Mark)> {
        let mark = match (&spec.equals, spec.present) {
            (Some(text), None) => Mark::Equals(text.clone()),
            (None, Some(true)) => Mark::Present,
            _ => {
                self.faults.add(key, "needs `equals = \"…\"` or `present = true`");
                return None;
            }
        };
        let Some(place) = spec.place() else {
            self.faults.add(key, "needs exactly one of path, header and query");
            return None;
        };
        Some((self.place(key, &place, shape)?, mark))
    }

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
            (None, Some(_)) => true,
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
        let place: PageShape = self.page(&format!("{key}.item"), at, None);
        let mut span = |name: &str, text: Option<&str>, usual: Duration| {
            span(&format!("{key}.{name}"), text, self.faults).unwrap_or(usual)
        };
        let (missing_for, settle) = (
            span("missing_for", spec.missing_for.as_deref(), Duration::from_secs(120)),
            span("settle", spec.settle.as_deref(), Duration::from_secs(120)),
        );
        let delay = span("delay", spec.delay.as_deref(), Duration::ZERO);
        Fetch {
            path: self.path(&format!("{key}.path"), &spec.path),
            reader: spec.reader.clone(),
            is_list,
            place,
            missing: spec.missing.clone().unwrap_or_else(|| vec![404]),
            missing_for,
            settle,
            delay,
        }
    }
}
