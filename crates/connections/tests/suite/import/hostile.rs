//! Input that means harm or is badly broken: bounded, typed errors, and no entry lost to another's fault.

use connections::import::{ImportError, Launch, MAX_ENTRIES, MAX_FILE_BYTES, Source, parse};

use super::expectation::{codes, invariants};

fn read(file_name: &str, bytes: &[u8]) -> Result<connections::import::Import, ImportError> {
    parse(&Source {
        file_name,
        bytes,
        dialect: None,
    })
}

/// The kind of error, and line and column where it has them.
fn error(file_name: &str, bytes: &[u8]) -> String {
    let error = read(file_name, bytes).expect_err("must be refused");
    match &error {
        ImportError::Syntax {
            format, line, column, ..
        } => format!("{format} {line}:{column}"),
        ImportError::NotUtf8 { line, column } => format!("utf8 {line}:{column}"),
        ImportError::TooLarge { .. } => "large".to_owned(),
        ImportError::Empty => "empty".to_owned(),
        ImportError::TooDeep { .. } => "deep".to_owned(),
        ImportError::TooManyValues { .. } => "many".to_owned(),
        ImportError::NotAnObject { found } => (*found).to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn whole_files_are_refused_with_a_place() {
    let nested = |open: &str, depth| format!("{{\"mcpServers\":{}", open.repeat(depth));
    let many = format!("{{\"mcpServers\":{{\"a\":[{}1]}}}}", "1,".repeat(500_000));
    let (lists, objects) = (nested("[", 100_000), nested("{\"a\":", 100_000));
    let closed = format!("{}{}", nested("[", 80), "]".repeat(80) + "}");
    let flow = format!("mcpServers: {}", "[".repeat(5_000));
    let cases: &[(&str, &[u8], &str)] = &[
        ("a.json", b"", "empty"),
        ("a.json", b" \n\t", "empty"),
        ("a.json", b"\xEF\xBB\xBF", "empty"),
        ("a.json", b"// only a comment", "empty"),
        ("a.json", b"[]", "a list"),
        ("a.json", b"null", "null"),
        ("a.yaml", b"just text", "a text"),
        ("a.json", b"{\n\"a\": \xFF}", "utf8 2:6"),
        ("a.json", b"\xFF\xFE{\0}\0", "utf8 1:1"),
        ("a.json", b"{\n  \"a\": }", "JSON 2:8"),
        ("a.json", b"{\"a\" 1}", "JSON 1:6"),
        ("a.json", b"{'a': 1}", "JSON 1:2"),
        ("a.toml", b"a = 1\nb = = 2", "TOML 2:5"),
        ("a.toml", b"a = 1\na = 2", "TOML 2:1"),
        ("a.yaml", b"a: [1, 2\nb: 3", "YAML 2:2"),
        ("a.json", lists.as_bytes(), "deep"),
        ("a.json", objects.as_bytes(), "deep"),
        ("a.json", closed.as_bytes(), "deep"),
        ("a.json", many.as_bytes(), "many"),
        ("a.yaml", flow.as_bytes(), "deep"),
    ];
    for (name, bytes, expected) in cases {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert_eq!(error(name, bytes), *expected, "{name} {shown}");
    }
    assert_eq!(error("a.json", &vec![b' '; MAX_FILE_BYTES + 1]), "large");
}

#[test]
fn errors_quote_no_values() {
    for (name, text) in [
        ("a.toml", "token = \"hidden\" x"),
        ("a.json", "{\"token\": \"hidden\" \"x\"}"),
        ("a.yaml", "token: hidden\n\t- x: [hidden"),
    ] {
        let error = read(name, text.as_bytes()).expect_err("broken");
        assert!(!format!("{error} {error:?}").contains("hidden"), "{error}");
    }
}

#[test]
fn aliases_that_multiply_are_stopped() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = level - 1;
        let ten = vec![format!("*a{before}"); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{ten}]\n"));
    }
    let refused = error("config.yaml", bomb.as_bytes());
    assert!(refused == "many" || refused.starts_with("YAML"), "{refused}");
}

#[test]
fn one_bad_entry_does_not_lose_the_others() {
    let bad = [
        "null",
        "1",
        "true",
        "\"text\"",
        "[]",
        "{}",
        "{\"command\":null}",
        "{\"command\":1}",
        "{\"command\":[]}",
        "{\"command\":\"\"}",
        "{\"command\":\"a\\u0000b\"}",
        "{\"command\":{\"path\":null}}",
        "{\"url\":5}",
        "{\"url\":\"\"}",
        "{\"url\":\"http://\"}",
        "{\"url\":\"javascript:x\"}",
        "{\"type\":\"http\"}",
        "{\"type\":{}}",
        "{\"type\":\"stdio\",\"url\":\"x\"}",
        "{\"transport\":{\"transport\":{\"url\":\"x\"}}}",
    ];
    for entry in bad {
        let text = format!(
            "{{\"mcpServers\":{{\"good\":{{\"command\":\"x\"}},\"bad\":{entry},\"__proto__\":{{\"command\":\"y\"}}}}}}"
        );
        let import = read("x.json", text.as_bytes()).expect(entry);
        let names: Vec<&str> = import.entries.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["good", "bad", "__proto__"], "{entry}");
        assert!(matches!(import.entries[0].launch, Launch::Command(_)), "{entry}");
        assert!(
            matches!(import.entries[1].launch, Launch::None),
            "{entry}: {:?}",
            import.entries[1]
        );
        assert!(!import.entries[1].notices.is_empty(), "{entry}");
    }
}

#[test]
fn nulls_everywhere_count_as_absent() {
    let text = br#"{ "inputs": null, "mcpServers": { "a": { "type": null, "command": "x", "args": null, "env": { "A": null }, "url": null,
        "headers": null, "cwd": null, "envFile": null, "disabled": null, "timeout": null, "autoApprove": null, "disabledTools": null,
        "trust": null, "oauth": null, "transport": null } }, "projects": null, "mcp": null, "agent": null, "tools": null }"#;
    for name in [
        "x.json",
        ".mcp.json",
        "/.claude.json",
        "/.cursor/mcp.json",
        ".gemini/settings.json",
        "cline_mcp_settings.json",
    ] {
        let import = read(name, text).expect(name);
        assert_eq!(import.entries.len(), 1, "{name}");
        assert_eq!(
            codes(&import.entries[0]).into_iter().collect::<Vec<_>>(),
            ["env.dropped"],
            "{name}"
        );
    }
}

#[test]
fn names_are_made_legal_and_unique() {
    let names = [
        "a",
        "A",
        "a ",
        "-",
        "",
        "名前",
        "x\\u001b[31mred",
        "org/pkg",
        "@scope/pkg",
        "a-very-long-name-that-goes-on",
        "a-very-long-name-that-goes-off",
    ];
    let list: Vec<String> = names
        .iter()
        .map(|name| format!("\"{name}\":{{\"command\":\"x\"}}"))
        .collect();
    let import = read(
        "x.json",
        format!("{{\"mcpServers\":{{{}}}}}", list.join(",")).as_bytes(),
    )
    .expect("parses");
    let slugs: Vec<&str> = import.entries.iter().map(|entry| entry.slug.as_str()).collect();
    let expected = [
        "a",
        "a-2",
        "a-3",
        "server",
        "server-2",
        "server-3",
        "x-31mred",
        "pkg",
        "pkg-2",
        "a-very-long-name-tha",
        "a-very-long-name-t-2",
    ];
    assert_eq!(slugs, expected);
    assert!(import.entries.iter().all(|entry| !entry.name.contains('\u{1b}')));
}

/// Found by fuzzing: what shows that a name was cut counts as one of its characters.
#[test]
fn a_name_has_its_length_at_most() {
    for (length, kept) in [(199, 199), (200, 200), (201, 200), (5_000, 200)] {
        let text = format!(
            "{{\"mcpServers\":{{\"{}\":{{\"command\":\"x\"}}}}}}",
            "é".repeat(length)
        );
        let import = read("x.json", text.as_bytes()).unwrap();
        let name = &import.entries[0].name;
        assert_eq!(name.chars().count(), kept);
        assert_eq!(name.ends_with('…'), length > kept, "{name}");
        assert_eq!(codes(&import.entries[0]).contains("name.replaced"), length > kept);
    }
}

#[test]
fn entries_fields_and_texts_are_bounded() {
    let many: Vec<String> = (0..MAX_ENTRIES + 5)
        .map(|n| format!("\"s{n}\":{{\"command\":\"x\"}}"))
        .collect();
    let import = read(
        "x.json",
        format!("{{\"mcpServers\":{{{}}}}}", many.join(",")).as_bytes(),
    )
    .expect("parses");
    assert_eq!(import.entries.len(), MAX_ENTRIES);
    assert!(
        import
            .report
            .iter()
            .any(|notice| notice.code == "file.too-many-entries" && notice.text.starts_with("5 "))
    );

    let unknown: Vec<String> = (0..5_000).map(|n| format!("\"f{n}\":1")).collect();
    let import = read(
        "x.json",
        format!(
            "{{\"mcpServers\":{{\"a\":{{\"command\":\"x\",{}}}}}}}",
            unknown.join(",")
        )
        .as_bytes(),
    )
    .expect("parses");
    assert!(import.entries[0].notices.len() <= 201);
    assert_eq!(
        import.entries[0].notices.last().map(|notice| notice.code),
        Some("notices.more")
    );

    // Texts that make searching slow if it starts over at each place, and a bridge that would multiply its environment.
    let open = "${".repeat(200_000);
    let urls = "://".repeat(200_000);
    let filled = "${A}".repeat(20_000);
    let value = "v".repeat(60_000);
    let text = format!(
        r#"{{"mcpServers":{{"a":{{"command":"x","args":["{open}","{urls}"]}},"b":{{"command":"npx","args":["mcp-remote","https://x.example.com","--header","H:{filled}"],"env":{{"A":"{value}"}}}}}}}}"#
    );
    let import = read("x.json", text.as_bytes()).expect("parses");
    let mut wrong = Vec::new();
    invariants(&import, &mut wrong);
    assert_eq!(wrong, [""; 0]);
    let Launch::Remote(remote) = &import.entries[1].launch else {
        panic!("a bridge")
    };
    assert!(remote.headers["H"].shown().len() < 200_000);
}
