//! Form-encoded parameters as a browser sends them, before anything is believed.

/// The name–value pairs of a query or of a posted form, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters(Vec<(String, String)>);

/// The text is no UTF-8 once it is decoded. A lossy reading would return another
/// `state` than the one that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a parameter is not UTF-8")]
pub(super) struct NotUtf8;

/// A parameter stands there more than once (OAuth 2.1 section 3.1, checklist #3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is given more than once")]
pub(super) struct Repeated(pub(super) &'static str);

impl Parameters {
    /// Decodes `application/x-www-form-urlencoded` text.
    ///
    /// # Errors
    ///
    /// [`NotUtf8`].
    pub(super) fn parse(encoded: &[u8]) -> Result<Self, NotUtf8> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(encoded).into_owned().collect();
        // The decoder puts U+FFFD where it could not read. Whoever means that
        // character spells it out.
        let spelled = String::from_utf8_lossy(encoded).to_ascii_uppercase();
        let meant = spelled.matches("%EF%BF%BD").count() + spelled.matches('\u{FFFD}').count();
        let found: usize = pairs
            .iter()
            .flat_map(|(name, value)| [name, value])
            .map(|text| text.matches('\u{FFFD}').count())
            .sum();
        if found > meant || std::str::from_utf8(encoded).is_err() {
            return Err(NotUtf8);
        }
        Ok(Self(pairs))
    }

    /// The value of a parameter that may be there once. An empty value counts as
    /// absent (checklist #4).
    ///
    /// # Errors
    ///
    /// [`Repeated`].
    pub(super) fn single(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.0.iter().filter(|(found, _)| found == name);
        let first = values.next().map(|(_, value)| &**value);
        if values.next().is_some() {
            return Err(Repeated(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
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
