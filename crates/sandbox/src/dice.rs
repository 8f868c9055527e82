//! Chance without a shared generator.
//!
//! Every roll is a hash of the seed, what is being decided and about whom, so that concurrency,
//! retries and restarts do not change who loses a webhook and which call fails.

/// Rolls that depend on the seed and on what they are asked for, and on nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Dice {
    seed: u64,
}

impl Dice {
    /// Dice of one run.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// A number that is the same whenever the same question is asked with the same seed.
    pub fn roll(&self, question: &str, about: &[u64]) -> u64 {
        let named = question.bytes().fold(mix(self.seed), |hash, byte| mix(hash ^ u64::from(byte)));
        about.iter().fold(named, |hash, part| mix(hash ^ mix(*part)))
    }

    /// A number below `bound`, or 0 when `bound` is 0.
    pub fn below(&self, bound: u64, question: &str, about: &[u64]) -> u64 {
        self.roll(question, about).checked_rem(bound).unwrap_or(0)
    }

    /// True for the given share of all questions.
    pub fn chance(&self, share: f64, question: &str, about: &[u64]) -> bool {
        let unit = (self.roll(question, about) >> 11) as f64 / (1_u64 << 53) as f64;
        unit < share
    }
}

/// Turns a name into a part of a question.
pub fn name(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

/// The finaliser of `SplitMix64`, with its increment.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_gets_the_same_answer_and_another_seed_another() {
        let (a, b) = (Dice::new(7), Dice::new(8));
        assert_eq!(a.roll("life", &[3]), Dice::new(7).roll("life", &[3]));
        assert_ne!(a.roll("life", &[3]), b.roll("life", &[3]));
        assert_ne!(a.roll("life", &[3]), a.roll("lost", &[3]));
    }

    #[test]
    fn a_share_is_met_within_a_tenth() {
        let dice = Dice::new(7);
        let hits = (0..100_000).filter(|n| dice.chance(0.10, "duplicate", &[*n])).count();
        assert!((9_000..11_000).contains(&hits), "{hits}");
    }
}
