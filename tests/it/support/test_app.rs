//! The production router in this process, with a clock that the test moves.

use std::net::SocketAddr;
use std::ops::Deref;
use std::path::Path;

use brain_mcp::app::Application;
use brain_mcp::clock::{Clock, ManualClock};
use brain_mcp::configuration::{Configuration, OwnerPassword, TokenSource};
use brain_mcp::entropy::Entropy;
use tempfile::TempDir;

use super::site::{PASSWORD, Site};

/// A whole server in this process.
pub struct TestApp {
    site: Site,
    setup_link: Option<String>,
    /// Moves the server's clock.
    pub clock: ManualClock,
    data: TempDir,
    configuration: Configuration,
}

impl TestApp {
    /// Serves a vault, with an owner whose password is [`PASSWORD`].
    pub fn serving(vault: &Path) -> Self {
        Self::with(vault, |_| {})
    }

    /// The same, with a configuration of one's own.
    pub fn with(vault: &Path, change: impl FnOnce(&mut Configuration)) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let mut configuration = Configuration::for_vault(vault, data.path().join("data"));
        configuration.tokens = TokenSource::Embedded {
            issuer: None,
            owner_password: Some(OwnerPassword::new(PASSWORD.to_owned())),
        };
        change(&mut configuration);
        Self::start(configuration, data)
    }

    fn start(configuration: Configuration, data: TempDir) -> Self {
        // A start in the present: files that the test writes now must not be from
        // the future.
        let (clock, manual) = Clock::manual(Clock::system().now());
        let address = SocketAddr::from(([127, 0, 0, 1], 8090));
        let application = Application::build(&configuration, address, clock, Entropy::system())
            .expect("it starts");
        let site = Site::in_process("http://127.0.0.1:8090", application.router());
        let setup_link = application.setup_link();
        Self { site, setup_link, clock: manual, data, configuration }
    }

    /// Stops the server and starts it again on the same data.
    pub fn restart(self) -> Self {
        let Self { site, data, configuration, .. } = self;
        drop(site);
        Self::start(configuration, data)
    }

    /// Where the store is.
    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    /// The one-time link to choose a password, if there is no owner yet.
    pub fn setup_link(&self) -> Option<&str> {
        self.setup_link.as_deref()
    }
}

impl Deref for TestApp {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}
