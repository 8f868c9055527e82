//! `ordem discard`: takes effects out for good.

use std::path::Path;

use db::operations::{self, EffectState};
use uuid::Uuid;

use super::moved::{Moved, Skipped, distinct, missing};
use crate::{failure::BadInput, session::Session};

/// Take pending or dead effects out for good; what follows them at their destination goes on
///
/// One that is being delivered in this moment is left alone. `ordem requeue --effect ID` takes a discard back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// These effects.
    #[arg(long, value_name = "ID", num_args = 1.., required = true)]
    effect: Vec<Uuid>,
    /// Why: kept with the effect.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Show what would be discarded and change nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    /// Discards.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Moved<EffectState>> {
        if self.reason.trim().is_empty() {
            return Err(BadInput::new("--reason is empty: whoever asks later needs it").into());
        }
        let session = Session::prepare(dir)?;
        let (client, now) = (session.client().await?, session.now);
        let ids = distinct(&self.effect);
        let states = operations::effects_by_id(&client, &ids, now).await?;
        let mut skipped = missing(&ids, states.iter().map(|state| state.effect_id), "effect");
        let mut chosen = Vec::new();
        for state in states {
            match refusal(&state) {
                Some(reason) => skipped.push(Skipped { id: state.effect_id, reason }),
                None => chosen.push(state),
            }
        }
        let idle = self.dry_run || chosen.is_empty();
        let done =
            if idle { 0 } else { operations::discard(&client, now, &chosen, self.reason.trim()).await? };
        Ok(Moved { dry_run: self.dry_run, chosen, skipped, done, more: false, verb: "discarded" })
    }
}

fn refusal(state: &EffectState) -> Option<String> {
    match state.state.as_str() {
        "pending" if state.is_in_flight => Some("is being delivered in this moment: try again".to_owned()),
        "pending" | "dead" => None,
        other => Some(format!("is {other}")),
    }
}
