//! Which addresses may be called: no internal ones, unless the operator allows them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Refuses internal addresses. It judges addresses, not names: ask it after resolution, and call just the
/// address it let through.
#[derive(Debug, Clone, Default)]
pub struct AddressGuard {
    allowed: Vec<IpNet>,
}

/// An address that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address} is an internal address: allow it in `allow_addresses` if it is meant")]
pub struct Blocked {
    /// Which.
    pub address: IpAddr,
}

impl AddressGuard {
    /// A guard that lets internal addresses in these ranges through.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        Self { allowed }
    }

    /// Judges one resolved address.
    ///
    /// # Errors
    /// [`Blocked`] when it is internal and not allowed.
    pub fn judge(&self, address: IpAddr) -> Result<(), Blocked> {
        let plain = address.to_canonical();
        let allowed = self.allowed.iter().any(|range| range.contains(&plain) || range.contains(&address));
        if allowed || !is_internal(plain) { Ok(()) } else { Err(Blocked { address }) }
    }
}

fn is_internal(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_internal_v4(address),
        IpAddr::V6(address) => is_internal_v6(address),
    }
}

/// Everything that the IANA special-purpose registry does not call globally reachable, and multicast.
fn is_internal_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by carriers (RFC 6598), protocol assignments (RFC 6890), benchmarks (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19))
}

fn is_internal_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // An IPv4 address carried inside (6to4, NAT64, compatible) is judged as such.
    let inner = match segments {
        [0x2002, high, low, ..] => Some((high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0, 0, high, low] => Some((high, low)),
        _ => None,
    };
    if let Some((high, low)) = inner {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        return is_internal_v4(Ipv4Addr::new(a, b, c, d));
    }
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // Site-local (deprecated), documentation, discard-only.
        || (segments[0] & 0xffc0) == 0xfec0
        || (segments[0] == 0x2001 && segments[1] == 0xdb8)
        || (segments[0] == 0x100 && segments[1..4] == [0, 0, 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(address: &str, allowed: &[&str]) -> bool {
        let allowed = allowed.iter().map(|range| range.parse().unwrap()).collect();
        AddressGuard::new(allowed).judge(address.parse().unwrap()).is_ok()
    }

    #[test]
    fn internal_addresses_are_refused_in_every_spelling() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "::127.0.0.1",
            "fec0::1",
            "2001:db8::1",
        ] {
            assert!(!judged(address, &[]), "{address}");
        }
    }

    #[test]
    fn public_addresses_pass() {
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1", "172.32.0.1"] {
            assert!(judged(address, &[]), "{address}");
        }
    }

    #[test]
    fn what_the_operator_allows_passes_and_nothing_besides() {
        assert!(judged("127.0.0.1", &["127.0.0.0/8"]));
        assert!(judged("::ffff:127.0.0.1", &["127.0.0.0/8"]));
        assert!(judged("::1", &["::1/128"]));
        assert!(!judged("10.0.0.1", &["127.0.0.0/8"]));
    }
}
