//! Cursors: where a page ended, in a form nobody is meant to read.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Page, PageRequest};

use crate::StoreError;

/// A place in a list: the values it is ordered by.
pub(crate) type Place = Vec<i64>;

/// Reads where the page begins; `list` names the list and the order the cursor must come from.
pub(crate) fn begin(list: &str, fields: usize, page: &PageRequest) -> Result<Option<Place>, StoreError> {
    let Some(cursor) = &page.cursor else {
        return Ok(None);
    };
    let text = URL_SAFE_NO_PAD
        .decode(cursor)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let place = text.as_deref().and_then(|text| {
        let mut parts = text.split(':');
        (parts.next() == Some("1") && parts.next() == Some(list))
            .then(|| parts.map(|n| n.parse().ok()).collect::<Option<Place>>())
            .flatten()
    });
    place
        .filter(|place| place.len() == fields)
        .map(Some)
        .ok_or(StoreError::BadCursor)
}

/// How many rows to read: one more than the page holds, to see whether it is the last.
pub(crate) fn limit(page: &PageRequest) -> i64 {
    i64::from(page.limit.clamp(1, PageRequest::MAX)) + 1
}

/// Makes the page of the rows that were read.
pub(crate) fn end<T>(list: &str, page: &PageRequest, mut rows: Vec<(Place, T)>) -> Page<T> {
    let wanted = usize::from(page.limit.clamp(1, PageRequest::MAX));
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let next_cursor = rows.last().filter(|_| more).map(|(place, _)| {
        let numbers: Vec<String> = place.iter().map(i64::to_string).collect();
        URL_SAFE_NO_PAD.encode(format!("1:{list}:{}", numbers.join(":")))
    });
    Page {
        items: rows.into_iter().map(|(_, item)| item).collect(),
        next_cursor,
    }
}
