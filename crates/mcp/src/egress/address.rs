//! Which addresses are public, after the IANA special-purpose registries (RFC 6890 and its updates).
//!
//! Stricter than "globally reachable": whatever can carry another address inside it (mapped, 6to4, Teredo, NAT64) is
//! refused whole, and IPv6 must lie in the allocated 2000::/3.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address it is. Only [`AddressClass::Public`] may be connected to on the public road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// Ordinary unicast on the internet.
    Public,
    /// `0.0.0.0/8` and `::`: this host or this network.
    Unspecified,
    /// `127.0.0.0/8` and `::1`.
    Loopback,
    /// RFC 1918.
    Private,
    /// `100.64.0.0/10`, carrier-grade NAT.
    Shared,
    /// `169.254.0.0/16` and `fe80::/10`.
    LinkLocal,
    /// Where clouds answer with credentials.
    Metadata,
    /// `192.0.0.0/24` and `2001::/23`.
    ProtocolAssignment,
    /// Reserved for examples.
    Documentation,
    /// Reserved for measurements.
    Benchmarking,
    /// Multicast.
    Multicast,
    /// `255.255.255.255`.
    Broadcast,
    /// Reserved or unallocated.
    Reserved,
    /// An IPv4 address inside an IPv6 one: mapped, compatible, translated or ISATAP.
    EmbeddedIpv4,
    /// `2002::/16` and its relay `192.88.99.0/24`.
    SixToFour,
    /// `2001::/32`.
    Teredo,
    /// `64:ff9b::/96` and `64:ff9b:1::/48`.
    Nat64,
    /// `fc00::/7`.
    UniqueLocal,
    /// `fec0::/10`.
    SiteLocal,
    /// `100::/64` and its neighbours: thrown away by routers.
    Discard,
    /// `2001:10::/28`, `2001:20::/28`, `2001:30::/28`: identifiers that look like addresses.
    Orchid,
}

/// The class of an address.
#[must_use]
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Unspecified => "this host or network",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "carrier-grade NAT",
            Self::LinkLocal => "link-local",
            Self::Metadata => "cloud metadata",
            Self::ProtocolAssignment => "protocol assignment",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Reserved => "reserved",
            Self::EmbeddedIpv4 => "IPv4 inside IPv6",
            Self::SixToFour => "6to4",
            Self::Teredo => "Teredo",
            Self::Nat64 => "NAT64",
            Self::UniqueLocal => "unique local",
            Self::SiteLocal => "site-local",
            Self::Discard => "discard-only",
            Self::Orchid => "ORCHID",
        })
    }
}

/// Metadata services that lie in ranges of their own: AWS and most others, ECS credentials, EKS pod identity, Alibaba,
/// Oracle, Azure's wire server (which is in public space).
const METADATA_V4: [Ipv4Addr; 6] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

/// AWS (and EKS pod identity) and Google.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Network, prefix length, class; the first match wins, so narrower networks come first.
const TABLE_V4: [(Ipv4Addr, u32, AddressClass); 17] = [
    (Ipv4Addr::new(255, 255, 255, 255), 32, AddressClass::Broadcast),
    (Ipv4Addr::new(0, 0, 0, 0), 8, AddressClass::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressClass::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressClass::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressClass::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressClass::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressClass::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressClass::ProtocolAssignment),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressClass::SixToFour),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressClass::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressClass::Benchmarking),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(233, 252, 0, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, AddressClass::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, AddressClass::Reserved),
];

const TABLE_V6: [(Ipv6Addr, u32, AddressClass); 23] = [
    (v6(0, 0, 0, 0), 128, AddressClass::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, AddressClass::Loopback),
    (v6(0, 0, 0, 0), 96, AddressClass::EmbeddedIpv4),
    (
        Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0),
        96,
        AddressClass::EmbeddedIpv4,
    ),
    (
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0),
        96,
        AddressClass::EmbeddedIpv4,
    ),
    (v6(0x64, 0xff9b, 0, 0), 96, AddressClass::Nat64),
    (v6(0x64, 0xff9b, 1, 0), 48, AddressClass::Nat64),
    (v6(0x100, 0, 0, 0), 64, AddressClass::Discard),
    (v6(0x100, 0, 0, 1), 64, AddressClass::Discard),
    (v6(0x2001, 0, 0, 0), 32, AddressClass::Teredo),
    (v6(0x2001, 2, 0, 0), 48, AddressClass::Benchmarking),
    (v6(0x2001, 0x10, 0, 0), 28, AddressClass::Orchid),
    (v6(0x2001, 0x20, 0, 0), 28, AddressClass::Orchid),
    (v6(0x2001, 0x30, 0, 0), 28, AddressClass::Orchid),
    (v6(0x2001, 0, 0, 0), 23, AddressClass::ProtocolAssignment),
    (v6(0x2001, 0xdb8, 0, 0), 32, AddressClass::Documentation),
    (v6(0x2002, 0, 0, 0), 16, AddressClass::SixToFour),
    (v6(0x3fff, 0, 0, 0), 20, AddressClass::Documentation),
    (v6(0x5f00, 0, 0, 0), 16, AddressClass::Reserved),
    (v6(0xfc00, 0, 0, 0), 7, AddressClass::UniqueLocal),
    (v6(0xfe80, 0, 0, 0), 10, AddressClass::LinkLocal),
    (v6(0xfec0, 0, 0, 0), 10, AddressClass::SiteLocal),
    (v6(0xff00, 0, 0, 0), 8, AddressClass::Multicast),
];

const fn v6(a: u16, b: u16, c: u16, d: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    if METADATA_V4.contains(&address) {
        return AddressClass::Metadata;
    }
    let bits = address.to_bits();
    let inside = |network: &Ipv4Addr, length: u32| (bits ^ network.to_bits()).leading_zeros() >= length;
    TABLE_V4
        .iter()
        .find(|(network, length, _)| inside(network, *length))
        .map_or(AddressClass::Public, |(_, _, class)| *class)
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&address) {
        return AddressClass::Metadata;
    }
    let bits = address.to_bits();
    let inside = |network: &Ipv6Addr, length: u32| (bits ^ network.to_bits()).leading_zeros() >= length;
    if let Some((_, _, class)) = TABLE_V6
        .iter()
        .find(|(network, length, _)| inside(network, *length))
    {
        return *class;
    }
    if !inside(&v6(0x2000, 0, 0, 0), 3) {
        return AddressClass::Reserved;
    }
    // ISATAP (RFC 5214): interface identifiers 0:5efe and 200:5efe followed by an IPv4 address.
    let [_, _, _, _, high, low, _, _] = address.segments();
    if low == 0x5efe && (high == 0 || high == 0x200) {
        return AddressClass::EmbeddedIpv4;
    }
    AddressClass::Public
}
