//! What a URL may look like before anybody resolves or connects.
//!
//! The `url` crate has already turned every notation of an IPv4 address (decimal, octal, hexadecimal, short forms,
//! percent-encoded, full-width digits) into `Host::Ipv4`, so hosts are judged by `Url::host`, never by their text.

use std::net::IpAddr;

use url::{Host, Url};

use super::{AddressClass, EgressRefusal, classify};

/// Longest URL a person may register, in bytes.
const MAX_URL_BYTES: usize = 4096;

/// Parses without the repairs the URL standard allows.
pub(super) fn parse(text: &str) -> Result<Url, EgressRefusal> {
    let invalid = |reason: &str| EgressRefusal::Invalid {
        reason: reason.to_owned(),
    };
    if text.len() > MAX_URL_BYTES {
        return Err(invalid("it is longer than 4,096 bytes"));
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(invalid("it contains white space or control characters"));
    }
    if text.contains('\\') {
        return Err(invalid("it contains a backslash"));
    }
    Url::parse(text).map_err(|error| EgressRefusal::Invalid {
        reason: error.to_string(),
    })
}

/// A URL an operator may register: `http` or `https` to any host.
pub(super) fn registrable(text: &str) -> Result<Url, EgressRefusal> {
    let url = parse(text)?;
    check_form(&url)?;
    Ok(url)
}

/// The form every URL has to have, on either road.
pub(super) fn check_form(url: &Url) -> Result<(), EgressRefusal> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(EgressRefusal::Scheme {
            scheme: url.scheme().to_owned(),
        });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EgressRefusal::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(EgressRefusal::Fragment);
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(EgressRefusal::NoHost);
    }
    if url.port() == Some(0) {
        return Err(EgressRefusal::Port);
    }
    Ok(())
}

/// A URL anybody may use: `https` to a name, or to a public address.
pub(super) fn check_public(url: &Url) -> Result<(), EgressRefusal> {
    check_form(url)?;
    if url.scheme() != "https" {
        return Err(EgressRefusal::Scheme {
            scheme: url.scheme().to_owned(),
        });
    }
    match url.host() {
        None => Err(EgressRefusal::NoHost),
        Some(Host::Ipv4(address)) => check_address(&address.to_string(), IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => check_address(&address.to_string(), IpAddr::V6(address)),
        Some(Host::Domain(name)) => check_name(name),
    }
}

/// An address on the public road.
pub(super) fn check_address(host: &str, address: IpAddr) -> Result<(), EgressRefusal> {
    match classify(address) {
        AddressClass::Public => Ok(()),
        class => Err(EgressRefusal::Address {
            host: host.to_owned(),
            address,
            class,
        }),
    }
}

/// The host of a URL for a message.
pub(super) fn host_label(url: &Url) -> String {
    url.host_str().unwrap_or("none").to_owned()
}

fn check_name(name: &str) -> Result<(), EgressRefusal> {
    let bare = name.trim_end_matches('.');
    if bare.eq_ignore_ascii_case("localhost") || bare.to_ascii_lowercase().ends_with(".localhost") {
        return Err(EgressRefusal::Localhost {
            host: name.to_owned(),
        });
    }
    if bare.is_empty() {
        return Err(EgressRefusal::NoHost);
    }
    if bare.len() != name.len() {
        return Err(EgressRefusal::TrailingDot {
            host: name.to_owned(),
        });
    }
    Ok(())
}
