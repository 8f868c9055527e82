//! The simulated store's webhook sender: it does what real ones do.
//!
//! Events go out twice, out of order and in bursts; what is not answered with 2xx is sent again, later and
//! later, a bounded number of times.

pub mod outbox;
mod pace;
pub mod stats;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Client, Url, header};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use tokio::{sync::Semaphore, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    dice::Dice,
    sender::{
        outbox::{Delivery, Outbox},
        pace::Pace,
        stats::Stats,
    },
    store::{Store, Webhook},
};

/// The header that carries the signature of the `loja` provider.
pub const SIGNATURE_HEADER: &str = "x-loja-signature";

/// After this many tries the sender gives up on a webhook.
const ATTEMPTS_MAX: u32 = 60;

/// How long an answer may take unless the settings say otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// No new orders are placed while this many webhooks wait: it bounds the memory and keeps the disorder local.
const BACKLOG_MAX: usize = 1_500;

/// With a rate, no more wait than are sent in this time: a store that is late with all its webhooks is another story.
const BACKLOG_S: f64 = 0.25;

const BACKOFF_BASE: Duration = Duration::from_millis(100);
const BACKOFF_CAP: Duration = Duration::from_secs(2);

/// How webhooks are sent.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where they go.
    pub receiver: Url,
    /// What signs them.
    pub secret: SecretString,
    /// Requests in flight at once.
    pub concurrency: usize,
    /// Requests a second outside bursts; 0 is as fast as answers come.
    pub rate: f64,
    /// The share of webhooks that are sent twice.
    pub duplicates: f64,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// Reads the receiver's address; one without a path gets that of the `loja` source.
///
/// # Errors
/// When it is no URL.
pub fn receiver_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{error}; expected http://HOST/webhooks/SOURCE"));
    url.map(|mut url| {
        if url.path() == "/" {
            url.set_path("/webhooks/loja");
        }
        url
    })
}

/// Sends what is due.
#[derive(Debug)]
pub struct Sender {
    settings: Settings,
    client: Client,
    store: Arc<Store>,
    dice: Dice,
    outbox: Outbox,
    stats: Stats,
}

impl Sender {
    /// A sender of one store's webhooks.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(settings: Settings, store: Arc<Store>, dice: Dice) -> reqwest::Result<Self> {
        let client = Client::builder()
            .no_proxy()
            .timeout(settings.timeout)
            .pool_max_idle_per_host(settings.concurrency)
            .build()?;
        Ok(Self { settings, client, store, dice, outbox: Outbox::default(), stats: Stats::default() })
    }

    /// What waits to be sent.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// What came of it.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// How many webhooks may wait before new orders have to.
    pub fn backlog_max(&self) -> usize {
        if self.settings.rate > 0.0 {
            ((self.settings.rate * BACKLOG_S) as usize).clamp(1, BACKLOG_MAX)
        } else {
            BACKLOG_MAX
        }
    }

    /// Makes webhooks due within `spread`, in an order of the seed's choosing, some of them twice.
    pub fn enqueue(&self, webhooks: Vec<Webhook>, spread: Duration, paced: bool) {
        let now = Instant::now();
        for webhook in webhooks {
            let about = [webhook.order, webhook.sequence as u64];
            let signature = sign(&self.settings.secret, &webhook.body);
            let mut delivery = Delivery { webhook, signature, attempt: 1, copy: 0, paced };
            if self.dice.chance(self.settings.duplicates, "duplicate", &about) {
                self.stats.duplicate();
                delivery.copy = 1;
                self.put(delivery.clone(), now, spread * 2);
                delivery.copy = 0;
            }
            self.put(delivery, now, spread);
        }
    }

    /// Sends what becomes due until `stop`, then lets requests in flight end.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let permits = Arc::new(Semaphore::new(self.settings.concurrency.max(1)));
        let mut sending = JoinSet::new();
        let mut pace = Pace::new(self.settings.rate);
        loop {
            while sending.try_join_next().is_some() {}
            let next = async {
                let permit = permits.clone().acquire_owned().await.ok()?;
                let delivery = self.outbox.next().await;
                pace.wait(delivery.paced).await;
                Some((permit, delivery))
            };
            let Some((permit, delivery)) = (tokio::select! {
                () = stop.cancelled() => None,
                next = next => next,
            }) else {
                break;
            };
            let sender = self.clone();
            sending.spawn(async move {
                sender.send(delivery).await;
                drop(permit);
            });
        }
        while sending.join_next().await.is_some() {}
    }

    async fn send(&self, mut delivery: Delivery) {
        let started = Instant::now();
        let again = match self.post(&delivery).await {
            Ok(Answer { status, .. }) if (200..300).contains(&status) => {
                self.stats.accepted(status, started.elapsed());
                let Webhook { order, sequence, .. } = delivery.webhook;
                self.store.accepted(order, sequence);
                None
            }
            Ok(Answer { status, retry_after }) => {
                self.stats.refused(status.to_string());
                Some(retry_after.unwrap_or_default())
            }
            Err(error) => {
                self.stats.refused(kind_of(&error).to_owned());
                Some(Duration::ZERO)
            }
        };
        if let Some(at_least) = again {
            if delivery.attempt >= ATTEMPTS_MAX {
                self.stats.gave_up();
            } else {
                let pause = self.backoff(&delivery).max(at_least.min(BACKOFF_CAP));
                delivery.attempt += 1;
                self.outbox.put(Instant::now() + pause, 0, delivery);
            }
        }
        // Only now: a delivery that comes again was never out of sight.
        self.outbox.done();
    }

    async fn post(&self, delivery: &Delivery) -> reqwest::Result<Answer> {
        let response = self
            .client
            .post(self.settings.receiver.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(SIGNATURE_HEADER, &delivery.signature)
            .body(delivery.webhook.body.clone())
            .send()
            .await?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get(header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        // The connection is reused only when the body was read.
        response.bytes().await?;
        Ok(Answer { status, retry_after })
    }

    /// Doubles with each try up to the cap; a quarter of it is jitter.
    fn backoff(&self, delivery: &Delivery) -> Duration {
        let doubled = BACKOFF_BASE.saturating_mul(1 << delivery.attempt.min(10));
        let capped = doubled.min(BACKOFF_CAP);
        let quarter_ms = capped.as_millis() as u64 / 4;
        let jitter_ms = self.dice.below(quarter_ms, "backoff", &delivery.about());
        capped - Duration::from_millis(jitter_ms)
    }

    fn put(&self, delivery: Delivery, now: Instant, spread: Duration) {
        let order = self.dice.roll("shuffle", &delivery.about());
        let spread_us = spread.as_micros() as u64;
        let delay_us = self.dice.below(spread_us, "delay", &delivery.about());
        self.outbox.put(now + Duration::from_micros(delay_us), order, delivery);
    }
}

struct Answer {
    status: u16,
    retry_after: Option<Duration>,
}

/// The lower-case hex HMAC-SHA256 of the raw body.
pub fn sign(secret: &SecretString, body: &[u8]) -> String {
    Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .map(|mac| hex::encode(mac.chain_update(body).finalize().into_bytes()))
        // HMAC takes a key of any length.
        .unwrap_or_default()
}

fn kind_of(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "timeout"
    } else if error.is_connect() {
        "not connected"
    } else {
        "connection broken"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_without_a_path_gets_the_path_of_loja() {
        let path = |text| receiver_url(text).map(|url| url.path().to_owned());
        assert_eq!(path("http://receiver:8080").as_deref(), Ok("/webhooks/loja"));
        assert_eq!(path("http://receiver:8080/in/x").as_deref(), Ok("/in/x"));
        assert!(path("receiver").is_err());
    }

    #[test]
    fn the_signature_is_hex_hmac_sha256_of_the_body() {
        let secret = SecretString::from("key");
        assert_eq!(
            sign(&secret, b"The quick brown fox jumps over the lazy dog"),
            "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
        );
    }
}
