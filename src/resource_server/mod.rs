//! The resource server: judges bearer tokens and stands in front of `/mcp`.
//!
//! It trusts the embedded authorization server exactly as it would trust a
//! foreign one: by issuer, audience, type, algorithm, key, signature and times.
//! Then it asks one live question, whether the grant still stands.
//!
//! ```text
//!  request ─► host_origin ─► bearer ─► verify ◄─ key_source
//!                              │          │
//!                           challenge   VerifiedToken ─► sessions ─► requirement ─► MCP
//! ```
//!
//! # Invariants
//!
//! - A [`VerifiedToken`](verify::VerifiedToken) is made by
//!   [`TokenVerifier`] only.
//! - On `/mcp` the token is judged before method, `Accept`, version, session or body.
//! - No key set, no access: an unreachable key set answers 503.
//! - An MCP session belongs to the subject and client that opened it.
//! - The token goes nowhere: neither to a tool nor into the log.

pub mod bearer;
mod challenge;
mod cors;
mod figures;
mod guard;
mod guesses;
pub mod host_origin;
mod json_rpc;
pub mod key_source;
mod metadata;
mod open_streams;
mod raw_token;
mod requirement;
pub mod sessions;
pub mod standing;
mod stream;
pub mod verify;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use tower::Service;

use crate::clock::Clock;
use crate::contract::issuer::Issuer;
use crate::contract::liveness::GrantLiveness;
use crate::contract::resource::{MCP_PATH, ResourceUri};
use crate::metrics::Tally;
use crate::rates::{Limiter, PerMinute};

use self::challenge::Challenge;
use self::guard::{Guard, guard};
use self::guesses::Guesses;
use self::host_origin::AllowedSites;
use self::key_source::KeySource;
use self::open_streams::OpenStreams;
use self::sessions::Sessions;
use self::verify::TokenVerifier;

/// What the resource server needs to know.
#[derive(Clone)]
pub struct Settings {
    /// Whose tokens are trusted.
    pub issuer: Issuer,
    /// The audience of the tokens.
    pub resource: ResourceUri,
    /// Browser origins that may call `/mcp` beside our own and loopback.
    pub allowed_origins: Vec<String>,
    /// Where the issuer's keys are.
    pub key_source: KeySource,
    /// How often one user may ask, through all clients together.
    pub limit: PerMinute,
    /// How often one address may come with a token that nobody issued.
    pub bad_token_limit: PerMinute,
}

/// A handle to the resource server. Cheap to clone.
#[derive(Clone)]
pub struct ResourceServer {
    guard: Arc<Guard>,
    sites: Arc<AllowedSites>,
    metadata: metadata::Document,
}

impl ResourceServer {
    /// Builds the server. `sessions` are those of the MCP service behind it.
    #[must_use]
    pub fn new(
        settings: Settings,
        liveness: Arc<dyn GrantLiveness>,
        clock: Clock,
        sessions: Sessions,
    ) -> Self {
        let sites = Arc::new(AllowedSites::new(
            &settings.resource,
            &settings.issuer,
            &settings.allowed_origins,
        ));
        let metadata = metadata::Document::new(&settings.resource, &settings.issuer);
        let challenge = Challenge::new(&settings.resource);
        let asked = Limiter::new(settings.limit, clock.clone());
        let guesses = Guesses::new(settings.bad_token_limit, &clock);
        let verifier = Arc::new(TokenVerifier::new(
            settings.issuer,
            settings.resource,
            settings.key_source,
            liveness,
            clock,
        ));
        let guard = Arc::new(Guard {
            verifier,
            challenge,
            sites: Arc::clone(&sites),
            sessions,
            streams: OpenStreams::default(),
            limit: settings.limit,
            asked,
            guesses,
            refused: Tally::default(),
        });
        Self { guard, sites, metadata }
    }

    /// The hosts and origins that may talk to this server. The application puts
    /// [`host_origin::require_known_host`] with it in front of every route.
    #[must_use]
    pub fn sites(&self) -> Arc<AllowedSites> {
        Arc::clone(&self.sites)
    }

    /// The routes: `mcp` behind the guard, at `/mcp` and `/mcp/` alike (B07), and
    /// the protected-resource metadata, which needs no token (B03).
    pub fn router<S>(&self, mcp: S) -> Router
    where
        S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send + 'static,
    {
        let protected = Router::new()
            .route_service(MCP_PATH, mcp.clone())
            .route_service(&format!("{MCP_PATH}/"), mcp)
            .route_layer(from_fn_with_state(Arc::clone(&self.guard), guard));
        protected
            .merge(metadata::router(self.metadata.clone()))
            .layer(from_fn_with_state(self.sites(), host_origin::require_known_host))
    }
}
