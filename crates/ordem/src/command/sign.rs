//! `ordem sign`: what a correctly signed request carries.

use std::fmt::Write as _;

use domain::Clock as _;
use jiff::Timestamp;
use serde::Serialize;
use service::SystemClock;
use signature::{Message, Target};

use super::profile::verify;
use crate::{failure::BadInput, report::Report};

/// Print the headers, query and JSON values that a correctly signed request carries
///
/// Schemes that sign with the provider's private key cannot be imitated, and say so.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The profile; only its `[verify]` table is read.
    #[arg(long, value_name = "FILE")]
    profile: String,
    /// File with the body; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    body: String,
    /// A variable with the secret.
    #[arg(long, value_name = "NAME")]
    secret_env: String,
    /// The message's id, where the scheme signs one.
    #[arg(long, default_value = "evt_1")]
    id: String,
    /// The instant of signing.
    #[arg(long, value_name = "INSTANT")]
    now: Option<Timestamp>,
    /// File with headers that the signature covers, as `Name: value` lines or a JSON object.
    #[arg(long, value_name = "FILE")]
    headers: Option<String>,
    /// The query of the request, without the question mark.
    #[arg(long, default_value = "")]
    query: String,
    /// The path of the request.
    #[arg(long, default_value = "/")]
    path: String,
    /// The address as registered with the provider.
    #[arg(long, value_name = "URL", default_value = "")]
    public_url: String,
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
    pub(crate) fn run(&self) -> anyhow::Result<Carried> {
        let scheme = verify::scheme(&self.profile, &verify::profile_text(&self.profile)?)?;
        let (_, keys) = verify::keys(&scheme, &[], std::slice::from_ref(&self.secret_env))?;
        let headers = self.headers.as_deref().map(verify::headers).transpose()?.unwrap_or_default();
        let body = verify::bytes(&self.body)?;
        let now = self.now.unwrap_or_else(|| SystemClock.now()).as_second();
        let mut message = Message::new(&self.id, now, &body);
        message.headers = &headers;
        message.target = Target {
            method: "POST",
            path: &self.path,
            query: &self.query,
            url: &self.public_url,
            constants: &self.constant,
        };
        let key = keys.first().ok_or_else(|| BadInput::new("no secret"))?;
        let signed = scheme.sign_all(&message, key).map_err(|error| BadInput::new(error.to_string()))?;
        Ok(Carried { headers: signed.headers, query: signed.query, json: signed.json })
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
