//! The receivers of cases: processes, or one in this process where the case sets the clock.

use std::{path::Path, time::Duration};

use service::{Context, Health, Shutdown};
use testkit::{Daemon, free_port};

/// A receiver and its port.
pub(crate) struct Receiver {
    pub(crate) port: u16,
    kind: Kind,
}

enum Kind {
    Process(Daemon),
    Here(Shutdown),
}

impl Receiver {
    /// As a process of its own.
    pub(crate) async fn process(url: &str, config: &Path, environment: &[(&str, &str)]) -> Self {
        let port = free_port();
        let mut all = vec![
            ("ORDEM_TEST_CONFIG", config.display().to_string()),
            ("ORDEM__RECEIVER__LISTEN", format!("127.0.0.1:{port}")),
        ];
        all.extend(environment.iter().map(|(key, value)| (*key, (*value).to_owned())));
        let mut daemon = Daemon::start("receiver", url, &all);
        daemon.ready().await;
        Self { port, kind: Kind::Process(daemon) }
    }

    /// In this process, with the clock of its context.
    pub(crate) async fn here(context: Context) -> Self {
        let port = context.configured.settings.receiver.listen.port();
        let (health, shutdown) = (context.health.clone(), context.shutdown.clone());
        // The server wants to be awaited where it was made, so it gets a thread.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            runtime.unwrap().block_on(receiver::run(context)).unwrap();
        });
        ready(&health).await;
        Self { port, kind: Kind::Here(shutdown) }
    }

    /// The process that it is.
    pub(crate) fn pid(&self) -> Option<u32> {
        match &self.kind {
            Kind::Process(daemon) => Some(daemon.pid()),
            Kind::Here(_) => None,
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Kind::Here(shutdown) = &self.kind {
            shutdown.trigger();
        }
    }
}

async fn ready(health: &Health) {
    let waiting = async {
        while health.ready().is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("the receiver starts");
}
