//! The fulfilment system over HTTP.

use crate::world::{World, settings, signed_call};

#[tokio::test]
async fn the_work_of_one_key_is_done_once_however_often_it_is_asked_for() {
    let world = World::with_orders(1).await;
    world.deliver("ped_00000000", "release_picking", "k1").await;
    let again = world.deliver("ped_00000000", "release_picking", "k1").await;
    assert_eq!(again["result"], "repeated");
    let evidence = world.sandbox.evidence();
    assert_eq!(evidence.done.len(), 1);
    assert_eq!(evidence.done[0].times, 1);
    assert_eq!(evidence.fulfillment.doubled, 0);
}

#[tokio::test]
async fn the_same_effect_under_another_key_is_doubled() {
    let world = World::with_orders(1).await;
    world.deliver("ped_00000000", "release_picking", "k1").await;
    world.deliver("ped_00000000", "release_picking", "k2").await;
    let evidence = world.sandbox.evidence();
    assert_eq!(evidence.done[0].times, 2);
    assert_eq!(evidence.fulfillment.doubled, 1);
}

#[tokio::test]
async fn an_unsigned_an_altered_and_a_rekeyed_call_are_401_and_do_nothing() {
    let world = World::with_orders(1).await;
    let url = format!("{}/fulfillment", world.url);
    let (headers, body) = signed_call("ped_00000000", "release_picking", "k1");
    let unsigned = world.client.post(&url).body(body.clone()).send().await;
    assert_eq!(unsigned.unwrap().status(), 401);
    let altered = world.client.post(&url).headers(headers.clone()).body("{}");
    assert_eq!(altered.send().await.unwrap().status(), 401);
    let mut rekeyed = headers;
    rekeyed.insert("idempotency-key", "k2".parse().unwrap());
    let rekeyed = world.client.post(&url).headers(rekeyed).body(body);
    assert_eq!(rekeyed.send().await.unwrap().status(), 401);
    let evidence = world.sandbox.evidence();
    assert!(evidence.done.is_empty());
    assert_eq!(evidence.fulfillment.refused.values().sum::<u64>(), 3);
}

#[tokio::test]
async fn an_order_of_another_run_is_taken_and_not_booked() {
    let world = World::with_orders(1).await;
    let answer = world.deliver("other_1", "halt_picking", "k1").await;
    assert_eq!(answer["result"], "not an order of this run");
    let evidence = world.sandbox.evidence();
    assert!(evidence.done.is_empty());
    assert_eq!(evidence.fulfillment.out_of_order, 0);
    assert_eq!(evidence.fulfillment.foreign, 1);
}

#[tokio::test]
async fn every_kind_of_fault_is_survived_by_asking_again() {
    let world = World::start(settings("http://127.0.0.1:9/webhooks/loja")).await;
    for n in 0..600 {
        let order = format!("ped_{n:08}");
        world.deliver(&order, "release_picking", &order).await;
    }
    let evidence = world.sandbox.evidence();
    assert_eq!(evidence.done.len(), 600);
    assert!(evidence.done.iter().all(|done| done.times == 1));
    let faults = &evidence.fulfillment.faults;
    for fault in ["slow", "refused with 503", "500 after the work", "hung up after the work"] {
        assert!(faults.contains_key(fault), "{fault} in {faults:?}");
    }
    assert!(evidence.fulfillment.repeated > 0);
}
