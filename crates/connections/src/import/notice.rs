//! What a person must be told: everything that was not taken over, was converted, or means something else elsewhere.

/// One remark about the file or an entry. It names keys and places, never values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Stable code, one of [`CODES`](super::CODES).
    pub code: &'static str,
    /// Where in the file, as a JSON pointer (RFC 6901); empty for the whole file.
    pub path: String,
    /// What was found and what to do.
    pub text: String,
}

/// Notices kept for one entry or for the file; the rest is counted.
const LIMIT: usize = 200;

/// A place in the file, as a JSON pointer.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(String);

/// A bounded list of notices.
#[derive(Debug, Default)]
pub(super) struct Notices {
    list: Vec<Notice>,
    left_out: usize,
}

impl Path {
    pub(super) fn child(&self, key: &str) -> Self {
        let key = printable(key, 80).replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{key}", self.0))
    }

    /// The first key.
    pub(super) fn first(&self) -> String {
        self.0
            .split('/')
            .nth(1)
            .unwrap_or_default()
            .replace("~1", "/")
            .replace("~0", "~")
    }

    /// Whether another place is this one or below it.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let below = other.0.strip_prefix(self.0.as_str());
        !self.0.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// A place below this one that is a path of its own (`env/NAME`).
    pub(super) fn place(&self, place: &str) -> Self {
        match place.split_once('/') {
            Some((field, name)) => self.child(field).child(name),
            None => self.child(place),
        }
    }

    pub(super) fn item(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }
}

impl Notices {
    pub(super) fn add(&mut self, code: &'static str, path: &Path, text: impl AsRef<str>) {
        if self.list.len() >= LIMIT {
            self.left_out += 1;
            return;
        }
        let text = printable(text.as_ref(), 600);
        self.list.push(Notice {
            code,
            path: path.0.clone(),
            text,
        });
    }

    pub(super) fn into_list(mut self) -> Vec<Notice> {
        if self.left_out > 0 {
            let text = format!(
                "{} further notices were left out; import a smaller part to see them",
                self.left_out
            );
            self.list.push(Notice {
                code: "notices.more",
                path: String::new(),
                text,
            });
        }
        self.list
    }
}

/// Text that cannot steer a terminal and has a bounded length (in characters).
pub(super) fn printable(text: &str, limit: usize) -> String {
    let cut = text.chars().nth(limit).is_some();
    let mut shown: String = text
        .chars()
        .take(if cut { limit.saturating_sub(1) } else { limit })
        .map(|c| {
            if c.is_control() || is_bidi(c) {
                '\u{FFFD}'
            } else {
                c
            }
        })
        .collect();
    if cut {
        shown.push('…');
    }
    shown
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}')
}
