//! The view of request headers that this crate needs, whatever HTTP library holds them.

/// Headers by name. Implemented for lists of `(name, value)` pairs; an HTTP crate implements it for its own map.
pub trait Headers {
    /// Calls `visit` with the value of each header line called `name`, in the order they came.
    ///
    /// `name` is given in lower case; names match without regard to case.
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8]));
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for [(N, V)] {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        for (key, value) in self {
            if key.as_ref().eq_ignore_ascii_case(name) {
                visit(value.as_ref());
            }
        }
    }
}

impl<H: Headers + ?Sized> Headers for &H {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        (**self).for_each(name, visit);
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>, const LEN: usize> Headers for [(N, V); LEN] {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        self.as_slice().for_each(name, visit);
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for Vec<(N, V)> {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        self.as_slice().for_each(name, visit);
    }
}

/// No headers at all (an item read from a provider's API has none).
impl Headers for () {
    fn for_each(&self, _name: &str, _visit: &mut dyn FnMut(&[u8])) {}
}

/// The one value of a header without blanks around it; copies of the line count once.
///
/// # Errors
/// The header is missing, or repeated with another value.
pub(crate) fn single(headers: &dyn Headers, name: &str) -> Result<Vec<u8>, crate::Refusal> {
    let mut found = Err(crate::Refusal::MissingHeader);
    headers.for_each(name, &mut |line| {
        let value = line.trim_ascii();
        found = match &found {
            Err(crate::Refusal::MissingHeader) => Ok(value.to_vec()),
            Ok(first) if first == value => return,
            _ => Err(crate::Refusal::Malformed),
        };
    });
    found
}
