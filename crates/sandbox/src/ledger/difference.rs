//! The ways in which Ordem and the world around it can disagree.

use std::fmt;

use serde::Serialize;

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "difference", rename_all = "snake_case")]
pub enum Difference {
    /// The store has an order that Ordem does not know.
    OrderMissing {
        /// The order.
        order: String,
    },
    /// Ordem has an order that the store does not know.
    OrderUnknown {
        /// The order.
        order: String,
    },
    /// A column differs.
    OrderDiffers {
        /// The order.
        order: String,
        /// The column.
        column: &'static str,
        /// What the store has.
        store: String,
        /// What Ordem has.
        ordem: String,
    },
    /// An event was answered with 2xx and is not in the inbox.
    EventLost {
        /// The event.
        event: String,
    },
    /// An event stands in the inbox more than once.
    EventTwice {
        /// The event.
        event: String,
    },
    /// An event has no outcome, or one that no event of this store deserves.
    EventUnsettled {
        /// The event.
        event: String,
        /// The outcome, or `pending`.
        outcome: String,
    },
    /// A demanded effect did not happen.
    EffectMissing {
        /// The order.
        order: String,
        /// The effect.
        effect: String,
        /// Where it is wanting.
        reason: String,
    },
    /// An effect happened more than once.
    EffectDoubled {
        /// The order.
        order: String,
        /// The effect.
        effect: String,
    },
    /// An effect happened that no rule asks for.
    EffectUnexpected {
        /// The order.
        order: String,
        /// The effect.
        effect: String,
    },
    /// The fulfilment system was told to stop what it had not begun.
    OutOfOrder {
        /// How often.
        times: u64,
    },
    /// Calls to the fulfilment system were refused.
    CallsRefused {
        /// Why.
        reason: String,
        /// How often.
        times: u64,
    },
    /// The sender gave up on webhooks.
    GaveUp {
        /// How many.
        webhooks: u64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrderMissing { order } => write!(f, "{order}: not in ordem.orders"),
            Self::OrderUnknown { order } => write!(f, "{order}: not an order of the store"),
            Self::OrderDiffers { order, column, store, ordem } => {
                write!(f, "{order}: {column} is {ordem}, the store has {store}")
            }
            Self::EventLost { event } => write!(f, "{event}: accepted, not in ordem.events"),
            Self::EventTwice { event } => write!(f, "{event}: more than once in ordem.events"),
            Self::EventUnsettled { event, outcome } => write!(f, "{event}: outcome {outcome}"),
            Self::EffectMissing { order, effect, reason } => write!(f, "{order}: {effect} missing, {reason}"),
            Self::EffectDoubled { order, effect } => write!(f, "{order}: {effect} doubled"),
            Self::EffectUnexpected { order, effect } => {
                write!(f, "{order}: {effect} that no rule asks for")
            }
            Self::OutOfOrder { times } => {
                write!(f, "halt_picking arrived before release_picking {times} times")
            }
            Self::CallsRefused { reason, times } => {
                write!(f, "fulfilment refused {times} calls: {reason}")
            }
            Self::GaveUp { webhooks } => write!(f, "the sender gave up on {webhooks} webhooks"),
        }
    }
}
