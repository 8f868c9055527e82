//! The lives an order can have, and which side effects each of them demands.

use serde::{Deserialize, Serialize};

use crate::dice::Dice;

/// A status in the store's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Placed, not paid.
    Open,
    /// Paid.
    Paid,
    /// Handed to the carrier.
    Shipped,
    /// Canceled.
    Canceled,
    /// Money returned.
    Refunded,
}

impl Status {
    /// The word of the store's API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paid => "paid",
            Self::Shipped => "shipped",
            Self::Canceled => "canceled",
            Self::Refunded => "refunded",
        }
    }

    /// The type of the webhook that announces it.
    pub fn event_type(self) -> &'static str {
        match self {
            Self::Open => "order.created",
            Self::Paid => "order.paid",
            Self::Shipped => "order.shipped",
            Self::Canceled => "order.canceled",
            Self::Refunded => "order.refunded",
        }
    }

    /// The word Ordem's `order` flow has for it.
    pub fn in_ordem(self) -> &'static str {
        match self {
            Self::Open => "created",
            other => other.as_str(),
        }
    }
}

/// What happens to one order.
///
/// What a life does *before* the fulfilment system is told to pick goes out at once, in any order.
/// What it does *after* waits for that call, as in a real store: nothing is shipped that nobody picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// Never paid.
    Open,
    /// Canceled before it was paid.
    Abandoned,
    /// The cancellation races the payment.
    CanceledRacing,
    /// The same, and the money goes back at once.
    CanceledRacingRefunded,
    /// Canceled when picking had begun.
    CanceledLate,
    /// The same, and the money goes back at once.
    CanceledLateRefunded,
    /// Refunded without a cancellation when picking had begun.
    Refunded,
    /// Shipped and later taken back.
    Returned,
    /// Shipped: how most orders end.
    Shipped,
}

/// Lives and how many in a thousand orders have them; the rest is shipped.
const SHARES: [(Life, u64); 8] = [
    (Life::Open, 10),
    (Life::Abandoned, 15),
    (Life::CanceledRacing, 40),
    (Life::CanceledRacingRefunded, 20),
    (Life::CanceledLate, 30),
    (Life::CanceledLateRefunded, 20),
    (Life::Refunded, 10),
    (Life::Returned, 10),
];

impl Life {
    /// The life of the order with this number.
    pub fn of(dice: Dice, order: u64) -> Self {
        let mut at = dice.below(1_000, "life", &[order]);
        for (life, share) in SHARES {
            if at < share {
                return life;
            }
            at -= share;
        }
        Self::Shipped
    }

    /// All statuses in order; an event's sequence is its place here, from 1.
    pub fn steps(self) -> &'static [Status] {
        use Status::{Canceled, Open, Paid, Refunded, Shipped};
        match self {
            Self::Open => &[Open],
            Self::Abandoned => &[Open, Canceled],
            Self::CanceledRacing | Self::CanceledLate => &[Open, Paid, Canceled],
            Self::CanceledRacingRefunded | Self::CanceledLateRefunded => &[Open, Paid, Canceled, Refunded],
            Self::Refunded => &[Open, Paid, Refunded],
            Self::Returned => &[Open, Paid, Shipped, Refunded],
            Self::Shipped => &[Open, Paid, Shipped],
        }
    }

    /// How many steps happen without waiting for the fulfilment system.
    pub fn opening(self) -> usize {
        if self.waits_for_release() { 2 } else { self.steps().len() }
    }

    /// Whether the rest of the life begins when the fulfilment system is told to pick.
    pub fn waits_for_release(self) -> bool {
        match self {
            Self::Open | Self::Abandoned | Self::CanceledRacing | Self::CanceledRacingRefunded => false,
            Self::CanceledLate
            | Self::CanceledLateRefunded
            | Self::Refunded
            | Self::Returned
            | Self::Shipped => true,
        }
    }

    /// Whether the webhook of this step may be lost without losing what only it could tell.
    ///
    /// The API shows the present only. A cancellation that a refund follows at once is told by its webhook
    /// alone, and a picking order must be stopped for it: that one is always sent.
    pub fn may_lose(self, sequence: usize) -> bool {
        let status = self.steps().get(sequence.wrapping_sub(1));
        status != Some(&Status::Canceled) || sequence == self.steps().len()
    }

    /// The side effects that this life demands by Ordem's rules.
    pub fn demand(self) -> Demand {
        let (release, halt) = match self {
            Self::Open | Self::Abandoned => (Times::Never, Times::Never),
            Self::CanceledRacing | Self::CanceledRacingRefunded => (Times::AtMostOnce, Times::OnceIfReleased),
            Self::CanceledLate | Self::CanceledLateRefunded => (Times::Once, Times::Once),
            Self::Refunded | Self::Returned | Self::Shipped => (Times::Once, Times::Never),
        };
        let refund = if self.steps().last() == Some(&Status::Refunded) { Times::Once } else { Times::Never };
        Demand { release_picking: release, halt_picking: halt, notify_refund: refund }
    }
}

/// How often an effect may and must happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Times {
    /// It must not happen.
    Never,
    /// It may or may not, as the payment or the cancellation came first.
    AtMostOnce,
    /// It must happen exactly when the picking was released.
    OnceIfReleased,
    /// It must happen.
    Once,
}

impl Times {
    /// Whether the effect must happen, may not, or is free (`None`), given whether picking was released.
    pub fn required(self, released: bool) -> Option<bool> {
        match self {
            Self::Never => Some(false),
            Self::AtMostOnce => None,
            Self::OnceIfReleased => Some(released),
            Self::Once => Some(true),
        }
    }
}

/// What one order's life demands of the three effects of the `order` flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// Entering `paid`.
    pub release_picking: Times,
    /// `canceled` becomes known, the picking was released, nothing was shipped.
    pub halt_picking: Times,
    /// Entering `refunded`.
    pub notify_refund: Times,
}

impl Demand {
    /// The effects by name.
    pub fn effects(self) -> [(&'static str, Times); 3] {
        [
            ("release_picking", self.release_picking),
            ("halt_picking", self.halt_picking),
            ("notify_refund", self.notify_refund),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lives_occur_and_most_orders_are_shipped() {
        let dice = Dice::new(7);
        let lives: Vec<Life> = (0..10_000).map(|n| Life::of(dice, n)).collect();
        for (life, _) in SHARES {
            assert!(lives.contains(&life), "{life:?}");
        }
        let shipped = lives.iter().filter(|life| **life == Life::Shipped).count();
        assert!((8_200..8_800).contains(&shipped), "{shipped}");
    }

    #[test]
    fn the_only_webhook_that_must_be_sent_is_a_cancellation_followed_by_a_refund() {
        assert!(!Life::CanceledRacingRefunded.may_lose(3));
        assert!(!Life::CanceledLateRefunded.may_lose(3));
        assert!(Life::CanceledLateRefunded.may_lose(4));
        assert!(Life::CanceledLate.may_lose(3));
        assert!(Life::Shipped.may_lose(1));
        assert!(Life::Shipped.may_lose(2));
    }

    #[test]
    fn a_halt_is_demanded_exactly_when_a_canceled_order_was_released() {
        let racing = Life::CanceledRacing.demand().halt_picking;
        assert_eq!(racing.required(true), Some(true));
        assert_eq!(racing.required(false), Some(false));
        assert_eq!(Life::CanceledLate.demand().halt_picking, Times::Once);
        assert_eq!(Life::Returned.demand().halt_picking, Times::Never);
    }
}
