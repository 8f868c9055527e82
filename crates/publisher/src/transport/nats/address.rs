//! Where the server is and who we are, as of now: both may come from files that change.

use std::{borrow::Cow, sync::Arc};

use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret, SecretString};
use service::{LiveSecrets, settings::NatsSettings};
use url::Url;

/// Where clients connect unless the address says otherwise.
const PORT: u16 = 4222;

/// One server and how it knows us. Never shown: it holds the password.
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
    /// `tls://`: not without TLS. A server that asks for TLS gets it in any case.
    pub(super) requires_tls: bool,
    pub(super) login: Login,
}

/// How the server knows us.
pub(super) enum Login {
    /// Not at all.
    None,
    /// `nats://token@host`
    Token(String),
    /// `nats://user:password@host`
    Password(String, String),
    /// The content of a `.creds` file.
    Credentials(SecretString),
}

type Secrets = Arc<Vec<SecretString>>;

/// Follows the references. A change that cannot be used is logged, and the last good address stays.
pub(super) struct LiveAddress {
    url: LiveSecrets,
    credentials: LiveSecrets,
    seen: [Secrets; 2],
    current: Arc<Address>,
}

impl LiveAddress {
    /// Reads the references.
    ///
    /// # Errors
    /// When the address is not set, or one of them cannot be used.
    pub(super) fn resolve(settings: &NatsSettings) -> anyhow::Result<Self> {
        let resolve = |references: &[_]| LiveSecrets::resolve(references).map_err(anyhow::Error::msg);
        let url = resolve(std::slice::from_ref(&settings.url))?;
        let credentials = resolve(settings.credentials.as_slice())?;
        if settings.credentials.is_some() && credentials.current().is_empty() {
            anyhow::bail!("credentials: is not set");
        }
        let seen = [url.current(), credentials.current()];
        let current = Arc::new(address(&seen).map_err(anyhow::Error::msg)?);
        Ok(Self { url, credentials, seen, current })
    }

    /// The address in force.
    pub(super) fn current(&mut self) -> Arc<Address> {
        let now = [self.url.current(), self.credentials.current()];
        if !now.iter().zip(&self.seen).all(|(now, seen)| Arc::ptr_eq(now, seen)) {
            self.seen = now;
            match address(&self.seen) {
                Ok(address) => self.current = Arc::new(address),
                Err(reason) => {
                    tracing::error!(reason, "a changed NATS address is unusable, the last good one stays")
                }
            }
        }
        self.current.clone()
    }
}

/// The reasons never repeat the address, which holds a password.
fn address([url, credentials]: &[Secrets; 2]) -> Result<Address, String> {
    let text = url.first().ok_or("url: is not set")?;
    let url = Url::parse(text.expose_secret()).map_err(|error| format!("url: {error}"))?;
    if !matches!(url.scheme(), "nats" | "tls") {
        return Err("url: is no nats:// or tls:// address".to_owned());
    }
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or("url: names no host")?;
    let login = match (credentials.first(), decoded(url.username())?, url.password()) {
        (Some(credentials), _, _) => {
            // Read once here, so that a broken file is found before it is needed.
            async_nats::ConnectOptions::with_credentials(credentials.expose_secret())
                .map_err(|_| "credentials: is no content of a .creds file".to_owned())?;
            Login::Credentials(credentials.clone())
        }
        (None, user, Some(password)) => Login::Password(user, decoded(password)?),
        (None, token, None) if token.is_empty() => Login::None,
        (None, token, None) => Login::Token(token),
    };
    Ok(Address {
        host: host.trim_matches(['[', ']']).to_owned(),
        port: url.port().unwrap_or(PORT),
        requires_tls: url.scheme() == "tls",
        login,
    })
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8().map(Cow::into_owned);
    text.map_err(|_| "url: user or password is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Address, String> {
        address(&[Arc::new(vec![SecretString::from(url)]), Arc::default()])
    }

    #[test]
    fn the_address_says_where_and_as_whom() {
        let plain = read("nats://nats.example.com").unwrap();
        assert_eq!((plain.host.as_str(), plain.port, plain.requires_tls), ("nats.example.com", PORT, false));
        assert!(matches!(plain.login, Login::None));
        let full = read("tls://ana:p%40ss@[::1]:4333").unwrap();
        assert_eq!((full.host.as_str(), full.port, full.requires_tls), ("::1", 4333, true));
        assert!(matches!(full.login, Login::Password(user, password) if user == "ana" && password == "p@ss"));
        assert!(matches!(read("nats://t0ken@h").unwrap().login, Login::Token(token) if token == "t0ken"));
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_without_being_repeated() {
        for url in ["http://s3cret.example.com", "s3cret", "nats://"] {
            let Err(reason) = read(url) else { panic!("{url} was taken") };
            assert!(reason.starts_with("url: ") && !reason.contains("s3cret"), "{url}: {reason}");
        }
    }
}
