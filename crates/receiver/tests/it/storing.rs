//! What is stored, and when the answer goes out.

use futures_util::future::join_all;
use testkit::{Event, SECRET, eventually, sign};

use crate::app::App;

#[tokio::test]
async fn a_signed_event_is_stored_with_its_very_bytes_and_queued() {
    let app = App::start().await;
    let body = b"{ \"id\":\"evt_1\",\n\"type\":\"order.paid\", \"sequence\":2,\"data\":{\"id\":\"ped_1\"} }"
        .to_vec();
    assert_eq!(app.post(body.clone()).await.status(), 200);
    let client = app.database.client().await;
    let row = client
        .query_one(
            "select e.body, e.source, e.dedup_key, e.event_type, e.kind, e.resource_id, e.origin, e.headers
               from ordem_engine.inbox_events e join ordem_engine.inbox_queue using (event_id)",
            &[],
        )
        .await
        .unwrap();
    assert_eq!(row.get::<_, Vec<u8>>(0), body);
    let texts: Vec<String> = (1..7).map(|column| row.get(column)).collect();
    assert_eq!(texts, ["loja", "evt_1", "order.paid", "order", "ped_1", "webhook"]);
    let headers: serde_json::Value = serde_json::from_str(row.get(7)).unwrap();
    assert_eq!(headers["x-loja-signature"], sign(SECRET, &body), "the signature can be verified again");
}

#[tokio::test]
async fn a_thousand_deliveries_of_one_event_at_once_are_one_row_and_all_answered_200() {
    let app = App::start().await;
    let body = Event::new("ped_1", "paid", 2).body();
    let statuses =
        join_all((0..1000).map(|_| async { app.post(body.clone()).await.status().as_u16() })).await;
    assert!(statuses.iter().all(|status| *status == 200));
    assert_eq!(app.events().await, 1);
    let duplicates = app.daemon.metric("ordem_receiver_duplicates_total{").await;
    assert!((duplicates - 999.0).abs() < 0.5, "{duplicates}");
}

#[tokio::test]
async fn groups_with_the_same_keys_in_opposite_orders_never_deadlock() {
    let app =
        App::start_with(&[("ORDEM__RECEIVER__WORKERS", "2"), ("ORDEM__RECEIVER__COMMITTERS", "2")]).await;
    let bodies: Vec<Vec<u8>> = (0..200).map(|n| Event::new(&format!("ped_{n}"), "paid", 2).body()).collect();
    let forward = bodies.iter();
    let backward = bodies.iter().rev();
    let posts = forward.chain(backward).map(|body| async { app.post(body.clone()).await.status().as_u16() });
    assert!(join_all(posts).await.iter().all(|status| *status == 200));
    assert_eq!(app.events().await, 200);
    assert!(!app.daemon.log().contains("deadlock"), "{}", app.daemon.log());
}

#[tokio::test]
async fn a_known_event_with_another_body_is_counted_and_the_first_body_stays() {
    let app = App::start().await;
    let first = Event::new("ped_1", "paid", 2);
    let mut second = first.clone();
    second.json["data"]["total_cents"] = 1.into();
    assert_eq!(app.post(first.body()).await.status(), 200);
    assert_eq!(app.post(second.body()).await.status(), 200);
    assert_eq!(app.events().await, 1);
    let kept = app
        .database
        .client()
        .await
        .query_one("select body from ordem_engine.inbox_events", &[])
        .await
        .unwrap();
    assert_eq!(kept.get::<_, Vec<u8>>(0), first.body());
    let different = "ordem_receiver_duplicates_total{source=\"loja\",body=\"different\"}";
    assert!((app.daemon.metric(different).await - 1.0).abs() < 0.5);
}

#[tokio::test]
async fn a_list_of_events_is_one_row_for_each_and_keeps_their_order() {
    let app = App::start().await;
    let events: Vec<String> = [("ped_1", "paid", 2), ("ped_2", "paid", 2), ("ped_1", "canceled", 3)]
        .iter()
        .map(|(order, status, sequence)| Event::new(order, status, *sequence).json.to_string())
        .collect();
    assert_eq!(app.post(format!("[{}]", events.join(", "))).await.status(), 200);
    let rows = app
        .database
        .client()
        .await
        .query("select convert_from(body, 'UTF8') from ordem_engine.inbox_events order by event_id", &[])
        .await
        .unwrap();
    let stored: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(stored, events);
}

#[tokio::test]
async fn either_of_two_live_secrets_may_have_signed_and_is_counted() {
    let app = App::start_with(&[("LOJA_WEBHOOK_SECRET_PREVIOUS", "old secret")]).await;
    let (new, old) = (Event::new("ped_1", "created", 1).body(), Event::new("ped_1", "paid", 2).body());
    assert_eq!(app.post(new).await.status(), 200);
    let signature = sign("old secret", &old);
    assert_eq!(app.post_signed(old, &signature).await.status(), 200);
    for place in ["0", "1"] {
        let line = format!("ordem_receiver_verified_total{{source=\"loja\",secret=\"{place}\"}}");
        assert!((app.daemon.metric(&line).await - 1.0).abs() < 0.5, "{line}");
    }
}

#[tokio::test]
async fn a_secret_file_that_changes_is_in_force_without_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("secret");
    std::fs::write(&file, "first\n").unwrap();
    let secrets = format!("file:{}", file.display());
    let config = dir.path().join("config");
    std::fs::create_dir(&config).unwrap();
    std::fs::write(
        config.join("a.toml"),
        format!("[sources.shop]\nprofile = \"loja\"\nsecrets = [\"{secrets}\"]\n"),
    )
    .unwrap();
    let app = App::start_with(&[("ORDEM_TEST_CONFIG", config.to_str().unwrap())]).await;
    let body = Event::new("ped_1", "paid", 2).body();
    let post = |secret: &'static str| {
        let (app, body) = (&app, body.clone());
        async move {
            let headers = [("x-loja-signature".parse().unwrap(), sign(secret, &body).parse().unwrap())]
                .into_iter()
                .collect();
            app.post_with("/webhooks/shop", headers, body).await.status().as_u16()
        }
    };
    assert_eq!(post("first").await, 200);
    assert_eq!(post("second").await, 401);
    std::fs::write(&file, "second\n").unwrap();
    eventually("the new secret is in force", 200, || post("second")).await;
    assert_eq!(post("first").await, 401);
}

#[tokio::test]
async fn an_event_that_the_database_refuses_costs_its_neighbours_nothing() {
    let app = App::start().await;
    let refuse = "alter table ordem_engine.inbox_events add constraint poison check (resource_id <> 'ped_7')";
    app.database.client().await.batch_execute(refuse).await.unwrap();
    let bodies: Vec<Vec<u8>> = (0..40).map(|n| Event::new(&format!("ped_{n}"), "paid", 2).body()).collect();
    let statuses =
        join_all(bodies.iter().map(|body| async { app.post(body.clone()).await.status().as_u16() })).await;
    let turned_away: Vec<usize> = (0..40).filter(|n| statuses[*n] != 200).collect();
    assert_eq!((turned_away.as_slice(), statuses[7]), ([7].as_slice(), 503));
    assert_eq!(app.events().await, 39);
}
