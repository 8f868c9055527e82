//! Effects that are done in the applier's own transaction: row, effect and what a function makes of it exist together or
//! not at all.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use db::{
    Client, Pool,
    outbox::{self, EffectToWrite, FunctionName, FunctionState, Message, WrittenEffects},
};
use jiff::Timestamp;
use service::settings::Configured;

/// The functions of destinations with `in_transaction`, by the destination's name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Direct(BTreeMap<String, FunctionName>);

impl Direct {
    /// Those of the configuration, whose names are checked when it is loaded.
    pub(crate) fn of(configured: &Configured) -> Self {
        let destinations = configured.settings.destinations.iter();
        let direct = destinations.filter_map(|(name, destination)| {
            let function = FunctionName::parse(destination.reach.in_transaction()?)?;
            Some((name.clone(), function))
        });
        Self(direct.collect())
    }

    /// Whether effects of this destination are done in the transaction that makes them.
    pub(crate) fn takes(&self, destination: &str) -> bool {
        self.0.contains_key(destination)
    }

    /// Hands over the effects that are new, in the order in which they were born: one statement for each function.
    pub(crate) async fn hand_over(
        &self,
        client: &Client,
        now: Timestamp,
        effects: &[EffectToWrite<'_>],
        written: &WrittenEffects,
    ) -> db::Result<()> {
        let mut messages: BTreeMap<&FunctionName, Vec<Message<'_>>> = BTreeMap::new();
        for effect in effects.iter().filter(|effect| written.in_transaction.contains(&effect.effect_id)) {
            if let Some(function) = self.0.get(&effect.effect.destination) {
                messages.entry(function).or_default().push(Message::of_new(effect, now));
            }
        }
        for (function, messages) in messages {
            outbox::call_with_each(client, function, &messages).await?;
        }
        Ok(())
    }

    /// Whether every function can be called: without them each event with such an effect would fail.
    ///
    /// # Errors
    /// When one is missing or forbidden, or the database is away.
    pub(crate) async fn require_functions(&self, pool: &Pool) -> anyhow::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let client = pool.get().await.map_err(db::Error::from)?;
        for (destination, function) in &self.0 {
            let state = outbox::function_state(&client, function, None).await;
            match state.with_context(|| format!("destinations.{destination}.function"))? {
                FunctionState::Callable => {}
                FunctionState::Missing => bail!(
                    "destinations.{destination}.function: there is no function {function}(jsonb) in the database: \
                     create it, or correct the name"
                ),
                FunctionState::Forbidden { role } => bail!(
                    "destinations.{destination}.function: {role} may not execute {function}(jsonb): grant usage on \
                     its schema and execute on it"
                ),
            }
        }
        Ok(())
    }
}
