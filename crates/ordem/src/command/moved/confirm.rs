//! Whether it is meant: asked on a terminal, where a person is there to answer.

use std::io::{self, BufRead, IsTerminal as _, Write};

use super::{Moved, Row};
use crate::words::harmless;

/// Rows shown with the question.
const SAMPLES: usize = 5;

/// How far it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub(crate) struct How {
    /// Show how many there are and some of them, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask; without a terminal nothing is asked anyway.
    #[arg(long, short)]
    yes: bool,
    /// How many at most; all unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
}

impl How {
    /// Whether a person is asked first.
    pub(super) fn asks(self) -> bool {
        !self.dry_run && !self.yes && io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

/// Shows what would be moved and asks.
pub(super) fn ask<T: Row>(found: &Moved<T>) -> io::Result<bool> {
    answer(found, io::stdin().lock(), io::stderr().lock())
}

fn answer<T: Row>(found: &Moved<T>, mut input: impl BufRead, mut output: impl Write) -> io::Result<bool> {
    output.write_all(harmless(&found.preview(SAMPLES)).as_bytes())?;
    write!(output, "go on? {} will be {} [y/N] ", found.found, found.verb)?;
    output.flush()?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use uuid::Uuid;

    use super::{super::Batch, *};

    #[derive(Debug, Serialize)]
    struct Thing(u128);

    impl Row for Thing {
        const NOUN: &'static str = "thing";
        const HEADINGS: &'static [&'static str] = &["thing"];

        fn cells(&self) -> Vec<String> {
            vec![format!("thing {}", self.0)]
        }

        fn id(&self) -> Uuid {
            Uuid::from_u128(self.0)
        }
    }

    fn answered(typed: &str) -> (bool, String) {
        let mut found = Moved::new("moved", true);
        found.add(Batch { chosen: (1..=3000).map(Thing).collect(), skipped: Vec::new() });
        let mut shown = Vec::new();
        let yes = answer(&found, typed.as_bytes(), &mut shown).unwrap();
        (yes, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        for (typed, yes) in
            [("y\n", true), ("yes\n", true), ("\n", false), ("", false), ("no\n", false), ("yep\n", false)]
        {
            assert_eq!(answered(typed).0, yes, "{typed:?}");
        }
    }

    #[test]
    fn the_question_tells_how_many_and_shows_a_few() {
        let shown = answered("").1;
        assert!(shown.starts_with("found 3000 things to be moved\n"), "{shown}");
        assert!(shown.contains("thing 5\n… and 2995 more\n") && !shown.contains("thing 6"), "{shown}");
        assert!(shown.ends_with("go on? 3000 will be moved [y/N] "), "{shown}");
    }
}
