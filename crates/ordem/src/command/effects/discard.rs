//! `ordem effects discard`, also `ordem discard`: takes effects out for good.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use db::{
    Client,
    operations::{self, EffectState, SelectedState},
};
use jiff::Timestamp;
use uuid::Uuid;

use super::choice::{Choice, Chooser, judge};
use crate::{
    command::moved::{self, Batch, Batches, How, Moved},
    failure::BadInput,
    session::Session,
};

/// Take dead or pending effects out for good; what follows them at their destination goes on
///
/// One that is being delivered in this moment is left alone. `ordem effects retry --effect ID` takes a discard back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: Choice,
    /// What is looked for.
    #[arg(long, value_name = "STATE", default_value = "dead", conflicts_with = "effect",
        value_parser = PossibleValuesParser::new(["dead", "pending"]))]
    state: String,
    /// Why: kept with each effect.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    how: How,
}

struct Discard<'a> {
    client: Client,
    now: Timestamp,
    chooser: Chooser,
    reason: &'a str,
}

impl Args {
    /// Discards.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Moved<EffectState>> {
        if self.reason.trim().is_empty() {
            return Err(BadInput::new("--reason is empty: whoever asks later needs it").into());
        }
        let session = Session::prepare(dir)?;
        let state = if self.state == "pending" { SelectedState::Pending } else { SelectedState::Dead };
        let chooser = self.choice.chooser(state, session.now)?;
        let client = session.client().await?;
        let mut discard = Discard { client, now: session.now, chooser, reason: self.reason.trim() };
        moved::run(&mut discard, self.how).await
    }
}

impl Batches for Discard<'_> {
    type Item = EffectState;
    const VERB: &'static str = "discarded";

    async fn find(&mut self, after: Uuid, limit: usize) -> anyhow::Result<Vec<Uuid>> {
        self.chooser.find(&self.client, after, limit).await
    }

    async fn judge(&mut self, ids: &[Uuid]) -> anyhow::Result<Batch<EffectState>> {
        judge(&self.client, ids, self.now, refusal).await
    }

    async fn apply(&mut self, chosen: &[EffectState]) -> db::Result<Vec<Uuid>> {
        operations::discard(&self.client, self.now, chosen, self.reason).await
    }
}

fn refusal(state: &EffectState) -> Option<String> {
    match state.state.as_str() {
        "pending" if state.is_in_flight => Some("is being delivered in this moment: try again".to_owned()),
        "pending" | "dead" => None,
        other => Some(format!("is {other}")),
    }
}
