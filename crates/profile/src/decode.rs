//! From the bytes of a request to the text of its events: compression, charset, forms.

use std::borrow::Cow;
use std::io::Read as _;

use crate::document::{self, Unreadable};
use crate::form;
use flate2::read::{MultiGzDecoder, ZlibDecoder};

/// Most bytes that a compressed body may become where nobody says less.
pub const INFLATED_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How bodies are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum BodyForm {
    /// JSON, whatever the content type says.
    #[default]
    Json,
    /// A form.
    Form,
    /// A form where the content type says so, else JSON.
    Auto,
}

/// The rules of one profile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decoding {
    pub(crate) form: BodyForm,
    pub(crate) unwrap: Option<String>,
    pub(crate) charset: Option<&'static encoding_rs::Encoding>,
}

impl Decoding {
    /// Whether the content type has to be kept to read a body again.
    pub(crate) fn needs_content_type(&self, content_type: &str) -> bool {
        let usual = self.charset.unwrap_or(encoding_rs::UTF_8);
        self.form == BodyForm::Auto || charset_of(content_type).is_some_and(|charset| charset != usual)
    }

    /// Whether bodies are written in another way than JSON in UTF-8.
    pub(crate) fn recodes(&self, headers: &dyn signature::Headers) -> bool {
        let (charset, is_form) = self.way(headers);
        is_form || charset != encoding_rs::UTF_8
    }

    /// The charset, and whether it is a form.
    fn way(&self, headers: &dyn signature::Headers) -> (&'static encoding_rs::Encoding, bool) {
        let content_type = first(headers, "content-type", |line| {
            // As it is kept: the applier has to come to the same.
            let line = String::from_utf8_lossy(line);
            let essence = line.split(';').next().unwrap_or_default().trim();
            (charset_of(&line), essence.eq_ignore_ascii_case("application/x-www-form-urlencoded"))
        });
        let (charset, says_form) = content_type.unwrap_or_default();
        let is_form = match self.form {
            BodyForm::Json => false,
            BodyForm::Form => true,
            BodyForm::Auto => says_form,
        };
        (charset.or(self.charset).unwrap_or(encoding_rs::UTF_8), is_form)
    }

    /// The text of a body, as JSON, without a byte order mark and not nested too deep.
    pub(crate) fn text<'a>(
        &self,
        body: &'a [u8],
        headers: &dyn signature::Headers,
        bytes_max: usize,
    ) -> Result<Cow<'a, str>, Unreadable> {
        let body = inflate(body, headers, bytes_max)?;
        let (charset, is_form) = self.way(headers);
        if body.starts_with(MARK) {
            // Split off before: in UTF-8, whatever the request was written in.
            return json(body);
        }
        if is_form {
            return self.form_text(&body, charset).map(Cow::Owned);
        }
        if charset == encoding_rs::UTF_8 {
            return json(body);
        }
        let (text, charset, is_broken) = charset.decode(&body);
        match is_broken {
            true => Err(Unreadable::Json(format!("not {}", charset.name()))),
            false => json(Cow::Owned(text.into_owned().into_bytes())),
        }
    }

    fn form_text(&self, body: &[u8], charset: &'static encoding_rs::Encoding) -> Result<String, Unreadable> {
        let fields = form::fields(body, charset)?;
        if let Some(name) = &self.unwrap {
            let mut values = fields.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
            return match (values.next(), values.next()) {
                (Some(value), None) => document::text(value.as_bytes()).map(str::to_owned),
                (Some(_), Some(_)) => Err(Unreadable::Json(format!("form field `{name}` is repeated"))),
                (None, _) => Err(Unreadable::Json(format!("form field `{name}` is missing"))),
            };
        }
        form::object(&fields)
    }
}

/// A byte order mark. It stands before an event that was split off a request which was not JSON in UTF-8.
pub(crate) const MARK: &[u8] = "\u{feff}".as_bytes();

fn json(body: Cow<'_, [u8]>) -> Result<Cow<'_, str>, Unreadable> {
    match body {
        Cow::Borrowed(body) => document::text(body).map(Cow::Borrowed),
        Cow::Owned(body) => document::text(&body).map(|text| Cow::Owned(text.to_owned())),
    }
}

/// The bytes without their compression; as they are when nothing says that they are compressed.
fn inflate<'a>(
    body: &'a [u8],
    headers: &dyn signature::Headers,
    bytes_max: usize,
) -> Result<Cow<'a, [u8]>, Unreadable> {
    let Some(encoding) = first(headers, "content-encoding", <[u8]>::to_ascii_lowercase) else {
        return Ok(Cow::Borrowed(body));
    };
    // An event that was split off a compressed request is stored in plain: its first bytes tell.
    let limit = bytes_max as u64 + 1;
    let mut plain = Vec::new();
    let read = match encoding.as_slice() {
        b"gzip" | b"x-gzip" if body.starts_with(&[0x1f, 0x8b]) => {
            MultiGzDecoder::new(body).take(limit).read_to_end(&mut plain)
        }
        b"deflate" if body.first() == Some(&0x78) => {
            ZlibDecoder::new(body).take(limit).read_to_end(&mut plain)
        }
        _ => return Ok(Cow::Borrowed(body)),
    };
    match read {
        Ok(_) if plain.len() > bytes_max => Err(Unreadable::TooLarge(bytes_max)),
        Ok(_) => Ok(Cow::Owned(plain)),
        Err(error) => Err(Unreadable::Json(format!("it cannot be inflated: {error}"))),
    }
}

/// The first line of a header as text.
pub(crate) fn header(headers: &dyn signature::Headers, name: &str) -> Option<String> {
    first(headers, name, |line| String::from_utf8_lossy(line).into_owned())
}

/// What the first line of a header says.
fn first<T>(headers: &dyn signature::Headers, name: &str, read: impl Fn(&[u8]) -> T) -> Option<T> {
    let mut found = None;
    headers.for_each(name, &mut |line| {
        if found.is_none() {
            found = Some(read(line.trim_ascii()));
        }
    });
    found
}

/// The charset parameter of a content type.
fn charset_of(content_type: &str) -> Option<&'static encoding_rs::Encoding> {
    let parameter = content_type.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })?;
    encoding_rs::Encoding::for_label(parameter.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn form(body: &str) -> Result<String, Unreadable> {
        let decoding = Decoding { form: BodyForm::Form, ..Decoding::default() };
        decoding.text(body.as_bytes(), &(), 100).map(Cow::into_owned)
    }

    #[test]
    fn forms_nest_by_their_brackets() {
        assert_eq!(
            form("event=invoice.paid&data[id]=1A&data[items][]=x&data[items][]=y&q=a%26b+c").unwrap(),
            r#"{"data":{"id":"1A","items":["x","y"]},"event":"invoice.paid","q":"a&b c"}"#
        );
        for wrong in ["a=1&a=2", "a[b]=1&a=2", "a[b=1", "a[b]c=1", "a=1&a[]=2"] {
            assert!(form(wrong).is_err(), "{wrong}");
        }
        assert!(form(&format!("a{}=1", "[b]".repeat(20))).is_err());
    }

    #[test]
    fn a_form_field_may_hold_the_json() {
        let decoding = Decoding { form: BodyForm::Auto, unwrap: Some("payload".to_owned()), charset: None };
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let text = |body: &'static str| decoding.text(body.as_bytes(), &headers, 100);
        assert_eq!(text("payload=%7B%22id%22%3A1%7D").unwrap(), r#"{"id":1}"#);
        assert!(text("x=1").is_err());
        assert!(text("payload=1&payload=2").is_err());
        assert_eq!(decoding.text(b"{}", &(), 100).unwrap(), "{}");
    }

    #[test]
    fn compressed_bodies_are_inflated_up_to_the_limit() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&b"{}".repeat(50)).unwrap();
        let body = gzip.finish().unwrap();
        let headers = [("Content-Encoding", "gzip")];
        let decoding = Decoding::default();
        assert_eq!(decoding.text(&body, &headers, 100).unwrap().len(), 100);
        assert_eq!(decoding.text(&body, &headers, 99), Err(Unreadable::TooLarge(99)));
        assert!(decoding.text(&body, &(), 100).is_err(), "without the header they are bytes");
        assert_eq!(decoding.text(b"{}", &headers, 100).unwrap(), "{}", "an item in plain");
        assert!(decoding.text(&body[..20], &headers, 100).is_err());
    }

    #[test]
    fn charsets_are_those_of_the_content_type() {
        let decoding = Decoding::default();
        let latin = [("content-type", "application/json; charset=ISO-8859-1")];
        assert_eq!(decoding.text(b"\"Jos\xe9\"", &latin, 100).unwrap(), "\"José\"");
        assert!(decoding.text(b"\"Jos\xe9\"", &(), 100).is_err());
        let profile =
            Decoding { charset: encoding_rs::Encoding::for_label(b"latin1"), ..Decoding::default() };
        assert_eq!(profile.text(b"\"Jos\xe9\"", &(), 100).unwrap(), "\"José\"");
    }
}
