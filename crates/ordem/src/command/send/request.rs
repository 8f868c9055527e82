//! What is posted, and where the signature goes in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use profile::{Incoming, Profile};
use reqwest::Url;
use signature::{Message, Signed};

use super::inject::with_text_at;
use crate::{command::signing::Signer, failure::BadInput};

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) url: Url,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The address of a source at a receiver.
pub(crate) fn url(source: &str, given: Option<&str>, listen: SocketAddr) -> Result<Url, BadInput> {
    let text = given.map_or_else(|| format!("http://{}", dialled(listen)), ToOwned::to_owned);
    let wrong = |why: &str| BadInput::new(format!("--url: \"{text}\" {why}"));
    let mut url: Url =
        text.parse().map_err(|_| wrong("is no address: write it like http://localhost:8080"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("is no address of HTTP: write it like http://localhost:8080"));
    }
    if Url::query(&url).is_some() || url.fragment().is_some() {
        return Err(wrong("has a query or a fragment: give the query with --query"));
    }
    if url.path() == "/" {
        url.set_path(&format!("/webhooks/{source}"));
    }
    Ok(url)
}

/// Where to dial for what listens there: "all addresses" is none that can be dialled everywhere.
fn dialled(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

impl Request {
    /// A request that nobody signed; it has a content type.
    pub(crate) fn new(mut url: Url, query: &str, body: Vec<u8>, mut headers: Vec<(String, String)>) -> Self {
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        if !has(&headers, "content-type") {
            headers.push(("content-type".to_owned(), content_type(&body).to_owned()));
        }
        Self { url, headers, body }
    }

    /// Adds what makes it acceptable.
    pub(crate) fn sign(
        &mut self,
        signer: &Signer,
        profile: &Profile,
        id: &str,
        now: i64,
    ) -> Result<(), BadInput> {
        let signed = if signer.scheme.verifies_items() {
            self.sign_items(signer, profile, id, now)?
        } else {
            self.signed(signer, &self.body, id, now)?
        };
        for (name, value) in signed.headers {
            self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
            self.headers.push((name, value));
        }
        for (name, value) in signed.query {
            self.set_parameter(&name, &value);
        }
        Ok(())
    }

    /// One parameter of the query, instead of those of its name; the others stay as they are written.
    fn set_parameter(&mut self, name: &str, value: &str) {
        let query = Url::query(&self.url).unwrap_or_default().to_owned();
        let is_other = |part: &&str| {
            let written = part.split('=').next().unwrap_or_default();
            written != name && !part.is_empty()
        };
        let others: Vec<&str> = query.split('&').filter(is_other).collect();
        self.url.set_query(Some(&others.join("&")).filter(|others| !others.is_empty()).map(String::as_str));
        self.url.query_pairs_mut().append_pair(name, value);
    }

    fn signed(&self, signer: &Signer, body: &[u8], id: &str, now: i64) -> Result<Signed, BadInput> {
        let mut message = Message::new(id, now, body);
        message.headers = &self.headers;
        message.target = signer.target(self.url.path(), Url::query(&self.url).unwrap_or_default());
        signer.sign(&message)
    }

    /// Signs each event by itself and puts its signature into it.
    fn sign_items(
        &mut self,
        signer: &Signer,
        profile: &Profile,
        id: &str,
        now: i64,
    ) -> Result<Signed, BadInput> {
        let mut all = Signed::default();
        let mut parts = Vec::new();
        for envelope in profile.envelopes(&Incoming { body: &self.body, headers: &self.headers }) {
            let place = place(&self.body, &envelope.body);
            let text = std::str::from_utf8(&envelope.body).ok();
            let (Some(place), Some(text)) = (place, text) else {
                return Err(BadInput::new(
                    "the signature stands in the body: only a body of plain JSON can be signed",
                ));
            };
            let signed = self.signed(signer, text.as_bytes(), id, now)?;
            let mut item = text.to_owned();
            for (path, value) in &signed.json {
                item = with_text_at(&item, path, value).map_err(BadInput::new)?;
            }
            parts.push((place, item));
            all = signed;
        }
        // From the end, so that the places before stay where they are.
        parts.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        for (place, item) in parts {
            self.body.splice(place, item.into_bytes());
        }
        Ok(all)
    }
}

/// Where a part that was borrowed from the whole stands in it.
fn place(whole: &[u8], part: &[u8]) -> Option<std::ops::Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
}

fn content_type(body: &[u8]) -> &'static str {
    match body.trim_ascii_start().first() {
        Some(b'{' | b'[') | None => "application/json",
        Some(_) => "application/x-www-form-urlencoded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_listens_everywhere_is_dialled_here() {
        for (listen, given, expected) in [
            ("0.0.0.0:8080", None, "http://127.0.0.1:8080/webhooks/loja"),
            ("[::]:80", None, "http://[::1]/webhooks/loja"),
            ("10.1.2.3:9", None, "http://10.1.2.3:9/webhooks/loja"),
            ("10.1.2.3:9", Some("https://shop.example"), "https://shop.example/webhooks/loja"),
            ("10.1.2.3:9", Some("http://a.example/in/loja"), "http://a.example/in/loja"),
        ] {
            assert_eq!(url("loja", given, listen.parse().unwrap()).unwrap().as_str(), expected);
        }
        for wrong in ["localhost:8080", "ftp://a.example", "http://a.example/?x=1", "x"] {
            assert!(url("loja", Some(wrong), "0.0.0.0:1".parse().unwrap()).is_err(), "{wrong}");
        }
    }
}
