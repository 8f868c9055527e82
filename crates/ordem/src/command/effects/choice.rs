//! Which effects are meant: named, or found by what they have in common.

use db::{
    Client,
    ids::first_id,
    operations::{self, EffectSelection, EffectState, SelectedState},
};
use domain::ResourceId;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    command::moved::{Batch, Row, Skipped, after, distinct, missing},
    failure::BadInput,
    since::{self, Since},
};

/// Which effects: these ids, or all that have in common what is given
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Choice {
    /// These effects.
    #[arg(long, visible_alias = "id", value_name = "ID", num_args = 1..,
        conflicts_with_all = ["resource", "destination", "name", "group", "since", "until"])]
    effect: Vec<Uuid>,
    /// Those of this resource, such as `loja/order/ped_1`.
    #[arg(long, value_name = "SOURCE/KIND/ID", value_parser = resource)]
    resource: Option<ResourceId>,
    /// Those to this destination.
    #[arg(long, value_name = "DESTINATION")]
    destination: Option<String>,
    /// Those of this name in their flow, such as `release_picking`.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Those that failed for one cause: a group of `ordem effects groups`.
    #[arg(long, value_name = "GROUP", value_parser = group)]
    group: Option<String>,
    /// Those written since: how long ago (30m, 24h, 7d) or an instant.
    #[arg(long, value_name = "WHEN", value_parser = since::since)]
    since: Option<Since>,
    /// Those written before: how long ago or an instant.
    #[arg(long, value_name = "WHEN", value_parser = since::since)]
    until: Option<Since>,
}

fn resource(text: &str) -> Result<ResourceId, String> {
    let mut parts = text.splitn(3, '/').map(str::to_owned).filter(|part| !part.is_empty());
    match (parts.next(), parts.next(), parts.next()) {
        (Some(source), Some(kind), Some(id)) => Ok(ResourceId { source, kind, id }),
        _ => Err(format!("\"{text}\" is no resource: write it like loja/order/ped_1")),
    }
}

fn group(text: &str) -> Result<String, String> {
    let is_group = text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_group
        .then(|| text.to_owned())
        .ok_or_else(|| format!("\"{text}\" is no failure group: `ordem effects groups` lists them"))
}

/// Finds the effects of a choice, piece by piece.
pub(super) struct Chooser {
    named: Option<Vec<Uuid>>,
    selection: EffectSelection,
    /// Above this id.
    first: Uuid,
}

impl Choice {
    /// # Errors
    /// When it would go through all that was ever discarded.
    pub(super) fn chooser(&self, state: SelectedState, now: Timestamp) -> anyhow::Result<Chooser> {
        let named = (!self.effect.is_empty()).then(|| distinct(&self.effect));
        let is_bounded = named.is_some() || self.resource.is_some() || self.since.is_some();
        if state == SelectedState::Discarded && !is_bounded {
            return Err(BadInput::new(
                "--state discarded needs --since or --resource: there may be very many",
            )
            .into());
        }
        Ok(Chooser {
            named,
            selection: EffectSelection {
                state,
                resource: self.resource.clone(),
                destination: self.destination.clone(),
                effect: self.name.clone(),
                group: self.group.clone(),
                below: self.until.map_or_else(Uuid::max, |until| first_id(until.instant(now))),
            },
            first: self.since.map_or_else(Uuid::nil, |since| since.first_id(now)),
        })
    }
}

impl Chooser {
    /// The next ids.
    pub(super) async fn find(&self, client: &Client, last: Uuid, limit: usize) -> anyhow::Result<Vec<Uuid>> {
        if let Some(named) = &self.named {
            return Ok(after(named, last, limit));
        }
        let above = self.first.max(last);
        Ok(operations::select_effects(client, &self.selection, above, i64::try_from(limit)?).await?)
    }
}

/// Parts these effects into those that may be moved and those with a reason why not.
pub(super) async fn judge(
    client: &Client,
    ids: &[Uuid],
    now: Timestamp,
    refusal: impl Fn(&EffectState) -> Option<String>,
) -> anyhow::Result<Batch<EffectState>> {
    let states = operations::effects_by_id(client, ids, now).await?;
    let mut skipped = missing(ids, states.iter().map(|state| state.effect_id), "effect");
    let mut chosen = Vec::new();
    for state in states {
        match refusal(&state) {
            Some(reason) => skipped.push(Skipped { id: state.effect_id, reason }),
            None => chosen.push(state),
        }
    }
    Ok(Batch { chosen, skipped })
}

impl Row for EffectState {
    const NOUN: &'static str = "effect";
    const HEADINGS: &'static [&'static str] =
        &["effect id", "source", "kind", "resource", "effect", "destination", "was", "last error"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.effect_id.to_string(),
            self.resource.source.clone(),
            self.resource.kind.clone(),
            self.resource.id.clone(),
            self.effect.clone(),
            self.destination.clone(),
            self.state.clone(),
            crate::words::or_dash(self.last_error.as_deref()),
        ]
    }

    fn id(&self) -> Uuid {
        self.effect_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_and_groups_are_understood_and_nothing_else() {
        let slashed = resource("loja/order/a/b").unwrap();
        assert_eq!((slashed.source.as_str(), slashed.id.as_str()), ("loja", "a/b"));
        assert!(resource("loja/order").unwrap_err().contains("loja/order"));
        assert!(resource("loja//x").is_err());
        assert_eq!(group("b9389cd8"), Ok("b9389cd8".to_owned()));
        assert!(group("B9389CD8").is_err() && group("b9389c").is_err());
    }
}
