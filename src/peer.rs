//! Who is at the other end of a connection, as far as limits by address are concerned.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where a request comes from.
///
/// A home or a rented machine has a whole /64 of IPv6 (RFC 6177 section 2), so that is
/// what counts as one address there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(Option<IpAddr>);

impl Peer {
    /// Somebody behind a proxy that does not say who it is. All who come like this
    /// cannot be told apart, and a limit for one of them would be one for the world.
    pub const UNKNOWN: Self = Self(None);

    /// For how many a limit has to be enough that strikes all of [`Self::UNKNOWN`].
    const CROWD: u32 = 20;

    /// Whoever has this address.
    #[must_use]
    pub fn at(address: IpAddr) -> Self {
        Self(Some(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            address @ IpAddr::V4(_) => address,
        }))
    }

    /// What may well be one customer of a network: a /48 of IPv6 (RFC 6177 section 2), a /24
    /// of IPv4. Too many to count as one, but whoever has all of it must not count as so
    /// many either.
    #[must_use]
    pub fn neighbourhood(self) -> Self {
        Self(self.0.map(|address| match address {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                Ipv4Addr::new(a, b, c, 0).into()
            }
            IpAddr::V6(address) => {
                let [a, b, c, ..] = address.segments();
                Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
            }
        }))
    }

    /// Whether it is known who this is.
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.0.is_some()
    }

    /// How many share a limit that is for this peer.
    #[must_use]
    pub const fn head_count(self) -> u32 {
        if self.is_known() { 1 } else { Self::CROWD }
    }
}

#[cfg(test)]
mod tests {
    use super::Peer;

    /// Design section 9, B19: who has a /64 has one allowance and not 2^64.
    #[test]
    fn an_address_counts_once_in_every_spelling() {
        let at = |text: &str| Peer::at(text.parse().expect("an address"));
        assert_eq!(at("2001:db8:1:2::1"), at("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
        assert_ne!(at("::1"), Peer::UNKNOWN);
        let around = |text| at(text).neighbourhood();
        assert_eq!(around("2001:db8:1:2::1"), around("2001:db8:1:ffff::1"));
        assert_ne!(around("2001:db8:1:2::1"), around("2001:db8:2:2::1"));
        assert_eq!(around("192.0.2.1"), around("192.0.2.254"));
        assert_ne!(around("192.0.2.1"), around("192.0.3.1"));
        assert_eq!(Peer::UNKNOWN.neighbourhood(), Peer::UNKNOWN);
    }
}
