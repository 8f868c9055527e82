//! Makes a lease longer while its call is under way.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Result;

/// Lets this lease end at `lease_until`. Returns whether it is still ours; one that is lost stays lost.
///
/// # Errors
/// When the database refuses or is away.
pub async fn renew(
    client: &impl GenericClient,
    effect_id: Uuid,
    lease_token: Uuid,
    lease_until: Timestamp,
) -> Result<bool> {
    let statement = client.prepare_cached(include_str!("renew.sql")).await?;
    Ok(client.query_one(&statement, &[&effect_id, &lease_token, &lease_until]).await?.get(0))
}
