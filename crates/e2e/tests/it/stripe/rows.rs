//! What each row must be, from the fake's own state.

use serde_json::Value;

use super::fake::Fake;
use crate::system::System;

/// A row for each payment, order and invoice that the fake has.
pub(crate) async fn expected(fake: &Fake) -> Vec<String> {
    let payments = fake.all("/v1/payment_intents").await;
    let invoices = fake.all("/v1/invoices").await;
    let mut rows: Vec<String> = payments.iter().map(payment).chain(invoices.iter().map(invoice)).collect();
    rows.sort();
    rows
}

/// The rows there are.
pub(crate) async fn rows(system: &System) -> Vec<String> {
    let sql = "select concat_ws(' ', kind, id, status, fields->>'total_minor', coalesce(fields->>'refunded_minor', '0'), fields->>'currency')
        from ordem.resources where source = 'stripe'";
    let mut rows = system.strings(sql).await;
    rows.sort();
    rows
}

fn payment(intent: &Value) -> String {
    let order = intent["metadata"]["order_id"].as_str();
    let (amount, refunded) = (&intent["amount"], intent["latest_charge"]["amount_refunded"].as_u64());
    let refunded = refunded.unwrap_or(0);
    let status = match intent["status"].as_str().unwrap() {
        "succeeded" if *amount == refunded => "refunded",
        "succeeded" => "paid",
        "canceled" => "canceled",
        // An order is not paid for yet; whether a payment of it failed or is reserved is no state of the order.
        _ if order.is_some() => "created",
        "requires_capture" => "authorized",
        "requires_payment_method" if !intent["last_payment_error"].is_null() => "failed",
        _ => "created",
    };
    let kind = if order.is_some() { "order" } else { "payment" };
    let id = order.unwrap_or_else(|| intent["id"].as_str().unwrap());
    format!("{kind} {id} {status} {amount} {refunded} {}", currency(intent))
}

fn invoice(invoice: &Value) -> String {
    let text = |key: &str| invoice[key].as_str().unwrap().to_owned();
    format!("invoice {} {} {} 0 {}", text("id"), text("status"), invoice["total"], currency(invoice))
}

fn currency(object: &Value) -> String {
    object["currency"].as_str().unwrap().to_uppercase()
}
