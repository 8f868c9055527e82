//! Places orders in waves: shuffled windows, now and then a burst.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{clock, dice::Dice, sender::Sender, store::Store};

/// Orders of one wave: from this many …
const WAVE_MIN: u64 = 20;

/// … to fewer than this many.
const WAVE_MAX: u64 = 120;

/// Of the waves, how many come as a burst.
const BURST_SHARE: f64 = 0.15;

/// The webhooks of a wave become due within this time.
const WAVE_SPREAD: Duration = Duration::from_millis(100);

/// Places orders as they are asked for, until `stop`.
pub async fn place(
    store: Arc<Store>,
    sender: Arc<Sender>,
    dice: Dice,
    mut asked: mpsc::Receiver<u64>,
    stop: CancellationToken,
) {
    let mut wave = 0;
    while let Some(Some(mut left)) = stop.run_until_cancelled(asked.recv()).await {
        while left > 0 {
            let room = sender.outbox().room(sender.backlog_max());
            if stop.run_until_cancelled(room).await.is_none() {
                return;
            }
            wave += 1;
            let size = WAVE_MIN + dice.below(WAVE_MAX - WAVE_MIN, "wave", &[wave]);
            let burst = dice.chance(BURST_SHARE, "burst", &[wave]);
            let webhooks = store.open(size.min(left), clock::now());
            sender.enqueue(webhooks, WAVE_SPREAD, !burst);
            left = left.saturating_sub(size);
        }
    }
}
