//! Five attempts, then failed: of an event that cannot be applied, and of an effect whose destination fails.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use axum::{Router, http::StatusCode};
use testkit::eventually;

use super::store::{ago, delivery, environment, order, rows};
use crate::system::System;

/// A WordPress site that fails until it is mended.
#[derive(Clone, Default)]
struct Site {
    calls: Arc<AtomicUsize>,
    is_mended: Arc<AtomicBool>,
}

impl Site {
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/wp-json/loja/v1/pedido", listener.local_addr().unwrap());
        let site = self.clone();
        let answer = move || async move {
            site.calls.fetch_add(1, Ordering::SeqCst);
            let is_mended = site.is_mended.load(Ordering::SeqCst);
            if is_mended { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR }
        };
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
        url
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_cannot_be_applied_fails_after_five_attempts_and_stops_no_other() {
    let mut environment = environment("http://127.0.0.1:9")[..1].to_vec();
    environment.push(("ORDEM__APPLIER__BACKOFF_BASE", "10ms"));
    let mut system = System::new("", &environment).await;
    system.add("receiver").await;
    // What makes order 13 fail: something in the database, as it happens.
    let poison = "create function ordem_engine.poison() returns trigger language plpgsql as
            $$ begin if new.id = '13' then raise exception 'no thirteen'; end if; return new; end $$;
        create trigger poison before insert or update on ordem_engine.resources
            for each row execute function ordem_engine.poison()";
    let client = system.database.client().await;
    client.batch_execute(poison).await.unwrap();
    for order_id in 10..20 {
        assert_eq!(delivery("pedido.pago", &order(order_id, "pago", ago(60))).send(&system).await, 200);
    }
    system.add("applier").await;
    eventually("the others are there", 9, || async { rows(&system).await.len() }).await;
    let failed = "select outcome || ' ' || attempts || ' ' || resource_id from ordem.events where outcome <> 'applied'";
    eventually("five attempts", vec!["dead 5 13".to_owned()], || system.strings(failed)).await;
    let error = system.strings("select last_error from ordem.events where resource_id = '13'").await;
    assert!(error[0].contains("no thirteen"), "{error:?}");

    // Mended, it is applied from what was stored: the store need not send it again.
    client.batch_execute("drop trigger poison on ordem_engine.resources").await.unwrap();
    system.ordem(&["replay", "--source", "wploja", "--outcome", "dead"]);
    eventually("it is there", 10, || async { rows(&system).await.len() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_effect_whose_site_fails_is_dead_after_five_attempts_and_can_be_sent_again() {
    let site = Site::default();
    let url = site.start().await;
    let mut environment = environment("http://127.0.0.1:9")[..1].to_vec();
    environment.extend([
        ("SITE_URL", url.as_str()),
        ("SITE_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("ORDEM__PUBLISHER__BACKOFF_BASE", "10ms"),
    ]);
    let settings = "[destinations.fulfillment]\ntype = \"http\"\nurl = \"env:SITE_URL\"\nsecrets = [\"env:SITE_SECRET\"]\nattempts_max = 5\n";
    let mut system = System::new(settings, &environment).await;
    for daemon in ["receiver", "applier", "publisher"] {
        system.add(daemon).await;
    }
    assert_eq!(delivery("pedido.pago", &order(1, "pago", ago(60))).send(&system).await, 200);
    let state = || system.strings("select state || ' ' || attempts from ordem.effects");
    eventually("five attempts", vec!["dead 5".to_owned()], state).await;
    assert_eq!(site.calls.load(Ordering::SeqCst), 5);
    site.is_mended.store(true, Ordering::SeqCst);
    system.ordem(&["requeue", "--destination", "fulfillment"]);
    let state = || system.strings("select state from ordem.effects");
    eventually("it is delivered", vec!["delivered".to_owned()], state).await;
    assert_eq!(site.calls.load(Ordering::SeqCst), 6);
}
