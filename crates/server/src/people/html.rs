//! Pages without script: text of others is escaped where it goes in, and nowhere else.

use std::fmt::Write as _;

use axum::response::Response;
use http::StatusCode;

use crate::page;

/// Text of others, as text of a page or of an attribute in double quotes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A page with this title and body; the body is markup already.
pub(crate) fn page(status: StatusCode, title: &str, body: &str) -> Response {
    page::with_form(status, whole(title, body), &[])
}

/// The page as text.
pub(crate) fn whole(title: &str, body: &str) -> String {
    // The body last: what is in it is not looked at again.
    include_str!("../assets/plain.html")
        .replace("{title}", &escaped(title))
        .replacen("{body}", body, 1)
}

/// What went wrong, above a form: read out first.
pub(crate) fn trouble(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| {
        format!(
            "<p class=\"trouble\" role=\"alert\" id=\"trouble\">{}</p>",
            escaped(text)
        )
    })
}

/// One field of a form.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// `text`, `email` or `password`.
    pub(crate) kind: &'a str,
    /// What browsers and password managers know it as.
    pub(crate) autocomplete: &'a str,
    pub(crate) value: &'a str,
    pub(crate) hint: Option<&'a str>,
    /// Whether this is what the trouble above is about.
    pub(crate) wrong: bool,
    /// Whether the cursor begins here.
    pub(crate) first: bool,
}

impl Field<'_> {
    pub(crate) fn html(&self) -> String {
        let name = self.name;
        let mut out = format!(
            "<div class=\"field\"><label for=\"{name}\">{}</label>",
            escaped(self.label)
        );
        let mut described = Vec::new();
        if self.wrong {
            described.push("trouble".to_owned());
        }
        if self.hint.is_some() {
            described.push(format!("{name}-hint"));
        }
        let described = match described.as_slice() {
            [] => String::new(),
            ids => format!(" aria-describedby=\"{}\"", ids.join(" ")),
        };
        let wrong = if self.wrong { " aria-invalid=\"true\"" } else { "" };
        let first = if self.first { " autofocus" } else { "" };
        // A password is never sent back to the page.
        let value = if self.kind == "password" { "" } else { self.value };
        let written = write!(
            out,
            "<input id=\"{name}\" name=\"{name}\" type=\"{}\" autocomplete=\"{}\" value=\"{}\" required{described}{wrong}{first}>",
            self.kind,
            self.autocomplete,
            escaped(value)
        );
        debug_assert!(written.is_ok(), "writing to a text does not fail");
        if let Some(hint) = self.hint {
            out.push_str(&format!(
                "<p class=\"hint\" id=\"{name}-hint\">{}</p>",
                escaped(hint)
            ));
        }
        out.push_str("</div>");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, escaped, whole};

    #[test]
    fn text_of_others_stays_text() {
        let hostile = "<script>alert('x')</script>\" onfocus=\"alert(1)";
        let field = Field {
            name: "email",
            label: hostile,
            kind: "email",
            autocomplete: "username",
            value: hostile,
            hint: Some(hostile),
            wrong: true,
            first: true,
        };
        for html in [escaped(hostile), whole(hostile, ""), field.html()] {
            assert!(
                !html.contains("<script>") && !html.contains("\" onfocus"),
                "{html}"
            );
        }
        let secret = Field {
            kind: "password",
            ..field
        };
        assert!(!secret.html().contains("value=\"&lt;"), "{}", secret.html());
    }
}
