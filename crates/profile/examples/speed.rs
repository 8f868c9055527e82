//! What the door costs for one request of the shipped `loja`: verify, then split into envelopes.
//!
//! `cargo run --release -p profile --example speed`. Look at the ratio to a bare SHA-256 of the body, not at the times.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring tool for people")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use profile::{Incoming, Origin, Profile, Stored};
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};
use signature::{Message, Request};

const ROUNDS: u32 = 50;
const CALLS: u32 = 4_000;

fn main() {
    let profile = Profile::parse("loja.toml", include_str!("../../../profiles/loja.toml")).unwrap();
    let body = body();
    let keys = [profile.scheme().key(&SecretString::from("a shared secret")).unwrap()];
    let message = Message::new("", 0, &body);
    let headers = profile.scheme().sign(&message, &keys[0]).unwrap();
    let flow = domain::FlowSpec {
        statuses: ["created", "paid", "shipped", "canceled", "refunded"].map(str::to_owned).to_vec(),
        ..domain::FlowSpec::default()
    };
    let flow = flow.compile().unwrap();

    println!("{} bytes", body.len());
    let sha256 = time(|| Sha256::digest(black_box(&body)));
    let report = |name: &str, took: Duration| {
        println!(
            "{name:<10} {:>6} ns  {:.2} x sha256",
            took.as_nanos(),
            took.as_secs_f64() / sha256.as_secs_f64()
        );
    };
    report("sha256", sha256);
    let request = Request::new(&headers, &body, 0);
    report("verify", time(|| profile.scheme().verify(black_box(&request), &keys)));
    let incoming = Incoming { body: &body, headers: &headers };
    report("envelopes", time(|| profile.envelopes(black_box(&incoming))));
    let stored = Stored {
        source: "loja",
        origin: Origin::Webhook,
        body: &body,
        headers: &headers,
        event_type: None,
        event_key: "evt_1",
        received_at: Timestamp::UNIX_EPOCH,
    };
    report("read", time(|| profile.read(black_box(&stored), &|_| Some(&flow))));
    // The same with a condition that the receiver has to evaluate, for the rules of one type differ in kind.
    let rules = "[[event.rules]]\ntypes = [\"order.paid\"]\nwhen = \"body.data.total_cents > 0 && type == 'order.paid'\"\n\
                 kind = \"big\"\nstatus = \"paid\"\n\n[event.status]";
    let text = include_str!("../../../profiles/loja.toml").replace("[event.status]", rules);
    let conditional = Profile::parse("loja.toml", &text).unwrap();
    report("cel: env.", time(|| conditional.envelopes(black_box(&incoming))));
    report("cel: read", time(|| conditional.read(black_box(&stored), &|_| Some(&flow))));
}

/// The quickest of several rounds: the machine is shared.
fn time<T>(mut step: impl FnMut() -> T) -> Duration {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(step());
        }
        start.elapsed() / CALLS
    };
    (0..ROUNDS).map(round).min().unwrap()
}

/// An event of about 800 bytes, with the items and address that a store sends along.
fn body() -> Vec<u8> {
    let item = r#"{"sku":"CAM-AZ-42","name":"Camiseta azul, tamanho G","quantity":2,"unit_cents":4990,"tax":{"icms":18.0,"ncm":"6109.10.00"}}"#;
    format!(
        r#"{{"id":"evt_0123456789abcdef","type":"order.paid","sequence":2,"occurred_at":"2026-01-02T03:04:05.123456Z","livemode":true,"data":{{"id":"ped_0123456789","total_cents":12990,"currency":"BRL","customer_email":"ana.souza@example.com","items":[{item},{item},{item}],"shipping":{{"name":"Ana Souza","street":"Rua das Flores, 123","city":"São Paulo","zip":"01310-100","carrier":null}}}}}}"#
    )
    .into_bytes()
}
