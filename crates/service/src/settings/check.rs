//! Checks the configuration as a whole and compiles what is in it.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use domain::Flow;
use profile::Profile;
use serde::de::DeserializeOwned;

use crate::settings::{Demand, Destination, Fault, SecretRef, Settings, Source, layers::Layers};

const SHIPPED_PROFILES: [(&str, &str); 18] = [
    ("adyen", include_str!("../../../../profiles/adyen.toml")),
    ("asaas", include_str!("../../../../profiles/asaas.toml")),
    ("github", include_str!("../../../../profiles/github.toml")),
    ("hotmart", include_str!("../../../../profiles/hotmart.toml")),
    ("kiwify", include_str!("../../../../profiles/kiwify.toml")),
    ("lemonsqueezy", include_str!("../../../../profiles/lemonsqueezy.toml")),
    ("loja", include_str!("../../../../profiles/loja.toml")),
    ("mercadopago", include_str!("../../../../profiles/mercadopago.toml")),
    ("nuvemshop", include_str!("../../../../profiles/nuvemshop.toml")),
    ("paddle", include_str!("../../../../profiles/paddle.toml")),
    ("pagbank", include_str!("../../../../profiles/pagbank.toml")),
    ("shopify", include_str!("../../../../profiles/shopify.toml")),
    ("square", include_str!("../../../../profiles/square.toml")),
    ("standard_webhooks", include_str!("../../../../profiles/standard_webhooks.toml")),
    ("stripe", include_str!("../../../../profiles/stripe.toml")),
    ("vtex", include_str!("../../../../profiles/vtex.toml")),
    ("woocommerce", include_str!("../../../../profiles/woocommerce.toml")),
    ("wploja", include_str!("../../../../profiles/wploja.toml")),
];
const SECTIONS: [&str; 10] = [
    "applier",
    "database",
    "destinations",
    "flows",
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
        self.layers.section(path).map_err(|fault| self.faults.push(fault)).ok()
    }

    fn named<T: DeserializeOwned>(&mut self, path: &str) -> BTreeMap<String, T> {
        let names = self.layers.names(path);
        names
            .into_iter()
            .filter_map(|name| Some((name.clone(), self.section(&format!("{path}.{name}"))?)))
            .collect()
    }

    pub(crate) fn settings(&mut self) -> Option<Settings> {
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
        let sources = self.named("sources");
        let destinations = self.named("destinations");
        let flows = self.named("flows");
        Some(Settings {
            service: service?,
            telemetry: telemetry?,
            database: database?,
            receiver: receiver?,
            applier: applier?,
            publisher: publisher?,
            reconciler: reconciler?,
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

    pub(crate) fn profiles(
        &mut self,
        settings: &Settings,
        dir: &Path,
        flows: &BTreeMap<String, Arc<Flow>>,
    ) -> BTreeMap<String, Arc<Profile>> {
        let mut profiles = BTreeMap::new();
        for (name, source) in &settings.sources {
            let key = format!("sources.{name}.profile");
            let path = dir.join(&settings.service.profiles_dir).join(format!("{}.toml", source.profile));
            let shipped = SHIPPED_PROFILES.iter().find(|(shipped, _)| *shipped == source.profile);
            let (file, text) = match (std::fs::read_to_string(&path), shipped) {
                (Ok(text), _) => (path.display().to_string(), text),
                (Err(error), Some(_)) if error.kind() != std::io::ErrorKind::NotFound => {
                    self.add(&key, format!("{} cannot be read: {error}", path.display()));
                    continue;
                }
                (Err(_), Some((name, text))) => {
                    (format!("embedded profiles/{name}.toml"), (*text).to_owned())
                }
                (Err(error), None) => {
                    self.add(&key, format!("no profile \"{}\": {}: {error}", source.profile, path.display()));
                    continue;
                }
            };
            let Some(setup) = self.setup(name, source) else { continue };
            match Profile::parse_with(&file, &text, &setup) {
                Ok(profile) => {
                    self.source_has_what_is_signed(name, source, &profile);
                    self.profile_fits_flows(&file, &profile, flows);
                    profiles.insert(name.clone(), Arc::new(profile));
                }
                Err(faults) => self.faults.extend(faults.into_iter().map(|fault| Fault {
                    file: fault.file,
                    key: fault.key,
                    reason: fault.reason,
                })),
            }
        }
        profiles
    }

    fn profile_fits_flows(&mut self, file: &str, profile: &Profile, flows: &BTreeMap<String, Arc<Flow>>) {
        for (kind, status) in profile.statuses() {
            if self.is_faulty(&format!("flows.{kind}")) {
                continue;
            }
            let reason = match flows.get(kind) {
                None => format!("no flow for its kind \"{kind}\": add [flows.{kind}]"),
                Some(flow) if flow.rank(status).is_none() => format!(
                    "\"{status}\" is no status of flows.{kind} (it has: {})",
                    flow.statuses().join(", ")
                ),
                Some(_) => continue,
            };
            let fault = Fault { file: file.to_owned(), key: "status".to_owned(), reason };
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
    }

    pub(crate) fn sources(
        &mut self,
        settings: &Settings,
        profiles: &BTreeMap<String, Arc<Profile>>,
    ) -> BTreeMap<String, Source> {
        let mut on = BTreeMap::new();
        for (name, settings) in &settings.sources {
            let key = format!("sources.{name}");
            if !name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
            {
                self.add(&key, "a source's name is part of its URL: only a-z, 0-9, - and _");
            }
            let has_api = self.any_set(&format!("{key}.api_url"), settings.api_url.as_slice());
            let has_token = self.any_set(&format!("{key}.api_token"), settings.api_token.as_slice());
            if has_api && !has_token {
                let token = settings.api_token.iter().map(ToString::to_string).next();
                let token = token.unwrap_or_else(|| format!("{key}.api_token"));
                self.warnings
                    .push(format!("{key} is not reconciled: its API has an address but no token: {token}"));
            }
            let receives = self.any_set(&format!("{key}.secrets"), &settings.secrets);
            if let Some(reference) = &settings.api_url {
                self.url_is_http(&format!("{key}.api_url"), reference);
            }
            if !receives {
                let demanded = matches!(self.demand, Demand::Sources | Demand::Everything);
                self.switched_off(&key, settings.required && demanded, &settings.secrets, "it answers 404");
            }
            let Some(profile) = profiles.get(name) else { continue };
            self.keys_fit(&key, profile, &settings.secrets);
            for (group, secrets) in &settings.more_secrets {
                self.any_set(&format!("{key}.more_secrets.{group}"), secrets);
                self.keys_fit(&key, profile, secrets);
            }
            if receives || profile.scheme().is_unsigned() {
                let source =
                    Source { name: name.clone(), profile: profile.clone(), settings: settings.clone() };
                on.insert(name.clone(), source);
            }
        }
        on
    }

    pub(crate) fn destinations(&mut self, settings: &Settings) -> BTreeMap<String, Destination> {
        let mut on = BTreeMap::new();
        for (name, destination) in &settings.destinations {
            let key = format!("destinations.{name}");
            let has_url = self.any_set(&format!("{key}.url"), std::slice::from_ref(&destination.url));
            let has_secret = self.any_set(&format!("{key}.secrets"), &destination.secrets);
            let timeout = destination.request_timeout.unwrap_or(settings.publisher.request_timeout);
            if settings.publisher.lease <= timeout {
                self.add(&format!("{key}.request_timeout"), "must be shorter than publisher.lease");
            }
            if destination.concurrency == Some(0) || destination.attempts_max == Some(0) {
                self.add(&key, "concurrency and attempts_max must be at least 1");
            }
            self.signing_keys_fit(&key, &destination.secrets);
            if has_url && has_secret {
                self.url_is_http(&format!("{key}.url"), &destination.url);
                on.insert(name.clone(), Destination { name: name.clone(), settings: destination.clone() });
            } else {
                let missing: Vec<SecretRef> = std::iter::once(&destination.url)
                    .filter(|_| !has_url)
                    .chain(destination.secrets.iter().filter(|_| !has_secret))
                    .cloned()
                    .collect();
                let demanded = matches!(self.demand, Demand::Destinations | Demand::Everything);
                self.switched_off(&key, destination.required && demanded, &missing, "its effects wait");
            }
        }
        on
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
    fn is_faulty(&self, table: &str) -> bool {
        self.faults.iter().any(|fault| {
            fault.key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Whether one of the references is set; those that are set but unusable are faults.
    fn any_set(&mut self, key: &str, references: &[SecretRef]) -> bool {
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

    fn switched_off(&mut self, key: &str, required: bool, missing: &[SecretRef], consequence: &str) {
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let names = if names.is_empty() { "no secret".to_owned() } else { names.join(", ") };
        if required {
            self.add(key, format!("is required, but not set: {names}"));
        } else {
            self.warnings.push(format!("{key} is off, {consequence}: not set: {names}"));
        }
    }
}
