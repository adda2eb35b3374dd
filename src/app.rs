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
mod parts;
pub mod serve;
mod unread;

use std::io;
use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::housekeeping::Housekeeping;
use crate::admin::socket::AdminSocket;
use crate::authorization_server::{AuthorizationServer, OpenError, SetupError, SetupLink};
use crate::clock::Clock;
use crate::configuration::Configuration;
use crate::contract::issuer::{InvalidIssuer, Issuer};
use crate::contract::resource::{InvalidResource, ResourceUri};
use crate::entropy::Entropy;
use crate::resource_server::key_source::InvalidKeyUrl;

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

    /// The one-time links by which those choose a password who have none.
    #[must_use]
    pub fn setup_links(&self) -> &[SetupLink] {
        &self.setup_links
    }
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
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
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
        let listener = TcpListener::bind(asked).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let application = Application::build(configuration, address, clock, entropy).await?;
        let (stop, stopped) = oneshot::channel::<()>();
        // A dropped sender stops the server as well.
        let stopped = async { drop(stopped.await) };
        let patience = connections::Patience::default();
        let serving = connections::serve(listener, application.router(), patience, stopped);
        let serving = tokio::spawn(serving);
        let housekeeping = application.authorization_server.clone().map(Housekeeping::start);
        let admin_socket = application.authorization_server.clone().and_then(admin_socket);
        tracing::info!(%address, resource = %application.resource, "serving");
        Ok(Self { application, address, stop, serving, housekeeping, admin_socket })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
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
        let Self { application, stop, serving, housekeeping, admin_socket, .. } = self;
        let _ = stop.send(());
        if let Some(admin_socket) = admin_socket {
            admin_socket.close().await;
        }
        if let Some(housekeeping) = housekeeping {
            housekeeping.stop().await;
        }
        if let Err(broken) = serving.await {
            tracing::error!(%broken, "serving broke off");
        }
        drop(application);
    }
}
