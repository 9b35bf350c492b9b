//! Paths that mean another place to somebody else, with the key of an agent; and places that take no key at all.

use testkit::house::House;

use super::raw::{exchange, status};

#[tokio::test]
async fn no_way_round_to_the_operators_place() {
    let house = House::start(&[]).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let mut tried = 0;
    for path in [
        "/mcp/-/operator",
        "/mcp/-/operator?",
        "/mcp/-/operator?agent=default",
        "/mcp/-/operator#x",
        "/mcp/-/operator/",
        "/mcp/-/operator//",
        "/mcp//-/operator",
        "//mcp/-/operator",
        "/mcp/./-/operator",
        "/mcp/default/../-/operator",
        "/mcp/default/%2e%2e/-/operator",
        "/mcp/default/..%2f-%2foperator",
        "/mcp/%2e%2e/mcp/-/operator",
        "/mcp/%2d/operator",
        "/mcp/%2D/%6Fperator",
        "/mcp/-%2foperator",
        "/mcp/-%2Foperator",
        "/mcp/-%5coperator",
        "/mcp\\-\\operator",
        "/mcp/-/operator%00",
        "/mcp/-/operator%20",
        "/mcp/-/operator;x",
        "/mcp/-;x/operator",
        "/mcp/-/Operator",
        "/mcp/-/OPERATOR",
        "/MCP/-/operator",
        "/mcp/%252d/operator",
        "/mcp/-/%c0%afoperator",
        "/mcp/default/-",
        "/mcp/-",
        "/api/v1/agents",
        "/api/v1//agents",
        "/api/v1/./agents",
        "/api/v1/agents/",
        "/api/v1/%61gents",
        "/api/v1/tools/../agents",
        "/API/v1/agents",
        "/api/v1/agents/default",
        "/api/v1/agents/%64efault",
        "/api/v1/agents/..%2fkeys",
        "/assets/../openapi.json",
        "/assets/%2e%2e%2fapp.rs",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/assets//etc/passwd",
    ] {
        for method in ["POST", "GET"] {
            let request = format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                house.agent_key,
                if method == "POST" { list.len() } else { 0 },
                if method == "POST" { list } else { "" },
            );
            let said = exchange(&house, request).await;
            assert!((400..500).contains(&status(&said)), "{method} {path}: {said}");
            assert!(
                !said.contains("agents_create") && !said.contains("root:"),
                "{method} {path}: {said}"
            );
            tried += 1;
        }
    }
    println!("{tried} requests to paths");
}

#[tokio::test]
async fn keys_are_needed_on_loopback_too() {
    let house = House::start(&[]).await;
    let invented = "sb_admin_00000000000000000000000000000000";
    for (path, open) in [
        ("/health", true),
        ("/ready", true),
        ("/docs", true),
        ("/openapi.json", true),
        ("/assets/page.css", true),
        ("/metrics", true),
        ("/mcp", false),
        ("/mcp/default", false),
        ("/mcp/-/operator", false),
        ("/api/v1/agents", false),
        ("/api/v1/audit", false),
        ("/api/v1/time", false),
    ] {
        for key in [
            String::new(),
            "Authorization: Bearer\r\n".to_owned(),
            "Authorization: Bearer \r\n".to_owned(),
            "Authorization: Bearer null\r\n".to_owned(),
            "Authorization: Basic YWRtaW46YWRtaW4=\r\n".to_owned(),
            format!("Authorization: Bearer {invented}\r\n"),
            format!("Authorization: {}\r\n", house.admin),
            format!("Authorization: Bearer {}x\r\n", house.admin),
            format!("Authorization: Bearer {}\r\n", house.admin.to_uppercase()),
            format!("Cookie: key={}\r\n", house.admin),
            "X-API-Key: admin\r\n".to_owned(),
            "X-Forwarded-For: 127.0.0.1\r\n".to_owned(),
            "X-Forwarded-User: admin\r\n".to_owned(),
        ] {
            let said = exchange(
                &house,
                format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{key}Connection: close\r\n\r\n"),
            )
            .await;
            let want = if open { 200 } else { 401 };
            assert_eq!(status(&said), want, "{path} {key:?}: {said}");
        }
        if !open {
            let in_query = format!(
                "GET {path}?key={} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                house.admin
            );
            assert_eq!(status(&exchange(&house, in_query).await), 401, "{path}");
        }
    }
    // Two keys are not chosen between.
    let two = format!(
        "Authorization: Bearer {}\r\nAuthorization: Bearer {}\r\n",
        house.agent_key, house.admin
    );
    let said = exchange(
        &house,
        format!("GET /api/v1/agents HTTP/1.1\r\nHost: localhost\r\n{two}Connection: close\r\n\r\n"),
    )
    .await;
    assert_eq!(status(&said), 400, "{said}");
}
