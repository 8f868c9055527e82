//! `after_dead = "hold"`: a dead effect keeps the later ones of its resource waiting for an operator.

use std::sync::{
    Arc,
    atomic::{AtomicU16, Ordering},
};

use db::{operations, outbox};
use service::settings::AfterDead;
use uuid::Uuid;

use crate::{
    sink::{Reply, Sink},
    stage::{Stage, span},
};

/// Longer than a follower is ever held back without being looked at.
const A_WHILE: i64 = 301;

/// Two effects of one resource and one of another, to a destination that answers the very first effect with this
/// status, until it is mended.
struct Held {
    sink: Sink,
    stage: Stage,
    answer: Arc<AtomicU16>,
    head: Uuid,
    follower: Uuid,
    other: Uuid,
}

impl Held {
    async fn new(status: u16) -> Self {
        let answer = Arc::new(AtomicU16::new(status));
        let scripted = answer.clone();
        let sink = Sink::start(move |call| {
            let is_poison = call.effect() == "first" && call.resource() == "ped_1";
            Reply::status(if is_poison { scripted.load(Ordering::SeqCst) } else { 200 })
        })
        .await;
        let mut stage = Stage::new(&sink.url()).await;
        stage.care().after_dead = AfterDead::Hold;
        let head = stage.effect("ped_1", "first", 0).await;
        let follower = stage.effect("ped_1", "second", 1).await;
        let other = stage.effect("ped_2", "first", 0).await;
        Self { sink, stage, answer, head, follower, other }
    }

    /// Gives the publisher several times the chance to send what may be sent.
    async fn rounds(&self) {
        let courier = self.stage.courier();
        for _ in 0..4 {
            courier.round().await.unwrap();
            self.stage.clock.advance_seconds(A_WHILE);
        }
    }

    async fn states(&self) -> [String; 3] {
        let mut states = [self.head, self.follower, self.other].map(|_| String::new());
        for (state, id) in states.iter_mut().zip([self.head, self.follower, self.other]) {
            *state = self.stage.shown(id).await.state;
        }
        states
    }

    fn effects_of_ped_1(&self) -> Vec<String> {
        let calls = self.sink.calls();
        calls.iter().filter(|call| call.resource() == "ped_1").map(|call| call.effect()).collect()
    }
}

#[tokio::test]
async fn a_dead_effect_holds_what_follows_it_and_no_other_resource() {
    let held = Held::new(410).await;
    held.rounds().await;
    assert_eq!(held.states().await, ["dead", "pending", "delivered"]);
    assert_eq!(held.effects_of_ped_1(), ["first"], "called once, and nothing behind it");
    let follower = held.stage.shown(held.follower).await;
    assert_eq!((follower.attempts, follower.last_error), (0, None));
    let head = held.stage.shown(held.head).await;
    assert_eq!((head.attempts, head.last_error.as_deref()), (1, Some("answer 410")));
    let late = held.stage.effect("ped_1", "third", 2).await;
    held.rounds().await;
    assert_eq!(held.stage.shown(late).await.state, "pending", "also what comes later waits");
}

#[tokio::test]
async fn the_dead_one_is_not_in_the_backlog_and_what_it_holds_is() {
    let held = Held::new(410).await;
    held.rounds().await;
    let client = held.stage.pool.get().await.unwrap();
    let waits = outbox::backlog(&client, held.stage.now()).await.unwrap().remove(0);
    assert_eq!(waits.due + waits.waiting + waits.leased, 1);
    let status = operations::destination_backlogs(&client, held.stage.now()).await.unwrap().remove(0);
    assert_eq!((status.pending, status.retrying, status.dead), (1, 0, 1));
}

#[tokio::test]
async fn after_a_retry_both_go_in_order() {
    let held = Held::new(410).await;
    held.rounds().await;
    held.answer.store(200, Ordering::SeqCst);
    let mut client = held.stage.pool.get().await.unwrap();
    let chosen = operations::effects_by_id(&client, &[held.head], held.stage.now()).await.unwrap();
    let queued = operations::requeue(&mut client, held.stage.now(), &chosen, false).await.unwrap();
    assert_eq!(queued, [held.head]);
    let courier = held.stage.courier();
    courier.round().await.unwrap();
    courier.round().await.unwrap();
    assert_eq!(held.states().await, ["delivered", "delivered", "delivered"]);
    assert_eq!(held.effects_of_ped_1(), ["first", "first", "second"]);
}

#[tokio::test]
async fn a_retry_that_fails_holds_again() {
    let held = Held::new(410).await;
    for _ in 0..2 {
        held.rounds().await;
        assert_eq!(held.states().await, ["dead", "pending", "delivered"]);
        let mut client = held.stage.pool.get().await.unwrap();
        let chosen = operations::effects_by_id(&client, &[held.head], held.stage.now()).await.unwrap();
        operations::requeue(&mut client, held.stage.now(), &chosen, false).await.unwrap();
        let shown = held.stage.shown(held.head).await;
        assert_eq!((shown.state.as_str(), shown.attempts), ("pending", 0));
    }
}

#[tokio::test]
async fn the_last_attempt_and_the_end_of_its_time_hold_as_well() {
    let mut tried = Held::new(500).await;
    tried.stage.care().attempts_max = Some(2);
    tried.rounds().await;
    assert_eq!(tried.states().await, ["dead", "pending", "delivered"]);
    assert_eq!(tried.effects_of_ped_1(), ["first", "first"]);

    let mut old = Held::new(200).await;
    old.stage.care().age_max = Some(span(60_000));
    old.stage.clock.advance_seconds(61);
    old.rounds().await;
    assert_eq!(old.states().await, ["dead", "pending", "dead"]);
    assert_eq!(old.sink.count(), 0);
}

#[tokio::test]
async fn an_earlier_one_that_is_put_back_does_not_wake_the_dead_one() {
    let held = Held::new(410).await;
    held.rounds().await;
    let before = held.stage.effect("ped_1", "before", -1).await;
    held.rounds().await;
    assert_eq!(held.stage.shown(before).await.state, "delivered");
    assert_eq!(held.states().await, ["dead", "pending", "delivered"]);
    assert_eq!(held.effects_of_ped_1(), ["first", "before"]);
}
