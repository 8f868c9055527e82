//! A case file as data. What this runner does not know is an error with its name: such a case is never passed.

use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{notary::Notary, source::Source};

/// Keys of `config` that change how a case is run.
const CONFIG: [&str; 7] = [
    "claim_batch",
    "destination_409",
    "destination_success",
    "permanent_after_attempts",
    "repeat",
    "source_timezone",
    "workers",
];

/// Expectations that are judged.
const EXPECT: [&str; 24] = [
    "after_step",
    "answer_ms_p99_under",
    "answer_ms_under",
    "attempts_recorded",
    "destination_calls",
    "destination_distinct_effects",
    "effects",
    "effects_any_of",
    "field",
    "http",
    "idempotency_keys_per_effect",
    "inbox_result",
    "inbox_rows",
    "never_delivered_after",
    "orders",
    "orders_checked",
    "operator_alert",
    "outbox_state",
    "peak_memory_mib_under",
    "second_request_since_max",
    "stored_equals_200s",
    "stored_raw_sha256",
    "verify_input",
    "within_seconds",
];

const FAULTS: [&str; 9] = [
    "begin_and_hold",
    "commit",
    "database_down",
    "database_up",
    "hold_order_lock",
    "pool_size",
    "purge_inbox_rows",
    "replay_dead_letter",
    "slow_database",
];

/// One case.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) source: Source,
    pub(crate) clock: Option<Timestamp>,
    pub(crate) config: Map<String, Value>,
    pub(crate) steps: Vec<Step>,
    pub(crate) expect: Value,
    /// Other right outcomes, each already merged over `expect`.
    pub(crate) also: Vec<Value>,
    /// What of it cannot be run or judged.
    pub(crate) unknown: Vec<String>,
}

/// One step.
pub(crate) enum Step {
    Deliver(Delivery),
    /// At the same time.
    Parallel(Vec<Delivery>),
    /// The same delivery many times at once, with `{n}` replaced by a number.
    ParallelSame {
        times: u64,
        delivery: Value,
    },
    Advance(i64),
    /// What the API answers in a list.
    Api(Value),
    /// What the API answers at one address.
    Resource(Value),
    /// Scripts are read before the case begins.
    Destination,
    Fault(Value),
    /// Not to be run.
    Unknown,
}

/// One request.
#[derive(Clone)]
pub(crate) struct Delivery {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Case {
    /// The error says why the case cannot be run at all.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut file: Value = serde_json::from_str(text).unwrap();
        let notary = Notary::of(&file);
        if let Some(notary) = &notary {
            file["signing"]["secret"] = notary.public_key().into();
        }
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let expect = file["expect"].clone();
        let merged = |other: &Value| {
            let mut merged = expect.clone();
            for (key, value) in other.as_object().unwrap() {
                merged[key] = value.clone();
            }
            merged
        };
        let mut case = Self {
            id: word(&file["id"]),
            source: Source::of(&file)?,
            clock: file["clock"].as_str().map(|text| text.parse().unwrap()),
            config: file["config"].as_object().cloned().unwrap_or_default(),
            steps: Vec::new(),
            also: file["accept_also"].as_array().into_iter().flatten().map(merged).collect(),
            unknown: Vec::new(),
            expect,
        };
        case.steps = file["steps"].as_array().unwrap().iter().map(|step| case.step(step)).collect();
        for key in case.config.keys().filter(|key| !CONFIG.contains(&key.as_str())) {
            case.unknown.push(format!("config {key}"));
        }
        let expectations = std::iter::once(&case.expect).chain(&case.also);
        let keys = expectations.flat_map(|expect| expect.as_object().unwrap().keys());
        let mut unknown: Vec<String> =
            keys.filter(|key| !EXPECT.contains(&key.as_str())).map(|key| format!("expect {key}")).collect();
        case.unknown.append(&mut unknown);
        case.unknown.sort();
        case.unknown.dedup();
        if let Some(notary) = &notary {
            case.each_delivery(|delivery| notary.sign(delivery));
        }
        Ok(case)
    }

    fn each_delivery(&mut self, change: impl Fn(&mut Delivery)) {
        for step in &mut self.steps {
            match step {
                Step::Deliver(delivery) => change(delivery),
                Step::Parallel(deliveries) => deliveries.iter_mut().for_each(&change),
                _ => {}
            }
        }
    }

    fn step(&mut self, step: &Value) -> Step {
        let of = |key: &str| step.get(key);
        if let Some(delivery) = of("deliver") {
            return Step::Deliver(self.delivery(delivery));
        }
        if let Some(all) = of("parallel").and_then(Value::as_array) {
            return Step::Parallel(all.iter().map(|one| self.delivery(&one["deliver"])).collect());
        }
        if let Some(same) = of("parallel_same") {
            let times = same["times"].as_u64().unwrap();
            return Step::ParallelSame { times, delivery: same["deliver"].clone() };
        }
        if let Some(seconds) = of("advance_seconds").and_then(Value::as_i64) {
            return Step::Advance(seconds);
        }
        if let Some(answer) = of("api_returns") {
            let request = answer["request"].as_str().unwrap_or_default();
            let is_list = self.source.is_shared() && !request.starts_with("GET /orders/");
            let step = if is_list { Step::Api } else { Step::Resource };
            return step(answer.clone());
        }
        if of("destination_returns").is_some() {
            return Step::Destination;
        }
        let fault = of("fault").and_then(Value::as_str);
        if fault.is_some_and(|name| FAULTS.contains(&name)) {
            return Step::Fault(step.clone());
        }
        let name = step.as_object().and_then(|step| step.keys().next()).cloned().unwrap_or_default();
        self.unknown.push(format!("step {name}"));
        Step::Unknown
    }

    fn delivery(&self, delivery: &Value) -> Delivery {
        Delivery::read(delivery, &self.source)
    }

    /// A number of `config`.
    pub(crate) fn number(&self, key: &str, otherwise: usize) -> usize {
        let number = self.config.get(key).and_then(Value::as_u64);
        number.map_or(otherwise, |number| usize::try_from(number).unwrap())
    }

    /// Every answer that the file scripts for a destination.
    pub(crate) fn destination_scripts(text: &str) -> Vec<Value> {
        let file: Value = serde_json::from_str(text).unwrap();
        let steps = file["steps"].as_array().unwrap();
        steps.iter().filter_map(|step| step.get("destination_returns")).cloned().collect()
    }

    pub(crate) fn has_fault(&self, name: &str) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Fault(fault) if fault["fault"] == name))
    }

    /// Whether anything is said about the destination.
    pub(crate) fn has_destination(&self) -> bool {
        let keys =
            ["destination_calls", "idempotency_keys_per_effect", "outbox_state", "never_delivered_after"];
        self.steps.iter().any(|step| matches!(step, Step::Destination))
            || keys.iter().any(|key| self.expect.get(key).is_some())
    }
}

impl Delivery {
    pub(crate) fn read(delivery: &Value, source: &Source) -> Self {
        let text = |key: &str| delivery.get(key).and_then(Value::as_str);
        let mut headers = Vec::new();
        for (name, value) in delivery["headers"].as_object().unwrap() {
            let lines = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            headers.extend(lines.iter().map(|line| (name.clone(), line.as_str().unwrap().into())));
        }
        let body = if let Some(body) = text("body_utf8") {
            body.as_bytes().to_vec()
        } else if let Some(body) = text("body_base64") {
            STANDARD.decode(body).unwrap()
        } else if let Some(spec) = delivery.get("body_repeat") {
            repeated(spec)
        } else {
            let body = gzip(&repeated(&delivery["body_gzip_of"]));
            // Two compressors need not agree on every byte, so this one body is signed here.
            sign(&mut headers, &source.secrets[0], &body);
            body
        };
        let method = text("method").unwrap_or("POST").to_owned();
        let path = text("path").map_or_else(|| format!("/webhooks/{}", source.name), str::to_owned);
        Self { method, path, headers, body }
    }

    /// The `n`-th of many: its number put in, and signed anew.
    pub(crate) fn numbered(delivery: &Value, n: u64, source: &Source) -> Self {
        let mut delivery = Self::read(delivery, source);
        let body = String::from_utf8(delivery.body).unwrap().replace("{n}", &n.to_string());
        delivery.body = body.into_bytes();
        sign(&mut delivery.headers, &source.secrets[0], &delivery.body);
        delivery
    }
}

fn sign(headers: &mut [(String, Vec<u8>)], secret: &str, body: &[u8]) {
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("x-loja-signature") {
            *value = format!("sha256={}", testkit::sign(secret, body)).into_bytes();
        }
    }
}

/// `before` + `unit` x `times` + `unit2` x `times2` + `after`.
pub(crate) fn repeated(spec: &Value) -> Vec<u8> {
    let text = |key: &str| spec.get(key).and_then(Value::as_str).unwrap_or_default();
    let times = |key: &str| usize::try_from(spec.get(key).and_then(Value::as_u64).unwrap_or(0)).unwrap();
    let middle = text("unit").repeat(times("times")) + &text("unit2").repeat(times("times2"));
    [text("before"), &middle, text("after")].concat().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let piped = Command::new("gzip").args(["-9", "-n"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = piped.expect("gzip is installed");
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Both pipes at once, or they wait for each other.
        scope.spawn(move || input.write_all(bytes).unwrap());
        child.wait_with_output().unwrap().stdout
    })
}
