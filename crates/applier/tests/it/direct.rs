//! Effects of destinations with `in_transaction`: the function takes them with the row, or nothing of it happens.

use testkit::Event;

use crate::app::App;

const SETTINGS: &str = r#"
[destinations.books]
type = "sql"
function = "books.post"
in_transaction = true

[[flows.order.effects]]
name = "book"
reached = "paid"
destination = "books"

[[flows.order.effects]]
name = "book_refund"
reached = "refunded"
destination = "books"

[[flows.order.effects]]
name = "release_picking"
enter = "paid"
destination = "fulfillment"
"#;

/// Keeps what it is told, in the order in which it is told, and refuses one order as a cashier would.
const BOOKS: &str = "
    create schema books;
    create table books.posted (place bigint generated always as identity, message jsonb not null);
    create function books.post(message jsonb) returns void language plpgsql as $$
    begin
        if message #>> '{data,id}' = 'ped_7' then
            raise exception 'no account for %', message #>> '{data,id}';
        end if;
        insert into books.posted (message) values (message);
    end $$;";

const CURE: &str = "create or replace function books.post(message jsonb) returns void language sql
    begin atomic insert into books.posted (message) values (message); end";

async fn app() -> App {
    let app = App::with_settings(SETTINGS).await;
    app.client.batch_execute(BOOKS).await.unwrap();
    app
}

async fn posted(app: &App) -> Vec<String> {
    app.texts("select concat_ws(' ', message #>> '{data,id}', message #>> '{data,effect}') from books.posted order by place").await
}

#[tokio::test]
async fn row_effect_and_booking_come_in_one_commit_and_nothing_is_queued() {
    let app = app().await;
    app.arrive(&[
        Event::new("ped_1", "paid", 2),
        Event::new("ped_2", "paid", 2),
        Event::new("ped_1", "refunded", 3),
    ])
    .await;
    app.apply().await;
    assert_eq!(posted(&app).await, ["ped_1 book", "ped_2 book", "ped_1 book_refund"]);
    let states = "select concat_ws(' ', effect, state, attempts) from ordem.effects where destination = 'books' order by 1";
    assert_eq!(app.texts(states).await, ["book delivered 1", "book delivered 1", "book_refund delivered 1"]);
    let queued = "select destination from ordem_engine.effect_queue";
    assert_eq!(app.texts(queued).await, ["fulfillment", "fulfillment"], "the others wait as ever");
    let same_instant =
        "select count(distinct (o.finished_at, r.updated_at)) from ordem_engine.effect_outcomes o
        join ordem_engine.effects e using (effect_id) join ordem.resources r on r.id = e.resource_id";
    assert_eq!(app.count(same_instant).await, 1);
}

#[tokio::test]
async fn the_message_is_what_any_other_destination_would_get() {
    let app = app().await;
    app.arrive(&[Event::new("ped_1", "paid", 2)]).await;
    app.apply().await;
    let agrees = "select message = jsonb_build_object(
            'type', e.kind || '.' || e.effect,
            'timestamp', message -> 'timestamp',
            'data', jsonb_build_object('effect_id', e.effect_id, 'source', e.source, 'kind', e.kind, 'id', e.resource_id,
                'effect', e.effect, 'key', e.effect_key, 'status', e.status, 'version', e.version_major, 'fields', e.fields))
            and (message ->> 'timestamp')::timestamptz = e.created_at
       from books.posted join ordem_engine.effects e on e.effect_id = (message #>> '{data,effect_id}')::uuid";
    let rows = app.client.query(agrees, &[]).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.get(0)).collect::<Vec<bool>>(), [true]);
}

#[tokio::test]
async fn what_the_function_refuses_waits_alone_with_its_words_and_its_neighbours_are_booked() {
    let app = app().await;
    let events: Vec<Event> = (0..20).map(|n| Event::new(&format!("ped_{n}"), "paid", 2)).collect();
    app.arrive(&events).await;
    app.apply().await;
    assert_eq!(app.count("select count(*) from books.posted").await, 19);
    assert_eq!(app.count("select count(*) from ordem.orders").await, 19, "no row without its booking");
    assert_eq!(app.count("select count(*) from ordem.effects where destination = 'books'").await, 19);
    let waiting = app.texts("select last_error from ordem.events where outcome is null").await;
    assert_eq!(waiting, ["function books.post: no account for ped_7 (SQLSTATE P0001)"]);

    app.client.batch_execute(CURE).await.unwrap();
    app.clock.advance_seconds(3600);
    app.apply().await;
    assert_eq!(app.order("ped_7").await.0, "paid");
    assert_eq!(posted(&app).await.last().unwrap(), "ped_7 book");
}

#[tokio::test]
async fn what_it_keeps_refusing_is_dead_with_its_words() {
    let app = app().await;
    app.arrive(&[Event::new("ped_7", "paid", 2)]).await;
    for _ in 0..6 {
        app.apply().await;
        app.clock.advance_seconds(3600);
    }
    let dead = app.texts("select last_error from ordem.events where outcome = 'dead'").await;
    assert_eq!(dead, ["function books.post: no account for ped_7 (SQLSTATE P0001)"]);
}

#[tokio::test]
async fn a_check_that_the_function_leaves_for_the_commit_isolates_its_event_as_well() {
    let app = app().await;
    let deferred = "create function books.check() returns trigger language plpgsql as $$
        begin
            if new.message #>> '{data,id}' = 'ped_3' then
                raise exception 'does not balance' using errcode = 'check_violation';
            end if;
            return null;
        end $$;
        create constraint trigger balance after insert on books.posted deferrable initially deferred
            for each row execute function books.check();";
    app.client.batch_execute(deferred).await.unwrap();
    let events: Vec<Event> = (1..6).map(|n| Event::new(&format!("ped_{n}"), "paid", 2)).collect();
    app.arrive(&events).await;
    app.apply().await;
    assert_eq!(app.count("select count(*) from books.posted").await, 4);
    let waiting = app.texts("select last_error from ordem.events where outcome is null").await;
    assert!(waiting.len() == 1 && waiting[0].contains("does not balance"), "{waiting:?}");
}

#[tokio::test]
async fn what_a_function_says_of_other_connections_is_not_the_database_being_away() {
    let app = app().await;
    let far = "create or replace function books.post(message jsonb) returns void language plpgsql as $$
        begin
            if message #>> '{data,id}' = 'ped_1' then
                raise exception 'could not reach the bank' using errcode = '08001';
            end if;
            insert into books.posted (message) values (message);
        end $$;";
    app.client.batch_execute(far).await.unwrap();
    app.arrive(&[Event::new("ped_1", "paid", 2), Event::new("ped_2", "paid", 2)]).await;
    app.apply().await;
    assert_eq!(posted(&app).await, ["ped_2 book"]);
    let waiting = app.texts("select last_error from ordem.events where outcome is null").await;
    assert_eq!(waiting, ["function books.post: could not reach the bank (SQLSTATE 08001)"]);
}

#[tokio::test]
async fn without_its_function_the_applier_does_not_start() {
    let app = App::with_settings(SETTINGS).await;
    let ended = applier::run(app.context()).await.unwrap_err().to_string();
    assert!(ended.contains("destinations.books.function: there is no function books.post(jsonb)"), "{ended}");
}
