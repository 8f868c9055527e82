//! The most common scheme: a keyed hash of the raw body in one header.

use crate::digest::Digest;
use crate::key::Key;
use crate::scheme::{SchemeError, header_name};
use crate::signed_spec::{Format, SignedSpec};
use crate::template::TextSpec;
use crate::{Algorithm, Encoding, Headers, KeyForm, Refusal, Request};

/// The compiled form.
#[derive(Clone, Debug)]
pub(crate) struct HmacScheme {
    pub(crate) header: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: KeyForm,
    encoding: Encoding,
    prefix: String,
    prefix_required: bool,
}

impl HmacScheme {
    /// The fast form of a spec that asks for no more than a digest of the raw body in one header; else nothing.
    pub(crate) fn compile(algorithm: Algorithm, spec: &SignedSpec) -> Result<Option<Self>, SchemeError> {
        let plain = spec.format == Format::Plain
            && spec.text.as_ref().is_none_or(TextSpec::is_body)
            && spec.certificate_url_header.is_none()
            && spec.timestamp.is_none()
            && spec.secrets.is_none()
            && spec.key_prefix.is_empty()
            && !spec.html_unescape
            && spec.query.is_none()
            && spec.json.is_none()
            && spec.encoding != Encoding::Base64Url;
        let Some(header) = spec.header.as_ref().filter(|_| plain) else { return Ok(None) };
        let readable = |letter: char| letter.is_ascii_graphic() && letter != ',';
        if !spec.prefix.chars().all(readable) {
            return Err(SchemeError::Prefix(spec.prefix.clone()));
        }
        Ok(Some(Self {
            header: header_name(header)?,
            algorithm,
            key: spec.key,
            encoding: spec.encoding,
            prefix: spec.prefix.clone(),
            prefix_required: spec.prefix_required && !spec.prefix.is_empty(),
        }))
    }

    /// Reads the header, then tries each key over the body.
    pub(crate) fn verify(&self, request: &Request<'_>, keys: &[Key]) -> Result<usize, Refusal> {
        let digest = self.read(request.headers)?;
        let matches =
            |key: &Key| key.counts(request.now, None) && key.matches(&[request.body], digest.as_bytes());
        keys.iter().position(matches).ok_or(Refusal::Mismatch)
    }

    /// The header's value for `body`.
    pub(crate) fn sign(&self, key: &Key, body: &[u8]) -> String {
        let digest = self.encoding.encode(&key.digest(&[body]));
        if self.prefix_required { format!("{}{digest}", self.prefix) } else { digest }
    }

    /// The one digest that all header lines agree on.
    ///
    /// A proxy may copy the line or join the copies by a comma: the same digest again changes nothing,
    /// another digest is refused, because nobody can say which of them counts.
    fn read(&self, headers: &dyn Headers) -> Result<Digest, Refusal> {
        let mut found: Option<Result<Digest, Refusal>> = None;
        headers.for_each(&self.header, &mut |line| {
            for value in line.split(|byte| *byte == b',') {
                let read = self.read_value(value);
                let agreed = match &found {
                    None => read,
                    Some(Err(refusal)) => Err(*refusal),
                    Some(Ok(first)) => match read {
                        Ok(digest) if digest == *first => read,
                        Ok(_) => Err(Refusal::Malformed),
                        Err(refusal) => Err(refusal),
                    },
                };
                found = Some(agreed);
            }
        });
        found.unwrap_or(Err(Refusal::MissingHeader))
    }

    /// Reads one value: blanks around it and after the prefix are dropped, nothing else is forgiven.
    fn read_value(&self, value: &[u8]) -> Result<Digest, Refusal> {
        let value = value.trim_ascii();
        let digest = match value.strip_prefix(self.prefix.as_bytes()) {
            Some(rest) => rest.trim_ascii_start(),
            None if names_a_scheme(value) => return Err(Refusal::UnknownScheme),
            None if self.prefix_required => return Err(Refusal::Malformed),
            None => value,
        };
        match Digest::decode(digest, self.encoding, self.algorithm) {
            Err(_) if self.prefix.is_empty() && names_a_scheme(digest) => Err(Refusal::UnknownScheme),
            read => read,
        }
    }
}

/// Longest name of a scheme, such as `hmac-sha256`.
const SCHEME_NAME_BYTES_MAX: usize = 16;

/// Whether the value starts like `md5=…`: letters, then an equals sign that is no base64 padding.
fn names_a_scheme(value: &[u8]) -> bool {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    let name = value.iter().take(SCHEME_NAME_BYTES_MAX).take_while(is_name).count();
    let after = value.get(name..).unwrap_or_default();
    name > 0 && after.first() == Some(&b'=') && after.iter().any(|byte| *byte != b'=')
}
