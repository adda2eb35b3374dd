//! The production router in this process, with a clock that the test moves.

use std::net::SocketAddr;
use std::ops::Deref;
use std::path::Path;

use brain_mcp::app::Application;
use brain_mcp::authorization_server::RequestLimits;
use brain_mcp::authorization_server::password::HashingCost;
use brain_mcp::clock::{Clock, ManualClock, UnixTime};
use brain_mcp::configuration::{Configuration, OwnerPassword, TokenSource};
use brain_mcp::entropy::Entropy;
use brain_mcp::rates::PerMinute;
use tempfile::TempDir;

use super::site::{PASSWORD, Site};

/// A whole server in this process.
pub struct TestApp {
    site: Site,
    /// The listener for metrics.
    pub metrics: Site,
    /// Moves the server's clock.
    pub clock: ManualClock,
    /// Where the store is; goes with the server.
    data: TempDir,
    configuration: Configuration,
}

impl TestApp {
    /// Serves a vault, with an owner whose password is [`PASSWORD`].
    pub async fn serving(vault: &Path) -> Self {
        Self::with(vault, |_| {}).await
    }

    /// The same, with a configuration of one's own.
    pub async fn with(vault: &Path, change: impl FnOnce(&mut Configuration)) -> Self {
        // A start in the present: files that the test writes now must not be from
        // the future.
        Self::at(Clock::system().now(), vault, change).await
    }

    /// The same, started at that time.
    pub async fn at(now: UnixTime, vault: &Path, change: impl FnOnce(&mut Configuration)) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let mut configuration = Configuration::for_vault(vault, data.path().join("data"));
        configuration.tokens = TokenSource::Embedded {
            issuer: None,
            owner_password: Some(OwnerPassword::new(PASSWORD.to_owned())),
        };
        // A test signs in many times, and nobody attacks it.
        configuration.hashing_cost = HashingCost::LEAST;
        configuration.request_limits = RequestLimits::NONE;
        configuration.mcp_limit = PerMinute::UNLIMITED;
        configuration.bad_token_limit = PerMinute::UNLIMITED;
        change(&mut configuration);
        Self::start(now, configuration, data).await
    }

    async fn start(now: UnixTime, configuration: Configuration, data: TempDir) -> Self {
        let (clock, manual) = Clock::manual(now);
        let address = SocketAddr::from(([127, 0, 0, 1], 8090));
        let application =
            Application::build(configuration.clone(), address, clock, Entropy::system())
                .await
                .expect("it starts");
        let site = Site::in_process("http://127.0.0.1:8090", application.router());
        let metrics = Site::in_process("http://127.0.0.1:9464", application.metrics_router());
        Self { site, metrics, clock: manual, data, configuration }
    }

    /// Stops the server and starts it again on the same data.
    pub async fn restart(self) -> Self {
        let Self { site, metrics, data, configuration, .. } = self;
        drop((site, metrics));
        Self::start(Clock::system().now(), configuration, data).await
    }
}

impl Deref for TestApp {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}
