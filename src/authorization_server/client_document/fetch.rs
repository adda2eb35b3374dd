//! Fetches a document from a stranger's server without becoming anybody's tool.
//!
//! The name is resolved once, every address that it has must be public, and the
//! connection goes to one of those: there is no second look-up that could say something
//! else (CIMD section 6.5, checklist #103 to #108). Redirects are not followed, proxies
//! not used, and the answer is cut in size and time.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, IF_NONE_MATCH,
};
use reqwest::redirect::Policy;
use reqwest::{Certificate, StatusCode};
use url::Url;

use super::address::is_public;
use crate::freshness;

/// The part of the internet that may be called. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Web {
    client: reqwest::Client,
    may_reach: Arc<MayReach>,
}

/// Whether a name may lead to an address.
pub(super) type MayReach = dyn Fn(&str, IpAddr) -> bool + Send + Sync;

/// What came back.
#[derive(Debug)]
pub(super) struct Fetched {
    /// The document; nothing if the one that the caller has is still the newest.
    pub(super) document: Option<Vec<u8>>,
    /// How long it may be used.
    pub(super) lifetime: Duration,
    /// What to send along to be told that nothing has changed.
    pub(super) entity_tag: Option<String>,
}

/// Why there is no document. Fit for the log and for a page: it says nothing about what
/// is behind an address that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("its host has an address that is not a public one")]
    NotPublic,
    #[error("its host cannot be found")]
    NotFound,
    #[error("it took too long")]
    TooSlow,
    #[error("the connection failed")]
    Connection,
    #[error("the answer was a redirect, which is not followed")]
    Redirect,
    #[error("the answer had status {0}")]
    Status(u16),
    #[error("the answer is not JSON")]
    NotJson,
    #[error("the answer is too large")]
    TooLarge,
}

/// All of it: look-up, connection, and an answer that drips (checklist #108).
const TIMEOUT: Duration = Duration::from_secs(5);

impl Web {
    /// The public internet, and the hosts of the operator's own network by name.
    ///
    /// # Errors
    ///
    /// If the system has no certificates that could be trusted.
    pub(crate) fn public(private_hosts: Vec<String>) -> Result<Self, reqwest::Error> {
        let may_reach = move |host: &str, address| {
            is_public(address) || private_hosts.iter().any(|private| private == host)
        };
        Self::new(Arc::new(SystemResolver), Arc::new(may_reach), None)
    }

    /// The same with another resolver, another idea of what may be reached, and, if
    /// given, only these certificates.
    pub(super) fn new(
        resolver: Arc<dyn Resolve>,
        may_reach: Arc<MayReach>,
        roots: Option<Vec<Certificate>>,
    ) -> Result<Self, reqwest::Error> {
        let guarded = GuardedResolver { inner: resolver, may_reach: Arc::clone(&may_reach) };
        let mut builder = reqwest::Client::builder()
            .dns_resolver(Arc::new(guarded))
            .redirect(Policy::none())
            // A proxy would look the name up again, where we cannot see it.
            .no_proxy()
            .https_only(true)
            .http1_only()
            .pool_max_idle_per_host(0)
            .timeout(TIMEOUT)
            .user_agent(concat!("brain-mcp/", env!("CARGO_PKG_VERSION")));
        if let Some(roots) = roots {
            builder = builder.tls_certs_only(roots);
        }
        Ok(Self { client: builder.build()?, may_reach })
    }

    /// Fetches a JSON document of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// [`FetchError`]
    pub(super) async fn fetch(
        &self,
        url: &Url,
        limit: usize,
        entity_tag: Option<&str>,
    ) -> Result<Fetched, FetchError> {
        let mut request = self.client.get(url.clone()).header(ACCEPT, "application/json");
        if let Some(tag) = entity_tag {
            request = request.header(IF_NONE_MATCH, tag);
        }
        let mut response = request.send().await.map_err(|error| FetchError::of(&error))?;
        // The resolver has seen to it already; this holds even if one day something
        // between it and the socket does not.
        let host = url.host_str().unwrap_or_default();
        if !response.remote_addr().is_some_and(|peer| (self.may_reach)(host, peer.ip())) {
            return Err(FetchError::NotPublic);
        }
        let headers = response.headers();
        let lifetime = freshness::lifetime(text(headers, &CACHE_CONTROL));
        match response.status() {
            StatusCode::OK if is_json(headers) => {}
            StatusCode::OK => return Err(FetchError::NotJson),
            StatusCode::NOT_MODIFIED if entity_tag.is_some() => {
                let entity_tag = entity_tag.map(str::to_owned);
                return Ok(Fetched { document: None, lifetime, entity_tag });
            }
            status if status.is_redirection() => return Err(FetchError::Redirect),
            status => return Err(FetchError::Status(status.as_u16())),
        }
        let is_short = |tag: &&str| tag.len() <= 256;
        let entity_tag = text(headers, &ETAG).filter(is_short).map(str::to_owned);
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| FetchError::of(&error))? {
            if document.len() + chunk.len() > limit {
                return Err(FetchError::TooLarge);
            }
            document.extend_from_slice(&chunk);
        }
        Ok(Fetched { document: Some(document), lifetime, entity_tag })
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Web")
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// `application/json`, or one of its kind (RFC 6839 section 3.1).
fn is_json(headers: &HeaderMap) -> bool {
    let content_type = text(headers, &CONTENT_TYPE).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json")
}

impl FetchError {
    /// The reason in an error of the HTTP client.
    fn of(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::TooSlow;
        }
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(inner) = cause {
            if let Some(known) = inner.downcast_ref::<Self>() {
                return *known;
            }
            cause = inner.source();
        }
        Self::Connection
    }
}

/// Lets through what another resolver says only if all of it may be reached: one private
/// address beside a public one is a trap (checklist #105).
struct GuardedResolver {
    inner: Arc<dyn Resolve>,
    may_reach: Arc<MayReach>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let answer = self.inner.resolve(name);
        let may_reach = Arc::clone(&self.may_reach);
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = answer.await?.collect();
            if addresses.is_empty() {
                return Err(FetchError::NotFound.into());
            }
            if !addresses.iter().all(|address| may_reach(&host, address.ip())) {
                return Err(FetchError::NotPublic.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Asks the system.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let addresses: Vec<SocketAddr> = found.map_err(|_| FetchError::NotFound)?.collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
