//! Whether the provider still sends to us: what its list of subscriptions says.

use std::time::Duration;

use crate::api::{encoded, with_constants};
use crate::cel::Expression;
use crate::compile::{Builder, span};
use crate::document;
use crate::page::{PageError, PageShape};
use crate::place::{Place, text_of};
use crate::shape::Shape;
use crate::spec::{ApiSpec, EnableMethod, WatchSpec};

/// Most subscriptions read.
const SUBSCRIPTIONS_MAX: usize = 1_000;
/// The provider is not asked more often.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// How the subscription is looked after.
#[derive(Clone, Debug)]
pub struct Watch {
    path: String,
    list: PageShape,
    item: Shape,
    ours: Place,
    equals: String,
    healthy: Option<Expression>,
    id: Place,
    /// Wait between two looks.
    pub every: Duration,
    /// How it is switched on again, where that can be.
    pub enable: Option<Enable>,
}

/// The call that switches a subscription on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enable {
    /// `PUT`, `PATCH` or `POST`.
    pub method: &'static str,
    path: String,
    /// The JSON that is sent.
    pub body: String,
}

/// How our subscription is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscription {
    /// It is there and well.
    Healthy,
    /// It is there, and the provider does not send.
    Disabled {
        /// Its id at the provider, where it has one.
        id: Option<String>,
    },
    /// It is not there.
    Missing,
}

impl Watch {
    /// The path of the list.
    pub fn path(&self, constants: &[(String, String)]) -> String {
        with_constants(&self.path, constants, encoded)
    }

    /// What the list says about the subscription that sends to `public_url`. Of several, one that is well is enough.
    ///
    /// # Errors
    /// The answer is not what the profile describes.
    pub fn read(&self, answer: &[u8], public_url: &str) -> Result<Subscription, PageError> {
        let raw = self.list.raw(answer, "a list")?;
        let ours = bare(&self.equals.replace("{url}", public_url)).to_owned();
        let mut found = Subscription::Missing;
        for item in document::elements(raw, SUBSCRIPTIONS_MAX)? {
            let leaves = self.item.extract(item)?;
            let at = |place: &Place| place.leaf(&leaves, &()).ok().and_then(|leaf| text_of(leaf).ok());
            if at(&self.ours).is_none_or(|address| bare(&address) != ours) {
                continue;
            }
            if self.healthy.as_ref().is_none_or(|healthy| healthy.holds(&leaves, &(), "")) {
                return Ok(Subscription::Healthy);
            }
            let id = at(&self.id).filter(|id| !id.is_empty()).map(|id| id.into_owned());
            found = Subscription::Disabled { id };
        }
        Ok(found)
    }
}

/// An address without the slash that some providers add.
fn bare(address: &str) -> &str {
    address.trim().trim_end_matches('/')
}

impl Enable {
    /// The path for one subscription.
    pub fn path_of(&self, id: &str, constants: &[(String, String)]) -> String {
        with_constants(&self.path.replace("{id}", &encoded(id)), constants, encoded)
    }
}

impl Builder<'_> {
    pub(crate) fn watch(&mut self, spec: &WatchSpec, api: Option<&ApiSpec>) -> Option<Watch> {
        if api.is_none() {
            self.faults.add("watch", "needs [api]: it says how the provider is asked");
        }
        let every = span("watch.every", Some(&spec.every), self.faults)?;
        if every < EVERY_MIN {
            self.faults.add("watch.every", "is shorter than a second");
        }
        let mut item = Shape::new();
        let id = spec.id.as_deref().unwrap_or("id");
        let enable = spec.enable.as_ref().map(|enable| {
            if serde_json::from_str::<serde_json::Value>(&enable.body).is_err() {
                self.faults.add("watch.enable.body", "is no JSON");
            }
            Enable {
                method: match enable.method {
                    EnableMethod::Put => "PUT",
                    EnableMethod::Patch => "PATCH",
                    EnableMethod::Post => "POST",
                },
                path: self.path("watch.enable.path", &enable.path),
                body: enable.body.clone(),
            }
        });
        Some(Watch {
            path: self.path("watch.path", &spec.path),
            list: self.page("watch.items", &spec.items),
            ours: self.path_in("watch.match.path", &spec.ours.path, &mut item)?,
            equals: spec.ours.equals.clone(),
            healthy: match &spec.healthy {
                Some(text) => Some(self.expression("watch.healthy", text, &mut item)?),
                None => None,
            },
            id: self.path_in("watch.id", id, &mut item)?,
            item,
            every,
            enable,
        })
    }
}
