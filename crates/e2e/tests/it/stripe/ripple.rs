//! One payment, and what follows from it: the document on a payment's ripple, step by step on real processes.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::post,
};
use domain::Clock;
use futures_util::future::join_all;
use serde_json::{Value, json};
use service::SystemClock;
use testkit::{eventually, sign};

use super::fake::SECRET;
use crate::system::System;

/// Loyalty, retention and the ledger of the company; the receipt goes out by mail.
const RIPPLE: [&str; 4] = ["ledger", "loyalty", "receipt", "retention"];

/// What the payment branches out to. Mail is an unstable provider.
#[derive(Clone, Default)]
struct Consumers {
    done: Arc<Mutex<Vec<String>>>,
    mail_works: Arc<AtomicBool>,
}

impl Consumers {
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/{name}", post(consume)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    /// What was done for an order.
    fn of(&self, order: &str) -> Vec<String> {
        let done = self.done.lock().unwrap();
        let mut of: Vec<_> = done
            .iter()
            .filter_map(|call| call.strip_prefix(&format!("{order} ")))
            .map(str::to_owned)
            .collect();
        of.sort();
        of
    }
}

async fn consume(
    State(consumers): State<Consumers>,
    Path(name): Path<String>,
    Json(effect): Json<Value>,
) -> StatusCode {
    if name == "mail" && !consumers.mail_works.load(Ordering::SeqCst) {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let text = |key: &str| effect["data"][key].as_str().unwrap().to_owned();
    consumers.done.lock().unwrap().push(format!("{} {}", text("id"), text("effect")));
    StatusCode::OK
}

struct Stripe {
    system: System,
    events: AtomicUsize,
}

impl Stripe {
    /// An event as Stripe makes it, new with every call.
    fn event(&self, type_: &str, object: Value) -> String {
        let number = self.events.fetch_add(1, Ordering::SeqCst);
        let created = SystemClock.now().as_second() - 100 + i64::try_from(number).unwrap();
        json!({
            "id": format!("evt_{number}"), "object": "event", "created": created, "livemode": true,
            "type": type_, "data": {"object": object},
        })
        .to_string()
    }

    async fn send(&self, body: &str) {
        let now = SystemClock.now().as_second();
        let signature = sign(SECRET, format!("{now}.{body}").as_bytes());
        let request = reqwest::Client::new()
            .post(self.system.target("stripe"))
            .header("stripe-signature", format!("t={now},v1={signature}"))
            .body(body.to_owned());
        assert_eq!(request.send().await.unwrap().status(), 200);
    }

    async fn tell(&self, type_: &str, object: Value) {
        self.send(&self.event(type_, object)).await;
    }

    async fn row(&self, kind: &str, id: &str) -> String {
        let sql = format!(
            "select status || ' ' || coalesce(fields->>'refunded_minor', '0') from ordem.resources where kind = '{kind}' and id = '{id}'"
        );
        self.system.strings(&sql).await.join(",")
    }

    async fn is(&self, kind: &str, id: &str, row: &str) {
        eventually(id, row.to_owned(), || self.row(kind, id)).await;
    }

    /// Until every event was decided.
    async fn settled(&self) {
        let open = "select count(*)::text from ordem.events where outcome is null";
        eventually("all is applied", vec!["0".to_owned()], || self.system.strings(open)).await;
    }
}

fn settings() -> String {
    let mut settings = "[publisher]\nbackoff_base = \"20ms\"\n".to_owned();
    for name in ["books", "club", "mail"] {
        settings += &format!(
            "[destinations.{name}]\ntype = \"http\"\nurl = \"env:{}_URL\"\nsecrets = [\"env:SITE_SECRET\"]\nattempts_max = 3\n",
            name.to_uppercase()
        );
    }
    settings +=
        "[flows.order]\nstatuses = [\"created\", \"paid\", \"shipped\", \"canceled\", \"refunded\"]\n";
    settings += "terminal = { canceled = [\"refunded\"], refunded = [] }\n";
    for (name, when, destination) in [
        ("loyalty", "enter = \"paid\"", "club"),
        ("retention", "enter = \"paid\"", "club"),
        ("receipt", "enter = \"paid\"", "mail"),
        // Money is booked whatever else happened to the order.
        ("ledger", "reached = \"paid\"", "books"),
        ("ledger_refund", "reached = \"refunded\"", "books"),
    ] {
        settings +=
            &format!("[[flows.order.effects]]\nname = \"{name}\"\n{when}\ndestination = \"{destination}\"\n");
    }
    settings
}

fn session(order: &str, payment_status: &str) -> Value {
    json!({
        "id": format!("cs_{order}"), "object": "checkout.session", "payment_status": payment_status,
        "amount_total": 5000, "currency": "eur", "payment_intent": format!("pi_{order}"),
        "customer_details": {"email": "c@example.com"}, "metadata": {"order_id": order},
    })
}

fn charge(order: &str, refunded: u64) -> Value {
    json!({
        "id": format!("ch_{order}"), "object": "charge", "payment_intent": format!("pi_{order}"), "amount": 5000,
        "amount_refunded": refunded, "currency": "eur", "captured": true, "metadata": {"order_id": order},
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_payment_moves_the_whole_system_once() {
    let consumers = Consumers::default();
    let url = consumers.start().await;
    let [books, club, mail] = ["books", "club", "mail"].map(|name| format!("{url}/{name}"));
    let environment = [
        ("STRIPE_WEBHOOK_SECRET", SECRET),
        ("BOOKS_URL", &books),
        ("CLUB_URL", &club),
        ("MAIL_URL", &mail),
        ("SITE_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    ];
    let mut system = System::new(&settings(), &environment).await;
    for daemon in ["receiver", "applier", "publisher"] {
        system.add(daemon).await;
    }
    let stripe = Stripe { system, events: AtomicUsize::new(0) };

    // The payment is booked and branches out; the mail provider fails, and holds nothing up.
    let paid = stripe.event("checkout.session.completed", session("a", "paid"));
    stripe.send(&paid).await;
    stripe.is("order", "a", "paid 0").await;
    let without_mail = || async { consumers.of("a") };
    let three = ["ledger", "loyalty", "retention"].map(str::to_owned).to_vec();
    eventually("all but the receipt", three, without_mail).await;
    let receipt = "select state || ' ' || attempts from ordem.effects where effect = 'receipt'";
    eventually("it was logged and given up", vec!["dead 3".to_owned()], || stripe.system.strings(receipt))
        .await;
    stripe.is("order", "a", "paid 0").await;
    consumers.mail_works.store(true, Ordering::SeqCst);
    stripe.system.ordem(&["requeue", "--destination", "mail"]);
    let all = || RIPPLE.map(str::to_owned).to_vec();
    eventually("the receipt as well", all(), || async { consumers.of("a") }).await;

    // First layer: the very same event again. Second layer: other events that tell the same, by their own ids.
    stripe.send(&paid).await;
    let again: Vec<String> =
        (0..10).map(|_| stripe.event("checkout.session.completed", session("a", "paid"))).collect();
    join_all(again.iter().map(|body| stripe.send(body))).await;
    let mut intent = charge("a", 0);
    intent["id"] = json!("pi_a");
    stripe.tell("payment_intent.succeeded", intent).await;
    stripe.tell("charge.succeeded", charge("a", 0)).await;
    stripe.settled().await;
    assert_eq!(consumers.of("a"), RIPPLE);

    // A checkout that waits for the bank pays nothing yet.
    stripe.tell("checkout.session.completed", session("b", "unpaid")).await;
    stripe.is("order", "b", "created 0").await;
    assert!(consumers.of("b").is_empty());
    stripe.tell("checkout.session.async_payment_succeeded", session("b", "paid")).await;
    stripe.is("order", "b", "paid 0").await;
    eventually("it branches out now", all(), || async { consumers.of("b") }).await;

    // Part of the money goes back, then the rest of it.
    stripe.tell("charge.refunded", charge("b", 2000)).await;
    stripe.is("order", "b", "paid 2000").await;
    stripe.tell("charge.refunded", charge("b", 5000)).await;
    stripe.is("order", "b", "refunded 5000").await;
    let mut with_refund = all();
    with_refund.insert(1, "ledger_refund".to_owned());
    eventually("the refund is booked", with_refund, || async { consumers.of("b") }).await;

    // The refund comes before the payment: no points for money that went back, and the books have both.
    let late = stripe.event("checkout.session.completed", session("c", "paid"));
    stripe.tell("charge.refunded", charge("c", 5000)).await;
    stripe.is("order", "c", "refunded 5000").await;
    stripe.send(&late).await;
    let booked = ["ledger", "ledger_refund"].map(str::to_owned).to_vec();
    eventually("both are booked", booked.clone(), || async { consumers.of("c") }).await;

    // A dispute and a paid invoice are things of their own.
    let dispute = json!({"id": "dp_1", "charge": "ch_a", "payment_intent": "pi_a", "status": "needs_response", "amount": 5000, "currency": "eur", "reason": "fraudulent", "metadata": {}});
    stripe.tell("charge.dispute.created", dispute).await;
    stripe.is("dispute", "dp_1", "needs_response 0").await;
    let invoice = json!({"id": "in_1", "status": "paid", "total": 900, "currency": "eur", "customer_email": "c@example.com"});
    stripe.tell("invoice.paid", invoice.clone()).await;
    stripe.tell("invoice.paid", invoice).await;
    stripe.is("invoice", "in_1", "paid 0").await;
    stripe.settled().await;
    stripe.is("order", "a", "paid 0").await;
    assert_eq!((consumers.of("a"), consumers.of("c")), (all(), booked));
    let open = "select effect from ordem.effects where state <> 'delivered'";
    assert!(stripe.system.strings(open).await.is_empty());
}
