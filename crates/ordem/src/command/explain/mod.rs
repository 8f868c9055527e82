//! `ordem explain`: the whole story of one resource.

pub(crate) mod effects;
mod events;
mod row;
mod text;
mod why;

use std::{path::Path, sync::Arc};

use anyhow::bail;
use db::{
    Client,
    operations::{self, EventStory},
    resources,
};
use domain::{ResourceId, Version};
use profile::{KeptHeaders, Profile};
use serde::Serialize;
use uuid::Uuid;

use crate::session::Session;
use effects::Effect;
use events::Event;
use row::Row;

/// Tell the whole story of one order: its row, each event and what became of it and why, each effect and its calls
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The source it came by.
    source: String,
    /// What it is: order, sale, subscription, …
    kind: String,
    /// The provider's id of it, exactly as the provider writes it.
    id: String,
    /// Show the bodies of the events as well: they hold what the customer told the store.
    #[arg(long)]
    body: bool,
    /// How many events at most, the newest.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: i64,
}

/// The story.
#[derive(Debug, Serialize)]
pub(crate) struct Story {
    source: String,
    kind: String,
    id: String,
    /// Null while no event made a row.
    row: Option<Row>,
    /// In order of arrival.
    events: Vec<Event>,
    /// In their order.
    effects: Vec<Effect>,
    /// What cannot be told here.
    notes: Vec<String>,
}

/// `[major, rank]`
pub(crate) type Pair = (i64, u8);

fn pair(version: Version) -> Pair {
    version.into()
}

impl Args {
    /// Gathers the story.
    pub(crate) async fn run(self, dir: &Path) -> anyhow::Result<Story> {
        let session = Session::prepare(dir)?;
        let client = session.client().await?;
        let id = ResourceId { source: self.source, kind: self.kind, id: self.id };
        let resource = resources::load(&client, std::slice::from_ref(&id)).await?.remove(&id);
        let times = operations::resource_times(&client, &id).await?;
        let effects = operations::effects_of(&client, &id).await?;
        let triggers: Vec<Uuid> = effects.iter().map(|effect| effect.event_id).collect();
        let stored = operations::events_of(&client, &id, &triggers, self.limit).await?;
        if resource.is_none() && stored.is_empty() {
            return not_found(&session, &client, &id).await;
        }
        let effect_ids: Vec<Uuid> = effects.iter().map(|effect| effect.effect_id).collect();
        let calls = operations::attempts_of(&client, &effect_ids).await?;
        let is_cut = i64::try_from(stored.len())? >= self.limit;
        let told = why::tell(&session.configured, &id, &stored);
        let mut notes = vec![
            "Deliveries of an event that was stored before are answered and not stored: they cannot be listed."
                .to_owned(),
        ];
        if is_cut {
            notes.push(format!("Only the newest {} events are shown: raise --limit for more.", self.limit));
        }
        if told.lost_track {
            notes.push(
                "Some events before these are no longer kept, or the flow or profile has changed since: where the row's \
                 version of that time is not known, only what was recorded is told."
                    .to_owned(),
            );
        }
        let body_of = |event: &EventStory| shown(session.configured.profiles.get(&id.source), event);
        Ok(Story {
            row: resource.map(|resource| Row::of(&resource, times)),
            events: events::all(stored, told.readings, self.body.then_some(&body_of)),
            effects: effects::all(effects, calls),
            source: id.source,
            kind: id.kind,
            id: id.id,
            notes,
        })
    }
}

/// A body as an operator may see it. Without its profile nobody knows what is secret in it.
fn shown(profile: Option<&Arc<Profile>>, event: &EventStory) -> String {
    match profile {
        Some(profile) => profile.shown(&event.body, &KeptHeaders::parse(event.headers.as_deref())),
        None => "[withheld: its source is not configured]".to_owned(),
    }
}

async fn not_found(session: &Session, client: &Client, id: &ResourceId) -> anyhow::Result<Story> {
    let mut known: Vec<String> = operations::known_kinds(client)
        .await?
        .iter()
        .map(|(source, kind)| format!("{source} {kind}"))
        .collect();
    let place = &session.place;
    if known.is_empty() {
        bail!("nothing is known of {id}, and there are no rows at all yet in {place}");
    }
    known.sort();
    bail!(
        "nothing is known of {id}; there are rows of: {}. Ids are compared letter by letter. An event that could not \
         be read names no resource: see `ordem events --outcome malformed`",
        known.join(", ")
    )
}
