//! The story for people.

use std::fmt::Write as _;

use domain::Value;

use super::{Story, effects::Effect, events::Event, row::Row};
use crate::{
    report::Report,
    table::table,
    words::{count, instant, one_line, version},
};

impl Report for Story {
    fn text(&self) -> String {
        let mut text = format!("{} {} {}: ", self.source, self.kind, self.id);
        match &self.row {
            Some(row) => write_row(&mut text, row),
            None => text += "no row yet\n",
        }
        let _ = writeln!(text, "\n{}, in order of arrival:", count(self.events.len(), "event"));
        for (at, event) in self.events.iter().enumerate() {
            write_event(&mut text, at + 1, event);
        }
        let _ = writeln!(text, "\n{}:", count(self.effects.len(), "effect"));
        for effect in &self.effects {
            write_effect(&mut text, effect, &self.events);
        }
        text.push('\n');
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        text
    }
}

fn write_row(text: &mut String, row: &Row) {
    let _ = write!(text, "{} at version {}", row.status, version(row.version.into()));
    if let (Some(created), Some(updated)) = (row.created_at, row.updated_at) {
        let _ = write!(text, ", row made {}, changed {}", instant(created), instant(updated));
    }
    text.push_str("\n\n");
    let fields = row
        .fields
        .iter()
        .map(|(name, field)| vec![name.clone(), value(&field.value), version(field.version.into())]);
    *text += &table(&["field", "value", "set by version"], fields);
    let entries: Vec<String> = row
        .history
        .iter()
        .map(|entry| format!("{} {}", version(entry.version.into()), entry.status))
        .collect();
    let _ = writeln!(text, "\nhistory in version order: {}", entries.join(", "));
}

fn value(value: &Value) -> String {
    match value {
        Value::Boolean(flag) => flag.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

fn write_event(text: &mut String, number: usize, event: &Event) {
    let event_type = event.event_type.as_deref().unwrap_or("(no type)");
    let _ = write!(text, "\n{number:>3}. {}  {}", instant(event.received_at), one_line(event_type));
    if let Some(pair) = event.version {
        let _ = write!(text, "  version {}", version(pair.into()));
    }
    let _ = write!(text, "  by {}  => {}", event.origin, event.outcome);
    if let Some(moved) = &event.transition {
        let _ = write!(text, ", {} -> {}", moved.from.as_deref().unwrap_or("(new)"), moved.to);
    }
    let _ = writeln!(text, "\n     why: {}", one_line(&event.why));
    let applied = event.applied_at.map(|at| format!(", applied {}", instant(at))).unwrap_or_default();
    let tries = if event.attempts > 1 { format!(", {} attempts", event.attempts) } else { String::new() };
    let _ = writeln!(text, "     event {}{applied}{tries}", event.event_id);
    if let Some(body) = &event.body {
        let _ = writeln!(text, "     body: {}", one_line(body));
    }
}

fn write_effect(text: &mut String, effect: &Effect, events: &[Event]) {
    let key = if effect.key.is_empty() { String::new() } else { format!(" [{}]", effect.key) };
    let _ = writeln!(
        text,
        "\n  {}{key} to {}: {}, born {} of a row `{}` at version {}",
        effect.effect,
        effect.destination,
        if effect.is_leased { "being delivered" } else { effect.state.as_str() },
        instant(effect.created_at),
        effect.status,
        version(effect.version.into()),
    );
    let place = events.iter().position(|event| event.event_id == effect.trigger_event_id);
    let trigger = place.map_or_else(
        || format!("event {}, which is no longer kept", effect.trigger_event_id),
        |at| format!("event {}", at + 1),
    );
    let _ = writeln!(text, "     because of {trigger}; effect {}", effect.effect_id);
    if let Some(error) = &effect.last_error {
        let _ = writeln!(text, "     last: {}", one_line(error));
    }
    if let Some(next) = effect.next_attempt_at {
        let _ = writeln!(text, "     next attempt: {}", instant(next));
    }
    let calls = effect.calls.iter().map(|call| {
        vec![
            call.attempt.to_string(),
            instant(call.started_at),
            format!("{} ms", call.duration_ms),
            call.result.clone(),
            call.http_status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
            call.error.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    });
    let calls = table(&["attempt", "started", "took", "result", "status", "error"], calls);
    calls.lines().for_each(|line| {
        let _ = writeln!(text, "     {line}");
    });
}
