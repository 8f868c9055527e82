//! How an event came into the inbox.

/// Where a stored event came from; it decides by which rules it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The provider sent it.
    Webhook,
    /// The reconciler found it in the provider's API.
    Reconcile,
    /// An operator's first load or repair read it from the provider's API.
    Backfill,
}

impl Origin {
    /// The name in tables and views.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Reconcile => "reconcile",
            Self::Backfill => "backfill",
        }
    }

    /// The reverse of [`Origin::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Webhook, Self::Reconcile, Self::Backfill].into_iter().find(|origin| origin.as_str() == text)
    }
}
