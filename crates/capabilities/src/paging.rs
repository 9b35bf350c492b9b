//! Pages, between the API's words and the store's.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Page, PageRequest};
use gateway::Failure;
use store::StoreError;

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

/// Cuts a page out of a list that is at hand. `list` names the list and its order; the cursor holds the key of the last item shown, and
/// items are in order of their keys.
///
/// # Errors
/// When the cursor comes from no page of this list, however few items there are.
pub(crate) fn cut<T>(
    list: &str,
    items: Vec<T>,
    key: impl Fn(&T) -> String,
    wanted: &PageRequest,
) -> Result<Page<T>, Failure> {
    let last = wanted
        .cursor
        .as_deref()
        .map(|cursor| place(list, cursor))
        .transpose()?;
    let after = |item: &T| last.as_ref().is_none_or(|last| key(item) > *last);
    let mut rest = items.into_iter().filter(after);
    let shown: Vec<T> = rest.by_ref().take(usize::from(wanted.limit)).collect();
    let next_cursor = rest
        .next()
        .and_then(|_| shown.last())
        .map(|item| URL_SAFE_NO_PAD.encode(format!("1:{list}:{}", key(item))));
    Ok(Page {
        items: shown,
        next_cursor,
    })
}

fn place(list: &str, cursor: &str) -> Result<String, StoreError> {
    let text = URL_SAFE_NO_PAD
        .decode(cursor)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    text.as_deref()
        .and_then(|text| text.strip_prefix("1:")?.strip_prefix(list)?.strip_prefix(':'))
        .map(str::to_owned)
        .ok_or(StoreError::BadCursor)
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
            let page = cut("numbers", all.clone(), |n| format!("{n:02}"), &wanted).unwrap();
            seen.extend(page.items);
            match page.next_cursor {
                Some(cursor) => wanted.cursor = Some(cursor),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn cursors_of_nothing_and_of_other_lists_are_refused() {
        let first = PageRequest {
            cursor: None,
            limit: 1,
        };
        let other = cut("letters", vec![1, 2], ToString::to_string, &first)
            .unwrap()
            .next_cursor;
        for cursor in [
            Some("x".to_owned()),
            Some(String::new()),
            Some("MTpudW1iZXI".to_owned()),
            other,
        ] {
            let wanted = PageRequest { cursor, limit: 1 };
            let failure = cut("numbers", Vec::<u32>::new(), ToString::to_string, &wanted).unwrap_err();
            assert_eq!(failure.code, "input.bad_cursor", "{wanted:?}");
        }
    }
}
