//! Form bodies: read strictly, from headers that are read leniently.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

use super::body;
use super::error::EndpointError;

/// The parameters of a form or a query. Empty ones are not among them (OAuth 2.1
/// section 3.2: a parameter without a value is one that was not sent).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

/// Why a text is no form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidForm {
    /// A reader that takes the first and one that takes the last would disagree.
    #[error("a parameter is given twice")]
    Duplicate,
    #[error("the text is not correctly percent-encoded UTF-8")]
    Encoding,
    #[error("the body is not a form (application/x-www-form-urlencoded)")]
    ContentType,
}

impl Form {
    /// The one parameter that may be repeated (RFC 8707 section 2).
    const REPEATABLE: &str = "resource";

    /// # Errors
    ///
    /// [`InvalidForm`].
    pub(crate) fn parse(text: &[u8]) -> Result<Self, InvalidForm> {
        let mut names = HashSet::new();
        let mut pairs = Vec::new();
        for pair in text.split(|byte| *byte == b'&') {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = decode_component(halves.next().unwrap_or_default())?;
            let value = decode_component(halves.next().unwrap_or_default())?;
            if value.is_empty() {
                continue;
            }
            if !names.insert(name.clone()) && name != Self::REPEATABLE {
                return Err(InvalidForm::Duplicate);
            }
            pairs.push((name, value));
        }
        Ok(Self(pairs))
    }

    /// The value of a parameter.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }

    /// All values of a parameter that may be repeated.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// # Errors
    ///
    /// `invalid_request` that names the parameter.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, EndpointError> {
        self.value(name).ok_or(EndpointError::Missing(name))
    }
}

/// Only the body counts: credentials in a URL end up in logs (OAuth 2.1 section
/// 2.4.1), so they are ignored there.
impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = EndpointError;

    async fn from_request(request: Request, _: &S) -> Result<Self, EndpointError> {
        if !is_form(request.headers()) {
            return Err(InvalidForm::ContentType.into());
        }
        Ok(Self::parse(&body::read(request).await?)?)
    }
}

/// Whether a content type means a form: in any letter case, with parameters, and
/// also as one of several joined by commas, as a deployed client sends it.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_TYPE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split([',', ';']))
        .any(|part| part.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
}

/// Decodes one name or value. The usual decoders replace what they cannot read; that
/// would let two different texts become the same one.
///
/// # Errors
///
/// [`InvalidForm::Encoding`].
pub(crate) fn decode_component(encoded: &[u8]) -> Result<String, InvalidForm> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || {
                    let digit = char::from(*rest.next()?).to_digit(16)?;
                    u8::try_from(digit).ok()
                };
                let (high, low) = digit().zip(digit()).ok_or(InvalidForm::Encoding)?;
                high * 16 + low
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).map_err(|_| InvalidForm::Encoding)
}
