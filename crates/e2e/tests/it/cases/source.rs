//! The source that a case delivers to: its profile, and what the case says about its account.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Profiles of the tests' own, for providers that ship without one.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cases/profiles");
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles");

/// Other names of providers whose profile ships.
const ALIASES: [(&str, &str); 3] =
    [("tiendanube", "nuvemshop"), ("svix", "standard_webhooks"), ("standardwebhooks", "standard_webhooks")];

/// Cases in which the provider's word is wanted where two events of one moment differ.
const ASKING: [&str; 1] = ["W094"];
const ASKED: &str = "loja_asked";

/// One source.
pub(crate) struct Source {
    /// The last part of its address.
    pub(crate) name: String,
    pub(crate) secrets: Vec<String>,
    profile: String,
    zone: Option<String>,
    constants: Vec<(String, String)>,
    public_url: String,
}

impl Source {
    /// As a case file has it; the error names a provider that has no profile.
    pub(crate) fn of(file: &Value) -> Result<Self, String> {
        let style = file["provider_style"].as_str().unwrap_or_default();
        let asks = ASKING.contains(&file["id"].as_str().unwrap_or_default());
        let profile = if asks { Some(ASKED.to_owned()) } else { profile_of(style) };
        let profile = profile.ok_or_else(|| format!("provider {style}"))?;
        let signing = &file["signing"];
        let secrets = match &signing["secret"] {
            Value::Array(secrets) => secrets.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            secret => secret.as_str().map(str::to_owned).into_iter().collect(),
        };
        let steps = file["steps"].as_array().into_iter().flatten();
        let mut paths = steps.filter_map(|step| step["deliver"]["path"].as_str());
        let name = paths.find_map(last_part).unwrap_or_else(|| profile.clone());
        let constants = ["webhook_id"].iter().filter_map(|key| {
            let value = signing[*key].as_str()?;
            Some(((*key).to_owned(), value.to_owned()))
        });
        let url = ["url", "public_url", "notification_url"].iter().find_map(|key| signing[*key].as_str());
        Ok(Self {
            public_url: url.map_or_else(|| format!("https://example.com/webhooks/{name}"), str::to_owned),
            zone: file["config"]["source_timezone"].as_str().map(str::to_owned),
            constants: constants.collect(),
            secrets,
            profile,
            name,
        })
    }

    /// Whether all cases of it share one source and one receiver.
    pub(crate) fn is_shared(&self) -> bool {
        self.profile == "loja"
    }

    /// Writes its secrets into the folder of a configuration and gives its section.
    pub(crate) fn write(&self, dir: &Path) -> String {
        let own = match self.profile.as_str() {
            ASKED => Some(asked()),
            name => std::fs::read_to_string(own(name)).ok(),
        };
        if let Some(text) = own {
            std::fs::create_dir_all(dir.join("profiles")).unwrap();
            std::fs::write(dir.join("profiles").join(format!("{}.toml", self.profile)), text).unwrap();
        }
        let quoted = |text: &str| Value::from(text).to_string();
        let file = |name: &str| quoted(&format!("file:{}", dir.join(name).display()));
        let mut secrets = Vec::new();
        for (at, secret) in self.secrets.iter().enumerate() {
            std::fs::write(dir.join(format!("secret_{at}")), secret).unwrap();
            secrets.push(file(&format!("secret_{at}")));
        }
        let mut lines = vec![
            format!("[sources.{}]", self.name),
            format!("profile = {}", quoted(&self.profile)),
            format!("secrets = [{}]", secrets.join(", ")),
            format!("public_url = {}", quoted(&self.public_url)),
            format!("api_url = {}", file("api_url")),
            format!("api_token = {}", file("api_token")),
        ];
        lines.extend(self.zone.as_ref().map(|zone| format!("zone = {}", quoted(zone))));
        let constants: Vec<String> =
            self.constants.iter().map(|(key, value)| format!("{key} = {}", quoted(value))).collect();
        lines.push(format!("constants = {{ {} }}", constants.join(", ")));
        lines.join("\n") + "\n"
    }
}

/// The profile whose name is this provider's: all its words, or the first.
fn profile_of(style: &str) -> Option<String> {
    let plain = style.split(" (").next().unwrap_or_default().to_lowercase();
    let first = plain.split(' ').next().unwrap_or_default();
    [plain.replace(' ', "_"), plain.replace(' ', ""), first.to_owned()].into_iter().find_map(|name| {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name, |(_, profile)| (*profile).to_owned());
        let is_there = own(&name).exists() || Path::new(SHIPPED).join(format!("{name}.toml")).exists();
        (is_there && !name.is_empty()).then_some(name)
    })
}

/// `loja`, whose provider is asked where two events of one moment differ, and which speaks Portuguese there.
fn asked() -> String {
    let loja = std::fs::read_to_string(Path::new(SHIPPED).join("loja.toml")).unwrap();
    let [tie, map] = ["[version]\n", "[api.item.status.map]\n"];
    assert!(loja.contains(tie) && loja.contains(map));
    loja.replace(tie, "[version]\ntie = \"refetch\"\n")
        .replace(map, "[api.item.status.map]\npago = \"paid\"\n")
}

fn own(name: &str) -> PathBuf {
    Path::new(OWN).join(format!("{name}.toml"))
}

/// `NAME` of `/webhooks/NAME?query`.
fn last_part(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/webhooks/")?;
    let name = rest.split(['/', '?']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}
