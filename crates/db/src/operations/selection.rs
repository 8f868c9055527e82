//! Which effects an operator means: found piece by piece, the oldest first.

use deadpool_postgres::GenericClient;
use domain::ResourceId;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::Result;

/// A state that effects are looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectedState {
    /// Given up.
    Dead,
    /// Taken out by an operator.
    Discarded,
    /// In the queue.
    Pending,
}

impl SelectedState {
    /// The word in the view `ordem.effects`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::Discarded => "discarded",
            Self::Pending => "pending",
        }
    }
}

/// Which effects: those that all parts which are given agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectSelection {
    /// How they stand.
    pub state: SelectedState,
    /// Whose they are.
    pub resource: Option<ResourceId>,
    /// Where they go.
    pub destination: Option<String>,
    /// Their name in the flow.
    pub effect: Option<String>,
    /// The group of their failure, as [`crate::operations::failure_groups`] tells it.
    pub group: Option<String>,
    /// Only ids below this one.
    pub below: Uuid,
}

/// At most `limit` of the selected effects with ids above `after`, in the order of their ids: hand in the last one to
/// get the next piece. Ids never come back, so going through all of them ends.
///
/// # Errors
/// When the database refuses or is away.
pub async fn select_effects(
    client: &impl GenericClient,
    selection: &EffectSelection,
    after: Uuid,
    limit: i64,
) -> Result<Vec<Uuid>> {
    let EffectSelection { state, resource, destination, effect, group, below } = selection;
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&after, below, destination, effect, group, &limit];
    let word = state.as_str();
    let statement = if let Some(ResourceId { source, kind, id }) = resource {
        parameters.extend([source as &(dyn ToSql + Sync), kind, id, &word]);
        include_str!("select_of_resource.sql")
    } else {
        match state {
            SelectedState::Dead => include_str!("select_dead.sql"),
            SelectedState::Discarded => include_str!("select_discarded.sql"),
            SelectedState::Pending => include_str!("select_pending.sql"),
        }
    };
    let rows = client.query(statement, &parameters).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
