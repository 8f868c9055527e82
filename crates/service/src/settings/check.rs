//! Checks the configuration as a whole and compiles what is in it.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use domain::Flow;
use serde::de::DeserializeOwned;

use crate::settings::{Demand, Fault, SecretRef, Settings, layers::Layers};

const SECTIONS: [&str; 11] = [
    "applier",
    "database",
    "destinations",
    "flows",
    "ledger",
    "publisher",
    "receiver",
    "reconciler",
    "service",
    "sources",
    "telemetry",
];

/// The faults and warnings found so far.
pub(crate) struct Check<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) demand: Demand,
    pub(crate) faults: Vec<Fault>,
    pub(crate) warnings: Vec<String>,
}

impl Check<'_> {
    pub(crate) fn add(&mut self, key: &str, reason: impl Into<String>) {
        self.faults.push(self.layers.fault(key, reason));
    }

    fn section<T: DeserializeOwned>(&mut self, path: &str) -> Option<T> {
        self.kept(self.layers.section(path))
    }

    /// What was read, or its fault put to the others.
    pub(crate) fn kept<T>(&mut self, read: Result<T, Fault>) -> Option<T> {
        read.map_err(|fault| self.faults.push(fault)).ok()
    }

    fn named<T: DeserializeOwned>(&mut self, path: &str) -> BTreeMap<String, T> {
        let names = self.layers.names(path);
        names
            .into_iter()
            .filter_map(|name| Some((name.clone(), self.section(&format!("{path}.{name}"))?)))
            .collect()
    }

    pub(crate) fn settings(&mut self, dir: &Path) -> Option<Settings> {
        for name in self.layers.names("") {
            if !SECTIONS.contains(&name.as_str()) {
                self.add(&name, format!("unknown section (there are: {})", SECTIONS.join(", ")));
            }
        }
        let service = self.section("service");
        let telemetry = self.section("telemetry");
        let database = self.section("database");
        let receiver = self.section("receiver");
        let applier = self.section("applier");
        let publisher = self.section("publisher");
        let reconciler = self.section("reconciler");
        let ledger = self.section("ledger");
        let sources = self.named("sources");
        let destinations = self.destination_settings(dir);
        let flows = self.named("flows");
        Some(Settings {
            service: service?,
            telemetry: telemetry?,
            database: database?,
            receiver: receiver?,
            applier: applier?,
            publisher: publisher?,
            reconciler: reconciler?,
            ledger: ledger?,
            sources,
            destinations,
            flows,
        })
    }

    pub(crate) fn flows(&mut self, settings: &Settings) -> BTreeMap<String, Arc<Flow>> {
        let mut flows = BTreeMap::new();
        for (kind, spec) in &settings.flows {
            match spec.compile() {
                Ok(flow) => {
                    flows.insert(kind.clone(), Arc::new(flow));
                }
                Err(faults) => {
                    for fault in faults {
                        self.add(&format!("flows.{kind}.{}", fault.key), fault.reason);
                    }
                }
            }
        }
        flows
    }

    pub(crate) fn effects_have_destinations(&mut self, settings: &Settings) {
        for (kind, flow) in &settings.flows {
            for (at, effect) in flow.effects.iter().enumerate() {
                let missing = !settings.destinations.contains_key(&effect.destination);
                if missing && !self.is_faulty(&format!("destinations.{}", effect.destination)) {
                    self.add(
                        &format!("flows.{kind}.effects[{at}].destination"),
                        format!("no destination \"{}\": add [destinations.{0}]", effect.destination),
                    );
                }
            }
        }
    }

    /// Whether this table has a fault already: what follows from that is not told again.
    pub(crate) fn is_faulty(&self, table: &str) -> bool {
        self.faults.iter().any(|fault| {
            fault.key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Whether one of the references is set; those that are set but unusable are faults.
    pub(crate) fn any_set(&mut self, key: &str, references: &[SecretRef]) -> bool {
        let mut set = false;
        for reference in references {
            match reference.resolve() {
                Ok(found) => set |= found.is_some(),
                Err(reason) => {
                    self.add(key, reason);
                    set = true;
                }
            }
        }
        set
    }

    pub(crate) fn switched_off(
        &mut self,
        key: &str,
        required: bool,
        missing: &[SecretRef],
        consequence: &str,
    ) {
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let names = if names.is_empty() { "no secret".to_owned() } else { names.join(", ") };
        if required {
            self.add(key, format!("is required, but not set: {names}"));
        } else {
            self.warnings.push(format!("{key} is off, {consequence}: not set: {names}"));
        }
    }
}
