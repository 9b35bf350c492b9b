//! Text as it is, for people who decide by it: what the eye does not see, or sees elsewhere, is written out.

/// The same text with every control character but the line's end, and every character that hides or turns others, as `\u{…}`.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

fn is_hidden(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn nothing_is_hidden() {
        let cases = [
            ("plain \u{e4}\u{4e2d}\n  x", "plain \u{e4}\u{4e2d}\n  x"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b\u{0}\u{7f}", "a\\u{200b}b\\u{0}\\u{7f}"),
            ("\u{e0041}", "\\u{e0041}"),
        ];
        for (given, shown) in cases {
            assert_eq!(text(given), shown);
        }
    }
}
