//! Cutting recorded lists into pages without touching their items.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// One page of a list.
pub(super) enum Page<'a> {
    /// As recorded
    Recorded(&'a str),
    /// Put together from recorded items
    Cut(String),
    /// The cursor is none that was given out
    NoSuchCursor,
}

/// The page of `pages` that `cursor` asks for: the recorded one, or, with a page size, the next so many items.
pub(super) fn page<'a>(
    key: &str,
    pages: &[&'a RawValue],
    page_size: Option<usize>,
    cursor: Option<&str>,
) -> Page<'a> {
    let start = match cursor.map(|cursor| cursor.strip_prefix(CURSOR).and_then(|number| number.parse().ok()))
    {
        None => 0,
        Some(Some(start)) => start,
        Some(None) => return Page::NoSuchCursor,
    };
    let Some(page_size) = page_size else {
        // Recorded pages carry their own cursors, and no recorded server gave one out.
        return pages
            .get(start)
            .map_or(Page::NoSuchCursor, |page| Page::Recorded(page.get()));
    };
    let items: Vec<&'a RawValue> = pages.iter().flat_map(|page| items(key, page)).collect();
    if start > items.len() {
        return Page::NoSuchCursor;
    }
    let cut: Vec<&str> = items
        .iter()
        .skip(start)
        .take(page_size)
        .map(|item| item.get())
        .collect();
    let next = start + cut.len();
    let list = cut.join(",");
    Page::Cut(if next < items.len() {
        format!(r#"{{"{key}":[{list}],"nextCursor":"{CURSOR}{next}"}}"#)
    } else {
        format!(r#"{{"{key}":[{list}]}}"#)
    })
}

const CURSOR: &str = "after-";

fn items<'a>(key: &str, page: &'a RawValue) -> Vec<&'a RawValue> {
    let fields: BTreeMap<String, &'a RawValue> = serde_json::from_str(page.get()).unwrap_or_default();
    fields
        .get(key)
        .and_then(|list| serde_json::from_str(list.get()).ok())
        .unwrap_or_default()
}
