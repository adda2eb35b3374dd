//! Where to listen.

use std::net::SocketAddr;
use std::str::FromStr;

use super::check::Checker;
use super::raw::Key;

/// An address that nobody but this machine reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopbackAddress(SocketAddr);

/// Why a text is no such address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLoopback {
    /// It is none at all.
    #[error("write a loopback address and a port, such as 127.0.0.1:9464")]
    NotAnAddress,
    /// Others reach it.
    #[error("it is for this machine only: write a loopback address, such as 127.0.0.1:9464")]
    Elsewhere,
}

impl From<LoopbackAddress> for SocketAddr {
    fn from(address: LoopbackAddress) -> Self {
        address.0
    }
}

impl FromStr for LoopbackAddress {
    type Err = NotLoopback;

    fn from_str(text: &str) -> Result<Self, NotLoopback> {
        let address: SocketAddr = text.parse().map_err(|_| NotLoopback::NotAnAddress)?;
        if address.ip().is_loopback() { Ok(Self(address)) } else { Err(NotLoopback::Elsewhere) }
    }
}

impl Checker<'_> {
    pub(super) fn listen(&mut self) -> SocketAddr {
        let default = SocketAddr::from(([127, 0, 0, 1], 8090));
        self.parse(Key::Listen, |_| {
            "write an address and a port, such as 127.0.0.1:8090 (port 0 picks a free one)"
                .to_owned()
        })
        .unwrap_or(default)
    }

    /// Where the operator's figures are; nowhere unless that was said.
    pub(super) fn metrics_listen(&mut self) -> Option<LoopbackAddress> {
        self.parse(Key::MetricsListen, ToString::to_string)
    }
}
