//! From the file's shape to a profile: every check that needs more than one key.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use signature::Scheme;

use crate::decode::{BodyForm, Decoding};
use crate::dedup::Policy;
use crate::document::Split;
use crate::fault::Faults;
use crate::fetch::Fetch;
use crate::instant::Spelling;
use crate::place::QUERY;
use crate::profile::{Answers, Profile, Setup};
use crate::reader::Reader;
use crate::rule::{Action, Rule};
use crate::spec::{ProfileSpec, ReceiveSpec, VersionSpec};
use crate::version::{Criterion, Tie, VersionRules};

/// An instant may lie this far ahead of the event's arrival, unless set.
const FUTURE_TOLERANCE: SignedDuration = SignedDuration::from_hours(24);

/// Compiles a profile, noting every fault on the way.
pub(crate) fn profile(spec: &ProfileSpec, setup: &Setup, faults: &mut Faults) -> Option<Profile> {
    let scheme = faults.note("verify", Scheme::compile(&spec.verify));
    let version = version_rules(&spec.version, faults);
    let own_zone = zone("version.zone", spec.version.zone.as_deref(), faults);
    let default = Spelling { zone: setup.zone.clone().or(own_zone), epoch: spec.version.epoch };
    for option in setup.options.iter().filter(|option| !spec.options.contains_key(*option)) {
        faults.add("options", format!("the profile has no option {option:?}"));
    }
    let gives_up_after = span("gives_up_after", spec.gives_up_after.as_deref(), faults);
    let split =
        spec.receive.split.as_ref().and_then(|path| faults.note("receive.split", Split::compile(path)));
    let decoding = decoding(&spec.receive, faults);
    let mut builder = Builder {
        faults,
        scheme: scheme.as_ref(),
        spelling: default,
        options: &setup.options,
        declared: &spec.options,
        headers: Vec::new(),
        has_forms: spec.receive.body != BodyForm::Json,
        growing: BTreeMap::new(),
    };
    let event = builder.event(&spec.event, &spec.dedup);
    // The answers of an API are JSON, whatever its webhooks are.
    builder.has_forms = false;
    let api = spec.api.as_ref().map(|api| builder.api(api, &spec.event.kind));
    let watch = spec.watch.as_ref().and_then(|watch| builder.watch(watch, spec.api.as_ref()));
    let items = builder.items(spec.api.as_ref(), &spec.event.kind);
    let fetches = builder.fetches(spec);
    let handshakes = spec.receive.handshakes.iter().enumerate();
    let handshakes = handshakes.filter_map(|(at, spec)| builder.handshake(at, spec)).collect();
    let used = std::mem::take(&mut builder.headers);
    let answers = answers(&spec.receive, faults);
    dedup_has_keys(spec, faults);
    let has_item = api.iter().flatten().any(|api| api.get.is_some() && api.item.is_some());
    if spec.version.tie == Tie::Refetch && !has_item {
        faults.add(
            "version.tie",
            "\"refetch\" needs [api.get] and [api.item]: they say how the provider is asked",
        );
    }
    let get = api.iter().flatten().find_map(|api| api.get.as_ref());
    let tie = get.filter(|_| spec.version.tie == Tie::Refetch).map(Fetch::of_tie);
    let (scheme, event) = (scheme?, event?);
    unsigned_only_asks(&scheme, &event, faults);
    criterion_has_places("event", spec.version.criterion, &event, faults);
    let item = api.iter().flatten().filter_map(|api| api.item.as_ref());
    for (key, reader) in item.map(|item| ("api.item", item)) {
        criterion_has_places(key, spec.version.criterion, reader, faults);
    }
    let kept_headers = kept_headers(&scheme, used, &spec.receive.keep_headers);
    Some(Profile {
        name: spec.name.clone(),
        weaknesses: spec.weaknesses.clone(),
        scheme,
        kept_headers,
        answers,
        content_types: spec.receive.content_types.clone(),
        decoding,
        split,
        handshakes,
        redact: spec.receive.redact.clone(),
        success_body: spec.receive.success_body.clone().unwrap_or_default(),
        documentation: spec.documentation.clone(),
        options: spec.options.clone(),
        gives_up_after,
        event,
        version: version?,
        api: api.flatten(),
        watch,
        items,
        tie,
        fetches,
    })
}

fn decoding(spec: &ReceiveSpec, faults: &mut Faults) -> Decoding {
    let charset = spec.charset.as_ref().and_then(|name| {
        let found = encoding_rs::Encoding::for_label(name.as_bytes());
        faults.note("receive.charset", found.ok_or_else(|| format!("{name:?} is no known charset")))
    });
    if spec.unwrap.is_some() && spec.body == BodyForm::Json {
        faults.add("receive.unwrap", "is of forms: set body = \"form\" or \"auto\"");
    }
    for path in &spec.redact {
        faults.note("receive.redact", crate::place::keys(path));
    }
    Decoding { form: spec.body, unwrap: spec.unwrap.clone(), charset }
}

/// Nothing of an unsigned request may be believed.
fn unsigned_only_asks(scheme: &Scheme, event: &Reader, faults: &mut Faults) {
    let believes = |rule: &&Rule| matches!(rule.action, Action::Fact(_));
    if scheme.is_unsigned() && event.rules.all().iter().any(|rule| believes(&rule)) {
        faults.add("event.rules", "nothing is signed, so every rule must have `fetch` or `ignore`");
    }
}

/// A duration such as `24h`.
pub(crate) fn span(key: &str, text: Option<&str>, faults: &mut Faults) -> Option<Duration> {
    let text = text?;
    let parsed: Result<SignedDuration, _> = text.parse();
    let positive = parsed.ok().and_then(|span| Duration::try_from(span).ok());
    faults.note(key, positive.ok_or_else(|| format!("{text:?} is no duration, such as \"24h\"")))
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

pub(crate) fn zone(key: &str, name: Option<&str>, faults: &mut Faults) -> Option<TimeZone> {
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

/// A rule without a place for the criterion would make every event malformed. Thin events need none: the provider's
/// answer has it.
fn criterion_has_places(key: &str, criterion: Criterion, reader: &Reader, faults: &mut Faults) {
    let mut facts =
        reader.rules.all().iter().filter(|rule| matches!(rule.action, Action::Fact(_))).peekable();
    if facts.peek().is_none() {
        return;
    }
    let missing = match criterion {
        Criterion::Sequence if facts.clone().all(|rule| rule.version.sequence.is_none()) => "sequence",
        Criterion::Sequence => return,
        Criterion::Instant if facts.any(|rule| rule.version.instants.is_empty()) => "instant",
        Criterion::Instant | Criterion::Rank => return,
    };
    faults.add(format!("{key}.{missing}"), format!("is missing, but version.criterion is {missing:?}"));
}

fn dedup_has_keys(spec: &ProfileSpec, faults: &mut Faults) {
    let needs_keys = spec.dedup.policy == Policy::Key;
    if (needs_keys && spec.dedup.keys.is_empty()) || spec.dedup.keys.iter().any(Vec::is_empty) {
        faults.add("dedup.keys", "needs at least one composition, each with at least one part");
    }
}

fn kept_headers(scheme: &Scheme, used: Vec<String>, asked: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = scheme.headers().into_iter().map(str::to_owned).collect();
    kept.extend(used);
    kept.extend(asked.iter().map(|name| name.to_ascii_lowercase()));
    kept.extend(["content-encoding", "content-type"].map(str::to_owned));
    if scheme.needs_query() {
        kept.push(QUERY.to_owned());
    }
    if scheme.needs_path() {
        kept.push(":path".to_owned());
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Compiles readers, keeping account of faults and of the headers that they use.
pub(crate) struct Builder<'a> {
    pub(crate) faults: &'a mut Faults,
    pub(crate) scheme: Option<&'a Scheme>,
    pub(crate) spelling: Spelling,
    pub(crate) options: &'a BTreeSet<String>,
    pub(crate) declared: &'a BTreeMap<String, String>,
    pub(crate) headers: Vec<String>,
    /// Whether events may be forms, where all values are texts.
    pub(crate) has_forms: bool,
    /// Each field's `grows`, as it was first told.
    pub(crate) growing: BTreeMap<String, bool>,
}

impl Builder<'_> {
    pub(crate) fn path(&mut self, key: &str, path: &str) -> String {
        if !path.starts_with('/') {
            self.faults.add(key, format!("{path:?} does not start with a slash"));
        }
        path.to_owned()
    }
}
