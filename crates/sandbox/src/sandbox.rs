//! Puts store, sender and fulfilment together and serves them on one address.

pub mod routes;

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    dice::Dice,
    fulfillment::{
        Fulfillment,
        book::{self, DoneEffect},
        faults::Faults,
        verify::Secret,
    },
    sender::{self, Sender, stats::Summary},
    store::{Store, Truth, api::Api, order::Names, run},
};

/// Runs that may wait to be started.
const RUNS_WAITING_MAX: usize = 16;

/// The largest run.
const ORDERS_MAX: u64 = 1_000_000;

/// What follows a release becomes due within this time.
const REACTION_SPREAD: Duration = Duration::from_millis(200);

/// Everything that can be said about a sandbox.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Decides every life, loss, duplicate and failure.
    pub seed: u64,
    /// What all ids begin with.
    pub prefix: String,
    /// The share of webhooks never sent.
    pub lost: f64,
    /// How the others are sent.
    pub sender: sender::Settings,
    /// What the store's API asks for.
    pub api_token: SecretString,
    /// What signs calls to the fulfilment system.
    pub fulfillment_secret: SecretString,
    /// Ordem's database, for `GET /ledger` to compare with.
    pub database_url: Option<SecretString>,
    /// How late a hanging answer of the fulfilment system comes; `None` for a system that never fails.
    pub hang: Option<Duration>,
}

/// A simulated world: the store, its sender and the fulfilment system.
pub struct Sandbox {
    dice: Dice,
    store: Arc<Store>,
    sender: Arc<Sender>,
    api: Arc<Api>,
    fulfillment: Arc<Fulfillment>,
    database_url: Option<SecretString>,
    ask: mpsc::Sender<u64>,
    asked: std::sync::Mutex<Option<mpsc::Receiver<u64>>>,
}

/// What the ledger compares Ordem's views with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// The store's truth.
    pub truth: Truth,
    /// What the fulfilment system did.
    pub done: Vec<DoneEffect>,
    /// Its counts.
    pub fulfillment: book::Counts,
    /// The sender's counts.
    pub sender: Summary,
    /// Events whose webhook was never sent.
    pub never_sent: u64,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Orders placed.
    pub orders: u64,
    /// Orders whose life is over.
    pub complete: u64,
    /// Distinct events accepted by the receiver.
    pub accepted: u64,
    /// Webhooks that wait to be sent, or to be sent again.
    pub unsent: u64,
    /// Effects done.
    pub effects: u64,
}

impl Sandbox {
    /// A world without orders.
    ///
    /// # Errors
    /// When the fulfilment secret is unreadable or the HTTP client cannot be built.
    pub fn new(settings: Settings) -> anyhow::Result<Arc<Self>> {
        let dice = Dice::new(settings.seed);
        let names = Names::new(settings.prefix);
        let store = Arc::new(Store::new(dice, names, settings.lost));
        let sender = Sender::new(settings.sender, store.clone(), dice);
        let sender = Arc::new(sender.context("cannot build the HTTP client")?);
        let secret = Secret::parse(&settings.fulfillment_secret)
            .context("FULFILLMENT_SECRET is not base64 after whsec_")?;
        let faults = settings.hang.map_or_else(Faults::none, |hang| Faults::new(dice, hang));
        let (store_told, sender_told) = (store.clone(), sender.clone());
        let on_release = Box::new(move |order: &str| {
            let webhooks = store_told.released(order, clock::now());
            sender_told.enqueue(webhooks, REACTION_SPREAD, true);
        });
        let (ask, asked) = mpsc::channel(RUNS_WAITING_MAX);
        Ok(Arc::new(Self {
            dice,
            api: Arc::new(Api::new(store.clone(), settings.api_token, dice)),
            fulfillment: Arc::new(Fulfillment::new(secret, faults, store.names().order_prefix(), on_release)),
            store,
            sender,
            database_url: settings.database_url,
            ask,
            asked: std::sync::Mutex::new(Some(asked)),
        }))
    }

    /// Asks for the lives of `orders` more orders; `false` when too many runs wait or the number is out of bounds.
    pub fn begin(&self, orders: u64) -> bool {
        (1..=ORDERS_MAX).contains(&orders) && self.ask.try_send(orders).is_ok()
    }

    /// Serves and sends until `stop`. Can be called once.
    ///
    /// # Errors
    /// When it was called before, or the listener fails.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let asked = self.asked.lock().ok().and_then(|mut asked| asked.take());
        let asked = asked.context("this sandbox is already served")?;
        let mut tasks = JoinSet::new();
        tasks.spawn(self.sender.clone().run(stop.clone()));
        let (store, sender) = (self.store.clone(), self.sender.clone());
        tasks.spawn(run::place(store, sender, self.dice, asked, stop.clone()));
        let served = axum::serve(listener, routes::router(self.clone()));
        // No graceful end: what still hangs here hangs on purpose.
        let ended = stop.run_until_cancelled(served.into_future()).await;
        stop.cancel();
        tasks.join_all().await;
        ended.unwrap_or(Ok(())).context("the listener failed")
    }

    /// The id of the order with this number.
    pub fn order_id(&self, number: u64) -> String {
        self.store.names().order(number)
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        let store = self.store.counts();
        Progress {
            orders: store.orders,
            complete: store.complete,
            accepted: store.accepted,
            unsent: self.sender.outbox().len() as u64,
            effects: self.fulfillment.book().counts().done,
        }
    }

    /// What the ledger needs.
    pub fn evidence(&self) -> Evidence {
        Evidence {
            truth: self.store.truth(),
            done: self.fulfillment.book().done(),
            fulfillment: self.fulfillment.book().counts(),
            sender: self.sender.stats().summary(),
            never_sent: self.store.counts().never_sent,
        }
    }
}
