//! `ordem profile try`: what a captured request or answer would become, without storing anything.

mod answer;
mod event;

use std::{fmt::Write as _, path::Path};

use domain::Clock as _;
use event::{Event, Maker};
use jiff::Timestamp;
use profile::{Incoming, Origin, Profile};
use serde::Serialize;
use service::SystemClock;
use signature::{Key, Refusal, Request, Target, Verified};

use super::{check, verify};
use crate::{report::Report, words};

/// Show what a captured request would become: verified or not, and what each event in it means
///
/// With --answer it is an answer of the provider's API instead, read as the reconciler would.
/// Exit code 0 when it was understood (an ignored or a test event is), 1 when it was refused or is malformed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The profile.
    #[arg(value_name = "FILE")]
    file: String,
    /// File of `Name: value` lines, or a JSON object; `-` for standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "answer")]
    headers: Option<String>,
    /// File with the body; `-` for standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "answer")]
    body: Option<String>,
    /// File with an answer of the provider's API; `-` for standard input. --headers are then those of the answer.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["body", "secret", "secret_env"])]
    answer: Option<String>,
    /// What it answers: list, list:NAME, get, fetch:NAME, or one item: item, event, NAME. The first that there is unless
    /// set.
    #[arg(long, value_name = "READER", requires = "answer")]
    reader: Option<String>,
    /// The query of the request, without the question mark.
    #[arg(long, default_value = "")]
    query: String,
    /// The address as registered with the provider.
    #[arg(long, value_name = "URL", default_value = "")]
    public_url: String,
    /// A constant that the signature covers.
    #[arg(long, value_name = "NAME=VALUE", value_parser = verify::pair)]
    constant: Vec<(String, String)>,
    /// A secret. It stays in the shell's history: prefer --secret-env.
    #[arg(long)]
    secret: Vec<String>,
    /// A variable with a secret.
    #[arg(long, value_name = "NAME")]
    secret_env: Vec<String>,
    /// The instant that counts as now.
    #[arg(long, value_name = "INSTANT")]
    now: Option<Timestamp>,
    /// The source's name, as part of the resource.
    #[arg(long, value_name = "NAME", default_value = "try")]
    source: String,
    /// The status that the resource has already.
    #[arg(long, value_name = "STATUS")]
    after: Option<String>,
}

/// What became of the request or the answer.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tried {
    understood: bool,
    /// Which secret it was signed with; null when refused.
    verified_by: Option<String>,
    /// The stable name of the reason why it was refused.
    refused: Option<&'static str>,
    /// The same for people, or why an answer is none.
    reason: Option<String>,
    /// As what an answer was read; null for a request.
    read_as: Option<String>,
    /// What would ask for the answer's next page.
    next_page: Option<String>,
    /// What is wrong with the profile.
    faults: Vec<check::Found>,
    events: Vec<Event>,
}

impl Args {
    /// Tries.
    pub(crate) fn run(&self, dir: &Path) -> anyhow::Result<Tried> {
        let text = verify::profile_text(&self.file)?;
        let mut tried = Tried::default();
        let profile = match Profile::parse(&self.file, &text) {
            Ok(profile) => profile,
            Err(faults) => {
                tried.faults = check::found(&text, faults).collect();
                return Ok(tried);
            }
        };
        let now = self.now.unwrap_or_else(|| SystemClock.now());
        let maker = Maker::new(&profile, dir, &self.source, self.after.as_deref(), now);
        let headers = self.headers.as_deref().map(verify::headers).transpose()?.unwrap_or_default();
        match (&self.answer, &self.body) {
            (Some(file), _) => self.answer(&maker, &verify::bytes(file)?, &headers, &mut tried)?,
            (None, file) => {
                let body = file.as_deref().map(verify::bytes).transpose()?.unwrap_or_default();
                self.request(&maker, &body, &headers, &mut tried)?;
            }
        }
        let malformed = tried.events.iter().any(|event| event.outcome == "malformed");
        tried.understood = tried.reason.is_none() && !malformed;
        Ok(tried)
    }

    fn answer(
        &self,
        maker: &Maker<'_>,
        answer: &[u8],
        headers: &[(String, String)],
        tried: &mut Tried,
    ) -> anyhow::Result<()> {
        let (read, trouble) = answer::read(maker, self.reader.as_deref(), answer, headers)?;
        tried.read_as = Some(read.reader);
        tried.reason = trouble.map(|error| error.to_string());
        (tried.events, tried.next_page) = (read.events, read.next);
        Ok(())
    }

    fn request(
        &self,
        maker: &Maker<'_>,
        body: &[u8],
        headers: &[(String, String)],
        tried: &mut Tried,
    ) -> anyhow::Result<()> {
        let profile = maker.profile;
        let (names, keys) = verify::keys(profile.scheme(), &self.secret, &self.secret_env)?;
        let (path, constants) = (format!("/webhooks/{}", self.source), self.constant.as_slice());
        let target =
            Target { method: "POST", path: &path, query: &self.query, url: &self.public_url, constants };
        let headers = &headers;
        let request = Request::new(headers, body, maker.now.as_second()).to(target);
        match verified(profile, &request, &keys) {
            Ok(verified) => {
                tried.verified_by = Some(names.get(verified.key_index).cloned().unwrap_or_default());
            }
            Err(refusal) => {
                tried.refused = Some(refusal.as_str());
                tried.reason = Some(refusal.to_string());
            }
        }
        for envelope in profile.envelopes(&Incoming { body, headers }) {
            tried.events.push(maker.event(Origin::Webhook, &envelope, headers)?);
        }
        Ok(())
    }
}

/// As the receiver does: where the signatures stand in the body, each event by its own.
fn verified(profile: &Profile, request: &Request<'_>, keys: &[Key]) -> Result<Verified, Refusal> {
    if !profile.scheme().verifies_items() {
        return profile.scheme().verify(request, keys);
    }
    let mut verified = Err(Refusal::Malformed);
    for item in profile.envelopes(&Incoming { body: request.body, headers: request.headers }) {
        verified = Ok(profile.scheme().verify(&Request { body: &item.body, ..*request }, keys)?);
    }
    verified
}

impl Report for Tried {
    fn text(&self) -> String {
        let faults: String = self.faults.iter().map(|fault| fault.told() + "\n").collect();
        let mut text = match (&self.read_as, &self.verified_by, &self.reason) {
            (Some(reader), _, None) => {
                format!("read as {reader}: {}\n", words::count(self.events.len(), "item"))
            }
            (Some(reader), _, Some(reason)) => format!("no answer for {reader}: {reason}\n"),
            (None, Some(secret), _) => format!("verified by {secret}\n"),
            (None, None, Some(reason)) => format!("refused: {reason}\n"),
            (None, None, None) => faults,
        };
        if let Some(next) = &self.next_page {
            let _ = writeln!(text, "next page: {}", words::one_line(next));
        }
        text.extend(self.events.iter().map(Event::text));
        text
    }

    fn is_trouble(&self) -> bool {
        !self.understood
    }
}
