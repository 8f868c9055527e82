//! `ordem effects retry`, also `ordem requeue`: effects that were given up go back into the queue.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use db::{
    Client,
    operations::{self, EffectState, SelectedState},
    outbox::PAIR_REASONS,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::choice::{Choice, Chooser, judge};
use crate::{
    command::moved::{self, Batch, Batches, How, Moved},
    session::Session,
};

/// Put dead or discarded effects back into the queue, in their old place and with attempts from 0
///
/// An effect is left alone when its destination already has a later one of the same resource, or is getting it in
/// this moment (a picking must not be released after it was halted), unless --out-of-order says that this is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    choice: Choice,
    /// What is looked for; `discarded` needs --since or --resource as well.
    #[arg(long, value_name = "STATE", default_value = "dead", conflicts_with = "effect",
        value_parser = PossibleValuesParser::new(["dead", "discarded"]))]
    state: String,
    /// Also those whose destination already has a later effect of the same resource.
    #[arg(long)]
    out_of_order: bool,
    #[command(flatten)]
    how: How,
}

struct Retry {
    client: Client,
    now: Timestamp,
    chooser: Chooser,
    out_of_order: bool,
}

impl Args {
    /// Retries.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Moved<EffectState>> {
        let session = Session::prepare(dir)?;
        let state = if self.state == "discarded" { SelectedState::Discarded } else { SelectedState::Dead };
        let chooser = self.choice.chooser(state, session.now)?;
        let client = session.client().await?;
        let mut retry = Retry { client, now: session.now, chooser, out_of_order: self.out_of_order };
        moved::run(&mut retry, self.how).await
    }
}

impl Batches for Retry {
    type Item = EffectState;
    const VERB: &'static str = "requeued";

    async fn find(&mut self, after: Uuid, limit: usize) -> anyhow::Result<Vec<Uuid>> {
        self.chooser.find(&self.client, after, limit).await
    }

    async fn judge(&mut self, ids: &[Uuid]) -> anyhow::Result<Batch<EffectState>> {
        judge(&self.client, ids, self.now, |state| refusal(state, self.out_of_order)).await
    }

    async fn apply(&mut self, chosen: &[EffectState]) -> db::Result<Vec<Uuid>> {
        operations::requeue(&mut self.client, self.now, chosen, self.out_of_order).await
    }
}

fn refusal(state: &EffectState, out_of_order: bool) -> Option<String> {
    if !matches!(state.state.as_str(), "dead" | "discarded") {
        return Some(format!("is {}", state.state));
    }
    let destination = &state.destination;
    if out_of_order {
        None
    } else if is_half_of_a_pair(state) {
        Some("fell away as a pair with the effect that undoes it: one half alone is wrong; --out-of-order if that is meant".to_owned())
    } else if !state.delivered_later.is_empty() {
        let later = state.delivered_later.join(", ");
        Some(format!(
            "{destination} already has a later effect of it ({later}); --out-of-order if that is meant"
        ))
    } else if !state.in_flight_later.is_empty() {
        let later = state.in_flight_later.join(", ");
        Some(format!(
            "{destination} is getting a later effect of it in this moment ({later}): look at it again then"
        ))
    } else {
        None
    }
}

/// Whether it was discarded together with the effect that undoes it, or that it undoes.
fn is_half_of_a_pair(state: &EffectState) -> bool {
    let reason = state.last_error.as_deref().unwrap_or_default();
    state.state == "discarded" && PAIR_REASONS.iter().any(|part| reason.contains(part))
}

#[cfg(test)]
mod tests {
    use domain::ResourceId;

    use super::*;

    #[test]
    fn one_half_of_a_canceled_pair_is_left_alone_unless_it_is_meant() {
        let mut state = EffectState {
            effect_id: Uuid::nil(),
            resource: ResourceId { source: "loja".into(), kind: "order".into(), id: "ped_1".into() },
            effect: "release_picking".to_owned(),
            destination: "fulfillment".to_owned(),
            state: "discarded".to_owned(),
            delivered_later: Vec::new(),
            in_flight_later: Vec::new(),
            is_in_flight: false,
            last_error: Some("halt_picking came before it was sent: neither is sent".to_owned()),
        };
        assert!(refusal(&state, false).unwrap().contains("as a pair"));
        assert_eq!(refusal(&state, true), None);
        state.last_error = Some("done by hand".to_owned());
        assert_eq!(refusal(&state, false), None);
    }
}
