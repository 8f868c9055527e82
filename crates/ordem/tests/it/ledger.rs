//! `ordem ledger check`, and the functions that `ordem check` looks for.

use serde_json::json;
use testkit::Event;
use uuid::Uuid;

use crate::world::{Said, World, ordem};

const BOOKS: &str = "
    create schema books;
    grant usage on schema books to ordem_applier;
    create table books.booked (effect_id uuid);
    create table books.wrong (problem text, subject text, detail text);
    create function books.told() returns setof books.wrong language sql as $$ select * from books.wrong $$;
    create function books.post(message jsonb) returns void language sql as $$ select $$;";

/// A world with books, and one effect that was delivered to them.
async fn world() -> (World, Uuid) {
    let world = World::new().await;
    world.run(BOOKS).await;
    world.apply(&[Event::new("ped_1", "paid", 1)]).await;
    world.run("update ordem_engine.effects set destination = 'books'").await;
    let effect = world.end_effect("release_picking", "delivered").await;
    (world, effect)
}

fn run(world: &World, settings: &[(&str, &str)], arguments: &[&str]) -> Said {
    let url = world.database.url();
    let destination = [
        ("DATABASE_URL", url.as_str()),
        ("ORDEM__DESTINATIONS__BOOKS__TYPE", "sql"),
        ("ORDEM__DESTINATIONS__BOOKS__FUNCTION", "books.post"),
        ("ORDEM__DESTINATIONS__BOOKS__IN_TRANSACTION", "true"),
    ];
    ordem(&[&destination, settings].concat(), arguments)
}

#[tokio::test]
async fn right_books_have_no_fault_and_wrong_ones_are_told_by_view_or_function() {
    let (world, _) = world().await;
    for view in ["books.wrong", "books.told"] {
        let settings = [("ORDEM__LEDGER__CHECK", view)];
        let said = run(&world, &settings, &["ledger", "check"]).expect(0);
        assert_eq!(said.out, format!("{view}: the books are right\n"));
    }
    world.run("insert into books.wrong values ('does not balance', 'transaction 7', 'by 1 EUR'), ('odd', 'x', null), ('odd', 'y', '')").await;
    for view in ["books.wrong", "books.told"] {
        let settings = [("ORDEM__LEDGER__CHECK", view)];
        let said = run(&world, &settings, &["ledger", "check"]).expect(1);
        assert!(said.out.contains("does not balance: transaction 7: by 1 EUR\n"), "{}", said.out);
        assert!(said.out.ends_with(&format!("{view}: 3 faults\n")), "{}", said.out);
        let said = run(&world, &settings, &["ledger", "check", "--limit", "1", "--json"]).expect(1).json();
        let fault = json!({"problem": "does not balance", "subject": "transaction 7", "detail": "by 1 EUR"});
        assert_eq!(said, json!({"ok": false, "asked": [view], "faults": [fault], "more": true}));
    }
}

#[tokio::test]
async fn each_effect_that_was_delivered_is_booked_once() {
    let (world, effect) = world().await;
    let settings = [("ORDEM__LEDGER__BOOKED", "books.booked")];
    let problem = || {
        let said = run(&world, &settings, &["ledger", "check", "--json"]).json();
        said["faults"][0]["problem"].as_str().map(str::to_owned)
    };
    assert_eq!(problem().as_deref(), Some("not booked"));
    world.run(&format!("insert into books.booked values ('{effect}')")).await;
    assert_eq!(problem(), None);
    world.run(&format!("insert into books.booked values ('{effect}')")).await;
    assert_eq!(problem().as_deref(), Some("booked more than once"));
    world.run("update ordem_engine.effect_outcomes set state = 'dead'").await;
    assert_eq!(problem().as_deref(), Some("not done"));
}

#[tokio::test]
async fn what_is_not_set_or_not_there_is_said() {
    let (world, _) = world().await;
    let unset = run(&world, &[], &["ledger", "check"]).expect(2);
    assert!(unset.err.contains("ledger.check is not set"), "{}", unset.err);
    let missing = run(&world, &[("ORDEM__LEDGER__CHECK", "books.nothing")], &["ledger", "check"]).expect(1);
    assert!(missing.err.contains("books.nothing"), "{}", missing.err);
    let odd = run(&world, &[("ORDEM__LEDGER__CHECK", "nothing")], &["ledger", "check"]).expect(2);
    assert!(odd.err.contains("ledger.check") && odd.err.contains("write it like"), "{}", odd.err);
}

#[tokio::test]
async fn check_looks_for_the_functions_of_destinations() {
    let (world, _) = world().await;
    run(&world, &[], &["check"]).expect(0);
    world.run("drop function books.post(jsonb)").await;
    let said = run(&world, &[], &["check"]).expect(1);
    assert!(
        said.out.contains("destinations.books.function: there is no function books.post(jsonb)"),
        "{}",
        said.out
    );
    // One who may look, and may not call.
    let login = format!("looker_{}", Uuid::now_v7().simple());
    world
        .run(&format!(
            "create function books.post(message jsonb) returns void language sql as $$ select $$;
             revoke usage on schema books from ordem_applier;
             create role {login} login in role ordem_operator"
        ))
        .await;
    let url = world.database.url_as(&login);
    let said = run(&world, &[("DATABASE_URL", &url)], &["check"]);
    world.run(&format!("drop role {login}")).await;
    assert!(said.expect(1).out.contains("may not execute books.post(jsonb): grant usage on its schema"));
}
