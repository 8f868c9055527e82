//! Checks the sources: their profiles, what the profiles demand of them, and their secrets.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use domain::Flow;
use profile::Profile;

use crate::settings::{DatedSecret, Demand, Fault, SecretRef, Settings, Source, check::Check};

const SHIPPED_PROFILES: [(&str, &str); 19] = [
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
    ("pagpolar", include_str!("../../../../profiles/pagpolar.toml")),
    ("shopify", include_str!("../../../../profiles/shopify.toml")),
    ("square", include_str!("../../../../profiles/square.toml")),
    ("standard_webhooks", include_str!("../../../../profiles/standard_webhooks.toml")),
    ("stripe", include_str!("../../../../profiles/stripe.toml")),
    ("vtex", include_str!("../../../../profiles/vtex.toml")),
    ("woocommerce", include_str!("../../../../profiles/woocommerce.toml")),
    ("wploja", include_str!("../../../../profiles/wploja.toml")),
];

impl Check<'_> {
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
        let every = settings.reconciler.every.get();
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
            let secrets = references(&settings.secrets);
            let receives = self.any_set(&format!("{key}.secrets"), &secrets);
            if let Some(reference) = &settings.api_url {
                self.url_is_http(&format!("{key}.api_url"), reference);
            }
            if !receives {
                let demanded = matches!(self.demand, Demand::Sources | Demand::Everything);
                self.switched_off(&key, settings.required && demanded, &secrets, "it answers 404");
            }
            let Some(profile) = profiles.get(name) else { continue };
            if let Some(gives_up) =
                profile.gives_up_after().filter(|after| has_api && !after.is_zero() && every > *after)
            {
                self.warnings.push(format!(
                    "{key}: its provider repeats a delivery for {} s, but reconciler.every is {} s: what is lost is \
                     noticed only after that",
                    gives_up.as_secs(),
                    every.as_secs()
                ));
            }
            self.keys_fit(&format!("{key}.secrets"), profile, None, &secrets);
            for (group, secrets) in &settings.more_secrets {
                let list = format!("{key}.more_secrets.{group}");
                let secrets = references(secrets);
                if !self.any_set(&list, &secrets) && receives {
                    let names: Vec<_> = secrets.iter().map(ToString::to_string).collect();
                    self.warnings
                        .push(format!("{list} is not set, what needs it is refused: {}", names.join(", ")));
                }
                self.keys_fit(&list, profile, Some(group), &secrets);
            }
            if receives || profile.scheme().is_unsigned() {
                let source =
                    Source { name: name.clone(), profile: profile.clone(), settings: settings.clone() };
                on.insert(name.clone(), source);
            }
        }
        on
    }
}

fn references(secrets: &[DatedSecret]) -> Vec<SecretRef> {
    secrets.iter().map(|secret| secret.from.clone()).collect()
}
