//! One conversation with a mail server, and what its answers mean.
//!
//! | What happens | Meaning | Why |
//! |---|---|---|
//! | 2xx to the text | delivered | the server has taken it on itself |
//! | 5xx to `RCPT TO` or to the text | permanent | this recipient, or this mail, will never be taken |
//! | 4xx anywhere, 421 | transient | greylisting, a full disk, a restart |
//! | 5xx to the greeting, to `EHLO`, to the log-in, to `MAIL FROM`; 500 to 504, 530, 534, 535, 538 anywhere | transient | it is about us, not about the mail: a password, a sender, a relay that an operator mends |
//! | no connection, no TLS, a refused address, no answer | transient | |

use std::{sync::Arc, time::Duration};

use lettre::{
    Address,
    transport::smtp::{
        Error,
        authentication::Mechanism,
        client::AsyncSmtpConnection,
        commands::{Data, Mail, Rcpt},
        extension::{Extension, MailParameter},
        response::Response,
    },
};
use service::AddressGuard;

use super::{
    mail::Letter,
    server::{Server, Tls},
};
use crate::{answer::Answer, excerpt::excerpt};

/// These say that we are not (yet) let in or not understood, at whatever step they come.
const ABOUT_US: [u16; 9] = [500, 501, 502, 503, 504, 530, 534, 535, 538];

/// A server that hangs up says so with this.
const HANGS_UP: u16 = 421;

/// The ways to log in that are tried, the strongest that both sides know.
const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];

/// Most of an answer that is kept, in bytes.
const SAID_BYTES_MAX: usize = 512;

/// A greeted server, logged in where that is asked for.
pub(super) struct Connection {
    connection: AsyncSmtpConnection,
    server: Arc<Server>,
}

/// What a server said to a mail that it took.
pub(super) struct Said {
    pub(super) code: u16,
    text: String,
}

impl Said {
    pub(super) fn excerpt(&self) -> Option<String> {
        excerpt(self.text.as_bytes(), SAID_BYTES_MAX)
    }
}

/// Why a mail was not taken.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The connection ended before the mail began: another one may do it.
    Unheard(String),
    /// Trying again later may help.
    ForNow { code: Option<u16>, reason: String },
    /// Trying again brings the same.
    ForGood { code: Option<u16>, reason: String },
}

impl Trouble {
    pub(super) fn answer(self) -> Answer {
        match self {
            Self::Unheard(reason) => Answer::transient(&reason),
            Self::ForNow { code, reason } => Answer { status: code, ..Answer::transient(&reason) },
            Self::ForGood { code, reason } => Answer { status: code, ..Answer::permanent(&reason) },
        }
    }

    fn now(reason: impl Into<String>) -> Self {
        Self::ForNow { code: None, reason: reason.into() }
    }

    /// About us: an operator can mend it, so it is never for good.
    fn ours(step: &str, error: &Error) -> Self {
        Self::ForNow { code: code_of(error), reason: format!("{step}: {}", text_of(error)) }
    }

    /// About this mail.
    fn of_mail(step: &str, error: &Error) -> Self {
        let (code, reason) = (code_of(error), format!("{step}: {}", text_of(error)));
        let is_about_us = code.is_some_and(|code| ABOUT_US.contains(&code));
        if error.is_permanent() && !is_about_us {
            Self::ForGood { code, reason }
        } else {
            Self::ForNow { code, reason }
        }
    }
}

impl Connection {
    /// Dials one of the server's vetted addresses, makes the connection secret as the address says, and logs in.
    pub(super) async fn open(
        server: Arc<Server>,
        guard: &AddressGuard,
        time: Duration,
    ) -> Result<Self, Trouble> {
        let opened = tokio::time::timeout(time, Self::open_untimed(server, guard)).await;
        opened.unwrap_or_else(|_| Err(Trouble::now("no connection to the mail server in time")))
    }

    async fn open_untimed(server: Arc<Server>, guard: &AddressGuard) -> Result<Self, Trouble> {
        let addresses = guard.resolve(&server.host, server.port).await;
        let addresses = addresses.map_err(|error| Trouble::now(error.to_string()))?;
        let wrapped = (server.tls == Tls::Wrapped).then(|| server.parameters.clone());
        // Addresses, not the name: what was judged is what is dialled. TLS is checked against the name.
        let dialled = AsyncSmtpConnection::connect_tokio1(&addresses[..], None, &server.hello, wrapped, None);
        let mut connection = dialled.await.map_err(|error| Trouble::ours("cannot connect", &error))?;
        let upgrade = match server.tls {
            Tls::Required => true,
            Tls::Opportunistic => connection.can_starttls(),
            Tls::None | Tls::Wrapped => false,
        };
        if upgrade {
            let upgraded = connection.starttls(server.parameters.clone(), &server.hello).await;
            upgraded.map_err(|error| Trouble::ours("STARTTLS", &error))?;
        }
        if let Some(credentials) = &server.credentials {
            let known = connection.auth(&MECHANISMS, credentials).await;
            known.map_err(|error| Trouble::ours("log-in", &error))?;
        }
        Ok(Self { connection, server })
    }

    pub(super) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Hands one mail over.
    pub(super) async fn send(&mut self, letter: &Letter) -> Result<Said, Trouble> {
        let begun =
            self.connection.command(Mail::new(Some(letter.from.clone()), self.parameters(&letter.to)?));
        begun.await.map_err(|error| match code_of(&error) {
            None | Some(HANGS_UP) => Trouble::Unheard(format!("MAIL FROM: {}", text_of(&error))),
            Some(_) => Trouble::ours("MAIL FROM", &error),
        })?;
        let named = self.connection.command(Rcpt::new(letter.to.clone(), Vec::new())).await;
        named.map_err(|error| Trouble::of_mail("RCPT TO", &error))?;
        self.connection.command(Data).await.map_err(|error| Trouble::of_mail("DATA", &error))?;
        let taken = self.connection.message(&letter.bytes).await;
        taken.map(said).map_err(|error| Trouble::of_mail("the mail", &error))
    }

    /// An address with letters beyond ASCII needs a server that takes such.
    fn parameters(&self, to: &Address) -> Result<Vec<MailParameter>, Trouble> {
        if to.to_string().is_ascii() {
            return Ok(Vec::new());
        }
        if self.connection.server_info().supports_feature(Extension::SmtpUtfEight) {
            return Ok(vec![MailParameter::SmtpUtfEight]);
        }
        let reason =
            "the recipient's address has letters that this server does not take (it has no SMTPUTF8)";
        Err(Trouble::ForGood { code: None, reason: reason.to_owned() })
    }
}

fn said(response: Response) -> Said {
    let text = response.message().collect::<Vec<_>>().join(" ");
    Said { code: number(&response.code().to_string()).unwrap_or(250), text }
}

fn code_of(error: &Error) -> Option<u16> {
    number(&error.status()?.to_string())
}

fn number(code: &str) -> Option<u16> {
    code.parse().ok()
}

/// What the server said, or what broke; never what we sent.
fn text_of(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match code_of(error) {
        Some(code) => format!("{code} {cause}"),
        None => cause.to_string(),
    }
}
