//! From events to rows, effects and outcomes.

use testkit::Event;

use crate::app::App;

fn paid(order: &str) -> Event {
    Event::new(order, "paid", 2)
}

#[tokio::test]
async fn a_life_in_order_gives_the_row_the_effects_and_the_outcomes() {
    let app = App::new().await;
    app.arrive(&[Event::new("ped_1", "created", 1), paid("ped_1"), Event::new("ped_1", "canceled", 3)]).await;
    app.apply().await;
    assert_eq!(app.order("ped_1").await, ("canceled".into(), Some(12990), Some("ped_1@example.com".into())));
    assert_eq!(app.effects().await["ped_1"], ["release_picking", "halt_picking"]);
    assert_eq!(app.outcomes().await, ["applied", "applied", "applied"]);
    assert_eq!(app.count("select count(*) from ordem_engine.inbox_queue").await, 0);
    let moves = "select coalesce(status_from, '-') || '>' || status_to from ordem_engine.inbox_outcomes order by event_id";
    assert_eq!(app.texts(moves).await, ["->created", "created>paid", "paid>canceled"]);
}

#[tokio::test]
async fn one_batch_and_single_batches_give_the_same_row_and_effects() {
    let life = [paid("ped_1"), Event::new("ped_1", "refunded", 4), Event::new("ped_1", "canceled", 3)];
    let (whole, single) = (App::new().await, App::new().await);
    whole.arrive(&life).await;
    whole.apply().await;
    for event in life {
        single.arrive(&[event]).await;
        single.clock.advance_seconds(1);
        single.apply().await;
    }
    assert_eq!(whole.order("ped_1").await, single.order("ped_1").await);
    assert_eq!(whole.effects().await, single.effects().await);
    assert_eq!(whole.effects().await["ped_1"], ["release_picking", "notify_refund", "halt_picking"]);
    assert_eq!(whole.outcomes().await, ["applied", "applied", "stale"]);
}

#[tokio::test]
async fn a_late_payment_after_the_cancellation_releases_nothing() {
    let app = App::new().await;
    app.arrive(&[Event::new("ped_1", "canceled", 3), paid("ped_1"), Event::new("ped_1", "paid", 4)]).await;
    app.apply().await;
    assert!(app.effects().await.is_empty());
    assert_eq!(app.outcomes().await, ["applied", "stale", "terminal_regression"]);
    let reasons =
        app.texts("select last_error from ordem.events where outcome = 'terminal_regression'").await;
    assert_eq!(reasons, ["\"canceled\" is terminal and does not lead to \"paid\""]);
}

#[tokio::test]
async fn what_is_not_for_us_or_cannot_be_read_is_set_aside_with_the_reason() {
    let app = App::new().await;
    let unknown = Event::new("ped_1", "paid", 2);
    let mut unknown = unknown.id("evt_unknown");
    unknown.json["type"] = "order.gift_wrapped".into();
    let nul = br#"{"id":"evt_n","type":"order.paid","sequence":2,"data":{"id":"ped_n","customer_email":"a\u0000b@example.com"}}"#;
    let future =
        r#"{"id":"evt_f","type":"order.paid","occurred_at":"2099-01-01T00:00:00Z","data":{"id":"ped_f"}}"#;
    app.arrive(&[unknown]).await;
    app.arrive_raw("loja", &[b"not json".to_vec(), nul.to_vec(), future.into()]).await;
    app.arrive(&[paid("ped_2")]).await;
    app.apply().await;
    let mut outcomes = app
        .texts("select outcome || ': ' || coalesce(last_error, '') from ordem.events order by outcome, 1")
        .await;
    outcomes.sort();
    assert_eq!(outcomes[0], "applied: ");
    assert_eq!(outcomes[1], "applied: ");
    assert!(outcomes[2].contains("ignored: unknown event type \"order.gift_wrapped\""), "{outcomes:?}");
    assert!(outcomes[3].starts_with("malformed: ") && outcomes[4].starts_with("malformed: "), "{outcomes:?}");
    assert_eq!(
        app.order("ped_n").await.2,
        Some("ab@example.com".into()),
        "NUL cannot be stored and is removed"
    );
}

#[tokio::test]
async fn a_nul_is_removed_from_a_text_and_makes_an_event_malformed_where_it_names_something() {
    let app = App::new().await;
    let with = |id: &str, kind: &str, order: &str, email: &str| {
        let data = format!(r#"{{"id":"{order}","customer_email":"{email}","note":"no\u0000name"}}"#);
        format!(r#"{{"id":"{id}","type":"{kind}","sequence":2,"data":{data}}}"#).into_bytes()
    };
    let bodies = [
        with("evt_1", "order.paid", "ped_1", r"a\u0000b@example.com"),
        with(r"evt\u0000_2", "order.paid", "ped_2", "b@example.com"),
        with("evt_3", r"order\u0000.paid", "ped_3", "c@example.com"),
        with("evt_4", "order.paid", r"ped\u0000_4", "d@example.com"),
    ];
    app.arrive_raw("loja", &bodies).await;
    app.apply().await;
    let ends = "select outcome || coalesce(': ' || last_error, '') from ordem.events order by event_id";
    assert_eq!(
        app.texts(ends).await,
        [
            "applied",
            "malformed: `id` contains a NUL",
            "malformed: `type` contains a NUL",
            "malformed: `data.id` contains a NUL"
        ]
    );
    assert_eq!(
        app.texts("select id || ' ' || customer_email from ordem.orders").await,
        ["ped_1 ab@example.com"]
    );
    // The bytes stay as they came.
    let kept =
        app.client.query("select body from ordem_engine.inbox_events order by event_id", &[]).await.unwrap();
    assert!(kept.iter().map(|row| row.get::<_, Vec<u8>>(0)).eq(bodies));
}

#[tokio::test]
async fn a_body_in_another_charset_or_nested_ten_thousand_levels_deep_is_malformed_and_its_neighbours_are_applied()
 {
    let app = App::new().await;
    let latin1 = b"{\"id\":\"evt_l\",\"type\":\"order.paid\",\"sequence\":2,\"data\":{\"id\":\"ped_l\",\"note\":\"caf\xe9\"}}";
    let utf16: Vec<u8> = paid("ped_w").json.to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let levels = |open: &str, close: &str| {
        let nested = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        format!(r#"{{"id":"evt_d","type":"order.paid","sequence":2,"data":{{"id":"ped_d","x":{nested}}}}}"#)
    };
    let bodies = [latin1.to_vec(), utf16, levels("[", "]").into(), levels(r#"{"a":"#, "}").into()];
    app.arrive(&[paid("ped_1")]).await;
    app.arrive_raw("loja", &bodies).await;
    app.arrive(&[paid("ped_2")]).await;
    app.apply().await;
    let reasons =
        app.texts("select last_error from ordem.events where outcome = 'malformed' order by event_id").await;
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert!(reasons[0].starts_with("the body is not UTF-8 (byte "), "{reasons:?}");
    assert!(
        reasons[2..].iter().all(|reason| reason == "the body is nested deeper than 128 levels"),
        "{reasons:?}"
    );
    assert_eq!(app.texts("select id from ordem.orders order by id").await, ["ped_1", "ped_2"]);
}

#[tokio::test]
async fn a_test_event_is_recorded_as_such_and_has_no_effect() {
    let marks = "[[event.test]]\nwhere = \"livemode\"\nequals = \"false\"\n\n[event.fields]";
    let profile = include_str!("../../../../profiles/loja.toml").replacen("[event.fields]", marks, 1);
    let app = App::with_profile(&profile).await;
    let mut test = paid("ped_1");
    test.json["livemode"] = false.into();
    let mut live = paid("ped_2");
    live.json["livemode"] = true.into();
    app.arrive(&[test, live]).await;
    app.apply().await;
    let ends = "select outcome || coalesce(': ' || last_error, '') from ordem.events order by event_id";
    assert_eq!(app.texts(ends).await, ["test: `livemode` is false: a test event", "applied"]);
    assert_eq!(app.texts("select id from ordem.orders").await, ["ped_2"]);
    assert_eq!(app.effects().await.into_keys().collect::<Vec<_>>(), ["ped_2"]);
}

#[tokio::test]
async fn a_fact_lost_as_malformed_freezes_nothing() {
    let app = App::new().await;
    let future =
        r#"{"id":"evt_f","type":"order.paid","occurred_at":"2099-01-01T00:00:00Z","data":{"id":"ped_1"}}"#;
    app.arrive_raw("loja", &[future.into()]).await;
    app.arrive(&[paid("ped_1"), Event::new("ped_1", "canceled", 3)]).await;
    app.apply().await;
    assert_eq!(app.order("ped_1").await.0, "canceled");
}

#[tokio::test]
async fn the_effect_carries_the_row_as_it_was_when_it_was_born() {
    let app = App::new().await;
    let mut later = Event::new("ped_1", "refunded", 4);
    later.json["data"]["total_cents"] = 1.into();
    app.arrive(&[paid("ped_1"), later]).await;
    app.apply().await;
    let snapshot = "select effect || ' ' || status || ' ' || version_major || ' ' || (fields ->> 'total_minor') \
                    from ordem_engine.effects order by sequence";
    assert_eq!(app.texts(snapshot).await, ["release_picking paid 2 12990", "notify_refund refunded 4 1"]);
}

#[tokio::test]
async fn a_backlog_after_statistics_of_empty_tables_is_applied_without_reading_whole_tables() {
    let app = App::new().await;
    app.client.batch_execute("analyze").await.unwrap();
    let events: Vec<Event> = (0..3000).map(|n| paid(&format!("ped_{n}"))).collect();
    app.arrive(&events).await;
    app.apply().await;
    assert_eq!(app.count("select count(*) from ordem.orders where status = 'paid'").await, 3000);
    assert_eq!(app.count("select count(*) from ordem.effects where effect = 'release_picking'").await, 3000);
}
