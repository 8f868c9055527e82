//! Waiting for something to become true, with a bound.

use std::{fmt::Debug, future::Future, time::Duration};

use tokio::time::Instant;

/// Asks again and again, for at most 20 seconds, until the answer is the expected one; returns it.
///
/// # Panics
/// With the last answer when time is up.
pub async fn eventually<T, F, R>(what: &str, expected: T, ask: F) -> T
where
    T: PartialEq + Debug,
    F: FnMut() -> R,
    R: Future<Output = T>,
{
    eventually_within(Duration::from_secs(20), what, expected, ask).await
}

/// [`eventually`] with another bound.
///
/// # Panics
/// With the last answer when time is up.
pub async fn eventually_within<T, F, R>(bound: Duration, what: &str, expected: T, mut ask: F) -> T
where
    T: PartialEq + Debug,
    F: FnMut() -> R,
    R: Future<Output = T>,
{
    let end = Instant::now() + bound;
    loop {
        let answer = ask().await;
        if answer == expected {
            return answer;
        }
        assert!(Instant::now() < end, "{what}: still {answer:?}, expected {expected:?} within {bound:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
