//! How deep JSON is nested. What is nested deeper than the parsers of clients go is passed on to nobody: one such definition would make
//! a whole list unreadable, and there are parsers that end their process.

/// Levels of objects and lists that are passed on. Common parsers stop at 128, and what we pass on is wrapped in a few.
const DEEPEST: usize = 100;

/// Whether JSON is nested too deeply to be passed on.
pub(crate) fn too_deep(json: &str) -> bool {
    // Nearly everything is settled by counting, which is quick.
    let opened = json.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    opened > DEEPEST && deepest(json) > DEEPEST
}

fn deepest(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut text, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'[' | b'{' if !text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, too_deep};

    #[test]
    fn levels_are_counted_and_brackets_in_texts_are_not() {
        let check = |json: String, want: bool| assert_eq!(too_deep(&json), want, "{json:.80}");
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        check(nested(DEEPEST), false);
        check(nested(DEEPEST + 1), true);
        check(format!("[{}]", vec!["{}"; 500].join(",")), false);
        check(format!(r#"["{}"]"#, "[".repeat(500)), false);
        check(format!(r#"["\"{}\\"]"#, "{".repeat(500)), false);
        check(format!(r#"["\\",{}]"#, nested(DEEPEST)), true);
    }
}
