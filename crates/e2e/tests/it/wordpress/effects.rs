//! The publisher's own calls, taken by the example.

use serde_json::{Value, json};
use testkit::{Event, eventually};

use super::site::{SECRETS, Site};
use crate::system::System;

const SETTINGS: &str = r#"
[destinations.fulfillment]
type = "http"
url = "env:FULFILLMENT_URL"
secrets = ["env:FULFILLMENT_SECRET", "env:FULFILLMENT_SECRET_PREVIOUS"]
"#;

/// A call that the site got, made once more.
fn again(site: &Site, seen: &Value, body: &str) -> reqwest::RequestBuilder {
    let mut request = site.client.post(site.url(1)).body(body.to_owned());
    for (name, value) in seen["headers"].as_object().unwrap() {
        let name = name.strip_prefix("HTTP_").unwrap().replace('_', "-").to_lowercase();
        request = request.header(name, value.as_str().unwrap());
    }
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_publisher_s_effects_are_done_once_by_the_example() {
    let Some(site) = Site::start().await else { return };
    // The first is one that the site does not know: it is being changed.
    let environment = [
        ("LOJA_WEBHOOK_SECRET", testkit::SECRET),
        ("FULFILLMENT_URL", &site.url(0)),
        ("FULFILLMENT_SECRET", "whsec_c2VncmVkbyBkYSBzZXBhcmHDp8Ojbw=="),
        ("FULFILLMENT_SECRET_PREVIOUS", SECRETS[0]),
    ];
    let mut system = System::new(SETTINGS, &environment).await;
    for daemon in ["receiver", "applier", "publisher"] {
        system.add(daemon).await;
    }
    let receiver = system.target("").replace("/webhooks/", "");
    for (status, sequence) in [("paid", 1), ("canceled", 2)] {
        let mut event = Event::new("ped_1", status, sequence);
        event.json["data"]["customer_email"] = json!("josé\u{2028}\\/@exämple.com");
        assert_eq!(event.post(&reqwest::Client::new(), &receiver).await.unwrap(), 200);
        let delivered = "select count(*) from ordem.effects where state = 'delivered'";
        eventually("the effect is delivered", sequence, || system.database.count(delivered)).await;
    }
    let done = site.lines("done");
    let told: Vec<&str> = done.iter().filter_map(|line| line.split_once(' ')).map(|(_, told)| told).collect();
    assert_eq!(told, ["order.release_picking ped_1", "order.halt_picking ped_1"]);
    assert_eq!(site.lines("released"), ["ped_1"]);

    let seen: Vec<Value> =
        site.lines("requests").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(seen.len(), 2);
    for call in &seen {
        let body = call["body"].as_str().unwrap();
        assert_eq!(site.ask(again(&site, call, body)).await, (200, r#"{"repeated":true}"#.to_owned()));
        let other = body.replacen("ped_1", "ped_2", 1);
        assert_eq!(site.ask(again(&site, call, &other)).await.0, 401);
    }
    assert_eq!(site.lines("done"), done);
}
