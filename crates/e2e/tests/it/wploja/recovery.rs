//! Rule 6: the store is asked for the orders of the last 48 hours, and the same routine does the first load.

use serde_json::Value;
use testkit::eventually;

use super::store::{Api, ago, delivery, environment, order, row_of, rows, signature};
use crate::system::System;

const HOUR: i64 = 3600;

/// Events by how they came.
async fn by_origin(system: &System, origin: &str) -> Vec<String> {
    let sql = format!("select resource_id from ordem.events where origin = '{origin}' order by 1");
    system.strings(&sql).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_6_what_never_came_is_found_by_the_sweep_and_what_is_older_by_the_first_load() {
    let api = Api::default();
    let url = api.start().await;
    let mut environment = environment(&url).to_vec();
    environment.extend([("ORDEM__RECONCILER__LAG", "0s")]);
    let mut system = System::new("", &environment).await;
    let receiver = system.add("receiver").await;
    system.add("applier").await;

    // 1 arrives. 2 is sent while somebody has changed the secret, 3 while the receiver is down. 4 and 5 never are, the one
    // within and the other before the last 48 hours. 6 arrives, and its cancellation does not.
    let orders = [
        order(1, "pago", ago(600)),
        order(2, "pago", ago(500)),
        order(3, "enviado", ago(400)),
        order(4, "criado", ago(47 * HOUR)),
        order(5, "pago", ago(50 * HOUR)),
        order(6, "cancelado", ago(300)),
    ];
    let [first, second, third, _, _, _] = &orders;
    assert_eq!(delivery("pedido.pago", first).send(&system).await, 200);
    let other = signature("segredo-novo", &second.to_string());
    assert_eq!(delivery("pedido.pago", second).signed(Some(other)).send(&system).await, 401);
    let paid = order(6, "pago", ago(3000));
    assert_eq!(delivery("pedido.pago", &paid).id("evt_6").send(&system).await, 200);
    system.daemons[receiver].kill();
    let lost = reqwest::Client::new().post(system.target("wploja")).body(third.to_string()).send().await;
    assert!(lost.is_err(), "nobody is there to take it");
    let known = vec![row_of(first), row_of(&paid)];
    eventually("what arrived", known, || rows(&system)).await;

    for order in orders.clone() {
        api.set(order);
    }
    let reconciler = system.add("reconciler").await;
    let mut within = api.rows();
    within.retain(|row| !row.starts_with("5 "));
    eventually("the last 48 hours are as the store says", within.clone(), || rows(&system)).await;
    // What had come is known: only the others entered the queue.
    assert_eq!(by_origin(&system, "reconcile").await, ["2", "3", "4", "6"]);
    let since = api.asked()[0];
    assert!(since < ago(48 * HOUR - 60) && since > ago(49 * HOUR), "{since}");

    // The late repetitions of what was found are no news, and neither is the next sweep.
    system.add("receiver").await;
    assert_eq!(delivery("pedido.pago", second).send(&system).await, 200);
    assert_eq!(delivery("pedido.enviado", third).id("evt_3").send(&system).await, 200);
    // It sweeps when it starts, and then once a day.
    let sweeps = api.asked().len();
    system.daemons[reconciler].kill();
    let reconciler = system.add("reconciler").await;
    eventually("it asks again", true, || async { api.asked().len() > sweeps }).await;
    let settled = "select count(*)::text from ordem.events where outcome is null";
    eventually("all is applied", vec!["0".to_owned()], || system.strings(settled)).await;
    assert_eq!(rows(&system).await, within);
    assert_eq!(by_origin(&system, "reconcile").await, ["2", "3", "4", "6"]);

    // The first load, the migration, the week of the certificate: the same routine over a longer window.
    system.daemons[reconciler].kill();
    for id in 1000..1350 {
        api.set(order(id, "enviado", ago(60 * 24 * HOUR + i64::try_from(id).unwrap())));
    }
    let filled = backfill(&system);
    assert_eq!(filled["stored"], 351, "{filled}");
    assert_eq!(filled["items"], 356, "{filled}");
    assert_eq!((&filled["pages"], &filled["complete"]), (&Value::from(4), &Value::from(true)), "{filled}");
    eventually("every order is as the store says", api.rows(), || rows(&system)).await;
    // Again: all of it is known.
    let again = backfill(&system);
    assert_eq!((&again["stored"], &again["items"]), (&Value::from(0), &Value::from(356)), "{again}");
    assert_eq!(rows(&system).await, api.rows());
}

/// Fills in the last 90 days, and says how it went.
fn backfill(system: &System) -> Value {
    let output = system.ordem(&["--json", "backfill", "wploja", "--from", "90d"]);
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        progress.contains("pages: 1, items: 100") && progress.contains("items: 356"),
        "it tells its progress: {progress}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}
