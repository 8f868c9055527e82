//! Rules 1 to 5 of the document.

use futures_util::future::join_all;
use testkit::eventually;

use super::store::{ago, delivery, delivery_of, environment, order, rows, signature};
use crate::system::System;

async fn outcomes(system: &System) -> Vec<String> {
    system.strings("select coalesce(outcome, 'waits') from ordem.events order by event_id").await
}

async fn system(daemons: &[&str]) -> System {
    let environment = environment("http://127.0.0.1:9");
    let mut system = System::new("", &environment[..1]).await;
    for daemon in daemons {
        system.add(daemon).await;
    }
    system
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_1_and_2_the_raw_body_is_what_is_signed_and_the_answer_does_not_wait_for_the_work() {
    let mut system = system(&["receiver"]).await;
    // As PHP writes it: escaped slashes and characters. Read and written again it is another body.
    let stamp = ago(60);
    let written = format!(
        "{{ \"id\":1,\"status\":\"pago\",\"updated_at\":\"{stamp}\",\"total_cents\":100,\"currency\":\"BRL\",\"customer_email\":\"c1@example.com\",\"url\":\"https:\\/\\/loja.example\\/p\\u00e3o\"}}\n"
    );
    let again = serde_json::from_str::<serde_json::Value>(&written).unwrap().to_string();
    let right = signature(super::store::SECRET, &written);
    let refused = [
        delivery_of("pedido.pago", written.clone()).signed(None),
        delivery_of("pedido.pago", written.clone()).signed(Some(String::new())),
        delivery_of("pedido.pago", written.clone()).signed(Some(right.to_lowercase())),
        delivery_of("pedido.pago", written.clone()).signed(Some(signature("outro-segredo", &written))),
        delivery_of("pedido.pago", written.clone()).signed(Some(signature(super::store::SECRET, &again))),
        delivery_of("pedido.pago", again).signed(Some(right)),
    ];
    for (place, delivery) in refused.iter().enumerate() {
        assert_eq!(delivery.send(&system).await, 401, "{place}");
    }
    assert!(outcomes(&system).await.is_empty(), "nothing of it is stored as an event");

    // Nobody applies anything yet, and the store has its 200 all the same.
    assert_eq!(delivery_of("pedido.pago", written).send(&system).await, 200);
    assert_eq!(outcomes(&system).await, ["waits"]);
    system.add("applier").await;
    let row = vec!["1 paid 100 c1@example.com".to_owned()];
    eventually("the work is done later", row, || rows(&system)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_3_and_4_the_key_decides_and_the_queue_is_swept_whole() {
    let mut system = system(&["receiver"]).await;
    let paid = order(1, "pago", ago(60));

    // The same event twenty times at once, with its id and without: one each.
    let with_id = delivery("pedido.pago", &paid).id("evt_1");
    let answers = join_all((0..20).map(|_| with_id.send(&system))).await;
    assert_eq!(answers, [200; 20]);
    let without = delivery("pedido.pago", &order(2, "pago", ago(50)));
    let answers = join_all((0..20).map(|_| without.send(&system))).await;
    assert_eq!(answers, [200; 20]);
    assert_eq!(outcomes(&system).await, ["waits", "waits"]);

    // Never the order's number alone: other topics and other stamps of one order are other facts, and so is what an
    // event id of its own names.
    for (topic, status, seconds) in
        [("pedido.criado", "criado", 200), ("pedido.pago", "pago", 150), ("pedido.pago", "pago", 100)]
    {
        assert_eq!(delivery(topic, &order(3, status, ago(seconds))).send(&system).await, 200);
    }
    assert_eq!(outcomes(&system).await.len(), 5);

    // A busy morning before there is any worker: none of it is swallowed.
    for id in 10..60 {
        let topic = "pedido.pago";
        assert_eq!(delivery(topic, &order(id, "pago", ago(40))).send(&system).await, 200);
    }
    assert_eq!(outcomes(&system).await, vec!["waits"; 55]);
    let worker = system.add("applier").await;
    let all = |last: u64| {
        let ids = [1, 2, 3].into_iter().chain(10..last);
        let mut all: Vec<String> = ids.map(|id| super::store::row_of(&order(id, "pago", ago(0)))).collect();
        all.sort();
        all
    };
    eventually("every order is there", all(60), || rows(&system)).await;

    // The worker dies in the middle of its work, and another one goes on.
    for id in 60..160 {
        if id == 110 {
            system.daemons[worker].kill();
        }
        assert_eq!(delivery("pedido.pago", &order(id, "pago", ago(40))).send(&system).await, 200);
    }
    system.add("applier").await;
    eventually("every order is there", all(160), || rows(&system)).await;
    let sql = "select resource_id || ':' || count(*) from ordem.effects where effect = 'release_picking' group by resource_id having count(*) <> 1";
    assert!(system.strings(sql).await.is_empty(), "each order was released once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_5_the_stamp_orders_the_facts_and_not_their_arrival() {
    let system = system(&["receiver", "applier"]).await;
    let send = async |topic, order: &serde_json::Value, id: &str, outcome: &str| {
        assert_eq!(delivery(topic, order).id(id).send(&system).await, 200);
        let sql =
            format!("select coalesce(outcome, 'waits') from ordem.events where dedup_key like '%{id}%'");
        eventually(id, vec![outcome.to_owned()], || system.strings(&sql)).await;
    };
    // The update comes before the creation.
    let (created, paid, canceled) =
        (order(1, "criado", ago(300)), order(1, "pago", ago(200)), order(1, "cancelado", ago(100)));
    send("pedido.pago", &paid, "evt_b", "applied").await;
    send("pedido.criado", &created, "evt_a", "stale").await;
    let is = async |status: &str| {
        assert_eq!(rows(&system).await, [format!("1 {status} 100 c1@example.com")]);
    };
    is("paid").await;

    // The same fact under another event id changes nothing: its stamp is known.
    send("pedido.pago", &paid, "evt_b2", "stale").await;
    is("paid").await;
    send("pedido.cancelado", &canceled, "evt_c", "applied").await;
    is("canceled").await;

    // A repetition from long ago, after the newer change, under its own id, another, and none.
    send("pedido.pago", &paid, "evt_b3", "stale").await;
    assert_eq!(delivery("pedido.pago", &paid).id("evt_b").send(&system).await, 200);
    assert_eq!(delivery("pedido.pago", &paid).send(&system).await, 200);
    let sql = "select outcome from ordem.events where outcome is not null order by event_id";
    let six = ["applied", "stale", "stale", "applied", "stale", "stale"].map(str::to_owned).to_vec();
    eventually("the one without an id is old as well", six, || system.strings(sql)).await;
    is("canceled").await;
    // An older stamp written in another zone is no newer for it.
    let mut local = paid.clone();
    let at = paid["updated_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let zoned = at.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(9)));
    local["updated_at"] = zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string().into();
    send("pedido.pago", &local, "evt_zone", "stale").await;
    is("canceled").await;
    let effects = "select effect from ordem.effects order by effect_id";
    assert_eq!(system.strings(effects).await, ["release_picking", "halt_picking"]);
}
