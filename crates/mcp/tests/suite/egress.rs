//! The egress guard: URL forms, address classes, names that lie.

use std::net::IpAddr;
use std::sync::Arc;

use mcp::egress::{AddressClass as C, Egress, EgressRefusal, FixedNames, Resolver, Road, classify};
use url::Url;

const REGISTERED: &str = "http://tools.internal:8080/mcp";

/// What `admit` says to a URL typed by a person: a road, or the code of the refusal.
pub(crate) const URLS: &[(&str, &str)] = &[
    // Ordinary URLs.
    ("https://example.com/mcp", "public"),
    ("https://example.com", "public"),
    ("https://EXAMPLE.com/mcp?key=1", "public"),
    ("https://example.com:8443/mcp", "public"),
    ("https://example.com:80/mcp", "public"),
    ("https://8.8.8.8/mcp", "public"),
    ("https://[2606:4700:4700::1111]/mcp", "public"),
    ("https://bücher.example/mcp", "public"),
    ("https://xn--bcher-kva.example/mcp", "public"),
    ("https://metadata.google.internal/", "public"), // a name is judged by its addresses, at connect
    ("https://notlocalhost/", "public"),
    ("https://localhost.example.com/", "public"),
    ("https://a-b.example/", "public"),
    ("https://EXAMPLE.COM:443/", "public"),
    ("https://10.0.0.1.nip.example/", "public"),
    ("https://127.0.0.1.example/", "public"),
    ("https://0x7f000001.example/", "public"),
    ("https://ｅｘａｍｐｌｅ.com/", "public"),
    ("https://straße.example/", "public"),
    ("https://example.com/http://127.0.0.1/", "public"),
    ("https://example.com/?url=http://127.0.0.1/", "public"),
    ("https://example.com/@127.0.0.1", "public"),
    ("https://example.com:65535/", "public"),
    ("https://1.1.1.1./", "public"),
    ("https://0x08080808/", "public"),
    ("https://134744072/", "public"),
    // Read as browsers read them: the host that is judged is the host that is reached.
    ("https:example.com/", "public"),
    ("https:/example.com/", "public"),
    ("https:////example.com/", "public"),
    ("https:127.0.0.1/", "egress.address"),
    ("https:////127.0.0.1/", "egress.address"),
    ("https://@127.0.0.1/", "egress.address"),
    // Registered, and nearly.
    (REGISTERED, "registered"),
    ("HTTP://TOOLS.internal:8080/mcp", "registered"),
    ("http://tools.internal:8080/a/../mcp", "registered"),
    ("http://tools.internal:8080/./mcp", "registered"),
    ("http://tools.internal:8080/mcp/", "egress.scheme"),
    ("http://tools.internal:8080/mcp/../admin", "egress.scheme"),
    ("http://tools.internal:8080/MCP", "egress.scheme"),
    ("http://tools.internal:8080/mcp?x=1", "egress.scheme"),
    ("http://tools.internal:8080/mcp?", "egress.scheme"),
    ("http://tools.internal:8080/mcp%2Fadmin", "egress.scheme"),
    ("http://tools.internal:8080/mcp;x", "egress.scheme"),
    ("http://tools.internal/mcp", "egress.scheme"),
    ("http://tools.internal:8081/mcp", "egress.scheme"),
    ("http://tools.internal.:8080/mcp", "egress.scheme"),
    ("http://a@tools.internal:8080/mcp", "egress.user_info"),
    ("http://tools.internal:8080/mcp#x", "egress.fragment"),
    // Schemes.
    ("http://example.com/mcp", "egress.scheme"),
    ("http://127.0.0.1/", "egress.scheme"),
    ("ftp://example.com/", "egress.scheme"),
    ("ws://example.com/", "egress.scheme"),
    ("wss://example.com/", "egress.scheme"),
    ("file:///etc/passwd", "egress.scheme"),
    ("data:text/plain,hi", "egress.scheme"),
    ("javascript:alert(1)", "egress.scheme"),
    ("gopher://127.0.0.1:70/_x", "egress.scheme"),
    ("unix:///run/docker.sock", "egress.scheme"),
    ("httpss://example.com/", "egress.scheme"),
    ("ldap://127.0.0.1/", "egress.scheme"),
    ("dict://127.0.0.1:11211/stat", "egress.scheme"),
    ("tftp://127.0.0.1/x", "egress.scheme"),
    ("blob:https://example.com/x", "egress.scheme"),
    ("about:blank", "egress.scheme"),
    ("mailto:a@example.com", "egress.scheme"),
    ("jar:https://example.com/x!/y", "egress.scheme"),
    // Forms.
    ("", "egress.invalid_url"),
    ("example.com/mcp", "egress.invalid_url"),
    ("//example.com/mcp", "egress.invalid_url"),
    ("https://", "egress.invalid_url"),
    ("https:///", "egress.invalid_url"),
    ("https://?x", "egress.invalid_url"),
    ("https://exa mple.com/", "egress.invalid_url"),
    (" https://example.com/", "egress.invalid_url"),
    ("https://example.com/\n", "egress.invalid_url"),
    ("https://exam\tple.com/", "egress.invalid_url"),
    ("https://example.com\\@127.0.0.1/", "egress.invalid_url"),
    ("https:\\\\example.com/", "egress.invalid_url"),
    ("https://example.com\u{0}.evil.test/", "egress.invalid_url"),
    ("https://example.com:65536/", "egress.invalid_url"),
    ("https://example.com:port/", "egress.invalid_url"),
    ("https://exa%00mple.com/", "egress.invalid_url"),
    ("https://exa<mple.com/", "egress.invalid_url"),
    ("https://[fe80::1%25eth0]/", "egress.invalid_url"),
    ("https://[fe80::1%eth0]/", "egress.invalid_url"),
    ("https://[::1/", "egress.invalid_url"),
    ("https://256.256.256.256/", "egress.invalid_url"),
    ("https://1.2.3.4.5/", "egress.invalid_url"),
    ("https://user@example.com/", "egress.user_info"),
    ("https://user:pass@example.com/", "egress.user_info"),
    ("https://:pass@example.com/", "egress.user_info"),
    ("https://example.com@127.0.0.1/", "egress.user_info"),
    ("https://example.com/#top", "egress.fragment"),
    ("https://example.com/mcp#", "egress.fragment"),
    ("https://example.com:0/", "egress.port"),
    ("https://example.com./", "egress.trailing_dot"),
    ("https://example.com../", "egress.trailing_dot"),
    ("https://./", "egress.no_host"),
    ("https://example.com\r\nHost: 127.0.0.1/", "egress.invalid_url"),
    ("https://[127.0.0.1]/", "egress.invalid_url"),
    ("https://[::1]x/", "egress.invalid_url"),
    ("https://[::ffff:999.0.0.1]/", "egress.invalid_url"),
    ("https://::1/", "egress.invalid_url"),
    ("https://0x100000000/", "egress.invalid_url"),
    ("https://127.0.0.0x100/", "egress.invalid_url"),
    ("https://08.0.0.1/", "egress.invalid_url"),
    ("https://xn--zzzzzz-/", "egress.invalid_url"),
    ("https://exa\u{202e}mple.com/", "egress.invalid_url"),
    ("https://a%40b@example.com/", "egress.user_info"),
    ("https://user@[::1]/", "egress.user_info"),
    // This machine by name.
    ("https://localhost/", "egress.localhost"),
    ("https://LOCALHOST:7100/", "egress.localhost"),
    ("https://localhost./", "egress.localhost"),
    ("https://app.localhost/", "egress.localhost"),
    ("https://a.b.localhost./", "egress.localhost"),
    ("https://loc%61lhost/", "egress.localhost"),
    ("https://ⓛocalhost/", "egress.localhost"),
    // IPv4 in every notation.
    ("https://127.0.0.1/", "egress.address"),
    ("https://127.0.0.1./", "egress.address"),
    ("https://127.1/", "egress.address"),
    ("https://127.0.1/", "egress.address"),
    ("https://2130706433/", "egress.address"),
    ("https://0x7f000001/", "egress.address"),
    ("https://0x7f.1/", "egress.address"),
    ("https://0x7F.0x0.0x0.0x1/", "egress.address"),
    ("https://0177.0.0.1/", "egress.address"),
    ("https://017700000001/", "egress.address"),
    ("https://0/", "egress.address"),
    ("https://0x/", "egress.address"),
    ("https://127%2e0%2e0%2e1/", "egress.address"),
    ("https://１２７.0.0.1/", "egress.address"),
    ("https://127。0。0。1/", "egress.address"),
    ("https://①②⑦.⓪.⓪.①/", "egress.address"),
    ("https://169.254.169.254/latest/meta-data/", "egress.address"),
    ("https://2852039166/", "egress.address"),
    ("https://0xa9fea9fe/", "egress.address"),
    ("https://10.0.0.1/", "egress.address"),
    ("https://192.168.1.1:8443/mcp", "egress.address"),
    ("https://172.16.0.1/", "egress.address"),
    ("https://0xac.0x10.1/", "egress.address"),
    ("https://0300.0250.1.1/", "egress.address"),
    ("https://3232235777/", "egress.address"),
    ("https://100.64.0.1/", "egress.address"),
    ("https://100.100.100.200/", "egress.address"),
    ("https://168.63.129.16/", "egress.address"),
    ("https://192.0.0.192/", "egress.address"),
    ("https://198.18.0.1/", "egress.address"),
    ("https://203.0.113.7/", "egress.address"),
    ("https://224.0.0.1/", "egress.address"),
    ("https://255.255.255.255/", "egress.address"),
    ("https://169.254.169.254./", "egress.address"),
    ("https://0251.0376.0251.0376/", "egress.address"),
    ("https://169.16689662/", "egress.address"),
    // IPv6.
    ("https://[::]/", "egress.address"),
    ("https://[::1]/", "egress.address"),
    ("https://[0:0:0:0:0:0:0:1]/", "egress.address"),
    ("https://[::ffff:127.0.0.1]/", "egress.address"),
    ("https://[::ffff:7f00:1]/", "egress.address"),
    ("https://[::127.0.0.1]/", "egress.address"),
    ("https://[::ffff:8.8.8.8]/", "egress.address"),
    ("https://[64:ff9b::a9fe:a9fe]/", "egress.address"),
    ("https://[2002:7f00:1::]/", "egress.address"),
    ("https://[fe80::1]/", "egress.address"),
    ("https://[fd00:ec2::254]/", "egress.address"),
    (
        "https://[0000:0000:0000:0000:0000:ffff:7f00:0001]/",
        "egress.address",
    ),
    ("https://[::FFFF:169.254.169.254]/", "egress.address"),
    ("https://[64:ff9b:1::7f00:1]/", "egress.address"),
    ("https://[64:ff9b::127.0.0.1]/", "egress.address"),
    ("https://[2002:a9fe:a9fe::1]/", "egress.address"),
    ("https://[2001:0:7f00:1::]/", "egress.address"),
    ("https://[2001:db8::1]/", "egress.address"),
    ("https://[::ffff:0:127.0.0.1]/", "egress.address"),
    ("https://[fec0::1]/", "egress.address"),
    ("https://[ff02::1]/", "egress.address"),
    ("https://[fc00::1]/", "egress.address"),
    ("https://[100::1]/", "egress.address"),
];

// V135
#[test]
fn urls() {
    let egress = Egress::public().register(REGISTERED).unwrap();
    let mut wrong = Vec::new();
    for (text, expected) in URLS {
        let said = match egress.admit(text) {
            Ok(url) => match egress.check_url(&url).unwrap() {
                Road::Public => "public",
                Road::Registered => "registered",
            },
            Err(refusal) => refusal.code(),
        };
        if said != *expected {
            wrong.push((text, said));
        }
    }
    assert_eq!(wrong, []);
    assert!(URLS.len() >= 150, "{}", URLS.len());
}

#[test]
fn a_registration_is_one_purpose_only() {
    let url = Url::parse(REGISTERED).unwrap();
    assert_eq!(
        Egress::public().check_url(&url).unwrap_err().code(),
        "egress.scheme"
    );
}

#[test]
fn what_an_operator_cannot_register() {
    for (text, code) in [
        ("ftp://tools.internal/", "egress.scheme"),
        ("http://a:b@tools.internal/", "egress.user_info"),
        ("http://tools.internal/#x", "egress.fragment"),
        ("http://tools.internal:0/", "egress.port"),
        ("tools.internal", "egress.invalid_url"),
    ] {
        assert_eq!(
            Egress::public().register(text).unwrap_err().code(),
            code,
            "{text}"
        );
    }
}

pub(crate) const ADDRESSES: &[(&str, C)] = &[
    ("1.1.1.1", C::Public),
    ("9.255.255.255", C::Public),
    ("11.0.0.0", C::Public),
    ("100.63.255.255", C::Public),
    ("100.128.0.0", C::Public),
    ("126.255.255.255", C::Public),
    ("128.0.0.1", C::Public),
    ("169.253.255.255", C::Public),
    ("172.15.255.255", C::Public),
    ("172.32.0.0", C::Public),
    ("192.0.1.0", C::Public),
    ("192.167.255.255", C::Public),
    ("198.17.255.255", C::Public),
    ("198.20.0.0", C::Public),
    ("223.255.255.255", C::Public),
    ("0.0.0.0", C::Unspecified),
    ("0.1.2.3", C::Unspecified),
    ("10.255.255.255", C::Private),
    ("100.64.0.1", C::Shared),
    ("100.127.255.255", C::Shared),
    ("100.100.100.200", C::Metadata),
    ("127.255.255.254", C::Loopback),
    ("169.254.0.1", C::LinkLocal),
    ("169.254.169.254", C::Metadata),
    ("169.254.170.2", C::Metadata),
    ("168.63.129.16", C::Metadata),
    ("172.16.0.1", C::Private),
    ("172.31.255.255", C::Private),
    ("192.0.0.1", C::ProtocolAssignment),
    ("192.0.0.192", C::Metadata),
    ("192.0.2.1", C::Documentation),
    ("192.88.99.1", C::SixToFour),
    ("192.168.0.1", C::Private),
    ("198.18.0.1", C::Benchmarking),
    ("198.19.255.255", C::Benchmarking),
    ("198.51.100.1", C::Documentation),
    ("203.0.113.1", C::Documentation),
    ("224.0.0.1", C::Multicast),
    ("239.255.255.255", C::Multicast),
    ("240.0.0.1", C::Reserved),
    ("255.255.255.254", C::Reserved),
    ("255.255.255.255", C::Broadcast),
    ("2606:4700:4700::1111", C::Public),
    ("2001:200::1", C::Public),
    ("2a00:1450:4001::1", C::Public),
    ("::", C::Unspecified),
    ("::1", C::Loopback),
    ("::2", C::EmbeddedIpv4),
    ("::ffff:10.0.0.1", C::EmbeddedIpv4),
    ("::ffff:0:10.0.0.1", C::EmbeddedIpv4),
    ("::ffff:1.1.1.1", C::EmbeddedIpv4),
    ("2606:4700::5efe:10.0.0.1", C::EmbeddedIpv4),
    ("2606:4700::200:5efe:10.0.0.1", C::EmbeddedIpv4),
    ("64:ff9b::10.0.0.1", C::Nat64),
    ("64:ff9b:1::1", C::Nat64),
    ("64:ff9b:2::1", C::Reserved),
    ("100::1", C::Discard),
    ("100:0:0:1::1", C::Discard),
    ("2001::1", C::Teredo),
    ("2001:2::1", C::Benchmarking),
    ("2001:10::1", C::Orchid),
    ("2001:20::1", C::Orchid),
    ("2001:3::1", C::ProtocolAssignment),
    ("2001:db8::1", C::Documentation),
    ("2002:a00:1::", C::SixToFour),
    ("3fff::1", C::Documentation),
    ("4000::1", C::Reserved),
    ("5f00::1", C::Reserved),
    ("fc00::1", C::UniqueLocal),
    ("fd12:3456::1", C::UniqueLocal),
    ("fd00:ec2::254", C::Metadata),
    ("fd20:ce::254", C::Metadata),
    ("fe80::1", C::LinkLocal),
    ("febf::1", C::LinkLocal),
    ("fec0::1", C::SiteLocal),
    ("ff02::1", C::Multicast),
];

#[test]
fn addresses() {
    for (text, expected) in ADDRESSES {
        let address: IpAddr = text.parse().unwrap();
        assert_eq!(classify(address), *expected, "{text}");
        assert_eq!(
            Egress::public().check_addr("h", address).is_ok(),
            *expected == C::Public,
            "{text}"
        );
    }
}

#[test]
fn endpoints_a_server_names_for_itself() {
    let egress = Egress::public()
        .register("http://tools.internal:8080/sse")
        .unwrap();
    for (server, endpoint, expected) in [
        (
            "http://tools.internal:8080/sse",
            "http://tools.internal:8080/messages?id=1",
            "registered",
        ),
        (
            "http://tools.internal:8080/sse",
            "http://tools.internal:8081/messages",
            "egress.foreign_origin",
        ),
        (
            "http://tools.internal:8080/sse",
            "https://tools.internal:8080/messages",
            "egress.foreign_origin",
        ),
        (
            "http://tools.internal:8080/sse",
            "http://a@tools.internal:8080/messages",
            "egress.user_info",
        ),
        (
            "http://tools.internal:8080/other",
            "http://tools.internal:8080/messages",
            "egress.scheme",
        ),
        (
            "https://example.com/sse",
            "https://example.com/messages?id=1",
            "public",
        ),
        (
            "https://example.com/sse",
            "https://evil.example/messages",
            "egress.foreign_origin",
        ),
        (
            "https://example.com/sse",
            "http://169.254.169.254/",
            "egress.foreign_origin",
        ),
        (
            "https://localhost/sse",
            "https://localhost/messages",
            "egress.localhost",
        ),
    ] {
        let (server, endpoint) = (Url::parse(server).unwrap(), Url::parse(endpoint).unwrap());
        let said = match egress.check_endpoint(&server, &endpoint) {
            Ok(Road::Public) => "public",
            Ok(Road::Registered) => "registered",
            Err(refusal) => refusal.code(),
        };
        assert_eq!(said, expected, "{server} names {endpoint}");
    }
}

#[tokio::test]
async fn names_are_judged_by_every_address() {
    let names = FixedNames::new([
        ("good.example", vec![ips(&["1.1.1.1", "2606:4700::1"])]),
        ("bad.example", vec![ips(&["10.0.0.1"])]),
        ("mixed.example", vec![ips(&["1.1.1.1", "::1"])]),
        ("empty.example", vec![vec![]]),
    ]);
    let egress = Egress::public().with_resolver(Resolver::Fixed(Arc::new(names)));
    for (host, expected) in [
        ("good.example", "public"),
        ("bad.example", "egress.address"),
        ("mixed.example", "egress.address"),
        ("empty.example", "egress.unresolved"),
        ("missing.example", "egress.unresolved"),
    ] {
        let url = Url::parse(&format!("https://{host}/")).unwrap();
        let said = match egress.check_resolved(&url).await {
            Ok(_) => "public",
            Err(refusal) => refusal.code(),
        };
        assert_eq!(said, expected, "{host}");
    }
}

#[test]
fn messages_name_no_path_and_no_credentials() {
    let egress = Egress::public();
    for text in [
        "https://alice:hunter2@example.com/secret-path?token=abc",
        "http://example.com/secret-path?token=abc",
        "https://127.0.0.1/secret-path?token=abc",
        "https://localhost/secret-path?token=abc",
        "https://exa mple.com/secret-path?token=abc",
    ] {
        let message = egress.admit(text).unwrap_err().to_string();
        for secret in ["hunter2", "alice", "secret-path", "abc"] {
            assert!(!message.contains(secret), "{message}");
        }
    }
}

#[test]
fn a_refusal_says_what_to_do() {
    let refusal = Egress::public().admit("https://10.0.0.1/").unwrap_err();
    let EgressRefusal::Address { class, .. } = &refusal else {
        panic!("{refusal:?}")
    };
    assert_eq!(*class, C::Private);
    assert_eq!(
        refusal.to_string(),
        "host 10.0.0.1 has the address 10.0.0.1 (private), which is not public; only an operator can register it"
    );
}

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}
