//! The four daemons on one database, each of which may be killed and started again.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::Client;
use testkit::{Daemon, SECRET, free_port, sign};

use super::{
    fulfillment::Fulfillment,
    plan::Plan,
    store::{self, Store},
};

pub(crate) const DAEMONS: [&str; 4] = ["receiver", "applier", "publisher", "reconciler"];

pub(crate) struct System {
    database_url: String,
    environment: Vec<(&'static str, String)>,
    daemons: HashMap<&'static str, Daemon>,
    /// Further ones beside the first.
    more: Vec<Daemon>,
    receiver_port: u16,
}

impl System {
    /// Starts all four and waits until they are ready.
    pub(crate) async fn start(database_url: &str, store: &Store, fulfillment: &Fulfillment) -> Self {
        let receiver_port = free_port();
        let environment = vec![
            ("LOJA_WEBHOOK_SECRET", SECRET.to_owned()),
            ("LOJA_API_URL", store.url()),
            ("LOJA_API_TOKEN", store::TOKEN.to_owned()),
            ("FULFILLMENT_URL", fulfillment.url()),
            ("FULFILLMENT_SECRET", Fulfillment::secret()),
            ("ORDEM__RECEIVER__LISTEN", format!("127.0.0.1:{receiver_port}")),
            ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
            ("ORDEM__PUBLISHER__REQUEST_TIMEOUT", "1s".to_owned()),
            ("ORDEM__PUBLISHER__LEASE", "2s".to_owned()),
            ("ORDEM__PUBLISHER__BACKOFF_BASE", "50ms".to_owned()),
            ("ORDEM__PUBLISHER__BACKOFF_CAP", "1s".to_owned()),
            ("ORDEM__PUBLISHER__BREAKER_PAUSE_MAX", "500ms".to_owned()),
            ("ORDEM__PUBLISHER__ATTEMPTS_MAX", "100".to_owned()),
            ("ORDEM__RECONCILER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
            ("ORDEM__RECONCILER__EVERY", "1s".to_owned()),
            ("ORDEM__RECONCILER__LAG", "1s".to_owned()),
            ("ORDEM__APPLIER__BATCH_MAX", "40".to_owned()),
        ];
        let mut system = Self {
            database_url: database_url.to_owned(),
            environment,
            daemons: HashMap::new(),
            more: Vec::new(),
            receiver_port,
        };
        for name in DAEMONS {
            system.launch(name);
        }
        for daemon in system.daemons.values_mut() {
            daemon.ready().await;
        }
        system
    }

    fn launch(&mut self, name: &'static str) {
        let daemon = Daemon::start(name, &self.database_url, &self.environment);
        self.daemons.insert(name, daemon);
    }

    /// One more of a kind; only the receiver has a port of its own.
    pub(crate) async fn add(&mut self, name: &'static str) {
        let mut daemon = Daemon::start(name, &self.database_url, &self.environment);
        daemon.ready().await;
        self.more.push(daemon);
    }

    /// A crash, and a new process in its place.
    pub(crate) fn kill_and_restart(&mut self, name: &'static str) {
        self.daemons.get_mut(name).unwrap().kill();
        self.launch(name);
    }

    /// An orderly stop, and a new process in its place.
    pub(crate) async fn restart(&mut self, name: &'static str) {
        let daemon = self.daemons.get_mut(name).unwrap();
        let status = daemon.stop(Duration::from_secs(20)).await;
        assert!(status.success(), "{name} ended with {status}:\n{}", daemon.log());
        self.launch(name);
    }

    pub(crate) fn logs(&self) -> String {
        let tail = |text: String| {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(15)..].join("\n")
        };
        self.daemons.iter().map(|(name, daemon)| format!("{name}:\n{}\n", tail(daemon.log()))).collect()
    }

    /// Where webhooks go.
    pub(crate) fn target(&self) -> String {
        format!("http://127.0.0.1:{}/webhooks/loja", self.receiver_port)
    }
}

/// How webhooks are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// At the same time.
    pub(crate) senders: usize,
    /// Pause of each sender after each webhook.
    pub(crate) pause: Duration,
}

/// The arrivals: for each order, its facts in the order in which their first delivery was answered 200.
pub(crate) type Arrivals = Vec<Vec<usize>>;

/// A driver that sends the plan; of one order it sends one webhook at a time, each until it is answered 200.
pub(crate) struct Driver {
    plan: Arc<Plan>,
    arrivals: Arc<Vec<Mutex<Vec<usize>>>>,
    next: Arc<AtomicUsize>,
}

impl Driver {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        let arrivals = plan.orders.iter().map(|_| Mutex::default()).collect();
        Self { plan, arrivals: Arc::new(arrivals), next: Arc::default() }
    }

    /// How many webhooks were begun.
    pub(crate) fn begun(&self) -> usize {
        self.next.load(Ordering::SeqCst).min(self.plan.sends.len())
    }

    pub(crate) fn arrivals(&self) -> Arrivals {
        self.arrivals.iter().map(|order| order.lock().unwrap().clone()).collect()
    }

    /// Sends everything. Each order shows in the store once its webhooks are through.
    pub(crate) async fn send(&self, target: &str, store: &Store, pace: Pace) {
        let locks: Arc<Vec<tokio::sync::Mutex<usize>>> = Arc::new(
            (0..self.plan.orders.len())
                .map(|n| {
                    tokio::sync::Mutex::new(self.plan.sends.iter().filter(|(order, _)| *order == n).count())
                })
                .collect(),
        );
        let client = Client::builder().timeout(Duration::from_secs(15)).build().unwrap();
        let mut senders = tokio::task::JoinSet::new();
        for _ in 0..pace.senders {
            let (plan, arrivals, next) = (self.plan.clone(), self.arrivals.clone(), self.next.clone());
            let (locks, client, target, store) =
                (locks.clone(), client.clone(), target.to_owned(), store.clone());
            senders.spawn(async move {
                while let Some((n, at)) = plan.sends.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let mut left = locks[*n].lock().await;
                    let order = &plan.orders[*n];
                    post(&client, &target, &order.body(&order.facts[*at])).await;
                    note(&arrivals[*n], *at);
                    *left -= 1;
                    if *left == 0 {
                        store.show(order);
                    }
                    drop(left);
                    tokio::time::sleep(pace.pause).await;
                }
            });
        }
        while let Some(ended) = senders.join_next().await {
            ended.unwrap();
        }
    }
}

fn note(arrivals: &Mutex<Vec<usize>>, fact: usize) {
    let mut arrived = arrivals.lock().unwrap();
    if !arrived.contains(&fact) {
        arrived.push(fact);
    }
}

/// As a provider does: again and again until it is answered 200.
async fn post(client: &Client, target: &str, body: &[u8]) {
    let end = tokio::time::Instant::now() + Duration::from_secs(60);
    loop {
        let request = client.post(target).header("x-loja-signature", sign(SECRET, body));
        let status = request.body(body.to_vec()).send().await.ok().map(|answer| answer.status().as_u16());
        match status {
            Some(200) => return,
            // Nobody listens, or the database is away.
            None | Some(503) => {}
            Some(other) => panic!("a webhook is answered {other}"),
        }
        assert!(tokio::time::Instant::now() < end, "a webhook is not taken: {status:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
