//! How a call says who we are: the secrets of the source, in the way that the profile wants them.

use std::time::Duration;

use http::HeaderValue;
use profile::{Auth, ClientCredentials, Credential, OAuth};
use reqwest::{Method, RequestBuilder};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use service::outbound;
use tokio::{sync::Mutex, time::Instant};

use crate::{Failure, provider::Provider, trouble::Trouble};

/// A token is fetched anew so long before it ends.
const MARGIN: Duration = Duration::from_secs(60);
/// How long a token is believed in that does not tell.
const USUAL: Duration = Duration::from_secs(300);
/// Longest time that a token is kept.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The token that was fetched last.
#[derive(Debug, Default)]
pub(crate) struct Fetched(Mutex<Option<(SecretString, Instant)>>);

/// RFC 6749, 5.1.
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    expires_in: Option<serde_json::Value>,
}

impl Provider {
    /// Adds what says who we are.
    ///
    /// # Errors
    /// When a token has to be fetched first, and is not to be had.
    pub(crate) async fn authorized(
        &self,
        request: RequestBuilder,
        auth: &Auth,
    ) -> Result<RequestBuilder, Trouble> {
        let tokens = self.token.current();
        let Some(token) = tokens.first() else { return Ok(request) };
        let token = token.expose_secret().trim();
        Ok(match auth {
            Auth::Bearer => request.bearer_auth(token),
            Auth::Basic => {
                let (user, password) = pair(token);
                request.basic_auth(user, Some(password))
            }
            Auth::BasicUser => request.basic_auth(token, Some("")),
            Auth::Header { header, prefix } => secret_header(request, header, &format!("{prefix}{token}")),
            Auth::Headers(headers) => {
                let users = self.user.as_ref().map(service::LiveSecrets::current).unwrap_or_default();
                let user = users.first().map(|user| user.expose_secret().trim()).unwrap_or_default();
                headers.iter().fold(request, |request, (name, of)| match of {
                    Credential::ApiToken => secret_header(request, name, token),
                    Credential::ApiUser => secret_header(request, name, user),
                })
            }
            Auth::OAuth(oauth) => request.bearer_auth(self.fetched(oauth, token).await?.expose_secret()),
        })
    }

    /// Forgets a fetched token that the provider does not accept; whether there was one.
    pub(crate) async fn forget_token(&self, auth: &Auth) -> bool {
        matches!(auth, Auth::OAuth(_)) && self.fetched.0.lock().await.take().is_some()
    }

    /// The token, fetched where the last one is about to end. One fetches it for all.
    async fn fetched(&self, oauth: &OAuth, credentials: &str) -> Result<SecretString, Trouble> {
        let mut kept = self.fetched.0.lock().await;
        if let Some((token, _)) = kept.as_ref().filter(|(_, until)| *until > Instant::now()) {
            return Ok(token.clone());
        }
        let answer = self.fetch_token(oauth, credentials).await?;
        let token = SecretString::from(answer.access_token);
        *kept = Some((token.clone(), Instant::now() + lifetime(answer.expires_in.as_ref())));
        Ok(token)
    }

    async fn fetch_token(&self, oauth: &OAuth, credentials: &str) -> Result<TokenAnswer, Trouble> {
        let no_token = |reason: String| Trouble::Lasting(Failure::NoToken(reason));
        let url = match &oauth.endpoint {
            profile::TokenEndpoint::Path(path) => self.address(path),
            profile::TokenEndpoint::Url(url) => {
                url.parse().map_err(|_| no_token("the profile's auth.url is no address".to_owned()))?
            }
        };
        let (id, secret) = pair(credentials);
        let mut form = vec![("grant_type", "client_credentials")];
        form.extend(oauth.scope.as_deref().map(|scope| ("scope", scope)));
        if oauth.credentials == ClientCredentials::Body {
            form.extend([("client_id", id), ("client_secret", secret)]);
        }
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self
            .client
            .request(Method::POST, url)
            .header(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(http::header::ACCEPT, "application/json")
            .body(form);
        let request = match oauth.credentials {
            ClientCredentials::Basic => request.basic_auth(id, Some(secret)),
            ClientCredentials::Body => request,
        };
        let response = self.client.send(request).await?;
        let status = response.status();
        match status.as_u16() {
            200..300 => {}
            429 | 500.. => return Err(Trouble::Transient(Failure::Status(status.as_u16()))),
            // RFC 6749, 5.2: 400 where the client is not known as well.
            refused => {
                return Err(Trouble::Lasting(Failure::TokenRefused {
                    status: refused,
                    token: self.token_name.clone(),
                }));
            }
        }
        let body = outbound::body(response, self.response_bytes_max).await?;
        serde_json::from_slice(&body.bytes)
            .map_err(|_| no_token("the answer of the token endpoint has no access_token".to_owned()))
    }
}

/// `id:secret`, or `user:password`.
fn pair(token: &str) -> (&str, &str) {
    token.split_once(':').unwrap_or((token, ""))
}

fn lifetime(expires_in: Option<&serde_json::Value>) -> Duration {
    let told = expires_in.and_then(|told| told.as_f64().or_else(|| told.as_str()?.parse().ok()));
    let told = told.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let told = told.unwrap_or(USUAL).min(LONGEST);
    // A very short one is used for half its time.
    told.saturating_sub(MARGIN).max(told / 2)
}

/// What no header can hold is left out: the provider refuses the call, which names the token.
fn secret_header(request: RequestBuilder, name: &str, value: &str) -> RequestBuilder {
    match HeaderValue::from_str(value) {
        Ok(mut value) => {
            value.set_sensitive(true);
            request.header(name, value)
        }
        Err(_) => request,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_is_fetched_anew_before_it_ends() {
        let seconds = |told: serde_json::Value| lifetime(Some(&told)).as_secs();
        assert_eq!(seconds(json!(3_600)), 3_540);
        assert_eq!(seconds(json!("3600")), 3_540);
        assert_eq!(seconds(json!(60)), 30);
        assert_eq!(seconds(json!(1e12)), 86_340);
        assert_eq!(seconds(json!(-5)), 240);
        assert_eq!(lifetime(None).as_secs(), 240);
    }
}
