//! Looks after the subscription at the provider: notices that it is disabled or gone, says so, and switches it on again
//! where that is configured.

use std::time::Duration;

use metrics::gauge;
use profile::{Enable, Subscription, Watch};
use reqwest::Method;
use service::metrics as names;

use crate::{
    Failure,
    backoff::{Backoff, about},
    source::SourceReader,
};

/// Least wait after a look that failed.
const FAILED_MIN: Duration = Duration::from_secs(30);

/// Looks again and again until the stop; returns at once where the profile does not say how.
pub(crate) async fn rounds(reader: &SourceReader) {
    let Some(watch) = reader.profile.watch() else { return };
    let Some(public_url) = &reader.public_url else {
        tracing::warn!(
            source = reader.name,
            "nobody looks after the subscription at the provider: sources.{}.public_url is not set",
            reader.name
        );
        return;
    };
    let shutdown = &reader.parts.shutdown;
    while !shutdown.is_triggered() {
        let pause = match reader.look_with(watch, public_url).await {
            Ok(_) => watch.every,
            Err(failure) => {
                tracing::error!(
                    source = reader.name,
                    error = %failure,
                    "it is not known whether the subscription at the provider is well: {failure}"
                );
                watch.every.max(FAILED_MIN)
            }
        };
        shutdown.sleep(about(pause)).await;
    }
}

/// What one look found, and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// How the subscription was.
    pub subscription: Subscription,
    /// Whether it was switched on again.
    pub enabled: bool,
}

impl SourceReader {
    /// Looks once at the subscription; nothing where the profile does not say how, or the stop came.
    ///
    /// # Errors
    /// When the provider refuses to tell.
    pub async fn look_after(&self) -> Result<Option<Looked>, Failure> {
        match (self.profile.watch(), &self.public_url) {
            (Some(watch), Some(public_url)) => self.look_with(watch, public_url).await,
            _ => Ok(None),
        }
    }

    async fn look_with(&self, watch: &Watch, public_url: &str) -> Result<Option<Looked>, Failure> {
        let path = watch.path(&self.provider.constants);
        let Some(answer) = self.call(Method::GET, &path, None).await? else { return Ok(None) };
        let subscription = watch.read(&answer, public_url)?;
        self.show(&subscription);
        let enabled = match (&subscription, &watch.enable) {
            (Subscription::Disabled { id: Some(id) }, Some(enable)) if self.reenable => {
                self.enable(enable, id).await?
            }
            _ => false,
        };
        if enabled {
            tracing::warn!(source = self.name, "the subscription at the provider is switched on again");
        }
        Ok(Some(Looked { subscription, enabled }))
    }

    async fn enable(&self, enable: &Enable, id: &str) -> Result<bool, Failure> {
        let method = Method::from_bytes(enable.method.as_bytes()).unwrap_or(Method::PUT);
        let path = enable.path_of(id, &self.provider.constants);
        Ok(self.call(method, &path, Some(&enable.body)).await?.is_some())
    }

    /// One call with the patience of any other; nothing when the stop came first.
    async fn call(&self, method: Method, path: &str, body: Option<&str>) -> Result<Option<Vec<u8>>, Failure> {
        let url = self.provider.address(path);
        let mut backoff = Backoff::new(self.settings());
        loop {
            let asked = self.provider.ask(&self.api, method.clone(), &url, body, &self.parts.clock);
            match self.parts.shutdown.unless_triggered(asked).await {
                None => return Ok(None),
                Some(Ok(answer)) => return Ok(Some(answer.body.unwrap_or_default())),
                Some(Err(trouble)) => self.bear(&mut backoff, trouble).await?,
            }
        }
    }

    fn show(&self, subscription: &Subscription) {
        let source = &self.name;
        match subscription {
            Subscription::Healthy => tracing::debug!(source, "the subscription at the provider is well"),
            Subscription::Disabled { .. } => tracing::error!(
                source,
                "the provider has disabled the subscription: it sends no webhooks until it is switched on again"
            ),
            Subscription::Missing => tracing::error!(
                source,
                "the provider has no subscription for sources.{source}.public_url: it sends no webhooks"
            ),
        }
        let well = f64::from(u8::from(*subscription == Subscription::Healthy));
        gauge!(names::SUBSCRIPTION_HEALTHY, "source" => source.clone()).set(well);
    }
}
