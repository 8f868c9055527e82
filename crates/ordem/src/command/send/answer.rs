//! What the receiver answered, and what to do about it.

use std::{fmt::Write as _, time::Duration};

use profile::Answers;
use reqwest::Url;
use serde::Serialize;

use crate::{report::Report, words};

/// One answer, and how long it took.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) ended: Ended,
    pub(crate) took: Duration,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: u16,
    pub(crate) answer: String,
    pub(crate) retry_after: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub(crate) struct Sent {
    source: String,
    url: String,
    /// Whether every answer says that the event is stored.
    stored: bool,
    answers: Vec<Answered>,
    /// What to do; null when nothing has to be done.
    advice: Option<String>,
    #[serde(skip)]
    statuses: Answers,
}

/// One answer.
#[derive(Debug, Serialize)]
struct Answered {
    status: u16,
    /// Nearly always empty.
    body: String,
    milliseconds: u128,
}

impl Sent {
    /// Nothing was sent yet.
    pub(crate) fn new(source: &str, url: &Url, statuses: Answers) -> Self {
        Self {
            source: source.to_owned(),
            url: url.to_string(),
            stored: false,
            answers: Vec::new(),
            advice: None,
            statuses,
        }
    }

    /// Takes an answer in; whether it says that the event is stored.
    pub(crate) fn add(&mut self, ended: Ended, took: Duration) -> bool {
        let Ended { status, answer, retry_after } = ended;
        self.stored = status == self.statuses.success;
        self.advice = self.advice(status, retry_after.as_deref());
        self.answers.push(Answered { status, body: answer, milliseconds: took.as_millis() });
        self.stored
    }

    fn advice(&self, status: u16, retry_after: Option<&str>) -> Option<String> {
        let source = &self.source;
        Some(match status {
            _ if status == self.statuses.success && status == self.statuses.refusal => format!(
                "the profile answers refusals with {status} as well: see `ordem events --source {source}` and \
                 `ordem refused --source {source}`"
            ),
            _ if status == self.statuses.success => return None,
            _ if status == self.statuses.refusal => format!(
                "the signature was refused: does the receiver run with the same secret, clock and public_url? \
                 `ordem refused --source {source}` names the reason"
            ),
            404 => format!(
                "nobody there knows sources.{source}: does the receiver run with this configuration and the secret, \
                 and is the path /webhooks/{source}?"
            ),
            405 => "something else than a receiver answered: see --url".to_owned(),
            413 => "the body is too large: see receiver.body_bytes_max".to_owned(),
            415 => {
                "the profile takes other content types: give one with --header 'Content-Type: …'".to_owned()
            }
            503 => {
                let when = retry_after.map_or_else(String::new, |after| format!(" in {after} s"));
                format!(
                    "it cannot be stored right now: try again{when}, and see the receiver's log and /readyz"
                )
            }
            200..300 => format!(
                "not the profile's answer for a stored event ({}): a handshake, or something else than a receiver",
                self.statuses.success
            ),
            _ => "no answer of a receiver's: see --url, or the log of what stands between".to_owned(),
        })
    }
}

impl Report for Sent {
    fn text(&self) -> String {
        let mut text = format!("POST {}\n", self.url);
        for Answered { status, body, milliseconds } in &self.answers {
            let body = if body.is_empty() { String::new() } else { format!(": {}", words::one_line(body)) };
            let word = if *status == self.statuses.success { "stored" } else { "not stored" };
            let _ = writeln!(text, "{status} {word}, {milliseconds} ms{body}");
        }
        if let Some(advice) = &self.advice {
            let _ = writeln!(text, "{advice}");
        }
        text
    }

    fn is_trouble(&self) -> bool {
        !self.stored
    }
}
