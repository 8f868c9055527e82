//! `ordem send`: one event to a receiver, signed as its provider would.

mod answer;
mod inject;
mod post;
mod request;

use std::path::Path;

use answer::{Posted, Sent};
use post::Poster;
use request::Request;

use super::signing::{Content, Signer, configured, profile};
use crate::failure::BadInput;

/// Sign an event as a source's provider would, post it to a running receiver, and print the answer
///
/// What is sent is an event like any other: a real receiver stores and applies it. A signature that belongs into the
/// query or the JSON body is put there. Exit code 0 when every answer says that the event is stored, 1 otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The source: its profile, secret, address and constants come from the configuration.
    #[arg(long, value_name = "NAME")]
    source: String,
    #[command(flatten)]
    content: Content,
    /// The message's id, where the scheme signs one; a new one unless set.
    #[arg(long)]
    id: Option<String>,
    /// The receiver: scheme, host and port, and a path where /webhooks/SOURCE is not the one; receiver.listen unless set.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Post it so many times, one after the other: what the provider repeats must change nothing.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,
    /// Sign nothing: post body and headers as they are, such as those that the provider once sent.
    #[arg(long)]
    as_is: bool,
}

impl Args {
    /// Signs and posts.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Sent> {
        let configured = configured(dir)?;
        let url = request::url(&self.source, self.url.as_deref(), configured.settings.receiver.listen)?;
        let profile = profile(&self.source, &configured)?;
        let signer = Signer::of_source(&self.source, &configured)?;
        let (body, headers) = (self.content.body()?, self.content.headers()?);
        let id = self.id.clone().unwrap_or_else(|| format!("msg_{}", uuid::Uuid::now_v7().simple()));
        let poster = Poster::new()?;
        let mut sent = Sent::new(&self.source, &url, profile.answers());
        for _ in 0..self.count {
            let mut request = Request::new(url.clone(), &self.content.query, body.clone(), headers.clone());
            if !self.as_is && !profile.scheme().is_unsigned() {
                request.sign(&signer, &profile, &id, self.content.now()).map_err(with_way_out)?;
            }
            let Posted { ended, took } = poster.post(request).await?;
            if !sent.add(ended, took) {
                break;
            }
        }
        Ok(sent)
    }
}

/// What only the provider can sign may still be sent again.
fn with_way_out(error: BadInput) -> BadInput {
    BadInput::new(format!("{error} (--as-is posts body and headers that the provider signed)"))
}
