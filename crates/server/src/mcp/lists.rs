//! Pages of what a view shows. Definitions are copied as they are.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gateway::View;
use serde_json::value::RawValue;

use super::answer::RpcError;
use super::elder;
use super::version::Era;
use super::wire::push_text;

/// Items of one page.
const ITEMS: usize = 1_000;
/// Bytes of one page, beyond which no further item is added.
const BYTES: usize = 1 << 20;

/// A list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
    Skills,
}

impl List {
    /// The list a method asks for.
    pub(super) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "tools/list" => Self::Tools,
            "prompts/list" => Self::Prompts,
            "resources/list" => Self::Resources,
            "resources/templates/list" => Self::Templates,
            "skills/list" => Self::Skills,
            _ => return None,
        })
    }

    const fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Skills => "skills",
        }
    }

    /// Which of a view's marks tells of it.
    pub(super) const fn mark(self) -> usize {
        match self {
            Self::Tools => 0,
            Self::Prompts => 1,
            Self::Resources | Self::Templates | Self::Skills => 2,
        }
    }

    /// A page of it.
    pub(super) fn page(self, view: &View, era: Era, cursor: Option<&str>) -> Result<Box<RawValue>, RpcError> {
        let texts: Vec<&str> = match (self, era) {
            (Self::Tools, Era::Legacy(_)) => {
                let texts: Vec<Cow<'_, str>> =
                    view.tools().iter().map(|raw| elder::definition(raw)).collect();
                let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
                return page(self.key(), &texts, cursor);
            }
            (Self::Tools, Era::Modern) => view.tools().iter().map(|raw| raw.get()).collect(),
            (Self::Prompts, _) => view.prompts().iter().map(|item| item.definition.get()).collect(),
            (Self::Resources, _) => view
                .resources()
                .iter()
                .map(|item| item.definition.get())
                .collect(),
            (Self::Templates, _) => view
                .templates()
                .iter()
                .map(|item| item.definition.get())
                .collect(),
            (Self::Skills, _) => view
                .skills()
                .iter()
                .filter(|offered| offered.served)
                .map(|offered| offered.skill.raw.get())
                .collect(),
        };
        page(self.key(), &texts, cursor)
    }
}

/// A page of these items under this key.
pub(super) fn page(key: &str, items: &[&str], cursor: Option<&str>) -> Result<Box<RawValue>, RpcError> {
    let start = match cursor {
        Some(cursor) => opened(key, items.len(), cursor).ok_or_else(bad_cursor)?,
        None => 0,
    };
    let size: usize = items
        .iter()
        .skip(start)
        .take(ITEMS)
        .map(|item| item.len() + 1)
        .sum();
    let mut out = String::with_capacity(size.min(2 * BYTES) + 64);
    out.push('{');
    push_text(&mut out, key);
    out.push_str(":[");
    let mut next = start;
    for item in items.iter().skip(start).take(ITEMS) {
        if next > start {
            if out.len() + item.len() > BYTES {
                break;
            }
            out.push(',');
        }
        out.push_str(item);
        next += 1;
    }
    out.push(']');
    if next < items.len() {
        out.push_str(r#","nextCursor":"#);
        push_text(&mut out, &sealed(key, items.len(), next));
    }
    out.push('}');
    RawValue::from_string(out).map_err(|_| bad_cursor())
}

/// A place in a list of this length. A list of another length is another list: its reader starts again.
fn sealed(key: &str, length: usize, place: usize) -> String {
    URL_SAFE_NO_PAD.encode(format!("{key}:{length}:{place}"))
}

fn opened(key: &str, length: usize, cursor: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let rest = text.strip_prefix(key)?.strip_prefix(':')?;
    let (of, place) = rest.split_once(':')?;
    let place = place.parse().ok()?;
    (of.parse() == Ok(length) && place < length).then_some(place)
}

fn bad_cursor() -> RpcError {
    RpcError::invalid("the cursor is not one of this list as it is now; start again without it")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::page;

    #[test]
    fn pages_cover_everything_once() {
        let items: Vec<String> = (0..2_500).map(|n| format!("{{\"n\":{n}}}")).collect();
        let large: Vec<String> = (0..5)
            .map(|n| format!("{{\"n\":{n},\"x\":\"{}\"}}", "y".repeat(600_000)))
            .collect();
        for (items, pages) in [(items, 3), (large, 5), (Vec::new(), 1)] {
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            let (mut cursor, mut seen, mut count) = (None::<String>, Vec::new(), 0);
            loop {
                let raw = page("tools", &items, cursor.as_deref()).unwrap();
                let value: Value = serde_json::from_str(raw.get()).unwrap();
                seen.extend(
                    value["tools"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|item| item["n"].as_u64().unwrap()),
                );
                count += 1;
                cursor = value["nextCursor"].as_str().map(str::to_owned);
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(count, pages);
            assert_eq!(seen, (0..items.len() as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn cursors_of_other_lists_are_refused() {
        let items = vec!["{}"; 1_500];
        let raw = page("tools", &items, None).unwrap();
        let value: Value = serde_json::from_str(raw.get()).unwrap();
        let cursor = value["nextCursor"].as_str().unwrap();
        assert!(page("tools", &items, Some(cursor)).is_ok());
        assert_eq!(page("prompts", &items, Some(cursor)).unwrap_err().code, -32602);
        assert_eq!(page("tools", &items[1..], Some(cursor)).unwrap_err().code, -32602);
        assert_eq!(page("tools", &items, Some("nonsense")).unwrap_err().code, -32602);
    }
}
