//! Headers of a request, as the signature and the profile look at them.

use actix_web::http::header::HeaderMap;
use signature::Headers;

/// A request's headers as the signature crate wants them.
pub(crate) struct RequestHeaders<'a>(pub(crate) &'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        for value in self.0.get_all(name) {
            visit(value.as_bytes());
        }
    }
}
