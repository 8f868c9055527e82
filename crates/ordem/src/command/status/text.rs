//! The status for people.

use std::fmt::Write as _;

use super::{Destination, Inbox, Source, Status};
use crate::{
    command::effects::groups,
    report::Report,
    table::table,
    words::{age, age_or_dash, instant, or_dash},
};

impl Report for Status {
    fn text(&self) -> String {
        let mut text = format!(
            "{}  schema version {}\n\ninbox: {}\n",
            instant(self.at),
            self.schema_version,
            inbox(&self.inbox)
        );
        let outcomes =
            self.recent.outcomes.iter().map(|counted| {
                vec![counted.source.clone(), counted.outcome.clone(), counted.events.to_string()]
            });
        let span = if self.recent.is_whole_hour {
            "events of the last hour".to_owned()
        } else {
            format!("newest events, since {}", instant(self.recent.since))
        };
        section(&mut text, &span, &table(&["source", "outcome", "events"], outcomes));
        let sources =
            table(&["source", "state", "cursor", "read up to", "age"], self.sources.iter().flat_map(source));
        section(&mut text, "sources", &sources);
        let headings =
            ["destination", "state", "pending", "due", "leased", "retrying", "oldest", "dead", "paused"];
        section(&mut text, "destinations", &table(&headings, self.destinations.iter().map(destination)));
        if !self.failures.is_empty() {
            let title = "failures by cause (`ordem effects groups`)";
            section(&mut text, title, &groups::text(&self.failures));
        }
        let lookups = self.lookups.iter().map(|lookups| {
            let counts = [lookups.waiting, lookups.failing].map(|count| count.to_string());
            let [waiting, failing] = counts;
            vec![lookups.source.clone(), waiting, failing, age(lookups.oldest_seconds)]
        });
        let lookups = table(&["source", "waiting", "failing", "oldest"], lookups);
        section(&mut text, "look-ups at providers", &lookups);
        let refused = self
            .refused
            .iter()
            .map(|refusal| vec![refusal.source.clone(), refusal.reason.clone(), refusal.samples.to_string()]);
        let refused = table(&["source", "reason", "samples"], refused);
        section(&mut text, "refused requests of the last hour (at most one sample a second)", &refused);
        text
    }
}

fn section(text: &mut String, title: &str, table: &str) {
    let body = if table.is_empty() { "none\n" } else { table };
    let _ = write!(text, "\n{title}:\n{body}");
}

fn inbox(inbox: &Inbox) -> String {
    let oldest = inbox.oldest_seconds.map(|seconds| format!(", the oldest for {}", age(seconds)));
    format!(
        "{} pending{} ({} after a failure, {} of them due); dead {}, malformed {}, terminal regressions {}",
        inbox.pending,
        oldest.unwrap_or_default(),
        inbox.retrying,
        inbox.retries_due,
        inbox.dead,
        inbox.malformed,
        inbox.terminal_regression,
    )
}

fn source(source: &Source) -> Vec<Vec<String>> {
    let row = |name: &str, value: String, age: String| {
        vec![source.source.clone(), source.state.as_str().to_owned(), name.to_owned(), value, age]
    };
    if source.cursors.is_empty() {
        return vec![row("-", "-".to_owned(), "-".to_owned())];
    }
    let cursors = source.cursors.iter();
    cursors.map(|cursor| row(&cursor.name, instant(cursor.value), age(cursor.age_seconds))).collect()
}

fn destination(destination: &Destination) -> Vec<String> {
    let paused = destination.paused_at.map(|at| {
        let reason = destination.paused_reason.as_deref().map(|reason| format!(": {reason}"));
        format!("since {}{}", instant(at), reason.unwrap_or_default())
    });
    vec![
        destination.destination.clone(),
        destination.state.as_str().to_owned(),
        destination.pending.to_string(),
        destination.due.to_string(),
        destination.leased.to_string(),
        destination.retrying.to_string(),
        age_or_dash(destination.oldest_seconds),
        destination.dead.to_string(),
        or_dash(paused.as_deref()),
    ]
}
