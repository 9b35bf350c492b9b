//! Where a person goes on after signing in: a page of this server, whatever the link said.

use url::Url;

/// The page to go on to; the account's where the text names nothing of ours.
pub(super) fn read(text: Option<&str>) -> String {
    text.filter(|text| is_ours(text)).unwrap_or("/account").to_owned()
}

/// Browsers drop some characters and take `\` for `/`, so a text is ours only if it is ours however it is read.
fn is_ours(text: &str) -> bool {
    let plain = text.len() <= 8_192
        && text.starts_with('/')
        && !text.starts_with("//")
        && !text
            .chars()
            .any(|c| c.is_control() || c == '\\' || c.is_whitespace());
    let Ok(base) = Url::parse("http://ours.invalid/") else {
        return false;
    };
    let joined = base.join(text);
    plain && joined.is_ok_and(|url| url.origin() == base.origin() && url.username().is_empty())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn nobody_is_sent_elsewhere() {
        let ours = [
            "/account",
            "/connect/0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "/oauth/authorize?client_id=x&redirect_uri=https%3A%2F%2Fclient.example%2Fcb",
        ];
        for text in ours {
            assert_eq!(read(Some(text)), text);
        }
        let others = [
            "",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "https://evil.example",
            "https:evil.example",
            "javascript:alert(1)",
            "account",
            " /account",
            "\u{0}/account",
            "/ok\r\nSet-Cookie: a=b",
        ];
        for text in others {
            assert_eq!(read(Some(text)), "/account", "{text:?}");
        }
        assert_eq!(read(None), "/account");
    }
}
