//! What a signature covers, and what must be kept or configured to verify it.

use super::{Kind, Scheme};
use crate::place::Location;
use crate::signed::{Made, SignedScheme};

impl Scheme {
    fn parts(&self) -> Vec<&SignedScheme> {
        match &self.0 {
            Kind::Signed(scheme) | Kind::Basic(scheme) => vec![scheme],
            Kind::All(checks) | Kind::Any(checks) => checks.iter().flat_map(Scheme::parts).collect(),
            Kind::Hmac(_) | Kind::Standard(_) | Kind::Unsigned => Vec::new(),
        }
    }

    /// The headers, in lower case, that must be kept beside the body to verify it again.
    pub fn headers(&self) -> Vec<&str> {
        match &self.0 {
            Kind::Hmac(scheme) => vec![&scheme.header],
            Kind::Standard(scheme) => scheme.headers().to_vec(),
            Kind::Signed(scheme) | Kind::Basic(scheme) => scheme.headers(),
            Kind::All(checks) | Kind::Any(checks) => checks.iter().flat_map(Scheme::headers).collect(),
            Kind::Unsigned => Vec::new(),
        }
    }

    /// Whether the signature covers the value of this header (most schemes cover the body alone).
    pub fn covers_header(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Hmac(_) | Kind::Unsigned => false,
            Kind::Standard(scheme) => scheme.covers_header(name),
            Kind::Signed(scheme) | Kind::Basic(scheme) => {
                scheme.made != Made::Token && scheme.covers_header(name)
            }
            Kind::All(checks) => checks.iter().any(|check| check.covers_header(name)),
            Kind::Any(checks) => checks.iter().all(|check| check.covers_header(name)),
        }
    }

    /// Whether the signature covers the value of this query parameter.
    pub fn covers_query(&self, name: &str) -> bool {
        let covers = |scheme: &&SignedScheme| {
            scheme.made != Made::Token && scheme.text.queries().any(|covered| covered == name)
        };
        match &self.0 {
            Kind::Any(checks) => checks.iter().all(|check| check.covers_query(name)),
            _ => self.parts().iter().any(covers),
        }
    }

    /// Whether the signature covers the body.
    pub fn covers_body(&self) -> bool {
        match &self.0 {
            Kind::Hmac(_) | Kind::Standard(_) => true,
            Kind::Unsigned => false,
            Kind::Signed(scheme) | Kind::Basic(scheme) => {
                scheme.made != Made::Token && scheme.text.covers_body()
            }
            Kind::All(checks) => checks.iter().any(Scheme::covers_body),
            Kind::Any(checks) => checks.iter().all(Scheme::covers_body),
        }
    }

    /// Whether nothing is signed.
    pub fn is_unsigned(&self) -> bool {
        matches!(self.0, Kind::Unsigned)
    }

    /// Whether the signature stands in the JSON body: then each event of a request carries its own.
    pub fn verifies_items(&self) -> bool {
        self.parts().iter().any(|scheme| matches!(scheme.place.location, Location::Json(_)))
    }

    /// Whether the query must be kept to verify again.
    pub fn needs_query(&self) -> bool {
        self.parts().iter().any(|scheme| !scheme.queries().is_empty())
    }

    /// Whether the path must be kept to verify again.
    pub fn needs_path(&self) -> bool {
        self.parts().iter().any(|scheme| scheme.text.needs_path())
    }

    /// Whether the source must say its public address.
    pub fn needs_url(&self) -> bool {
        self.parts().iter().any(|scheme| scheme.text.needs_url())
    }

    /// Constants that the source must have.
    pub fn constants(&self) -> Vec<&str> {
        self.parts().into_iter().flat_map(|scheme| scheme.text.constants()).collect()
    }

    /// Named lists of secrets that the source must have.
    pub fn groups(&self) -> Vec<&str> {
        match &self.0 {
            Kind::Standard(scheme) => scheme.secrets.as_deref().into_iter().collect(),
            Kind::All(checks) | Kind::Any(checks) => checks.iter().flat_map(Scheme::groups).collect(),
            _ => self.parts().into_iter().filter_map(|scheme| scheme.secrets.as_deref()).collect(),
        }
    }
}
