//! `ordem effects show`: one effect with each call it took.

use std::{fmt::Write as _, path::Path};

use anyhow::bail;
use db::operations;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    command::explain::effects::{Call, Effect, all},
    report::Report,
    session::Session,
    table::table,
    words::{harmless, instant, instant_or_dash, one_line, or_dash},
};

/// Show one effect: how it stands, why, and each call it took
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The effect.
    #[arg(value_name = "ID")]
    id: Uuid,
    /// Show the beginning of what the destination answered to each call as well.
    #[arg(long)]
    answers: bool,
}

/// One effect.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    source: String,
    kind: String,
    id: String,
    #[serde(flatten)]
    effect: Effect,
}

impl Args {
    /// Asks.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Shown> {
        let session = Session::prepare(dir)?;
        let client = session.client().await?;
        let known = operations::effects_by_id(&client, &[self.id], session.now).await?;
        let Some(state) = known.into_iter().next() else {
            bail!("no effect has the id {}", self.id);
        };
        let mut effects = operations::effects_of(&client, &state.resource).await?;
        effects.retain(|effect| effect.effect_id == self.id);
        let mut calls = operations::attempts_of(&client, &[self.id]).await?;
        if !self.answers {
            calls.iter_mut().for_each(|call| call.response_excerpt = None);
        }
        let Some(effect) = all(effects, calls).pop() else {
            bail!("the effect {} has no key any more: its row is about to go", self.id);
        };
        Ok(Shown { source: state.resource.source, kind: state.resource.kind, id: state.resource.id, effect })
    }
}

impl Report for Shown {
    fn text(&self) -> String {
        let Self { source, kind, id, effect } = self;
        let mut text = format!(
            "{} of {source} {kind} {id} to {}: {}\n",
            effect.effect, effect.destination, effect.state
        );
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "  {name:<14}{}", one_line(&harmless(&value)));
        };
        line("effect id", effect.effect_id.to_string());
        if !effect.key.is_empty() {
            line("key", effect.key.clone());
        }
        line("made due by", format!("event {}", effect.trigger_event_id));
        line("written", format!("{}, as {}", instant(effect.created_at), effect.status));
        line("attempts", effect.attempts.to_string());
        line("next attempt", instant_or_dash(effect.next_attempt_at));
        line("in delivery", if effect.is_leased { "yes" } else { "no" }.to_owned());
        line("finished", instant_or_dash(effect.finished_at));
        line("failure group", or_dash(effect.failure_group.as_deref()));
        line("last error", or_dash(effect.last_error.as_deref()));
        text + &calls(&effect.calls)
    }
}

fn calls(calls: &[Call]) -> String {
    let answered = calls.iter().any(|call| call.response_excerpt.is_some());
    let mut headings = vec!["attempt", "started", "took ms", "result", "status", "error"];
    if answered {
        headings.push("answer");
    }
    let rows = calls.iter().map(|call| {
        let mut cells = vec![
            call.attempt.to_string(),
            instant(call.started_at),
            call.duration_ms.to_string(),
            call.result.clone(),
            call.http_status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
            or_dash(call.error.as_deref()),
        ];
        if answered {
            cells.push(or_dash(call.response_excerpt.as_deref()));
        }
        cells
    });
    let table = table(&headings, rows);
    if table.is_empty() { "never called\n".to_owned() } else { table }
}
