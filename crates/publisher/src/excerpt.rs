//! The part of a foreign answer that is kept: text that any table, log and terminal can take.

/// At most `bytes_max` bytes from the start, as text. What is no UTF-8, and control characters other than line ends
/// and tabs (PostgreSQL refuses NUL, terminals obey escapes), become U+FFFD. `None` when nothing is left.
pub(crate) fn excerpt(bytes: &[u8], bytes_max: usize) -> Option<String> {
    let kept = &bytes[..char_end(bytes, bytes_max)];
    let text: String = String::from_utf8_lossy(kept).chars().map(harmless).collect();
    (!text.is_empty()).then_some(text)
}

fn harmless(character: char) -> char {
    match character {
        '\n' | '\r' | '\t' => character,
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
    }
}

/// Where to cut so that no character is cut in two.
fn char_end(bytes: &[u8], bytes_max: usize) -> usize {
    if bytes.len() <= bytes_max {
        return bytes.len();
    }
    let is_continuation = |at: usize| bytes[at] & 0b1100_0000 == 0b1000_0000;
    let earliest = bytes_max.saturating_sub(3);
    (earliest..=bytes_max).rev().find(|at| !is_continuation(*at)).unwrap_or(bytes_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_bytes_become_harmless_text() {
        assert_eq!(excerpt(b"", 10), None);
        assert_eq!(excerpt(b"fine\n", 10).as_deref(), Some("fine\n"));
        assert_eq!(excerpt(b"a\0b\x1b[31m\xff", 20).as_deref(), Some("a\u{fffd}b\u{fffd}[31m\u{fffd}"));
    }

    #[test]
    fn the_cut_falls_between_characters() {
        let text = "aé€😀";
        for bytes_max in 0..text.len() + 2 {
            let kept = excerpt(text.as_bytes(), bytes_max).unwrap_or_default();
            assert!(text.starts_with(&kept) && kept.len() <= bytes_max, "{bytes_max}: {kept:?}");
        }
        assert_eq!(excerpt(&[0x80; 9], 5).map(|text| text.chars().count()), Some(5));
    }
}
