//! What of a request may be signed besides its body and headers.

use crate::Refusal;

/// Where a request was sent to, as far as a signature can cover it. The default has none of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target<'a> {
    /// The method, such as `POST`.
    pub method: &'a str,
    /// The path as received, without the query.
    pub path: &'a str,
    /// The query as received, without the question mark.
    pub query: &'a str,
    /// The address as it was registered with the provider.
    pub url: &'a str,
    /// The source's own constants, such as the provider's id of this webhook.
    pub constants: &'a [(String, String)],
}

impl<'a> Target<'a> {
    /// The decoded value of a query parameter; nothing when it is not there.
    ///
    /// A parameter that comes twice with two values has none: nobody can say which of them counts.
    pub fn query_value(&self, name: &str) -> Option<String> {
        self.agreed_query_value(name).ok().flatten()
    }

    /// The same, telling a parameter that is not there from one that contradicts itself.
    pub(crate) fn agreed_query_value(&self, name: &str) -> Result<Option<String>, Refusal> {
        let mut values = form_urlencoded::parse(self.query.as_bytes()).filter(|(key, _)| key == name);
        let Some((_, first)) = values.next() else { return Ok(None) };
        let agreed = values.all(|(_, other)| other == first);
        if agreed { Ok(Some(first.into_owned())) } else { Err(Refusal::Malformed) }
    }

    /// A constant of the source.
    pub(crate) fn constant(&self, name: &str) -> Option<&'a str> {
        self.constants.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
