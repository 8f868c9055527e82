//! One leader per source: an advisory lock that lives as long as its connection.

use sha2::{Digest, Sha256};
use tokio_postgres::{Client, Statement};

use crate::{Options, Result};

/// A session that stands for the lead of one source. Dropping it ends the session, and the lead with it.
///
/// The lock belongs to the session: the connection must reach the server itself, not a pooler that shares
/// sessions between clients.
#[derive(Debug)]
pub struct Candidate {
    client: Client,
    statement: Statement,
    number: i64,
}

impl Candidate {
    /// Opens the session.
    ///
    /// # Errors
    /// When the database is away or refuses.
    pub async fn stand(options: &Options, source: &str) -> Result<Self> {
        let client = crate::connect(options).await?;
        let statement = client.prepare(include_str!("lead.sql")).await?;
        Ok(Self { client, statement, number: number(source) })
    }

    /// Takes the lead unless another session has it. To be asked until it says yes, not after.
    ///
    /// # Errors
    /// When the session is lost.
    pub async fn try_lead(&self) -> Result<bool> {
        let row = self.client.query_one(&self.statement, &[&self.number]).await?;
        Ok(row.get(0))
    }

    /// Asks the server whether the session, and so the lead, is still there.
    ///
    /// # Errors
    /// When the session is lost. One that hangs does not return: bound the wait.
    pub async fn probe(&self) -> Result<()> {
        self.client.simple_query("").await?;
        Ok(())
    }
}

/// The lock's number. It must be the same in every release: the first eight bytes of a SHA-256 over
/// length-prefixed parts.
fn number(source: &str) -> i64 {
    let mut hash = Sha256::new();
    for part in ["reconciler", source] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn the_number_of_a_source_never_changes_between_releases() {
        assert_eq!(number("loja"), -7_551_959_065_562_106_201);
        assert_ne!(number("loja"), number("loja2"));
    }
}
