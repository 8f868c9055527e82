//! Checks the destinations: their kinds, and what each kind needs.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use config::Value;
use http::{HeaderName, HeaderValue};

use crate::{
    Escape,
    settings::{
        Care, Demand, Destination, DestinationSettings, HeaderSource, HttpSettings, Reach, SecretRef,
        Settings, Signing, check::Check,
    },
};

/// What a call has already: by the protocol, or as the signature.
const RESERVED_HEADERS: [&str; 9] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "idempotency-key",
    "transfer-encoding",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
];

impl Check<'_> {
    /// Reads `[destinations.NAME]`: the keys of all kinds, and those of its `type`.
    pub(crate) fn destination_settings(&mut self, dir: &Path) -> BTreeMap<String, DestinationSettings> {
        let names = self.layers.names("destinations");
        let read = |name: String| {
            let mut settings = self.destination_section(&format!("destinations.{name}"))?;
            relative_to(dir, &mut settings.reach);
            Some((name, settings))
        };
        names.into_iter().filter_map(read).collect()
    }

    fn destination_section(&mut self, path: &str) -> Option<DestinationSettings> {
        let table: HashMap<String, Value> = self.kept(self.layers.section(path))?;
        let (care, mut own): (HashMap<_, _>, HashMap<_, _>) =
            table.into_iter().partition(|(key, _)| Care::KEYS.contains(&key.as_str()));
        let Some(kind) = own.remove("type").and_then(|kind| kind.into_string().ok()) else {
            self.add(&format!("{path}.type"), format!("is missing: one of {}", Reach::TYPES.join(", ")));
            return None;
        };
        let layers = self.layers;
        let reach = match kind.as_str() {
            "http" => layers.typed(path, own).map(|own| Reach::Http(Box::new(own))),
            "sql" => layers.typed(path, own).map(Reach::Sql),
            "smtp" => layers.typed(path, own).map(|own| Reach::Smtp(Box::new(own))),
            "nats" => layers.typed(path, own).map(Reach::Nats),
            "file" => layers.typed(path, own).map(Reach::File),
            "stdout" => layers.typed(path, own).map(Reach::Stdout),
            _ => {
                let types = Reach::TYPES.join(", ");
                Err(layers.fault(&format!("{path}.type"), format!("\"{kind}\" is none of {types}")))
            }
        };
        let (reach, care) = (self.kept(reach), self.kept(layers.typed(path, care)));
        Some(DestinationSettings { reach: reach?, care: care? })
    }

    pub(crate) fn destinations(&mut self, settings: &Settings) -> BTreeMap<String, Destination> {
        let mut on = BTreeMap::new();
        for (name, destination) in &settings.destinations {
            let key = format!("destinations.{name}");
            self.care_fits(&key, &destination.care);
            let missing = self.missing(&key, &destination.reach);
            self.reach_fits(&key, &destination.reach);
            if missing.is_empty() {
                on.insert(name.clone(), Destination { name: name.clone(), settings: destination.clone() });
            } else {
                let demanded = matches!(self.demand, Demand::Destinations | Demand::Everything);
                let required = destination.care.required && demanded;
                self.switched_off(&key, required, &missing, "its effects wait");
            }
        }
        on
    }

    /// Each name in `publisher.destinations` is one that there is.
    pub(crate) fn served_are_known(&mut self, settings: &Settings) {
        for name in &settings.publisher.destinations.0 {
            if !settings.destinations.contains_key(name) {
                let known: Vec<&str> = settings.destinations.keys().map(String::as_str).collect();
                let reason = format!("no destination \"{name}\" (there are: {})", known.join(", "));
                self.add("publisher.destinations", reason);
            }
        }
    }

    fn care_fits(&mut self, key: &str, care: &Care) {
        if care.concurrency == Some(0) || care.attempts_max == Some(0) {
            self.add(key, "concurrency and attempts_max must be at least 1");
        }
        let spans = [
            ("backoff_base", care.backoff_base),
            ("backoff_cap", care.backoff_cap),
            ("request_timeout", care.request_timeout),
            ("age_max", care.age_max),
        ];
        for (name, span) in spans {
            if span.is_some_and(|span| span.get().is_zero()) {
                self.add(&format!("{key}.{name}"), "must be longer than 0");
            }
        }
    }

    /// The references without which the destination is off: those of each group of which none is set.
    fn missing(&mut self, key: &str, reach: &Reach) -> Vec<SecretRef> {
        let groups: Vec<(&str, &[SecretRef])> = match reach {
            Reach::Http(http) => {
                let signs = http.signing == Signing::StandardWebhooks;
                let url = ("url", std::slice::from_ref(&http.url));
                std::iter::once(url).chain(signs.then_some(("secrets", http.secrets.as_slice()))).collect()
            }
            Reach::Smtp(smtp) => vec![("url", std::slice::from_ref(&smtp.url))],
            Reach::Nats(nats) => vec![("url", std::slice::from_ref(&nats.url))],
            Reach::Sql(_) | Reach::File(_) | Reach::Stdout(_) => Vec::new(),
        };
        let mut missing = Vec::new();
        for (name, references) in groups {
            if !self.any_set(&format!("{key}.{name}"), references) {
                missing.extend_from_slice(references);
            }
        }
        if let Reach::Http(http) = reach {
            for (name, source) in &http.headers {
                if let HeaderSource::Secret(reference) = source
                    && !self.any_set(&format!("{key}.headers.{name}"), std::slice::from_ref(reference))
                {
                    missing.push(reference.clone());
                }
            }
        }
        missing
    }

    fn reach_fits(&mut self, key: &str, reach: &Reach) {
        match reach {
            Reach::Http(http) => self.http_fits(key, http),
            Reach::Sql(sql) => {
                if !is_function_name(&sql.function) {
                    let reason = format!("\"{}\" is no function: write it like booking.post", sql.function);
                    self.add(&format!("{key}.function"), reason);
                }
            }
            Reach::Smtp(smtp) => self.smtp_fits(key, smtp),
            Reach::Nats(nats) => self.nats_fits(key, nats),
            Reach::File(_) | Reach::Stdout(_) => {}
        }
    }

    fn http_fits(&mut self, key: &str, http: &HttpSettings) {
        match http.signing {
            Signing::StandardWebhooks if http.secrets.is_empty() => self.add(
                &format!("{key}.secrets"),
                "is empty: name a secret, or say signing = \"none\" for calls without a signature",
            ),
            Signing::StandardWebhooks => self.signing_keys_fit(key, &http.secrets),
            Signing::None if !http.secrets.is_empty() => {
                self.add(&format!("{key}.secrets"), "sign nothing with signing = \"none\"");
            }
            Signing::None => {}
        }
        self.url_is_http(&format!("{key}.url"), &http.url);
        self.headers_fit(&format!("{key}.headers"), &http.headers);
        if let Err(reason) = http.path_template() {
            self.add(&format!("{key}.path"), reason);
        }
        if let Err(reason) = http.body_template() {
            let name = if http.body.is_some() { "body" } else { "body_file" };
            self.add(&format!("{key}.{name}"), reason);
        }
        if let Some(path) = &http.path {
            self.template_fits(&format!("{key}.path"), path, Escape::Path);
        }
        self.part_fits(key, "body", (http.body.as_deref(), http.body_file.as_deref()), Escape::Json);
        if http.content_type.as_deref().is_some_and(|text| HeaderValue::from_str(text).is_err()) {
            self.add(&format!("{key}.content_type"), "is no value of a header");
        }
    }

    fn headers_fit(&mut self, key: &str, headers: &BTreeMap<String, HeaderSource>) {
        for (name, source) in headers {
            let at = format!("{key}.{name}");
            match name.parse::<HeaderName>() {
                Ok(name) if RESERVED_HEADERS.contains(&name.as_str()) => {
                    self.add(&at, "is set by Ordem itself");
                }
                Ok(_) => {}
                Err(_) => self.add(&at, "is no name of a header"),
            }
            if let HeaderSource::Text(text) = source
                && HeaderValue::from_str(text).is_err()
            {
                self.add(&at, "is no value of a header");
            }
        }
    }
}

/// Paths in the configuration are relative to its folder.
fn relative_to(dir: &Path, reach: &mut Reach) {
    let join = |path: &mut PathBuf| *path = dir.join(&*path);
    match reach {
        Reach::Http(http) => http.body_file.iter_mut().for_each(join),
        Reach::Smtp(smtp) => smtp.text_file.iter_mut().chain(&mut smtp.html_file).for_each(join),
        Reach::File(file) => join(&mut file.path),
        Reach::Sql(_) | Reach::Nats(_) | Reach::Stdout(_) => {}
    }
}

/// `schema.name`, each of which PostgreSQL takes as a name without cutting it.
pub(crate) fn is_function_name(text: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.len() < 64 && !name.contains(['\0', '"']);
    text.split_once('.').is_some_and(|(schema, name)| is_name(schema) && is_name(name) && !name.contains('.'))
}
