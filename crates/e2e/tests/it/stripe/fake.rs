//! A public fake of Stripe's API that keeps state and sends signed webhooks: `localstripe`, as its own process.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::{Value, json};
use testkit::{eventually_within, free_port};

use testkit::packages::python_environment;

pub(crate) const SECRET: &str = "whsec_segredo_do_stripe";
pub(crate) const KEY: &str = "sk_test_ordem";

/// The running fake. Dropping it ends it.
pub(crate) struct Fake {
    child: Child,
    client: Client,
    url: String,
}

impl Fake {
    /// Starts it with no data; why not, where it cannot be had.
    pub(crate) async fn start() -> Result<Self, String> {
        let dir = python_environment("stripe-fake", include_str!("requirements.txt"))?;
        let script = dir.join("fake.py");
        fs::write(&script, include_str!("fake.py")).map_err(|error| error.to_string())?;
        let port = free_port();
        let child = Command::new(dir.join("bin/python3"))
            .arg(script)
            .arg(port.to_string())
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut fake = Self { child, client: Client::new(), url: format!("http://127.0.0.1:{port}") };
        let end = Instant::now() + Duration::from_secs(30);
        while fake.client.get(&fake.url).send().await.is_err() {
            assert!(fake.child.try_wait().unwrap().is_none(), "the fake has ended");
            assert!(Instant::now() < end, "the fake does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(fake)
    }

    /// Where its API is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// One call that changes something; the answer, whatever its status.
    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Value {
        let pairs: Vec<String> = form.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.client.post(format!("{}{path}", self.url)).bearer_auth(KEY);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.body(pairs.join("&")).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        loop {
            let request = self.client.get(format!("{}{path}", self.url)).bearer_auth(KEY);
            let answer = request.send().await.unwrap();
            if answer.status() != 429 {
                return answer.json().await.unwrap();
            }
        }
    }

    /// Everything of a kind, as it is now.
    pub(crate) async fn all(&self, path: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all
                .last()
                .map_or(String::new(), |last| format!("&starting_after={}", last["id"].as_str().unwrap()));
            let page = self.get(&format!("{path}?limit=100{after}")).await;
            all.extend(page["data"].as_array().unwrap().iter().cloned());
            if page["has_more"] == false {
                return all;
            }
        }
    }

    /// Registers the receiver twice, so that everything is sent twice; or takes it out, so that nothing is.
    pub(crate) async fn register(&self, target: &str, is_on: bool) {
        for endpoint in ["a", "b"] {
            let body = match is_on {
                true => json!({"url": target, "secret": SECRET}),
                false => json!({"url": target, "secret": SECRET, "events": []}),
            };
            let call = self.client.post(format!("{}/_config/webhooks/{endpoint}", self.url)).json(&body);
            assert!(call.send().await.unwrap().status().is_success());
        }
    }

    /// Waits until every webhook was tried.
    pub(crate) async fn settle(&self) {
        let pending = || self.get("/_config/pending");
        eventually_within(Duration::from_secs(60), "all webhooks are tried", json!(0), pending).await;
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _gone_either_way = self.child.kill();
        let _reaped = self.child.wait();
    }
}
