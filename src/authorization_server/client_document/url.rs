//! The URL that is a client's name and the address of its metadata document.

use url::{Host, Url};

/// A `client_id` that may be fetched (CIMD section 3), in the one spelling that every
/// URL parser reads alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DocumentUrl {
    url: Url,
    host: Box<str>,
}

/// Why a `client_id` that starts like a document's URL is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidDocumentUrl {
    #[error("it is longer than {} bytes", DocumentUrl::MAX_BYTES)]
    TooLong,
    #[error("it is not a URL, or not in its plain spelling")]
    Spelling,
    #[error("it has a fragment")]
    Fragment,
    #[error("it has a user name")]
    UserInfo,
    #[error("its path has a dot segment")]
    DotSegment,
    #[error("it has no path")]
    NoPath,
    #[error("its host is an address, not a name")]
    Address,
}

impl DocumentUrl {
    const PREFIX: &str = "https://";
    const MAX_BYTES: usize = 1024;

    /// Whether a presented name is meant as a URL: other clients' names, which we make,
    /// never begin like that (checklist #94).
    pub(crate) fn is_meant_by(client_id: &str) -> bool {
        client_id.starts_with(Self::PREFIX)
    }

    /// Checks a presented name (checklist #102).
    ///
    /// # Errors
    ///
    /// [`InvalidDocumentUrl`]
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidDocumentUrl> {
        if text.len() > Self::MAX_BYTES {
            return Err(InvalidDocumentUrl::TooLong);
        }
        let rest = text.strip_prefix(Self::PREFIX).ok_or(InvalidDocumentUrl::Spelling)?;
        if text.contains('#') {
            return Err(InvalidDocumentUrl::Fragment);
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(InvalidDocumentUrl::UserInfo);
        }
        // In the raw text: a parser would have resolved them before we look.
        let path_only = path.split('?').next().unwrap_or_default();
        let is_dots = |segment: &str| {
            let plain = segment.to_ascii_lowercase().replace("%2e", ".");
            plain == "." || plain == ".."
        };
        if path_only.split(['/', '\\']).any(is_dots) {
            return Err(InvalidDocumentUrl::DotSegment);
        }
        if path_only.len() < 2 {
            return Err(InvalidDocumentUrl::NoPath);
        }
        let url = Url::parse(text).map_err(|_| InvalidDocumentUrl::Spelling)?;
        let host = match url.host() {
            Some(Host::Domain(name)) => name.trim_end_matches('.').into(),
            // Decimal, octal and hexadecimal forms are addresses to the parser as well.
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(InvalidDocumentUrl::Address),
            None => return Err(InvalidDocumentUrl::Spelling),
        };
        if url.as_str() != text {
            return Err(InvalidDocumentUrl::Spelling);
        }
        Ok(Self { url, host })
    }

    /// The URL as text: the client's name.
    pub(crate) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The host that vouches for the client.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The host, with its port if that is not the usual one: what a person has to know to
    /// know who vouches.
    pub(crate) fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.to_string(),
        }
    }

    /// Whether another URL is at the same scheme, host and port.
    pub(crate) fn is_at_the_origin_of(&self, other: &str) -> bool {
        Url::parse(other).is_ok_and(|other| other.origin() == self.url.origin())
    }

    pub(crate) const fn as_url(&self) -> &Url {
        &self.url
    }
}

#[cfg(test)]
mod tests {
    use super::{DocumentUrl, InvalidDocumentUrl};

    /// Checklist 102, CIMD section 3
    #[test]
    fn the_urls_of_deployed_clients_are_names() {
        for text in [
            "https://claude.ai/oauth/mcp-oauth-client-metadata",
            "https://claude.ai/oauth/claude-code-client-metadata",
            "https://chatgpt.com/oauth/client.json",
            "https://chatgpt.com/oauth/abc123/client.json",
            "https://chatgpt.com/oauth/codex/client.json",
            "https://vscode.dev/oauth/client-metadata.json",
            "https://zed.dev/oauth/client-metadata.json",
            "https://opencode.ai/oauth/opencode/client.json",
            "https://client.example:8443/app.json?v=2",
        ] {
            let url = DocumentUrl::parse(text).unwrap();
            assert_eq!(url.as_str(), text);
        }
        assert_eq!(DocumentUrl::parse("https://zed.dev/a").unwrap().host(), "zed.dev");
    }

    /// Checklist 144: another port is another server.
    #[test]
    fn a_port_that_is_not_the_usual_one_is_part_of_who_vouches() {
        let authority = |text| DocumentUrl::parse(text).unwrap().authority();
        assert_eq!(authority("https://app.example/a.json"), "app.example");
        assert_eq!(authority("https://app.example:8443/a.json"), "app.example:8443");
    }

    /// Checklist 102, 103
    #[test]
    fn whatever_two_parsers_could_read_differently_is_no_name() {
        use InvalidDocumentUrl::{Address, DotSegment, Fragment, NoPath, Spelling, UserInfo};
        for (text, fault) in [
            ("http://client.example/app.json", Spelling),
            ("HTTPS://client.example/app.json", Spelling),
            ("https:client.example/app.json", Spelling),
            ("https:///client.example/app.json", Spelling),
            ("https://Client.example/app.json", Spelling),
            ("https://client.example:443/app.json", Spelling),
            ("https://client.example/app json", Spelling),
            ("https://client.example\\app.json/x", Spelling),
            ("https://client.example/app.json\n", Spelling),
            ("https://bücher.example/app.json", Spelling),
            ("https://client.example", NoPath),
            ("https://client.example/", NoPath),
            ("https://client.example?x", NoPath),
            ("https://client.example/app.json#x", Fragment),
            ("https://client.example/app.json#", Fragment),
            ("https://user@client.example/app.json", UserInfo),
            ("https://@client.example/app.json", UserInfo),
            ("https://client.example/a/../app.json", DotSegment),
            ("https://client.example/./app.json", DotSegment),
            ("https://client.example/%2E%2e/app.json", DotSegment),
            ("https://client.example/.%2e/app.json", DotSegment),
            ("https://client.example/x\\..\\app.json", DotSegment),
            ("https://127.0.0.1/app.json", Address),
            ("https://8.8.8.8/app.json", Address),
            ("https://[::1]/app.json", Address),
            ("https://2130706433/app.json", Address),
            ("https://0x7f.1/app.json", Address),
            ("https://0177.0.0.1/app.json", Address),
            ("https://127.1/app.json", Address),
        ] {
            assert_eq!(DocumentUrl::parse(text), Err(fault), "{text}");
        }
        let long = format!("https://client.example/{}", "a".repeat(1024));
        assert_eq!(DocumentUrl::parse(&long), Err(InvalidDocumentUrl::TooLong));
    }
}
