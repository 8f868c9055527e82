//! The configuration after its check: names looked up, profiles and flows compiled, switches decided.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use domain::Flow;
use profile::Profile;

use crate::settings::{DestinationSettings, Fault, Settings, SourceSettings, check::Check, layers::Layers};

/// Everything a daemon needs to know, valid as a whole.
#[derive(Debug)]
pub struct Configured {
    /// As written.
    pub settings: Settings,
    /// Sources that are on: those with a secret.
    pub sources: BTreeMap<String, Source>,
    /// Profiles of all sources, also of those that are off: what they stored before must stay readable.
    pub profiles: BTreeMap<String, Arc<Profile>>,
    /// Destinations that are on.
    pub destinations: BTreeMap<String, Destination>,
    /// Flows by kind.
    pub flows: BTreeMap<String, Arc<Flow>>,
    /// What is legal but may not be meant.
    pub warnings: Vec<String>,
}

/// Which missing variables are faults where the configuration says `required = true`: a process demands only
/// what it needs itself, since each gets no secrets but its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// None: tools and daemons that need no secrets.
    Nothing,
    /// Those of sources.
    Sources,
    /// Those of destinations.
    Destinations,
    /// All: a check.
    Everything,
}

/// A source, with its profile.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name: the last part of its URL.
    pub name: String,
    /// How its provider works.
    pub profile: Arc<Profile>,
    /// As written.
    pub settings: SourceSettings,
}

/// A destination that is on.
#[derive(Debug, Clone)]
pub struct Destination {
    /// Its name, which flows use.
    pub name: String,
    /// As written.
    pub settings: DestinationSettings,
}

impl Configured {
    /// Reads and checks everything, but demands no secrets.
    ///
    /// # Errors
    /// All faults found.
    pub fn load(dir: &Path) -> Result<Self, Vec<Fault>> {
        Self::load_demanding(dir, Demand::Nothing)
    }

    /// Reads and checks everything, and what is missing of what is demanded is a fault.
    ///
    /// # Errors
    /// All faults found.
    pub fn load_demanding(dir: &Path, demand: Demand) -> Result<Self, Vec<Fault>> {
        Self::load_serving(dir, demand, &[])
    }

    /// The same, with what the command line says instead of `publisher.destinations`, where it says something.
    ///
    /// # Errors
    /// All faults found.
    pub(crate) fn load_serving(
        dir: &Path,
        demand: Demand,
        destinations: &[String],
    ) -> Result<Self, Vec<Fault>> {
        let layers = Layers::read(dir)?;
        let mut check = Check { layers: &layers, demand, faults: Vec::new(), warnings: Vec::new() };
        let settings = check.settings(dir);
        let Some(mut settings) = settings else { return Err(check.faults) };
        if !destinations.is_empty() {
            settings.publisher.destinations.0 = destinations.to_vec();
        }
        check.bounds(&settings);
        check.ledger_fits(&settings);
        let mut flows = check.flows(&settings);
        let profiles = check.profiles(&settings, dir, &flows);
        let asking = profiles.values().filter(|profile| profile.settles_ties());
        for (kind, _) in asking.flat_map(|profile| profile.statuses()) {
            if let Some(flow) = flows.get_mut(kind) {
                Arc::make_mut(flow).keep_whole_history();
            }
        }
        let sources = check.sources(&settings, &profiles);
        let destinations = check.destinations(&settings);
        check.effects_have_destinations(&settings);
        check.served_are_known(&settings);
        if !check.faults.is_empty() {
            return Err(check.faults);
        }
        let warnings = check.warnings;
        Ok(Self { settings, sources, profiles, destinations, flows, warnings })
    }

    /// The warnings that concern a process with this demand.
    pub fn warnings_for(&self, demand: Demand) -> impl Iterator<Item = &String> {
        self.warnings.iter().filter(move |warning| match demand {
            Demand::Nothing => false,
            Demand::Sources => warning.starts_with("sources."),
            Demand::Destinations => warning.starts_with("destinations."),
            Demand::Everything => true,
        })
    }

    /// The destinations that this publisher serves: those of `publisher.destinations`, or all that are on. What the applier
    /// carries in its own transaction is one of them: its queue holds what was written before it was.
    pub fn served(&self) -> impl Iterator<Item = &Destination> {
        let names = &self.settings.publisher.destinations.0;
        self.destinations.values().filter(|destination| names.is_empty() || names.contains(&destination.name))
    }

    /// The flow of a kind.
    pub fn flow(&self, kind: &str) -> Option<&Flow> {
        self.flows.get(kind).map(AsRef::as_ref)
    }
}
