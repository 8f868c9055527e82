//! `ordem sign`: what a correctly signed request carries.

use std::{fmt::Write as _, path::Path};

use serde::Serialize;
use signature::Message;

use super::{
    profile::verify,
    signing::{Content, Signer, configured},
};
use crate::report::Report;

/// Print the headers, query and JSON values that a correctly signed request carries
///
/// Schemes that sign with the provider's private key cannot be imitated, and say so.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("signer").required(true).args(["source", "profile"])))]
pub(crate) struct Args {
    /// Sign as this source of the configuration demands: profile, secret, address and constants are its own.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Sign as this profile says; only its `[verify]` table is read, and no configuration.
    #[arg(long, value_name = "FILE", requires = "secret_env")]
    profile: Option<String>,
    /// A variable with the secret, for --profile.
    #[arg(long, value_name = "NAME", conflicts_with = "source")]
    secret_env: Option<String>,
    #[command(flatten)]
    content: Content,
    /// The message's id, where the scheme signs one.
    #[arg(long, default_value = "evt_1")]
    id: String,
    /// The path of the request; `/webhooks/NAME` with --source.
    #[arg(long)]
    path: Option<String>,
    /// The address as registered with the provider.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A constant that the signature covers.
    #[arg(long, value_name = "NAME=VALUE", value_parser = verify::pair)]
    constant: Vec<(String, String)>,
}

/// What to add to the request.
#[derive(Debug, Serialize)]
pub(crate) struct Carried {
    headers: Vec<(String, String)>,
    query: Vec<(String, String)>,
    json: Vec<(String, String)>,
}

impl Args {
    /// Signs.
    pub(crate) fn run(&self, dir: &Path) -> anyhow::Result<Carried> {
        let signer = self.signer(dir)?;
        let (headers, body) = (self.content.headers()?, self.content.body()?);
        let mut message = Message::new(&self.id, self.content.now(), &body);
        message.headers = &headers;
        let path = self.source.as_ref().map_or_else(|| "/".to_owned(), |name| format!("/webhooks/{name}"));
        message.target = signer.target(self.path.as_deref().unwrap_or(&path), &self.content.query);
        let signed = signer.sign(&message)?;
        Ok(Carried { headers: signed.headers, query: signed.query, json: signed.json })
    }

    fn signer(&self, dir: &Path) -> anyhow::Result<Signer> {
        let mut signer = match (&self.source, &self.profile, &self.secret_env) {
            (None, Some(file), Some(secret_env)) => Signer::of_profile(file, secret_env)?,
            (source, ..) => Signer::of_source(source.as_deref().unwrap_or_default(), &configured(dir)?)?,
        };
        if let Some(url) = &self.public_url {
            signer.public_url.clone_from(url);
        }
        // The first of a name counts.
        signer.constants.splice(0..0, self.constant.iter().cloned());
        Ok(signer)
    }
}

impl Report for Carried {
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.headers {
            let _ = writeln!(text, "{name}: {value}");
        }
        for (name, value) in &self.query {
            let _ = writeln!(text, "query {name}={value}");
        }
        for (path, value) in &self.json {
            let _ = writeln!(text, "json {path} = {value}");
        }
        text
    }
}
