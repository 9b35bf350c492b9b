//! Entries and files of skills, good and bad.

use std::sync::Arc;

use domain::Digest;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{Skill, Unsupported};

const SKILL_MD: &str =
    "---\nname: refunds\ndescription: How refunds go\nmetadata:\n  version: \"2\"\n---\n# Refunds\n";
const GUIDE: &str = "Be kind.";

fn file(path: &str, text: &str) -> Value {
    json!({ "uri": format!("skill://acme/refunds/{path}"), "digest": format!("sha256:{}", Digest::of(text.as_bytes())), "size": text.len() })
}

fn entry() -> Value {
    json!({
        "uri": "skill://acme/refunds/SKILL.md",
        "frontmatter": { "name": "refunds", "description": "How refunds go", "metadata": { "version": "2" } },
        "resources": [file("SKILL.md", SKILL_MD), file("references/guide.md", GUIDE)],
    })
}

fn read(entry: &Value) -> Result<Skill, String> {
    Skill::read(Arc::from(to_raw_value(entry).unwrap())).map_err(|e| e.to_string())
}

fn with(pointer: &str, value: Value) -> Value {
    let mut entry = entry();
    *entry.pointer_mut(pointer).unwrap() = value;
    entry
}

#[test]
fn a_skill_has_all_its_files() {
    let skill = read(&entry()).unwrap();
    assert_eq!((&*skill.name, &*skill.description), ("refunds", "How refunds go"));
    let paths: Vec<&str> = skill.files.iter().map(|file| &*file.path).collect();
    assert_eq!(paths, ["SKILL.md", "references/guide.md"]);
    assert_eq!(skill.unsupported, None);
    assert_eq!(
        &*skill.file_at("./references/guide.md").unwrap().uri,
        "skill://acme/refunds/references/guide.md"
    );
    for path in [
        "../refunds/SKILL.md",
        "/SKILL.md",
        "references/../SKILL.md",
        "references",
        "",
        "skill.md",
    ] {
        assert!(skill.file_at(path).is_none(), "{path}");
    }
}

// I074
#[test]
fn the_manifest_changes_with_every_file_and_with_nothing_else() {
    let manifest = read(&entry()).unwrap().manifest;
    let mut turned = entry();
    turned["resources"].as_array_mut().unwrap().reverse();
    assert_eq!(read(&turned).unwrap().manifest, manifest);
    let added = {
        let mut entry = entry();
        entry["resources"]
            .as_array_mut()
            .unwrap()
            .push(file("more.md", "more"));
        entry
    };
    for changed in [
        added,
        with("/resources/1", file("references/guide.md", "Be strict.")),
        with("/frontmatter/description", json!("How refunds really go")),
    ] {
        assert_ne!(read(&changed).unwrap().manifest, manifest, "{changed}");
    }
}

#[test]
fn what_is_no_skill_is_left_out() {
    let check = |entry: Value, part: &str| {
        let error = read(&entry).unwrap_err();
        assert!(error.contains(part), "{entry}: {error}");
    };
    check(json!([]), "");
    check(json!({ "uri": 7, "frontmatter": {} }), "");
    check(with("/frontmatter/name", json!("Refunds")), "name");
    check(with("/frontmatter/name", json!("other")), "uri");
    check(with("/frontmatter/description", json!(" ")), "description");
    check(
        with("/frontmatter/description", json!("x".repeat(1025))),
        "description",
    );
    check(with("/uri", json!("skill://acme/refunds/skill.md")), "uri");
    check(with("/uri", json!("SKILL.md")), "uri");
    check(with("/uri", json!("skill://acme/refunds/SKILL.md?x=1")), "uri");
    check(with("/resources", json!("static")), "resources");
    check(with("/resources", json!([])), "SKILL.md");
    check(with("/resources", json!([file("guide.md", GUIDE)])), "SKILL.md");
    check(with("/resources/1/digest", json!("sha256:abc")), "digest");
    check(with("/resources/1/digest", json!("md5:abc")), "digest");
    check(with("/resources/1/size", json!(-1)), "size");
    check(with("/resources/1", file("SKILL.md", GUIDE)), "twice");
    for path in [
        "../other/SKILL.md",
        "a/../b.md",
        "./a.md",
        "a//b.md",
        "a/",
        "a%2f..%2fb.md",
        "a\\b.md",
        "a b.md",
        "a\u{0}.md",
        "a?x",
        "a#x",
        "é.md",
    ] {
        check(
            with("/resources/1/uri", json!(format!("skill://acme/refunds/{path}"))),
            "inside",
        );
    }
    check(
        with("/resources/1/uri", json!("skill://acme/refunds-2/a.md")),
        "inside",
    );
    check(with("/resources/1/uri", json!("file:///etc/passwd")), "inside");
    let many: Vec<Value> = (0..300).map(|n| file(&format!("{n}.md"), "x")).collect();
    check(with("/resources", json!(many)), "more than");
}

// I069, I075
#[test]
fn what_is_more_than_instructions_is_not_loaded() {
    let check = |entry: Value, want: Unsupported| assert_eq!(read(&entry).unwrap().unsupported, Some(want));
    check(with("/resources", json!("dynamic")), Unsupported::Dynamic);
    check(with("/resources", Value::Null), Unsupported::Dynamic);
    for path in [
        "scripts/readme.md",
        "run.py",
        "deep/down/RUN.SH",
        "bin/x",
        "tool.wasm",
    ] {
        check(
            with("/resources/1", file(path, GUIDE)),
            Unsupported::Code { path: path.into() },
        );
    }
    let mut hooked = entry();
    hooked["frontmatter"]["hooks"] = json!({});
    check(hooked, Unsupported::Declares { key: "hooks".into() });
    let large = with("/resources/1/size", json!(1_u64 << 40));
    assert!(matches!(
        read(&large).unwrap().unsupported,
        Some(Unsupported::TooLarge { .. })
    ));
}

// I068
#[test]
fn files_are_what_the_manifest_says() {
    let skill = read(&entry()).unwrap();
    let answer = |uri: &str, more: Value| {
        let mut content = json!({ "uri": uri });
        for (key, value) in more.as_object().unwrap() {
            content[key] = value.clone();
        }
        json!({ "contents": [content] })
    };
    let verify = |path: &str, answer: &Value| {
        let file = skill.file_at(path).unwrap();
        skill
            .verify(file, &to_raw_value(answer).unwrap())
            .map_err(|e| e.to_string())
    };
    let (main, guide) = (
        "skill://acme/refunds/SKILL.md",
        "skill://acme/refunds/references/guide.md",
    );
    assert_eq!(
        verify("SKILL.md", &answer(main, json!({ "text": SKILL_MD }))).unwrap(),
        SKILL_MD
    );
    assert_eq!(
        verify(
            "references/guide.md",
            &answer(guide, json!({ "text": GUIDE, "mimeType": "x" }))
        )
        .unwrap(),
        GUIDE
    );
    for (answer, part) in [
        (answer(guide, json!({ "text": "Be mean." })), "digest"),
        (answer(guide, json!({ "text": "Be kind. " })), "9 bytes"),
        (answer(guide, json!({ "blob": "QmUga2luZC4=" })), "binary"),
        (answer(guide, json!({ "text": GUIDE, "blob": "" })), "binary"),
        (answer(guide, json!({ "text": "x".repeat(300_000) })), "more than"),
        (answer(guide, json!({})), "no content"),
        (answer(main, json!({ "text": GUIDE })), "not asked"),
        (json!({ "contents": [] }), "no content"),
        (
            json!({ "contents": [{ "uri": guide, "text": GUIDE }, { "uri": main, "text": "" }] }),
            "not asked",
        ),
        (json!({ "contents": "x" }), "no content"),
        (json!({}), "no content"),
    ] {
        let error = verify("references/guide.md", &answer).unwrap_err();
        assert!(error.contains(part), "{answer}: {error}");
    }
}

#[test]
fn a_skill_says_of_itself_what_was_listed() {
    let head = |head: &str| format!("---\n{head}\n---\ntext\n");
    for (text, part) in [
        (
            head("name: refunds\ndescription: Something else\nmetadata: {version: \"2\"}"),
            "not the one",
        ),
        (
            head(
                "name: refunds\ndescription: How refunds go\nmetadata: {version: \"2\"}\nallowed-tools: Bash",
            ),
            "not the one",
        ),
        (head("name: [refunds"), "cannot be read"),
        (
            head("name: refunds\nname: refunds\ndescription: How refunds go\nmetadata: {version: \"2\"}"),
            "cannot be read",
        ),
        ("# Refunds\n".to_owned(), "does not begin"),
        ("---\nname: refunds\n".to_owned(), "does not begin"),
    ] {
        let mut listed = entry();
        listed["resources"][0] = file("SKILL.md", &text);
        let skill = read(&listed).unwrap();
        let answer = json!({ "contents": [{ "uri": "skill://acme/refunds/SKILL.md", "text": text }] });
        let error = skill
            .verify(
                skill.file_at("SKILL.md").unwrap(),
                &to_raw_value(&answer).unwrap(),
            )
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
