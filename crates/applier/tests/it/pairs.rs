//! An effect that was never sent and the one that undoes it fall away together, where the flow says so.

use testkit::Event;

use crate::app::App;

const SETTINGS: &str = r#"
[[flows.order.effects]]
name = "release_picking"
enter = "paid"
destination = "fulfillment"

[[flows.order.effects]]
name = "thank"
reached = "paid"
destination = "fulfillment"

[[flows.order.effects]]
name = "halt_picking"
reached = "canceled"
requires = "release_picking"
unless_reached = ["shipped"]
cancels = "release_picking"
destination = "fulfillment"
"#;

const CANCELED: [&str; 3] = [
    "halt_picking discarded nothing to undo: release_picking was never sent",
    "release_picking discarded halt_picking came before it was sent: neither is sent",
    "thank pending",
];

async fn effects(app: &App) -> Vec<String> {
    app.texts("select concat_ws(' ', effect, state, last_error) from ordem.effects order by effect").await
}

async fn app() -> App {
    App::with_settings(SETTINGS).await
}

async fn paid() -> App {
    let app = app().await;
    app.arrive(&[Event::new("ped_1", "paid", 2)]).await;
    app.apply().await;
    app
}

async fn cancel(app: &App) {
    app.arrive(&[Event::new("ped_1", "canceled", 3)]).await;
    app.apply().await;
}

#[tokio::test]
async fn what_was_never_sent_is_canceled_with_its_undoing_and_the_rest_goes_on() {
    let app = paid().await;
    // Held back behind the release, as a publisher does.
    let held =
        "update ordem_engine.effect_queue set due_at = due_at + interval '5 minutes' where sequence = 1";
    app.client.batch_execute(held).await.unwrap();
    cancel(&app).await;
    assert_eq!(effects(&app).await, CANCELED);
    for part in db::outbox::PAIR_REASONS {
        assert!(
            CANCELED.iter().any(|told| told.contains(part)),
            "{part} is what `ordem effects retry` looks for"
        );
    }
    let due =
        format!("select count(*) from ordem_engine.effect_queue where due_at <= '{}'", crate::app::noon());
    assert_eq!(app.count(&due).await, 1, "what stood behind may go at once");
}

#[tokio::test]
async fn so_it_is_when_both_are_born_in_one_transaction() {
    let app = app().await;
    app.arrive(&[Event::new("ped_1", "paid", 2), Event::new("ped_1", "canceled", 3)]).await;
    app.apply().await;
    assert_eq!(effects(&app).await, CANCELED);
}

#[tokio::test]
async fn what_was_sent_or_tried_or_is_on_its_way_is_undone_as_ever() {
    let delivered = "with gone as (delete from ordem_engine.effect_queue where sequence = 0 returning effect_id)
        insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at) select effect_id, 'delivered', 1, now() from gone";
    let tried =
        "update ordem_engine.effect_queue set attempts = 1, last_error = 'answer 503' where sequence = 0";
    let probed = "update ordem_engine.effect_queue set last_error = 'answer 503' where sequence = 0";
    let leased = "update ordem_engine.effect_queue set attempts = 1, lease_token = gen_random_uuid() where sequence = 0";
    let put_back =
        "insert into ordem_engine.delivery_attempts (effect_id, attempt, started_at, duration_ms, result)
        select effect_id, 12, now(), 1, 'transient' from ordem_engine.effect_queue where sequence = 0";
    for before in [delivered, tried, probed, leased, put_back] {
        let app = paid().await;
        app.client.batch_execute(before).await.unwrap();
        cancel(&app).await;
        let halt = "select state from ordem.effects where effect = 'halt_picking'";
        assert_eq!(app.texts(halt).await, ["pending"], "{before}");
        let release = app.texts("select state from ordem.effects where effect = 'release_picking'").await;
        assert_ne!(release, ["discarded"], "{before}");
    }
}

#[tokio::test]
async fn a_release_that_a_publisher_is_about_to_take_is_left_to_it() {
    let app = paid().await;
    let mut other = app.database.client().await;
    let claim = other.transaction().await.unwrap();
    claim.execute("select from ordem_engine.effect_queue where sequence = 0 for update", &[]).await.unwrap();
    cancel(&app).await;
    claim.rollback().await.unwrap();
    assert_eq!(effects(&app).await, ["halt_picking pending", "release_picking pending", "thank pending"]);
}

#[tokio::test]
async fn the_appliers_role_may_do_it() {
    let app = paid().await;
    let rights =
        "select has_table_privilege('ordem_applier', 'ordem_engine.effect_queue', 'update, delete, select')
                     and has_table_privilege('ordem_applier', 'ordem_engine.delivery_attempts', 'select')
                     and has_table_privilege('ordem_applier', 'ordem_engine.effect_outcomes', 'insert')
                     and has_table_privilege('ordem_applier', 'ordem_engine.effect_keys', 'select')";
    let row = app.client.query_one(rights, &[]).await.unwrap();
    assert!(row.get::<_, bool>(0));
}
