//! Headers of a request, as the signature and the profile look at them.

use actix_web::{HttpRequest, http::header::HeaderMap};
use profile::QUERY;
use signature::Headers;

/// Longest query that is looked at.
const QUERY_BYTES_MAX: usize = 8 * 1024;

/// A request's headers as the signature crate wants them; query and path stand beside them as pseudo headers, so that
/// they are kept, and read again, the same way.
pub(crate) struct RequestHeaders<'a> {
    lines: &'a HeaderMap,
    query: &'a str,
    path: &'a str,
}

impl<'a> RequestHeaders<'a> {
    pub(crate) fn of(request: &'a HttpRequest) -> Self {
        let query = request.query_string();
        let query = if query.len() > QUERY_BYTES_MAX { "" } else { query };
        Self { lines: request.headers(), query, path: request.path() }
    }

    pub(crate) fn query_text(&self) -> &'a str {
        self.query
    }
}

impl Headers for RequestHeaders<'_> {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        match name.strip_prefix(':') {
            None => self.lines.get_all(name).for_each(|value| visit(value.as_bytes())),
            Some(_) if name == QUERY && !self.query.is_empty() => visit(self.query.as_bytes()),
            Some("path") => visit(self.path.as_bytes()),
            Some(_) => {}
        }
    }
}
