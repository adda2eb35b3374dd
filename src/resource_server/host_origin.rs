//! Which hosts and which browser origins may talk to this server.
//!
//! Two attacks end here. A page on the internet that lets its own name point at
//! 127.0.0.1 (DNS rebinding) sends a foreign `Host`; a page that calls us across
//! origins sends a foreign `Origin`.

use std::str::FromStr as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use url::Url;

use crate::contract::issuer::Issuer;
use crate::contract::resource::{ResourceUri, is_loopback};

/// Our own names, and the origins that were configured. Loopback is always among
/// them: whoever runs a browser on this machine may as well run curl.
#[derive(Clone, Debug)]
pub struct AllowedSites {
    own: Vec<Url>,
    origins: Vec<String>,
}

impl AllowedSites {
    /// The sites of a server with this resource and this issuer. Both names may
    /// point at the one listener (design section 4, rule 3).
    #[must_use]
    pub fn new(resource: &ResourceUri, issuer: &Issuer, configured: &[String]) -> Self {
        let own: Vec<_> = [resource.as_str(), issuer.as_str()]
            .into_iter()
            .filter_map(|text| Url::parse(text).ok())
            .collect();
        let origins = own
            .iter()
            .map(|url| url.origin().ascii_serialization())
            .chain(configured.iter().map(|origin| origin.trim_end_matches('/').to_owned()))
            .collect();
        Self { own, origins }
    }

    /// Those of a listener that only this machine has business with.
    #[must_use]
    pub const fn loopback() -> Self {
        Self { own: Vec::new(), origins: Vec::new() }
    }

    /// Whether a `Host` value names this server: one of our names, with or
    /// without the default port, or a loopback name with any port.
    #[must_use]
    pub fn is_own_host(&self, host: &str) -> bool {
        if host.contains('@') {
            return false;
        }
        let Ok(authority) = Authority::from_str(host) else { return false };
        // A port that is no number would pass for none.
        if authority.port_u16().is_none() && authority.as_str() != authority.host() {
            return false;
        }
        let name = authority.host();
        Url::parse(&format!("http://{name}/")).is_ok_and(|url| is_loopback(&url))
            || self.own.iter().any(|own| {
                own.host_str().is_some_and(|host| host.eq_ignore_ascii_case(name))
                    && own.port_or_known_default()
                        == authority.port_u16().or_else(|| default_port(own))
            })
    }

    /// Whether a page of this origin may call `/mcp` (R12, T18).
    #[must_use]
    pub fn may_call(&self, origin: &str) -> bool {
        let loopback = || {
            Url::parse(origin).is_ok_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && is_loopback(&url)
                    && url.origin().ascii_serialization().eq_ignore_ascii_case(origin)
            })
        };
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) || loopback()
    }

    /// What a request's `Origin` header says about its sender.
    pub(super) fn judge_origin<'a>(&self, headers: &'a HeaderMap) -> Caller<'a> {
        let mut values = headers.get_all(ORIGIN).iter();
        match (values.next(), values.next()) {
            (None, _) => Caller::NoPage,
            (Some(value), None) => match value.to_str() {
                Ok(origin) if self.may_call(origin) => Caller::Page(origin),
                _ => Caller::Foreign,
            },
            (Some(_), Some(_)) => Caller::Foreign,
        }
    }
}

/// Who calls, as far as a browser tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller<'a> {
    /// No browser, or a plain navigation.
    NoPage,
    /// A page of this origin, which may.
    Page(&'a str),
    /// A page that may not.
    Foreign,
}

/// Lets only requests through that name this server in `Host`. For every route:
/// the pages of the authorization server need it as much as `/mcp` does.
pub async fn require_known_host(
    State(sites): State<Arc<AllowedSites>>,
    request: Request,
    next: Next,
) -> Response {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, _) => request.uri().authority().map(Authority::as_str),
        (Some(_), Some(_)) => None,
    };
    if host.is_some_and(|host| sites.is_own_host(host)) {
        next.run(request).await
    } else {
        forbidden("This server does not go by that name.")
    }
}

/// 403 with a reason, as JSON.
pub(super) fn forbidden(description: &str) -> Response {
    let body = json!({ "error": "forbidden", "error_description": description });
    (StatusCode::FORBIDDEN, Json(body)).into_response()
}

fn default_port(url: &Url) -> Option<u16> {
    match url.scheme() {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    }
}
