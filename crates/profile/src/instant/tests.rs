use super::*;

fn spelling(zone: Option<&str>, epoch: Option<Epoch>) -> Spelling {
    Spelling { zone: zone.map(|name| TimeZone::get(name).unwrap()), epoch }
}

fn text(spelling: &Spelling, text: &str) -> Option<String> {
    spelling.read(&Leaf::Text(text.into())).ok().map(|instant| instant.to_string())
}

#[test]
fn instants_with_an_offset_are_exact() {
    let plain = spelling(None, None);
    for (written, instant) in [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02t03:04:05z", "2026-01-02T03:04:05Z"),
        ("2026-01-02 03:04:05+00:00", "2026-01-02T03:04:05Z"),
        ("2026-01-02T00:04:05-03:00", "2026-01-02T03:04:05Z"),
        ("2026-01-02T00:04:05-0300", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.5Z", "2026-01-02T03:04:05.5Z"),
        ("2026-01-02T03:04:05.1234567891234Z", "2026-01-02T03:04:05.123456789Z"),
        ("2026-11-01T01:50:00-04:00", "2026-11-01T05:50:00Z"),
    ] {
        assert_eq!(text(&plain, written).as_deref(), Some(instant), "{written}");
    }
}

#[test]
fn what_is_no_instant_is_refused() {
    let zoned = spelling(Some("America/Sao_Paulo"), None);
    for written in [
        "",
        "now",
        "2026-01-02",
        "2026-01-02T03:04:05+00:00Z",
        "2026-01-02T03:04:05ZZ",
        "2026-02-30T00:00:00Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T24:00:00Z",
        "2026-13-02T03:04:05Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05+3:00",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+03",
        "2026-01-02T03:04:05Z[UTC]",
        " 2026-01-02T03:04:05Z",
        "1767323045",
        "0001-01-01T00:00:00Z",
        "2026-01-02T03:04:0é",
        "+026-01-02T03:04:05Z",
    ] {
        assert_eq!(text(&zoned, written), None, "{written}");
    }
}

#[test]
fn a_local_time_needs_the_profiles_zone() {
    let local = "2026-01-02T00:04:05";
    assert_eq!(text(&spelling(None, None), local), None);
    let there = text(&spelling(Some("America/Sao_Paulo"), None), local);
    assert_eq!(there.as_deref(), Some("2026-01-02T03:04:05Z"));
}

#[test]
fn a_local_hour_that_happens_twice_or_never_is_refused() {
    let new_york = spelling(Some("America/New_York"), None);
    assert_eq!(text(&new_york, "2026-11-01T01:10:00"), None);
    assert_eq!(text(&new_york, "2026-03-08T02:30:00"), None);
    assert!(text(&new_york, "2026-11-01T03:10:00").is_some());
}

#[test]
fn epoch_numbers_are_read_by_unit_or_magnitude() {
    let number = |epoch, digits: &str| spelling(None, epoch).read(&Leaf::Number(digits.into())).ok();
    let instant: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    assert_eq!(number(None, "1767323045"), Some(instant));
    assert_eq!(number(None, "1767323045.0"), Some(instant));
    assert_eq!(number(None, "1767323045000"), Some(instant));
    assert_eq!(number(Some(Epoch::Microseconds), "1767323045000000"), Some(instant));
    assert_eq!(number(Some(Epoch::Nanoseconds), "1767323045000000000"), Some(instant));
    for odd in ["1767323045000000000", "176732304", "0", "-1767323045", "1767323045.5", "1e9"] {
        assert_eq!(number(None, odd), None, "{odd}");
    }
    assert_eq!(number(Some(Epoch::Seconds), "1767323045000"), None);
    assert_eq!(number(Some(Epoch::Milliseconds), "1767323045"), None);
}

#[test]
fn finer_digits_than_the_clock_has_are_cut() {
    let instant: Timestamp = "2026-01-02T03:04:05.123456789Z".parse().unwrap();
    for (precision, cut) in [
        (Precision::Seconds, "2026-01-02T03:04:05Z"),
        (Precision::Milliseconds, "2026-01-02T03:04:05.123Z"),
        (Precision::Microseconds, "2026-01-02T03:04:05.123456Z"),
    ] {
        assert_eq!(precision.cut(instant).to_string(), cut);
    }
}
