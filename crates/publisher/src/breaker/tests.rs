use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn breaker(failures: usize) -> Breaker {
    Breaker::new(Limits { failures, concurrency: 8, pause: SECOND, pause_max: 3 * SECOND })
}

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[test]
fn it_opens_after_so_many_different_effects_in_a_row() {
    let (breaker, now) = (breaker(2), Instant::now());
    assert!(!breaker.failed(id(1), false, now));
    assert!(!breaker.failed(id(1), false, now), "one effect alone says nothing of its destination");
    breaker.succeeded();
    assert!(!breaker.failed(id(2), false, now));
    assert_eq!(breaker.allowance(), Allowance { calls: 8, not_before: None, probe: false });
    assert!(breaker.failed(id(3), false, now));
    assert_eq!(breaker.allowance(), Allowance { calls: 1, not_before: Some(now + SECOND), probe: true });
}

#[test]
fn the_pause_grows_with_each_failed_probe_and_with_nothing_else() {
    let (breaker, now) = (breaker(1), Instant::now());
    breaker.failed(id(1), false, now);
    breaker.failed(id(2), false, now);
    assert_eq!(breaker.allowance().not_before, Some(now + SECOND));
    for seconds in [2, 3, 3] {
        breaker.failed(id(3), true, now);
        assert_eq!(breaker.allowance().not_before, Some(now + seconds * SECOND));
    }
}

#[test]
fn calls_double_with_each_success_until_it_is_closed() {
    let (breaker, now) = (breaker(1), Instant::now());
    breaker.failed(id(1), false, now);
    let calls: Vec<_> = (0..3).map(|_| (breaker.succeeded(), breaker.allowance().calls)).collect();
    assert_eq!(calls, [(false, 2), (false, 4), (true, 8)]);
}

#[test]
fn a_failure_while_it_recovers_opens_it_again() {
    let (breaker, now) = (breaker(1), Instant::now());
    breaker.failed(id(1), false, now);
    breaker.succeeded();
    assert!(breaker.failed(id(2), false, now));
    assert!(breaker.allowance().probe);
}

#[test]
fn without_a_limit_it_never_opens() {
    let (breaker, now) = (breaker(0), Instant::now());
    assert!(!(0..1000).any(|number| breaker.failed(id(number), false, now)));
}
