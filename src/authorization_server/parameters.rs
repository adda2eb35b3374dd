//! Form-encoded parameters as a browser sends them, before anything is believed.

use crate::authorization_server::form::{InvalidForm, decode_component};

/// The name–value pairs of a query or of a posted form, in their order.
///
/// Unlike [`Form`](crate::authorization_server::form::Form) it lets a parameter stand
/// there twice until somebody asks for it: what is unknown here is ignored however
/// often it comes, and tick boxes share a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters(Vec<(String, String)>);

/// A parameter stands there more than once (OAuth 2.1 section 3.1, checklist #3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is given more than once")]
pub(super) struct Repeated(pub(super) &'static str);

impl Parameters {
    /// Decodes `application/x-www-form-urlencoded` text.
    ///
    /// # Errors
    ///
    /// [`InvalidForm::Encoding`]: a lossy reading would return another `state` than
    /// the one that was sent.
    pub(super) fn parse(encoded: &[u8]) -> Result<Self, InvalidForm> {
        let pairs = encoded.split(|byte| *byte == b'&').map(|pair| {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let mut next = || decode_component(halves.next().unwrap_or_default());
            Ok((next()?, next()?))
        });
        Ok(Self(pairs.collect::<Result<_, InvalidForm>>()?))
    }

    /// The value of a parameter that may be there once. An empty value counts as
    /// absent (checklist #4).
    ///
    /// # Errors
    ///
    /// [`Repeated`].
    pub(super) fn single(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() { Err(Repeated(name)) } else { Ok(first) }
    }

    /// The pairs again as text for a URL.
    pub(super) fn encoded(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }

    /// All values of a parameter that may be repeated, without the empty ones.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(found, value)| found == name && !value.is_empty())
            .map(|(_, value)| &**value)
    }
}
