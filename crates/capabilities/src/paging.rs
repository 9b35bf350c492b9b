//! Pages, between the API's words and the store's.

use domain::{Page, PageRequest};

/// The page a caller asks for.
pub(crate) fn request(cursor: Option<String>, limit: Option<u16>) -> PageRequest {
    PageRequest {
        cursor,
        limit: limit.unwrap_or(PageRequest::DEFAULT).clamp(1, PageRequest::MAX),
    }
}

/// A page of API items.
pub(crate) fn page<T, U>(page: Page<T>, f: impl FnMut(T) -> U) -> api::Page<U> {
    let Page { items, next_cursor } = page.map(f);
    api::Page { items, next_cursor }
}

/// Cuts a page out of a list that is at hand. The cursor is the key of the last item shown; items are in order of their keys.
pub(crate) fn cut<T>(items: Vec<T>, key: impl Fn(&T) -> String, wanted: &PageRequest) -> Page<T> {
    let after = |item: &T| wanted.cursor.as_ref().is_none_or(|cursor| key(item) > *cursor);
    let mut rest = items.into_iter().filter(after);
    let shown: Vec<T> = rest.by_ref().take(usize::from(wanted.limit)).collect();
    let next_cursor = rest.next().and_then(|_| shown.last().map(&key));
    Page {
        items: shown,
        next_cursor,
    }
}

#[cfg(test)]
mod tests {
    use domain::PageRequest;

    use super::cut;

    #[test]
    fn pages_cover_everything_once() {
        let all: Vec<u32> = (0..10).collect();
        let mut seen = Vec::new();
        let mut wanted = PageRequest {
            cursor: None,
            limit: 4,
        };
        loop {
            let page = cut(all.clone(), |n| format!("{n:02}"), &wanted);
            seen.extend(page.items);
            match page.next_cursor {
                Some(cursor) => wanted.cursor = Some(cursor),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }
}
