//! Reading an entry of `skills/list` or `skills/get`.

use std::collections::HashSet;
use std::sync::Arc;

use domain::{Digest, parse_unique};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{MAX_FILE_BYTES, MAX_FILES, Skill, SkillFile, Unsupported};

/// Longest URI, in bytes.
const MAX_URI: usize = 2_048;

/// Names of files that are code, by their ends.
const CODE: &[&str] = &[
    "bash", "bat", "bin", "c", "cc", "class", "cmd", "com", "cpp", "cs", "dll", "dylib", "exe", "fish", "go",
    "ipynb", "jar", "java", "js", "jsx", "kts", "lua", "mjs", "cjs", "php", "pl", "ps1", "psm1", "py", "pyc",
    "pyw", "r", "rb", "rs", "scpt", "sh", "so", "swift", "ts", "tsx", "vbs", "wasm", "zsh",
];
/// Folders whose files are code whatever their names.
const CODE_FOLDERS: &[&str] = &["bin", "scripts"];
/// Frontmatter that asks for something to be run or for an environment to run in.
const DECLARES: &[&str] = &[
    "command",
    "commands",
    "entrypoint",
    "environment",
    "hooks",
    "install",
    "mcp-servers",
    "mcpServers",
    "runtime",
    "scripts",
];

/// An item that is not a skill. Says what is wrong, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("skill {uri:?}: {reason}; it is left out")]
pub struct Malformed {
    /// Its URI, as far as it has one.
    pub uri: String,
    /// What is wrong.
    pub reason: String,
}

impl Skill {
    /// Reads an entry as its server sent it.
    ///
    /// # Errors
    /// It is not what SEP-2640 says: no name, files outside of the skill, digests that are none. What is well-formed and merely not
    /// loaded says so in [`Skill::unsupported`].
    pub fn read(raw: Arc<RawValue>) -> Result<Self, Malformed> {
        let bad = |uri: &str, reason: String| Malformed {
            uri: uri.to_owned(),
            reason,
        };
        let entry = parse_unique(raw.get()).map_err(|e| bad("", e.to_string()))?;
        let uri = entry.get("uri").and_then(Value::as_str).unwrap_or_default();
        let fail = |reason: &str| bad(uri, reason.to_owned());
        let frontmatter = entry.get("frontmatter").and_then(Value::as_object);
        let frontmatter = frontmatter.ok_or_else(|| fail("`frontmatter` is not an object"))?;
        let text = |key: &str| frontmatter.get(key).and_then(Value::as_str);
        let name = text("name").filter(|name| domain::Skill::is_name(name));
        let name = name.ok_or_else(|| fail("`frontmatter.name` is no name of a skill"))?;
        let described =
            |text: &&str| !text.trim().is_empty() && text.chars().count() <= domain::Skill::MAX_DESCRIPTION;
        let description = text("description").filter(described);
        let description = description
            .ok_or_else(|| fail("`frontmatter.description` is not a text of 1 to 1024 characters"))?;
        let root = root(uri, name).ok_or_else(|| {
            fail("`uri` does not end in the skill's name and SKILL.md, or is no plain URI of at most 2048 bytes")
        })?;
        let listed = match entry.get("resources") {
            None | Some(Value::Null) => None,
            Some(Value::String(word)) if word == "dynamic" => None,
            Some(Value::Array(files)) => Some(files),
            Some(_) => return Err(fail("`resources` is neither a list of files nor \"dynamic\"")),
        };
        let files = match listed {
            Some(listed) => files(listed, root, uri).map_err(|reason| bad(uri, reason))?,
            None => Vec::new(),
        };
        let unsupported = match listed {
            None => Some(Unsupported::Dynamic),
            Some(_) => unsupported(&files, frontmatter),
        };
        Ok(Self {
            uri: uri.into(),
            name: name.into(),
            description: description.into(),
            manifest: digest(uri, frontmatter, &files),
            files,
            unsupported,
            frontmatter: frontmatter.clone(),
            raw,
        })
    }
}

/// What an approval is bound to. Independent of the order in which files are listed.
fn digest(uri: &str, frontmatter: &Map<String, Value>, files: &[SkillFile]) -> Digest {
    let files: Vec<Value> = files
        .iter()
        .map(|file| json!({ "uri": &*file.uri, "digest": file.digest.to_string(), "size": file.size }))
        .collect();
    Digest::of_json(&json!({ "uri": uri, "frontmatter": frontmatter, "resources": files }))
}

/// The URI of a skill's folder, with the slash.
fn root<'a>(uri: &'a str, name: &str) -> Option<&'a str> {
    let root = uri.strip_suffix("SKILL.md")?;
    let folder = root.strip_suffix('/')?;
    let (before, last) = folder.rsplit_once('/')?;
    let (scheme, _) = before.split_once(':').unwrap_or((before, ""));
    let plain_scheme = !scheme.is_empty()
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let plain = uri.len() <= MAX_URI && uri.contains("://") && plain_scheme && uri.bytes().all(plain);
    (last == name && plain).then_some(root)
}

/// Bytes of URIs that mean the same to everybody: no query or fragment, nothing escaped, no white space, no backslash.
fn plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"?#%\\\"<>^`{|}".contains(&byte)
}

fn files(listed: &[Value], root: &str, skill: &str) -> Result<Vec<SkillFile>, String> {
    if listed.len() > MAX_FILES {
        return Err(format!("it has {} files, more than {MAX_FILES}", listed.len()));
    }
    let mut files = listed
        .iter()
        .enumerate()
        .map(|(at, file)| read_file(file, root).map_err(|reason| format!("`resources[{at}]`: {reason}")))
        .collect::<Result<Vec<_>, String>>()?;
    files.sort_by(|a, b| a.uri.cmp(&b.uri));
    let mut seen = HashSet::new();
    if let Some(twice) = files.iter().find(|file| !seen.insert(file.uri.clone())) {
        return Err(format!("{:?} is listed twice", twice.path));
    }
    if !seen.contains(skill) {
        return Err("its SKILL.md is not among its files".to_owned());
    }
    Ok(files)
}

fn read_file(file: &Value, root: &str) -> Result<SkillFile, String> {
    let text = |key: &str| file.get(key).and_then(Value::as_str);
    let uri = text("uri").ok_or("`uri` is not a string")?;
    let path = uri
        .strip_prefix(root)
        .filter(|path| path.len() <= MAX_URI && path.bytes().all(plain))
        .filter(|path| path.split('/').all(|part| !matches!(part, "" | "." | "..")))
        .ok_or("`uri` is not the plain URI of a file inside of the skill")?;
    let digest = text("digest")
        .and_then(|digest| digest.strip_prefix("sha256:"))
        .filter(|hex| {
            hex.len() == 64
                && hex
                    .bytes()
                    .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        })
        .and_then(|hex| hex.parse().ok())
        .ok_or("`digest` is not sha256: and 64 lowercase hexadecimal digits")?;
    let size = match file.get("size") {
        None => None,
        Some(size) => Some(size.as_u64().ok_or("`size` is not a number of bytes")?),
    };
    Ok(SkillFile {
        uri: uri.into(),
        path: path.into(),
        digest,
        size,
    })
}

fn unsupported(files: &[SkillFile], frontmatter: &Map<String, Value>) -> Option<Unsupported> {
    if let Some(key) = DECLARES.iter().find(|key| frontmatter.contains_key(**key)) {
        return Some(Unsupported::Declares { key: (*key).into() });
    }
    files.iter().find_map(|file| {
        if is_code(&file.path) {
            return Some(Unsupported::Code {
                path: file.path.clone(),
            });
        }
        let size = file.size.filter(|size| *size > MAX_FILE_BYTES)?;
        Some(Unsupported::TooLarge {
            path: file.path.clone(),
            size,
            limit: MAX_FILE_BYTES,
        })
    })
}

fn is_code(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ends = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    ends.is_some_and(|end| CODE.contains(&&*end))
        || folders
            .split('/')
            .any(|folder| CODE_FOLDERS.contains(&&*folder.to_ascii_lowercase()))
}
