//! Places to fill in, as entries of the registry write them: `{name}`.

/// The names of the places in a text, in order, each once.
pub(super) fn places(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else {
            break;
        };
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if is_name && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
        rest = tail;
    }
    found
}

/// What stands before the first place; the whole text where there is none.
pub(super) fn before(text: &str) -> &str {
    text.split_once('{').map_or(text, |(before, _)| before)
}
