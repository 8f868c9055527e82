//! Where the mail server is and how it is spoken to, as of now: its address may come from a file that changes.

use std::{borrow::Cow, sync::Arc};

use lettre::transport::smtp::{authentication::Credentials, client::TlsParameters, extension::ClientId};
use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret, SecretString};
use service::{LiveSecrets, settings::SmtpSettings};
use url::Url;

/// How a connection is made secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tls {
    /// Not at all.
    None,
    /// From the first byte (`smtps://`).
    Wrapped,
    /// By `STARTTLS`, or there is no connection.
    Required,
    /// By `STARTTLS` where the server offers it.
    Opportunistic,
}

/// One mail server. Never shown: it holds the password.
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: Tls,
    pub(super) parameters: TlsParameters,
    pub(super) hello: ClientId,
    pub(super) credentials: Option<Credentials>,
}

/// Follows the reference. A change that cannot be used is logged, and the last good server stays.
pub(super) struct LiveServer {
    url: LiveSecrets,
    seen: Arc<Vec<SecretString>>,
    current: Arc<Server>,
}

impl LiveServer {
    /// Reads the reference.
    ///
    /// # Errors
    /// When it is not set or cannot be used.
    pub(super) fn resolve(settings: &SmtpSettings) -> anyhow::Result<Self> {
        let url = LiveSecrets::resolve(std::slice::from_ref(&settings.url)).map_err(anyhow::Error::msg)?;
        let seen = url.current();
        let current = Arc::new(server(&seen).map_err(anyhow::Error::msg)?);
        Ok(Self { url, seen, current })
    }

    /// The server in force.
    pub(super) fn current(&mut self) -> Arc<Server> {
        let now = self.url.current();
        if !Arc::ptr_eq(&now, &self.seen) {
            self.seen = now;
            match server(&self.seen) {
                Ok(server) => self.current = Arc::new(server),
                Err(reason) => {
                    tracing::error!(reason, "a changed mail server is unusable, the last good one stays")
                }
            }
        }
        self.current.clone()
    }
}

/// The reasons never repeat the address, which holds a password.
fn server(url: &[SecretString]) -> Result<Server, String> {
    let text = url.first().ok_or("url: is not set")?;
    let url = Url::parse(text.expose_secret()).map_err(|error| format!("url: {error}"))?;
    let tls = url.query_pairs().find(|(key, _)| key == "tls").map(|(_, value)| value.into_owned());
    let (tls, port) = match (url.scheme(), tls.as_deref()) {
        ("smtps", None) => (Tls::Wrapped, 465),
        ("smtp", None | Some("none")) => (Tls::None, 25),
        ("smtp", Some("required")) => (Tls::Required, 587),
        ("smtp", Some("opportunistic")) => (Tls::Opportunistic, 587),
        ("smtp", Some(_)) => return Err("url: tls is required, opportunistic or none".to_owned()),
        _ => return Err("url: is no smtp:// or smtps:// address".to_owned()),
    };
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or("url: names no host")?.to_owned();
    let credentials = match (decoded(url.username())?, url.password()) {
        (user, Some(password)) => Some(Credentials::new(user, decoded(password)?)),
        (user, None) if user.is_empty() => None,
        _ => return Err("url: has a user but no password".to_owned()),
    };
    if credentials.is_some() && tls == Tls::Opportunistic {
        return Err("url: a password goes only over TLS: say tls=required (or tls=none, if it may be read on the way)".to_owned());
    }
    let parameters = TlsParameters::new(host.trim_matches(['[', ']']).to_owned());
    Ok(Server {
        port: url.port().unwrap_or(port),
        tls,
        parameters: parameters.map_err(|error| format!("url: TLS cannot be set up: {error}"))?,
        hello: hello(&url),
        credentials,
        host,
    })
}

/// What we call ourselves: the path of the address, else a name that claims nothing.
fn hello(url: &Url) -> ClientId {
    match url.path().trim_matches('/') {
        "" => ClientId::Domain("localhost".to_owned()),
        name => ClientId::Domain(name.to_owned()),
    }
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8().map(Cow::into_owned);
    text.map_err(|_| "url: user or password is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Server, String> {
        server(&[SecretString::from(url)])
    }

    #[test]
    fn the_address_says_how_the_server_is_spoken_to() {
        for (url, host, port, tls, logs_in) in [
            ("smtp://mail.example.com", "mail.example.com", 25, Tls::None, false),
            ("smtp://u:p%40@mail.example.com?tls=required", "mail.example.com", 587, Tls::Required, true),
            (
                "smtp://mail.example.com:2525?tls=opportunistic",
                "mail.example.com",
                2525,
                Tls::Opportunistic,
                false,
            ),
            ("smtps://u:p@mail.example.com", "mail.example.com", 465, Tls::Wrapped, true),
            ("smtp://[::1]:25", "[::1]", 25, Tls::None, false),
        ] {
            let server = read(url).unwrap();
            let found = (server.host.as_str(), server.port, server.tls, server.credentials.is_some());
            assert_eq!(found, (host, port, tls, logs_in), "{url}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_without_being_repeated() {
        for url in [
            "http://s3cret.example.com",
            "smtp://mail.example.com?tls=s3cret",
            "smtp://s3cret@mail.example.com",
            "smtp://u:s3cret@mail.example.com?tls=opportunistic",
            "s3cret",
        ] {
            let Err(reason) = read(url) else { panic!("{url} was taken") };
            assert!(reason.starts_with("url: ") && !reason.contains("s3cret"), "{url}: {reason}");
        }
    }
}
