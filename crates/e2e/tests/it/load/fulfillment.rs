//! The fulfilment system: checks who calls by the text of the Standard Webhooks specification, does the work of each
//! idempotency key once, and has bad moments.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Clock;
use hmac::{Hmac, KeyInit, Mac};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::Value;
use service::SystemClock;
use sha2::Sha256;

use super::http::{self, Reply, Request};

const KEY: &[u8] = b"segredo da separacao";

/// How often it has which bad moment, of all calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    pub(crate) error: f64,
    /// The connection breaks before the work is done.
    pub(crate) reset: f64,
    /// The connection breaks although the work is done.
    pub(crate) reset_after: f64,
    /// The answer comes too late for the caller.
    pub(crate) late: f64,
    /// Each answer takes this long.
    pub(crate) pace: Duration,
}

impl Manners {
    pub(crate) const GOOD: Self =
        Self { error: 0.0, reset: 0.0, reset_after: 0.0, late: 0.0, pace: Duration::from_millis(5) };
    pub(crate) const BAD: Self =
        Self { error: 0.08, reset: 0.03, reset_after: 0.03, late: 0.01, pace: Duration::from_millis(2) };
}

/// What is known of the calls.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// Calls that were not in order: bad signatures, keys that do not agree.
    pub(crate) bad: Vec<String>,
    /// Calls by key.
    pub(crate) calls: HashMap<String, usize>,
    /// What each key's work was: order and effect.
    pub(crate) done: HashMap<String, (String, String)>,
    /// The effects of each order, in the order they were done.
    pub(crate) orders: BTreeMap<String, Vec<String>>,
}

#[derive(Clone)]
pub(crate) struct Fulfillment {
    book: Arc<Mutex<Book>>,
    port: u16,
}

impl Fulfillment {
    pub(crate) async fn start(seed: u64, manners: Manners) -> Self {
        let book = Arc::<Mutex<Book>>::default();
        let dice = Mutex::new(StdRng::seed_from_u64(seed));
        let written = book.clone();
        let port = http::serve(move |request| {
            let fate: f64 = dice.lock().unwrap().random();
            answer(&mut written.lock().unwrap(), &request, manners, fate)
        })
        .await;
        Self { book, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/effects", self.port)
    }

    pub(crate) fn secret() -> String {
        format!("whsec_{}", STANDARD.encode(KEY))
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&Book) -> T) -> T {
        read(&self.book.lock().unwrap())
    }
}

fn answer(book: &mut Book, request: &Request, manners: Manners, fate: f64) -> Reply {
    let (key, message) = match verified(request) {
        Ok(verified) => verified,
        Err(reason) => {
            book.bad.push(reason);
            return Reply::status(401);
        }
    };
    *book.calls.entry(key.clone()).or_default() += 1;
    let mut edge = manners.error;
    if fate < edge {
        return Reply::status(500);
    }
    edge += manners.reset;
    if fate < edge {
        return Reply::Reset;
    }
    book.work(key, &message);
    edge += manners.reset_after;
    if fate < edge {
        return Reply::Reset;
    }
    let is_late = fate < edge + manners.late;
    let after = if is_late { Duration::from_millis(1500) } else { manners.pace };
    Reply::Answer { status: 200, body: "{}".to_owned(), after }
}

impl Book {
    fn work(&mut self, key: String, message: &Value) {
        let text = |name: &str| message["data"][name].as_str().unwrap_or_default().to_owned();
        let work = (text("id"), text("effect"));
        if message["type"] != format!("order.{}", work.1) {
            self.bad.push(format!("type {} of effect {}", message["type"], work.1));
        }
        match self.done.get(&key) {
            Some(before) if *before == work => {}
            Some(before) => self.bad.push(format!("key {key} was {before:?} and is now {work:?}")),
            None => {
                self.orders.entry(work.0.clone()).or_default().push(work.1.clone());
                self.done.insert(key, work);
            }
        }
    }
}

/// The key and the message of a call that is signed as it should be.
fn verified(request: &Request) -> Result<(String, Value), String> {
    let header = |name: &str| request.headers.get(name).cloned().ok_or_else(|| format!("no {name}"));
    let (id, seconds, signatures) =
        (header("webhook-id")?, header("webhook-timestamp")?, header("webhook-signature")?);
    if header("idempotency-key")? != id {
        return Err("idempotency-key differs from webhook-id".to_owned());
    }
    let age = SystemClock.now().as_second() - seconds.parse::<i64>().map_err(|error| error.to_string())?;
    if age.abs() > 300 {
        return Err(format!("signed {age} s ago"));
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(KEY).map_err(|error| error.to_string())?;
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(&request.body);
    let wanted = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    if !signatures.split(' ').any(|signature| signature == wanted) {
        return Err(format!("signature {signatures} of {id}"));
    }
    let message = serde_json::from_slice(&request.body).map_err(|error| error.to_string())?;
    Ok((id, message))
}
