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
