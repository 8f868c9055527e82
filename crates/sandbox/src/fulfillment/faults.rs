//! How the fulfilment system fails: by the seed, the effect and the number of the try.

use std::time::Duration;

use crate::{
    dice::{self, Dice},
    fulfillment::book::Effect,
};

/// From this try on nothing fails, so that no effect runs out of attempts.
const ATTEMPTS_FAULTY_MAX: u64 = 5;

/// What goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It takes a while.
    Slow(Duration),
    /// 503 before the work.
    Refuses,
    /// 429 before the work.
    TooMany,
    /// 500 after the work.
    FailsAfterWork,
    /// The connection breaks after the work.
    HangsUpAfterWork,
    /// The answer comes long after the work.
    HangsAfterWork(Duration),
}

impl Fault {
    /// Its name in the book, `None` when nothing went wrong.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Slow(_) => Some("slow"),
            Self::Refuses => Some("refused with 503"),
            Self::TooMany => Some("refused with 429"),
            Self::FailsAfterWork => Some("500 after the work"),
            Self::HangsUpAfterWork => Some("hung up after the work"),
            Self::HangsAfterWork(_) => Some("late answer after the work"),
        }
    }
}

/// Draws the fault of each call.
#[derive(Debug, Clone, Copy)]
pub struct Faults {
    dice: Dice,
    hang: Duration,
    enabled: bool,
}

impl Faults {
    /// Faults of one seed; a hanging answer comes after `hang`.
    pub fn new(dice: Dice, hang: Duration) -> Self {
        Self { dice, hang, enabled: true }
    }

    /// A system that never fails.
    pub fn none() -> Self {
        Self { dice: Dice::new(0), hang: Duration::ZERO, enabled: false }
    }

    /// What goes wrong with this try of this effect.
    pub fn draw(&self, effect: &Effect, attempt: u64) -> Fault {
        if !self.enabled || attempt > ATTEMPTS_FAULTY_MAX {
            return Fault::None;
        }
        let about = [dice::name(&effect.order), dice::name(&effect.name), attempt];
        // Of 10,000 calls.
        match self.dice.below(10_000, "fulfilment fails", &about) {
            0..300 => Fault::Refuses,
            300..315 => Fault::TooMany,
            315..465 => Fault::FailsAfterWork,
            465..525 => Fault::HangsUpAfterWork,
            525..529 => Fault::HangsAfterWork(self.hang),
            529..729 => {
                Fault::Slow(Duration::from_millis(50 + self.dice.below(250, "fulfilment is slow", &about)))
            }
            _ => Fault::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(n: u32) -> Effect {
        Effect { order: format!("ped_{n:08}"), name: "release_picking".into(), key: String::new() }
    }

    #[test]
    fn every_kind_of_fault_occurs_and_the_same_call_fails_in_the_same_way() {
        let faults = Faults::new(Dice::new(7), Duration::from_secs(1));
        let mut seen = std::collections::BTreeSet::new();
        for n in 0..10_000 {
            let fault = faults.draw(&effect(n), 1);
            assert_eq!(fault, faults.draw(&effect(n), 1));
            seen.extend(fault.name());
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
    }

    #[test]
    fn a_late_try_never_fails() {
        let faults = Faults::new(Dice::new(7), Duration::from_secs(1));
        assert!((0..1_000).all(|n| faults.draw(&effect(n), 6) == Fault::None));
    }
}
