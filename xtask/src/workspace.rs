//! The checkout: where it is, and its source files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Folders that hold nothing we wrote.
const SKIPPED: &[&str] = &[
    "target",
    "node_modules",
    "__pycache__",
    "data",
    "generated",
    "dist",
    "fixtures",
];

/// The root of the checkout this program was built in.
pub(crate) struct Workspace {
    root: PathBuf,
}

/// What a file is for, by where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Production,
    Test,
}

/// A file we wrote.
pub(crate) struct Source {
    /// Relative to the root, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

impl Workspace {
    /// The workspace this program was built from.
    pub(crate) fn here() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self {
            root: manifest.parent().unwrap_or(manifest).to_owned(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// An absolute path in the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where everything that tasks fetch or build is kept; never outside the checkout.
    pub(crate) fn cache(&self) -> PathBuf {
        self.root.join(".cache")
    }

    /// Reads a file of the checkout.
    ///
    /// # Errors
    /// Names the file that could not be read.
    pub(crate) fn read(&self, relative: &str) -> anyhow::Result<String> {
        let path = self.path(relative);
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    }

    /// Every file with one of these extensions under these folders, in order of path. Folders that do not exist are empty.
    ///
    /// # Errors
    /// Names the folder or file that could not be read.
    pub(crate) fn sources(&self, folders: &[&str], extensions: &[&str]) -> anyhow::Result<Vec<Source>> {
        let mut found = Vec::new();
        for folder in folders {
            let path = self.path(folder);
            if path.is_dir() {
                collect(&path, extensions, &mut found)?;
            }
        }
        found.sort();
        found.iter().map(|path| self.source(path)).collect()
    }

    fn source(&self, path: &Path) -> anyhow::Result<Source> {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let path = path
            .strip_prefix(&self.root)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/");
        Ok(Source {
            kind: Kind::of(&path),
            path,
            text,
        })
    }
}

impl Kind {
    fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let folders = path.strip_suffix(name).unwrap_or_default();
        let in_tests = folders
            .split('/')
            .any(|folder| folder == "tests" || folder == "benches");
        let named = name == "tests.rs"
            || name.starts_with("test_")
            || [".test.", ".spec.", "_test."]
                .iter()
                .any(|part| name.contains(part));
        if in_tests || named {
            Self::Test
        } else {
            Self::Production
        }
    }
}

impl Source {
    /// The lines before an inline test module: all of them in a file without one, none in a test file.
    pub(crate) fn production_lines(&self) -> Vec<&str> {
        match self.kind {
            Kind::Test => Vec::new(),
            Kind::Production => self.text.lines().take(self.first_test_line()).collect(),
        }
    }

    /// The number of lines before the test code begins.
    pub(crate) fn first_test_line(&self) -> usize {
        if self.kind == Kind::Test {
            return 0;
        }
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let starts_tests = |(index, line): (usize, &&str)| {
            let opens = lines.iter().skip(index + 1).find(|line| !line.starts_with("#["));
            *line == "#[cfg(test)]" && opens.is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
        };
        lines
            .iter()
            .enumerate()
            .position(starts_tests)
            .unwrap_or(lines.len())
    }

    /// The crate of ours the file belongs to, without our prefix.
    pub(crate) fn crate_name(&self) -> &str {
        let mut parts = self.path.split('/');
        match parts.next() {
            Some("crates") => parts.next().unwrap_or_default(),
            Some(first) => first,
            None => "",
        }
    }
}

fn collect(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry
            .with_context(|| format!("listing {}", folder.display()))?
            .path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !SKIPPED.contains(&name.as_ref()) {
                collect(&path, extensions, found)?;
            }
        } else if path
            .extension()
            .is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
        {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Kind, Source};

    #[test]
    fn place_and_name_tell_what_a_file_is_for() {
        let cases = [
            ("crates/domain/src/id.rs", Kind::Production),
            ("crates/domain/src/id/tests.rs", Kind::Test),
            ("crates/domain/src/contests.rs", Kind::Production),
            ("crates/store/tests/suite/journal.rs", Kind::Test),
            ("sdks/python/tests/test_client.py", Kind::Test),
            ("console/src/chat.test.tsx", Kind::Test),
        ];
        for (path, expected) in cases {
            assert_eq!(Kind::of(path), expected, "{path}");
        }
    }

    #[test]
    fn test_code_begins_at_the_inline_module() {
        let cases = [
            ("fn a() {}\n#[cfg(test)]\nmod tests {\n}\n", 1),
            ("fn a() {}\n#[cfg(test)]\nmod tests;\nfn b() {}\n", 4),
            ("#[cfg(test)]\n#[expect(x)]\nmod tests {\n}\n", 0),
            ("#[cfg(test)]\nfn only_in_tests() {\n}\n", 3),
        ];
        for (text, expected) in cases {
            let source = Source {
                path: "crates/a/src/b.rs".into(),
                kind: Kind::Production,
                text: text.into(),
            };
            assert_eq!(source.first_test_line(), expected, "{text}");
        }
    }
}
