//! The composition root: builds each part, joins their routes, serves them.
//!
//! Only this module knows both servers. What one gets of the other stands in `parts`
//! in two lines: the text of the public key set, and the question whether a grant
//! is alive.

mod body_deadline;
mod connections;
mod drip;
mod housekeeping;
mod layers;
mod metrics;
mod parts;
mod requests;
pub mod serve;
mod unread;

use std::io;
use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::connections::{MAX_CONNECTIONS, Patience};
use self::housekeeping::Housekeeping;
use self::metrics::Panel;
use crate::admin::socket::AdminSocket;
use crate::authorization_server::{AuthorizationServer, OpenError, SetupError, SetupLink};
use crate::clock::Clock;
use crate::configuration::Configuration;
use crate::contract::issuer::{InvalidIssuer, Issuer};
use crate::contract::resource::{InvalidResource, ResourceUri};
use crate::entropy::Entropy;
use crate::resource_server::key_source::InvalidKeyUrl;

/// How many read the figures at once. They are one program, as a rule.
const MAX_SCRAPERS: usize = 16;

/// Why the server did not start. The text says what to change.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}; {}", listen_cure(error))]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The same, of the address for the operator's figures.
    #[error(
        "cannot listen on {address} for metrics: {error}; choose another with --metrics-listen"
    )]
    ListenForMetrics {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The URL that follows from the listener is not one that clients may use.
    #[error("resource: {0}; say under which URL people reach this server")]
    Resource(#[from] InvalidResource),
    /// The issuer that follows from the resource is none.
    #[error("issuer: {0}")]
    Issuer(#[from] InvalidIssuer),
    /// The key set of the foreign issuer cannot be used.
    #[error("jwks_url: {0}")]
    Keys(#[from] InvalidKeyUrl),
    /// A vault cannot be opened.
    #[error(transparent)]
    Vault(#[from] crate::vault::OpenError),
    /// The authorization server cannot open its store or its keys.
    #[error(transparent)]
    AuthorizationServer(#[from] OpenError),
    /// The password that was given for the owner cannot be used.
    #[error("owner_password_file: {0}")]
    OwnerPassword(#[from] SetupError),
}

/// What the owner can do about an address that is not to be had.
fn listen_cure(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "stop the program that has it, or choose another with --listen 127.0.0.1:PORT \
             (port 0 picks a free one)"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for the administrator; choose another with --listen \
             127.0.0.1:PORT"
        }
        _ => "choose an address of this machine with --listen ADDRESS:PORT",
    }
}

/// Everything but the socket. An integration test calls its router directly.
pub struct Application {
    router: Router,
    resource: ResourceUri,
    issuer: Issuer,
    signs_in: SignsIn,
    setup_links: Vec<SetupLink>,
    /// Absent if the issuer is a foreign one.
    authorization_server: Option<AuthorizationServer>,
    panel: Panel,
}

/// Where people sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignsIn {
    /// On the pages of this server.
    Here,
    /// At a foreign issuer.
    Elsewhere,
}

impl Application {
    /// Builds all parts for a server that listens, or will listen, on `address`.
    ///
    /// # Errors
    ///
    /// [`StartError`].
    pub async fn build(
        configuration: Configuration,
        address: SocketAddr,
        clock: Clock,
        entropy: Entropy,
    ) -> Result<Self, StartError> {
        let resource = configuration.resource_at(address)?;
        parts::build(configuration, resource, clock, entropy).await
    }

    /// All routes with all layers. Cheap to clone.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The routes of the operator's own listener.
    pub fn metrics_router(&self) -> Router {
        metrics::router(self.panel.clone())
    }

    /// The one-time links by which those choose a password who have none.
    #[must_use]
    pub fn setup_links(&self) -> &[SetupLink] {
        &self.setup_links
    }
}

/// A listener that is served until the sender is dropped.
struct Serving {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Serving {
    /// Serves `most` clients at a time.
    fn start(
        (listener, address): (TcpListener, SocketAddr),
        routes: Router,
        most: usize,
        patience: Patience,
    ) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async { drop(stopped.await) };
        let task = tokio::spawn(connections::serve(listener, routes, most, patience, stopped));
        Self { address, stop, task }
    }

    /// Stops accepting. The task ends when the running requests have.
    fn stop(self) -> JoinHandle<()> {
        let _ = self.stop.send(());
        self.task
    }
}

async fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// The socket for commands. Without it the server serves all the same.
fn admin_socket(server: AuthorizationServer) -> Option<AdminSocket> {
    AdminSocket::open(server)
        .inspect_err(|error| {
            tracing::warn!(%error, "commands such as `brain-mcp grant list` cannot reach this server");
        })
        .ok()
}

/// A server that is running.
pub struct Server {
    application: Application,
    serving: Serving,
    metrics: Option<Serving>,
    housekeeping: Option<Housekeeping>,
    admin_socket: Option<AdminSocket>,
}

impl Server {
    /// Starts to serve; returns when requests are accepted.
    ///
    /// # Errors
    ///
    /// [`StartError`].
    pub async fn start(configuration: Configuration) -> Result<Self, StartError> {
        let asked = configuration.listen;
        let failed = |error| StartError::Listen { address: asked, error };
        let bound = bind(asked).await.map_err(failed)?;
        let address = bound.1;
        let bound_for_metrics = match configuration.metrics_listen {
            Some(address) => {
                let address = address.into();
                let failed = |error| StartError::ListenForMetrics { address, error };
                Some(bind(address).await.map_err(failed)?)
            }
            None => None,
        };
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let application = Application::build(configuration, address, clock, entropy).await?;
        let (routes, patience) = (application.router(), Patience::default());
        let serving = Serving::start(bound, routes, MAX_CONNECTIONS, patience);
        let metrics = bound_for_metrics.map(|bound| {
            tracing::info!(address = %bound.1, "metrics are at /metrics");
            Serving::start(bound, application.metrics_router(), MAX_SCRAPERS, patience)
        });
        let housekeeping = application.authorization_server.clone().map(Housekeeping::start);
        let admin_socket = application.authorization_server.clone().and_then(admin_socket);
        tracing::info!(%address, resource = %application.resource, "serving");
        Ok(Self { application, serving, metrics, housekeeping, admin_socket })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.serving.address
    }

    /// Where the operator's figures are, if anywhere.
    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|metrics| metrics.address)
    }

    /// The URL to point MCP clients at.
    #[must_use]
    pub fn mcp_url(&self) -> &str {
        self.application.resource.as_str()
    }

    /// Whose tokens are trusted.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.application.issuer.as_str()
    }

    /// Where people sign in.
    #[must_use]
    pub const fn signs_in(&self) -> SignsIn {
        self.application.signs_in
    }

    /// The one-time links by which those choose a password who have none.
    #[must_use]
    pub fn setup_links(&self) -> &[SetupLink] {
        self.application.setup_links()
    }

    /// Stops accepting, lets running requests end, and returns. What clients keep open
    /// is cut after two seconds.
    pub async fn stop(self) {
        let Self { application, serving, metrics, housekeeping, admin_socket } = self;
        let serving = [Some(serving), metrics].map(|it| it.map(Serving::stop));
        if let Some(admin_socket) = admin_socket {
            admin_socket.close().await;
        }
        if let Some(housekeeping) = housekeeping {
            housekeeping.stop().await;
        }
        for task in serving.into_iter().flatten() {
            if let Err(broken) = task.await {
                tracing::error!(%broken, "serving broke off");
            }
        }
        drop(application);
    }
}
