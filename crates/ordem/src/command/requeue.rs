//! `ordem requeue`: effects that were given up go back into the queue.

use std::path::Path;

use db::{
    Client,
    operations::{self, EffectState},
};
use uuid::Uuid;

use super::moved::{Moved, Row, Skipped, distinct, missing};
use crate::{
    session::Session,
    since::{self, Since},
};

/// Put dead or discarded effects back into the queue, in their old place and with attempts from 0
///
/// An effect is left alone when its destination already has a later one of the same resource (a picking must not
/// be released after it was halted), unless --out-of-order says that this is meant.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["effect", "destination"])))]
pub(crate) struct Args {
    /// These effects, dead or discarded.
    #[arg(long, value_name = "ID", num_args = 1..)]
    effect: Vec<Uuid>,
    /// The dead effects of this destination, the oldest first.
    #[arg(long, value_name = "DESTINATION")]
    destination: Option<String>,
    /// Only those written since: how long ago (30m, 24h, 7d) or an instant.
    #[arg(long, value_name = "WHEN", requires = "destination", value_parser = since::since)]
    since: Option<Since>,
    /// How many at most.
    #[arg(long, value_name = "N", requires = "destination", default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: i64,
    /// Also those whose destination already has a later effect of the same resource.
    #[arg(long)]
    out_of_order: bool,
    /// Show what would be requeued and change nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    /// Requeues.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Moved<EffectState>> {
        let session = Session::prepare(dir)?;
        let (client, now) = (session.client().await?, session.now);
        let (ids, more) = match &self.destination {
            Some(destination) => self.find(&session, &client, destination).await?,
            None => (distinct(&self.effect), false),
        };
        let states = operations::effects_by_id(&client, &ids, now).await?;
        let mut skipped = missing(&ids, states.iter().map(|state| state.effect_id), "effect");
        let mut chosen = Vec::new();
        for state in states {
            match self.refusal(&state) {
                Some(reason) => skipped.push(Skipped { id: state.effect_id, reason }),
                None => chosen.push(state),
            }
        }
        let idle = self.dry_run || chosen.is_empty();
        let done = if idle { 0 } else { operations::requeue(&client, now, &chosen).await? };
        Ok(Moved { dry_run: self.dry_run, chosen, skipped, done, more, verb: "requeued" })
    }

    async fn find(
        &self,
        session: &Session,
        client: &Client,
        destination: &str,
    ) -> anyhow::Result<(Vec<Uuid>, bool)> {
        let from = self.since.map_or(Uuid::nil(), |since| since.first_id(session.now));
        let mut ids = operations::dead_effects(client, destination, from, self.limit + 1).await?;
        let limit = usize::try_from(self.limit)?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        Ok((ids, more))
    }

    fn refusal(&self, state: &EffectState) -> Option<String> {
        if !matches!(state.state.as_str(), "dead" | "discarded") {
            return Some(format!("is {}", state.state));
        }
        let later = state.delivered_later.join(", ");
        (!later.is_empty() && !self.out_of_order).then(|| {
            format!(
                "{} already has a later effect of it ({later}); --out-of-order if that is meant",
                state.destination
            )
        })
    }
}

impl Row for EffectState {
    const NOUN: &'static str = "effect";
    const HEADINGS: &'static [&'static str] =
        &["effect id", "source", "kind", "resource", "effect", "destination", "was"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.effect_id.to_string(),
            self.resource.source.clone(),
            self.resource.kind.clone(),
            self.resource.id.clone(),
            self.effect.clone(),
            self.destination.clone(),
            self.state.clone(),
        ]
    }
}
