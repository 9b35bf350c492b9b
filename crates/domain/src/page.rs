//! Lists come in pages.

/// What part of a list is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// Where the last page ended, as it said.
    pub cursor: Option<String>,
    /// At most this many items, 1 to 100.
    pub limit: u16,
}

impl PageRequest {
    /// Items of a page when nothing else is asked for.
    pub const DEFAULT: u16 = 50;
    /// Most items of a page.
    pub const MAX: u16 = 100;

    /// The first page of usual size.
    #[must_use]
    pub const fn first() -> Self {
        Self {
            cursor: None,
            limit: Self::DEFAULT,
        }
    }
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// Its items.
    pub items: Vec<T>,
    /// What to pass as cursor for the next page; none at the end.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The same page of something else.
    #[must_use]
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(f).collect(),
            next_cursor: self.next_cursor,
        }
    }
}
