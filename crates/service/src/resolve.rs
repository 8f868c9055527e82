//! From a name to addresses that may be dialled. Whoever dials just these keeps to what was judged, whatever the name
//! says a moment later.

use std::net::{IpAddr, SocketAddr};

use crate::{AddressGuard, Blocked};

/// Most addresses of one name that are looked at.
const ADDRESSES_MAX: usize = 16;

/// Why a name leads to no address that may be dialled.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// All its addresses are internal and not allowed.
    #[error(transparent)]
    Blocked(#[from] Blocked),
    /// Nobody knows it, or the resolver is away.
    #[error("the name cannot be resolved: {0}")]
    Unresolved(String),
}

impl AddressGuard {
    /// The addresses of a host that may be dialled, at least one. The caller bounds the time.
    ///
    /// # Errors
    /// When the name is unknown, or none of its addresses is allowed.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, ResolveError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found: Vec<SocketAddr> = match bare.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => {
                let found = tokio::net::lookup_host((host, port)).await;
                let found = found.map_err(|error| ResolveError::Unresolved(error.to_string()))?;
                found.take(ADDRESSES_MAX).collect()
            }
        };
        if found.is_empty() {
            return Err(ResolveError::Unresolved("it has no address".to_owned()));
        }
        Ok(self.vetted(found)?)
    }

    /// Those of the addresses that may be called; the first refusal when none may.
    pub(crate) fn vetted(&self, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Blocked> {
        let mut refused = None;
        let mut vetted = found;
        vetted.retain(|address| match self.judge(address.ip()) {
            Ok(()) => true,
            Err(blocked) => {
                refused.get_or_insert(blocked);
                false
            }
        });
        match refused {
            Some(blocked) if vetted.is_empty() => Err(blocked),
            _ => Ok(vetted),
        }
    }
}
