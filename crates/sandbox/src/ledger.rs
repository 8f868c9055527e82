//! The ledger: compares the store's truth and the fulfilment system's book with Ordem's views.
//!
//! Pure; [`views`] reads the rows and [`table`] writes the result.

pub mod difference;
pub mod table;
pub mod views;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::{
    ledger::{difference::Difference, views::Views},
    sandbox::Evidence,
    store::{OrderTruth, life::Times},
};

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Ledger {
    /// Orders of the store.
    pub orders: usize,
    /// Orders whose row is as the store has it.
    pub orders_equal: usize,
    /// Distinct events that were answered with 2xx.
    pub events_accepted: usize,
    /// Of them, those that are not in the inbox or have no lasting outcome.
    pub events_lost: usize,
    /// Effects delivered and received.
    pub effects_delivered: usize,
    /// Effects that are demanded but not written, not delivered or not received.
    pub effects_missing: usize,
    /// Effects written or received more than once.
    pub effects_doubled: usize,
    /// Effects that no rule asks for.
    pub effects_unexpected: usize,
    /// Events whose webhook was never sent.
    pub never_sent: u64,
    /// Facts that came by the reconciler and changed something.
    pub recovered: usize,
    /// Calls to the fulfilment system that repeated finished work.
    pub repeated_calls: u64,
    /// Median time to a 2xx answer.
    pub receive_p50_ms: f64,
    /// 99th percentile of it.
    pub receive_p99_ms: f64,
    /// Webhooks accepted a second.
    pub events_per_s: f64,
    /// Everything that is not as it should be.
    pub differences: Vec<Difference>,
}

impl Ledger {
    /// Whether everything is as it should be.
    pub fn is_clean(&self) -> bool {
        self.differences.is_empty()
    }
}

/// Compares what should be with what is.
pub fn compare(evidence: &Evidence, views: &Views) -> Ledger {
    let mut ledger = Ledger {
        orders: evidence.truth.orders.len(),
        events_accepted: evidence.truth.accepted.len(),
        never_sent: evidence.never_sent,
        recovered: views.recovered(),
        repeated_calls: evidence.fulfillment.repeated,
        receive_p50_ms: evidence.sender.p50_ms,
        receive_p99_ms: evidence.sender.p99_ms,
        events_per_s: evidence.sender.accepted_per_s,
        ..Ledger::default()
    };
    compare_orders(&mut ledger, evidence, views);
    compare_events(&mut ledger, evidence, views);
    compare_effects(&mut ledger, evidence, views);
    compare_counts(&mut ledger, evidence);
    ledger
}

fn compare_orders(ledger: &mut Ledger, evidence: &Evidence, views: &Views) {
    let rows: HashMap<&str, _> = views.orders.iter().map(|row| (&*row.id, row)).collect();
    for truth in &evidence.truth.orders {
        let before = ledger.differences.len();
        let order = &truth.now.id;
        let Some(row) = rows.get(&**order) else {
            let order = order.clone();
            ledger.differences.push(Difference::OrderMissing { order });
            continue;
        };
        let now = &truth.now;
        let columns = [
            ("status", now.status.in_ordem().to_owned(), Some(row.status.clone())),
            ("version", now.sequence.to_string(), Some(row.version.to_string())),
            ("total_minor", now.total_cents.to_string(), row.total_minor.map(|n| n.to_string())),
            ("customer_email", now.customer_email.clone(), row.customer_email.clone()),
        ];
        let currency = truth.currency.clone().map(|store| ("currency", store, row.currency.clone()));
        for (column, store, ordem) in columns.into_iter().chain(currency) {
            if ordem.as_deref() != Some(&*store) {
                ledger.differences.push(Difference::OrderDiffers {
                    order: order.clone(),
                    column,
                    store,
                    ordem: ordem.unwrap_or_else(|| "null".to_owned()),
                });
            }
        }
        ledger.orders_equal += usize::from(ledger.differences.len() == before);
    }
    let known: HashSet<&str> = evidence.truth.orders.iter().map(|o| &*o.now.id).collect();
    let unknown = rows.keys().filter(|id| !known.contains(*id));
    ledger.differences.extend(unknown.map(|id| Difference::OrderUnknown { order: (*id).to_owned() }));
}

fn compare_events(ledger: &mut Ledger, evidence: &Evidence, views: &Views) {
    let mut rows: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
    for row in &views.events {
        if let Some(event) = &row.event {
            rows.entry(event).or_default().push(row.outcome.as_deref());
        }
    }
    for event in &evidence.truth.accepted {
        let found = rows.get(&**event).map_or(&[][..], Vec::as_slice);
        let event = event.clone();
        let difference = match found {
            [] => Difference::EventLost { event },
            [Some("applied" | "stale")] => continue,
            [outcome] => {
                Difference::EventUnsettled { event, outcome: outcome.unwrap_or("pending").to_owned() }
            }
            _ => Difference::EventTwice { event },
        };
        if !matches!(difference, Difference::EventTwice { .. }) {
            ledger.events_lost += 1;
        }
        ledger.differences.push(difference);
    }
}

/// What is known of one effect of one order.
#[derive(Debug, Clone, Copy, Default)]
struct Sightings<'a> {
    rows: usize,
    undelivered: Option<&'a str>,
    received: u64,
}

fn compare_effects(ledger: &mut Ledger, evidence: &Evidence, views: &Views) {
    let mut seen: HashMap<&str, HashMap<&str, Sightings<'_>>> = HashMap::new();
    for row in &views.effects {
        let sightings = seen.entry(&row.order).or_default().entry(&row.effect).or_default();
        sightings.rows += 1;
        if row.state != "delivered" {
            sightings.undelivered = Some(&row.state);
        }
    }
    for done in &evidence.done {
        let of_order = seen.entry(&done.effect.order).or_default();
        of_order.entry(&done.effect.name).or_default().received += done.times;
    }
    for truth in &evidence.truth.orders {
        let seen = seen.remove(&*truth.now.id).unwrap_or_default();
        compare_effects_of(ledger, truth, &seen);
    }
}

fn compare_effects_of(ledger: &mut Ledger, truth: &OrderTruth, seen: &HashMap<&str, Sightings<'_>>) {
    let demanded = truth.demand.effects();
    let released = seen.contains_key("release_picking");
    for (effect, times) in demanded {
        let sightings = seen.get(effect).copied().unwrap_or_default();
        judge(ledger, &truth.now.id, effect, times.required(released), sightings);
    }
    let others = seen.iter().filter(|(name, _)| !demanded.iter().any(|(known, _)| known == *name));
    for (name, sightings) in others {
        let required = Times::Never.required(released);
        judge(ledger, &truth.now.id, name, required, *sightings);
    }
}

fn judge(ledger: &mut Ledger, order: &str, effect: &str, required: Option<bool>, seen: Sightings<'_>) {
    let (order, effect) = (order.to_owned(), effect.to_owned());
    let happened = seen.rows > 0 || seen.received > 0;
    if required == Some(false) && happened {
        ledger.effects_unexpected += 1;
        ledger.differences.push(Difference::EffectUnexpected { order, effect });
        return;
    }
    if !required.unwrap_or(happened) {
        return;
    }
    let wanting = match seen {
        Sightings { rows: 0, .. } => Some("not written".to_owned()),
        Sightings { undelivered: Some(state), .. } => Some(format!("state {state}")),
        Sightings { received: 0, .. } => Some("not received".to_owned()),
        _ => None,
    };
    if let Some(reason) = wanting {
        ledger.effects_missing += 1;
        ledger.differences.push(Difference::EffectMissing { order, effect, reason });
    } else if seen.rows > 1 || seen.received > 1 {
        ledger.effects_doubled += 1;
        ledger.differences.push(Difference::EffectDoubled { order, effect });
    } else {
        ledger.effects_delivered += 1;
    }
}

fn compare_counts(ledger: &mut Ledger, evidence: &Evidence) {
    let times = evidence.fulfillment.out_of_order;
    if times > 0 {
        ledger.differences.push(Difference::OutOfOrder { times });
    }
    let webhooks = evidence.sender.gave_up;
    if webhooks > 0 {
        ledger.differences.push(Difference::GaveUp { webhooks });
    }
    let mut refused = evidence.fulfillment.refused.clone();
    if evidence.fulfillment.conflicts > 0 {
        refused.insert("idempotency key of another effect".to_owned(), evidence.fulfillment.conflicts);
    }
    for (reason, times) in refused {
        ledger.differences.push(Difference::CallsRefused { reason, times });
    }
}
