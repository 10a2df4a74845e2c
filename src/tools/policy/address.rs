//! Addresses on the net: which are one's own, which carry something away.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Bytes of query, fragment and path that may go out after others have spoken.
const HARMLESS_BYTES: usize = 64;
/// Bytes that one name of a path or of a host may have before it looks like data.
const HARMLESS_NAME: usize = 48;

/// Names that never leave the user's own network.
const LOCAL_SUFFIXES: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "home.arpa",
    "localdomain",
    "nip.io",
    "sslip.io",
    "xip.io",
    "localtest.me",
    "lvh.me",
];

/// True when the host is this machine, or lies within the user's own network, as far as the
/// address alone says so.
///
/// What a name leads to is looked up only after an approval, because
/// looking it up tells somebody; whoever connects checks it again.
#[must_use]
pub fn is_private_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => is_private_v4(ip),
        Some(Host::Ipv6(ip)) => is_private_v6(ip),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let is_suffix = |suffix: &str| {
                name.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            !name.contains('.') || LOCAL_SUFFIXES.iter().any(|suffix| is_suffix(suffix))
        }
        None => true,
    }
}

/// True for an address that is not on the public internet.
#[must_use]
pub fn is_private_ip(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => is_private_v6(ip),
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_multicast()
        || ip.is_documentation()
        || a == 0
        || a >= 240
        || a == 100 && (64..128).contains(&b)
        || a == 192 && b == 0 && c == 0
        || a == 198 && (18..20).contains(&b)
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let carried = match ip.segments() {
        // Addresses that carry one of the older kind.
        [0, 0, 0, 0, 0, 0 | 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
            Some((high, low))
        }
        [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    let v4 = carried.map(|(high, low)| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || v4.is_some_and(is_private_v4)
        || first & 0xFE00 == 0xFC00
        || first & 0xFFC0 == 0xFE80
        || first & 0xFFC0 == 0xFEC0
        || first == 0x2001 && second == 0xDB8
        || first == 0x2001 && second == 0
}

/// True when an address is long enough to carry away what was read.
#[must_use]
pub fn carries_data(url: &Url) -> bool {
    let extra = url.query().map_or(0, str::len) + url.fragment().map_or(0, str::len);
    let is_long = |name: &str| name.len() > HARMLESS_NAME;
    extra > HARMLESS_BYTES
        || url.path().split('/').any(is_long)
        || url.path().len() > 4 * HARMLESS_BYTES
        || url.host_str().is_some_and(|host| host.split('.').any(is_long))
}
