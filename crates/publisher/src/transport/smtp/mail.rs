//! The mail of an effect: the same bytes at each attempt.

use std::{fs, path::Path, time::SystemTime};

use anyhow::Context as _;
use db::outbox::ClaimedEffect;
use lettre::{
    Address, Message,
    message::{
        Mailbox, MultiPart, MultiPartBuilder, MultiPartKind, SinglePart,
        header::{ContentType, Header, HeaderName, HeaderValue},
    },
};
use service::{Escape, Template, settings::SmtpSettings};

use crate::message;

/// Longest subject, in characters; mail programs show fewer.
const SUBJECT_CHARS_MAX: usize = 500;

/// What all mails of a destination have in common.
pub(super) struct Stationery {
    from: Mailbox,
    reply_to: Option<Mailbox>,
    to: Template,
    subject: Template,
    text: Option<Template>,
    html: Option<Template>,
}

/// A mail that is ready to be handed over.
pub(super) struct Letter {
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) bytes: Vec<u8>,
}

impl Stationery {
    /// Reads addresses and templates.
    ///
    /// # Errors
    /// The key and the reason.
    pub(super) fn of(settings: &SmtpSettings) -> anyhow::Result<Self> {
        let mailbox = |key: &'static str, text: &str| text.parse::<Mailbox>().context(key);
        let compiled = |key: &'static str, text: &str, escape| {
            Template::compile(text, escape).map_err(anyhow::Error::msg).context(key)
        };
        let stationery = Self {
            from: mailbox("from", &settings.from)?,
            reply_to: settings.reply_to.as_deref().map(|text| mailbox("reply_to", text)).transpose()?,
            to: compiled("to", &settings.to, Escape::Text)?,
            subject: compiled("subject", &settings.subject, Escape::Text)?,
            text: source(settings.text.as_deref(), settings.text_file.as_deref())?
                .map(|text| compiled("text", &text, Escape::Text))
                .transpose()?,
            html: source(settings.html.as_deref(), settings.html_file.as_deref())?
                .map(|text| compiled("html", &text, Escape::Html))
                .transpose()?,
        };
        anyhow::ensure!(
            stationery.text.is_some() || stationery.html.is_some(),
            "a mail needs text, html or both"
        );
        Ok(stationery)
    }

    /// The mail of an effect.
    ///
    /// # Errors
    /// When the templates ask for what the effect lacks, or what they make of it is no recipient. The same effect brings
    /// the same error.
    pub(super) fn letter(&self, effect: &ClaimedEffect) -> Result<Letter, String> {
        let told = message::Message::of(effect);
        let rendered = |key: &str, template: &Template| {
            template.render(&told).map_err(|reason| format!("{key}: {reason}"))
        };
        let to = recipient(&rendered("to", &self.to)?)?;
        let (id, domain) = (effect.effect_id, self.from.email.domain());
        let mut head = Message::builder()
            .message_id(Some(format!("<{id}@{domain}>")))
            .date(SystemTime::from(effect.created_at))
            .from(self.from.clone())
            .to(to.clone())
            .subject(one_line(&rendered("subject", &self.subject)?))
            .header(AutoSubmitted);
        if let Some(reply_to) = &self.reply_to {
            head = head.reply_to(reply_to.clone());
        }
        let text = self.text.as_ref().map(|template| rendered("text", template)).transpose()?;
        let html = self.html.as_ref().map(|template| rendered("html", template)).transpose()?;
        let mail = match (text.map(plain), html.map(SinglePart::html)) {
            (Some(text), Some(html)) => {
                head.multipart(alternative(&id.to_string()).singlepart(text).singlepart(html))
            }
            (Some(part), None) | (None, Some(part)) => head.singlepart(part),
            (None, None) => return Err("a mail needs text, html or both".to_owned()),
        };
        let mail = mail.map_err(|error| error.to_string())?;
        Ok(Letter { from: self.from.email.clone(), to: to.email, bytes: mail.formatted() })
    }
}

fn source(text: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    match (text, file) {
        (Some(text), _) => Ok(Some(text.to_owned())),
        (None, Some(file)) => fs::read_to_string(file).with_context(|| file.display().to_string()).map(Some),
        (None, None) => Ok(None),
    }
}

/// One address, with a name before it or without. Never repeated in a reason: it is a customer's.
fn recipient(text: &str) -> Result<Mailbox, String> {
    let unusable = || "to: is no usable address of one recipient".to_owned();
    let text = text.trim();
    if text.chars().any(char::is_control) {
        return Err(unusable());
    }
    text.parse().map_err(|_| unusable())
}

/// A line end in a header would begin another header.
fn one_line(text: &str) -> String {
    let flat = text.trim().chars().map(|character| if character.is_control() { ' ' } else { character });
    flat.take(SUBJECT_CHARS_MAX).collect()
}

fn plain(text: String) -> SinglePart {
    SinglePart::builder().header(ContentType::TEXT_PLAIN).body(text)
}

/// The boundary is the effect's id and not chance, so that each attempt sends the same bytes.
fn alternative(id: &str) -> MultiPartBuilder {
    MultiPart::builder().kind(MultiPartKind::Alternative).boundary(format!("ordem-{id}"))
}

/// Says that no person wrote this, so that no out-of-office note comes back (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

#[cfg(test)]
mod tests;
