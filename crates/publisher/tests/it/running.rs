//! A destination's loop with its waker, in this process.

use std::time::Duration;

use db::{Channel, Listener};
use publisher::dispatch;
use service::Shutdown;
use tokio::{sync::watch, task::JoinSet};

use crate::stage::Stage;

pub(crate) struct Running {
    shutdown: Shutdown,
    tasks: JoinSet<()>,
}

impl Running {
    pub(crate) fn start(stage: &Stage, poll: Duration) -> Self {
        let shutdown = Shutdown::new();
        let (wake, woken) = watch::channel(0);
        let listener = Listener::start(stage.database.options(), Channel::Effects);
        let mut tasks = JoinSet::new();
        tasks.spawn(dispatch::run(stage.live_courier(), woken, shutdown.clone()));
        tasks.spawn(dispatch::keep_waking(listener, wake, poll, shutdown.clone()));
        Self { shutdown, tasks }
    }

    /// Asks for the stop and waits for the drain.
    pub(crate) async fn stop(mut self) {
        self.shutdown.trigger();
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }
}
