//! Compares what was seen with what a case expects. Each difference is one line.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    case::Case,
    play::{Group, Seen},
    rows::Rows,
    stage::Stage,
};

/// The rows that a case ends in, and the bodies it stored.
struct Ended {
    rows: Rows,
    bodies: Vec<Vec<u8>>,
}

/// The differences to the expectation, or to the alternative that is nearest.
pub(crate) async fn differences(case: &Case, stage: &Stage<'_>, seen: &Seen) -> Vec<String> {
    let ended = Ended::read(stage).await;
    let mut best: Option<Vec<String>> = None;
    for expect in std::iter::once(&case.expect).chain(&case.also) {
        let mut found = Vec::new();
        http(expect, seen, &mut found);
        inbox_result(expect, seen, &mut found);
        after_steps(expect, seen, &mut found);
        ended.orders(expect, &mut found);
        ended.effects(expect, &mut found);
        ended.bodies(expect, &mut found);
        times(expect, seen, &mut found);
        calls(expect, stage, &mut found);
        found.extend(stage.api.never_asked().iter().map(|path| format!("{path} was never asked for")));
        rows(expect, stage, seen, &mut found).await;
        if best.as_ref().is_none_or(|best| found.len() < best.len()) {
            best = Some(found);
        }
    }
    best.unwrap_or_default()
}

impl Ended {
    async fn read(stage: &Stage<'_>) -> Self {
        let client = &stage.house.client;
        let sql = "select body from ordem_engine.inbox_events order by event_id";
        let bodies = client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        Self { rows: Rows::read(client, stage.source).await, bodies }
    }

    fn orders(&self, expect: &Value, found: &mut Vec<String>) {
        if expect["orders_checked"] == false {
            return;
        }
        let expected = expect["orders"].as_object().unwrap();
        for id in self.rows.orders.keys().filter(|id| !expected.contains_key(*id)) {
            found.push(format!("order {id} should not be there"));
        }
        orders_are(&self.rows, expected, "at the end", found);
    }

    fn effects(&self, expect: &Value, found: &mut Vec<String>) {
        if expect["orders_checked"] == false {
            return;
        }
        let one_of = match expect.get("effects_any_of") {
            Some(any_of) => any_of.as_array().unwrap().iter().collect(),
            None => vec![&expect["effects"]],
        };
        if !one_of.iter().any(|effects| by_order(effects) == self.rows.effects) {
            found.push(format!("effects are {:?}, not {one_of:?}", self.rows.effects));
        }
    }

    fn bodies(&self, expect: &Value, found: &mut Vec<String>) {
        if let Some(wanted) = expect.get("stored_raw_sha256") {
            let digests: Vec<String> =
                self.bodies.iter().map(|body| hex::encode(Sha256::digest(body))).collect();
            if !digests.iter().any(|digest| wanted == digest) {
                found.push(format!("stored bodies are {digests:?}, not {wanted}"));
            }
        }
        for (path, wanted) in pairs(expect, "field") {
            let (order, field) = path.split_once('.').unwrap();
            let body = self.bodies.iter().find_map(|body| {
                let event: Value = serde_json::from_slice(body).ok()?;
                (event["data"]["id"] == order).then(|| event["data"][field].clone())
            });
            if body.as_ref() != Some(&wanted) {
                found.push(format!("{path} is {body:?}, not {wanted}"));
            }
        }
    }
}

fn orders_are(rows: &Rows, expected: &Map<String, Value>, when: &str, found: &mut Vec<String>) {
    for (id, wanted) in expected {
        match rows.orders.get(id) {
            None => found.push(format!("order {id} is missing {when}")),
            Some(order) if order.is(wanted) => {}
            Some(order) => found.push(format!("order {id} is {order:?} {when}, not {wanted}")),
        }
    }
}

/// What orders must have been after a step, counted from one.
fn after_steps(expect: &Value, seen: &Seen, found: &mut Vec<String>) {
    for (step, expected) in pairs(expect, "after_step") {
        let rows = step.parse().ok().and_then(|step: usize| seen.after.get(&step));
        match rows {
            Some(rows) => {
                orders_are(rows, expected.as_object().unwrap(), &format!("after step {step}"), found);
            }
            None => found.push(format!("there is no step {step}")),
        }
    }
}

fn by_order(effects: &Value) -> BTreeMap<String, Vec<String>> {
    let mut orders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for effect in effects.as_array().unwrap() {
        let (order, name) = effect.as_str().unwrap().rsplit_once(':').unwrap();
        orders.entry(order.to_owned()).or_default().push(name.to_owned());
    }
    orders
}

fn pairs(expect: &Value, key: &str) -> Map<String, Value> {
    expect.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Whether a value, or one of a list of them, is this one.
fn allows<T>(expected: &Value, one: T) -> bool
where
    Value: PartialEq<T>,
    T: Copy,
{
    expected.as_array().map_or_else(|| *expected == one, |list| list.iter().any(|value| *value == one))
}

fn http(expect: &Value, seen: &Seen, found: &mut Vec<String>) {
    let mut expected = expect["http"].as_array().unwrap().iter();
    let mut at = 0;
    for group in &seen.groups {
        for (number, answer) in group.answers.iter().enumerate() {
            if number == 0 || !group.is_one_entry {
                at += 1;
            }
            let wanted = expect["http"].get(at - 1).unwrap_or(&Value::Null);
            if !allows(wanted, answer.status) {
                found.push(format!("answer {at} is {}, not {wanted}", answer.status));
            }
        }
    }
    if expected.nth(at).is_some() {
        found.push(format!("only {at} answers"));
    }
}

fn inbox_result(expect: &Value, seen: &Seen, found: &mut Vec<String>) {
    let mut expected = &expect["inbox_result"].as_array().unwrap()[..];
    if expected.is_empty() && expect["stored_equals_200s"] == true {
        return;
    }
    for (at, group) in seen.groups.iter().enumerate() {
        if expected.len() < group.entries.len() {
            found.push(format!("group {at}: {} events, expected {expected:?}", group.entries.len()));
            return;
        }
        let (mine, others) = expected.split_at(group.entries.len());
        expected = others;
        if !fits(group, mine, seen) {
            let outcomes: Vec<&str> = group.rows.iter().map(|(id, _)| seen.outcomes[id].as_str()).collect();
            let reasons: Vec<&String> =
                group.rows.iter().filter_map(|(id, _)| seen.reasons.get(id)).collect();
            let wanted = Value::from(mine.to_vec());
            found.push(format!(
                "group {at}: outcomes of its new rows are {outcomes:?} {reasons:?}, not {wanted}"
            ));
        }
    }
    if !expected.is_empty() {
        found.push(format!("no events for {expected:?}"));
    }
}

/// Whether each new row has the outcome of one entry, in their order, and the entries left over allow that there is
/// no row.
fn fits(group: &Group, expected: &[Value], seen: &Seen) -> bool {
    match &group.told {
        Some(told) => told_fits(group, told, expected, seen),
        None => aligned(group, 0, 0, expected, seen),
    }
}

fn told_fits(group: &Group, told: &[String], expected: &[Value], seen: &Seen) -> bool {
    let mut rows = group.rows.clone();
    let each = told.iter().zip(expected).all(|(order, expected)| {
        match rows.iter().position(|(_, resource)| resource == order) {
            Some(at) => allows(expected, seen.outcomes[&rows.remove(at).0].as_str()),
            // What the row knows already is not brought in.
            None => allows(expected, "duplicate") || allows(expected, "stale"),
        }
    });
    each && rows.is_empty()
}

fn aligned(group: &Group, entry: usize, row: usize, expected: &[Value], seen: &Seen) -> bool {
    let Some(wanted) = expected.get(entry) else { return row == group.rows.len() };
    let takes_row = group.rows.get(row).is_some_and(|(id, _)| {
        allows(wanted, seen.outcomes[id].as_str()) && aligned(group, entry + 1, row + 1, expected, seen)
    });
    let is_accepted = (200..300).contains(&group.answers[group.entries[entry]].status);
    let may_have_none = allows(wanted, "not_stored") || (is_accepted && allows(wanted, "duplicate"));
    takes_row || (may_have_none && aligned(group, entry + 1, row, expected, seen))
}

fn times(expect: &Value, seen: &Seen, found: &mut Vec<String>) {
    let mut took: Vec<Duration> =
        seen.groups.iter().flat_map(|group| &group.answers).map(|answer| answer.took).collect();
    took.sort();
    let within = |key: &str, took: Option<&Duration>, found: &mut Vec<String>| {
        let limit = expect.get(key).and_then(Value::as_u64).map(Duration::from_millis);
        if limit.is_some_and(|limit| took > Some(&limit)) {
            found.push(format!("{key}: {took:?}"));
        }
    };
    within("answer_ms_under", took.last(), found);
    within("answer_ms_p99_under", took.get(took.len() * 99 / 100), found);
    for (order, seconds) in pairs(expect, "within_seconds") {
        let limit = Duration::from_secs(seconds.as_u64().unwrap());
        let appeared = seen.appeared.get(&order);
        if appeared.is_none_or(|took| *took > limit) {
            found.push(format!("order {order} took longer than {limit:?}"));
        }
    }
    if let Some(limit) = expect.get("peak_memory_mib_under").and_then(Value::as_u64)
        && seen.peak_memory_mib.is_none_or(|peak| peak >= limit)
    {
        found.push(format!("peak memory {:?} MiB, not under {limit}", seen.peak_memory_mib));
    }
}

fn calls(expect: &Value, stage: &Stage<'_>, found: &mut Vec<String>) {
    let calls = stage.destination.calls();
    if let Some(wanted) = expect.get("destination_calls") {
        let made: Vec<String> =
            calls.iter().map(|call| format!("{}#{}", call.effect, call.attempt)).collect();
        if *wanted != Value::from(made.clone()) {
            found.push(format!("destination calls are {made:?}, not {wanted}"));
        }
    }
    let keys: BTreeSet<(&str, &str)> = calls.iter().map(|call| (&*call.effect, &*call.key)).collect();
    let effects: BTreeSet<&str> = calls.iter().map(|call| &*call.effect).collect();
    let keys_each = effects.iter().map(|effect| keys.iter().filter(|key| key.0 == *effect).count()).max();
    let counts =
        [("idempotency_keys_per_effect", keys_each), ("destination_distinct_effects", Some(effects.len()))];
    for (key, count) in counts {
        let wanted = expect.get(key).and_then(Value::as_u64);
        if wanted.is_some_and(|wanted| Some(wanted) != count.map(|count| count as u64)) {
            found.push(format!("{key}: {count:?}, not {wanted:?}"));
        }
    }
    for (never, after) in pairs(expect, "never_delivered_after") {
        let (never, after) = (spelt(&never), spelt(after.as_str().unwrap()));
        let place = |effect: &str| calls.iter().position(|call| call.effect == effect && call.is_accepted);
        if place(&never) > place(&after) {
            found.push(format!("{never} was delivered after {after}"));
        }
    }
    if let Some(latest) = expect.get("second_request_since_max") {
        let latest: Timestamp = latest.as_str().unwrap().parse().unwrap();
        let asked = stage.api.asked_since();
        if asked.get(1).is_none_or(|since| *since > latest) {
            found.push(format!("asked since {asked:?}, the second later than {latest}"));
        }
    }
}

async fn rows(expect: &Value, stage: &Stage<'_>, seen: &Seen, found: &mut Vec<String>) {
    let house = stage.house;
    let accepted = seen.groups.iter().flat_map(|group| &group.answers).filter(|answer| answer.status == 200);
    let stored_wanted = (expect["stored_equals_200s"] == true).then(|| accepted.count() as i64);
    let attempts = "select count(*) from ordem_engine.delivery_attempts";
    let events = "select count(*) from ordem.events";
    for (what, wanted, sql) in [
        ("attempts_recorded", expect.get("attempts_recorded").and_then(Value::as_i64), attempts),
        ("inbox_rows", expect.get("inbox_rows").and_then(Value::as_i64), events),
        ("stored_equals_200s", stored_wanted, events),
    ] {
        let Some(wanted) = wanted else { continue };
        let count = house.count(sql).await;
        if count != wanted {
            found.push(format!("{what}: {count}, not {wanted}"));
        }
    }
    if let Some(wanted) = expect["operator_alert"].as_array() {
        // What the applier warns of and counts stands with the event that made it so.
        let sql = "select distinct resource_id from ordem.events where outcome = 'terminal_regression' \
                   or (outcome in ('applied', 'stale') and last_error is not null) order by 1";
        let told = house.texts(sql).await;
        if !wanted.iter().map(|id| id.as_str().unwrap()).eq(told.iter().map(String::as_str)) {
            found.push(format!("operators are told of {told:?}, not {wanted:?}"));
        }
    }
    for (effect, state) in pairs(expect, "outbox_state") {
        let effect = spelt(&effect);
        let wanted = if state == "entregue" { "delivered" } else { state.as_str().unwrap() };
        let sql = format!("select state from ordem.effects where resource_id || ':' || effect = '{effect}'");
        let states = house.texts(&sql).await;
        if states != [wanted] {
            found.push(format!("{effect} is {states:?}, not {wanted}"));
        }
    }
}

/// Some expectations have the effect's name in Portuguese.
fn spelt(effect: &str) -> String {
    effect.replace("liberar_separacao", "release_picking")
}
