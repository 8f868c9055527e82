//! From the file's shape to a profile: every check that needs more than one key.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use signature::Scheme;

use crate::api::{Api, Get, List, PageShape, Paging};
use crate::dedup::Dedup;
use crate::fault::Faults;
use crate::field::Field;
use crate::instant::Spelling;
use crate::place::Place;
use crate::profile::{Answers, Profile};
use crate::reader::Reader;
use crate::shape::Shape;
use crate::spec::{
    ApiSpec, EventSpec, FieldSpec, InstantSpec, ItemSpec, PagingSpec, PlaceSpec, ProfileSpec, ReceiveSpec,
    VersionSpec,
};
use crate::version::{Criterion, VersionPlaces, VersionRules};

/// An instant may lie this far ahead of the event's arrival, unless set.
const FUTURE_TOLERANCE: SignedDuration = SignedDuration::from_hours(24);

/// Compiles a profile, noting every fault on the way.
pub(crate) fn profile(spec: &ProfileSpec, faults: &mut Faults) -> Option<Profile> {
    let scheme = faults.note("verify", Scheme::compile(&spec.verify));
    let version = version_rules(&spec.version, faults);
    let default = Spelling {
        zone: zone("version.zone", spec.version.zone.as_deref(), faults),
        epoch: spec.version.epoch,
    };
    let mut builder = Builder { faults, scheme: scheme.as_ref(), spelling: default, headers: Vec::new() };
    let event = builder.event(&spec.event, &spec.dedup.keys);
    let api = spec.api.as_ref().map(|api| builder.api(api, &spec.event.kind));
    let used = std::mem::take(&mut builder.headers);
    let answers = answers(&spec.receive, faults);
    criterion_has_places(spec, faults);
    let (scheme, (event, dedup)) = (scheme?, event?);
    let kept_headers = kept_headers(&scheme, used, &spec.receive.keep_headers);
    Some(Profile {
        name: spec.name.clone(),
        weaknesses: spec.weaknesses.clone(),
        scheme,
        kept_headers,
        answers,
        content_types: spec.receive.content_types.clone(),
        event,
        dedup,
        version: version?,
        api: api.flatten(),
    })
}

fn version_rules(spec: &VersionSpec, faults: &mut Faults) -> Option<VersionRules> {
    let tolerance = match spec.future_tolerance.as_deref() {
        None => Some(FUTURE_TOLERANCE),
        Some(text) => {
            let parsed = text.parse().map_err(|_| format!("{text:?} is no duration, such as \"24h\""));
            faults.note("version.future_tolerance", parsed)
        }
    };
    if tolerance.is_some_and(|tolerance: SignedDuration| tolerance.is_negative()) {
        faults.add("version.future_tolerance", "must not be negative");
    }
    Some(VersionRules { criterion: spec.criterion, precision: spec.precision, future_tolerance: tolerance? })
}

fn zone(key: &str, name: Option<&str>, faults: &mut Faults) -> Option<TimeZone> {
    let found = TimeZone::get(name?).map_err(|_| format!("{:?} is no known time zone", name.unwrap_or("")));
    faults.note(key, found)
}

fn answers(spec: &ReceiveSpec, faults: &mut Faults) -> Answers {
    let answers = Answers { success: spec.success.unwrap_or(200), refusal: spec.refusal.unwrap_or(401) };
    if !(200..300).contains(&answers.success) {
        faults.add("receive.success", format!("{} is not between 200 and 299", answers.success));
    }
    if !(200..600).contains(&answers.refusal) {
        faults.add("receive.refusal", format!("{} is not between 200 and 599", answers.refusal));
    }
    answers
}

/// A criterion without a place to find it would make every event malformed.
fn criterion_has_places(spec: &ProfileSpec, faults: &mut Faults) {
    let needed = match spec.version.criterion {
        Criterion::Sequence => spec.event.sequence.is_none().then_some(("event.sequence", "sequence")),
        Criterion::Instant => {
            spec.event.instant.as_slice().is_empty().then_some(("event.instant", "instant"))
        }
        Criterion::Rank => None,
    };
    if let Some((key, criterion)) = needed {
        faults.add(key, format!("is missing, but version.criterion is {criterion:?}"));
    }
    if spec.dedup.keys.is_empty() || spec.dedup.keys.iter().any(Vec::is_empty) {
        faults.add("dedup.keys", "needs at least one composition, each with at least one part");
    }
}

fn kept_headers(scheme: &Scheme, used: Vec<String>, asked: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = scheme.headers().into_iter().map(str::to_owned).collect();
    kept.extend(used);
    kept.extend(asked.iter().map(|name| name.to_ascii_lowercase()));
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Compiles readers, keeping account of faults and of the headers that they use.
struct Builder<'a> {
    faults: &'a mut Faults,
    scheme: Option<&'a Scheme>,
    spelling: Spelling,
    headers: Vec<String>,
}

impl Builder<'_> {
    fn event(&mut self, spec: &EventSpec, keys: &[Vec<PlaceSpec>]) -> Option<(Reader, Dedup)> {
        let mut shape = Shape::new();
        let status = self.place("event.type", &spec.type_, &mut shape);
        let resource = self.place("event.resource", &spec.resource, &mut shape);
        let sequence = spec.sequence.as_ref().map(|place| self.place("event.sequence", place, &mut shape));
        let instants = self.instants("event.instant", spec.instant.as_slice(), &mut shape);
        let fields = self.fields("event.fields", &spec.fields, &mut shape);
        let tests = spec.test.iter().enumerate().filter_map(|(index, test)| {
            let place = self.place(&format!("event.test[{index}].where"), &test.place, &mut shape)?;
            Some((place, test.equals.clone()))
        });
        let tests = tests.collect();
        let dedup = self.dedup(keys, &mut shape);
        self.statuses("event.status", &spec.status);
        let reader = Reader {
            kind: spec.kind.clone(),
            resource: resource?,
            status: status?,
            statuses: spec.status.clone(),
            version: VersionPlaces { sequence: sequence.flatten(), instants },
            fields,
            tests,
            shape,
        };
        Some((reader, dedup))
    }

    fn dedup(&mut self, keys: &[Vec<PlaceSpec>], shape: &mut Shape) -> Dedup {
        let mut compositions = Vec::new();
        for (index, parts) in keys.iter().enumerate() {
            let key = format!("dedup.keys[{index}]");
            compositions.push(parts.iter().filter_map(|part| self.place(&key, part, shape)).collect());
        }
        Dedup(compositions)
    }

    fn place(&mut self, key: &str, spec: &PlaceSpec, shape: &mut Shape) -> Option<Place> {
        match spec {
            PlaceSpec::Path(path) => self.body(key, path, shape),
            PlaceSpec::Header(spec) => {
                let name = spec.header.to_ascii_lowercase();
                let covered = self.scheme.is_some_and(|scheme| scheme.covers_header(&name));
                if !covered && !spec.unsigned {
                    let reason =
                        format!("the signature does not cover header {name:?}: add `unsigned = true`");
                    self.faults.add(key, reason);
                }
                self.headers.push(name.clone());
                Some(Place::Header { name })
            }
        }
    }

    fn body(&mut self, key: &str, path: &str, shape: &mut Shape) -> Option<Place> {
        let slot = self.faults.note(key, shape.slot(path))?;
        Some(Place::Body { slot, path: path.to_owned() })
    }

    fn instants(&mut self, key: &str, specs: &[InstantSpec], shape: &mut Shape) -> Vec<(Place, Spelling)> {
        let compiled = specs.iter().filter_map(|spec| match spec {
            InstantSpec::Place(place) => Some((self.place(key, place, shape)?, self.spelling.clone())),
            InstantSpec::Own(own) => {
                let own_zone = zone(key, own.zone.as_deref(), self.faults);
                let spelling = Spelling {
                    zone: own_zone.or_else(|| self.spelling.zone.clone()),
                    epoch: own.epoch.or(self.spelling.epoch),
                };
                Some((self.body(key, &own.path, shape)?, spelling))
            }
        });
        compiled.collect()
    }

    fn fields(&mut self, key: &str, specs: &BTreeMap<String, FieldSpec>, shape: &mut Shape) -> Vec<Field> {
        let compiled = specs.iter().filter_map(|(name, spec)| {
            let slot = self.faults.note(&format!("{key}.{name}"), shape.slot(&spec.path))?;
            Some(Field { name: name.clone(), path: spec.path.clone(), slot, type_: spec.type_ })
        });
        compiled.collect()
    }

    fn statuses(&mut self, key: &str, statuses: &BTreeMap<String, String>) {
        if statuses.is_empty() {
            self.faults.add(key, "is empty: every event would be ignored");
        }
    }

    fn api(&mut self, spec: &ApiSpec, kind: &str) -> Option<Api> {
        let PagingSpec::Token(token) = &spec.list.paging;
        if spec.list.limit == 0 {
            self.faults.add("api.list.limit", "must be at least 1");
        }
        let list = List {
            path: self.path("api.list.path", &spec.list.path),
            since_param: spec.list.since_param.clone(),
            since_format: spec.list.since_format,
            limit_param: spec.list.limit_param.clone(),
            limit: spec.list.limit,
            paging: Paging::Token { param: token.param.clone() },
            sorted: spec.list.sorted,
            query: spec.list.query.clone().into_iter().collect(),
        };
        let get = spec.get.as_ref().map(|get| {
            if !get.path.contains("{id}") {
                self.faults.add("api.get.path", "has no {id}");
            }
            Get {
                path: self.path("api.get.path", &get.path),
                item: self.page("api.get.item", &get.item, None),
            }
        });
        let page = self.page("api.list.items", &spec.list.items, Some(&token.next));
        let item = self.item(&spec.item, kind);
        let event_type = format!("api.{}", spec.item.kind.as_deref().unwrap_or(kind));
        Some(Api { auth: spec.auth, list, get, event_type, item: item?, page })
    }

    fn path(&mut self, key: &str, path: &str) -> String {
        if !path.starts_with('/') {
            self.faults.add(key, format!("{path:?} does not start with a slash"));
        }
        path.to_owned()
    }

    fn page(&mut self, key: &str, items: &str, next: Option<&str>) -> PageShape {
        let mut shape = Shape::new();
        let items = (!items.is_empty()).then(|| self.body(key, items, &mut shape)).flatten();
        let next = next.and_then(|next| self.body("api.list.paging.next", next, &mut shape));
        PageShape { shape, items, next }
    }

    fn item(&mut self, spec: &ItemSpec, kind: &str) -> Option<Reader> {
        let mut shape = Shape::new();
        let resource = self.body("api.item.resource", &spec.resource, &mut shape);
        let status = self.body("api.item.status.path", &spec.status.path, &mut shape);
        let sequence = spec.sequence.as_ref().map(|path| self.body("api.item.sequence", path, &mut shape));
        let instants = self.instants("api.item.instant", spec.instant.as_slice(), &mut shape);
        let fields = self.fields("api.item.fields", &spec.fields, &mut shape);
        self.statuses("api.item.status.map", &spec.status.map);
        Some(Reader {
            kind: spec.kind.clone().unwrap_or_else(|| kind.to_owned()),
            resource: resource?,
            status: status?,
            statuses: spec.status.map.clone(),
            version: VersionPlaces { sequence: sequence.flatten(), instants },
            fields,
            tests: Vec::new(),
            shape,
        })
    }
}
