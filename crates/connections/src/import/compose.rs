//! From the texts of a file to templates: references found, secrets wrapped, lists and maps of wrong types put right or refused.

use std::collections::BTreeMap;
use std::ops::Range;

use domain::Secret;
use serde_json::{Map, Value};

use super::format::kind;
use super::notice::{Notices, Path, printable};
use super::secrets::{Place, names_secret, spans};
use super::syntax::Syntax;
use super::template::{Fallback, Part, Reference, ReferenceKind, Template};

/// How one client's texts are to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Composer<'a> {
    pub(super) syntax: Syntax,
    /// Names of variables whose values the client keeps in a keyring.
    pub(super) keyring: &'a [String],
}

impl Composer<'_> {
    /// One text as a template.
    pub(super) fn template(self, text: &str, place: Place<'_>) -> Template {
        let references = self.syntax.references(text);
        let masked = mask(text, references.iter().map(|(span, _)| span.clone()));
        let secrets = spans(&masked, place);
        let secret_name = match place {
            Place::Env(name) | Place::Header(name) => names_secret(name),
            Place::Arg(flag) => flag.is_some_and(names_secret),
            Place::Secret => true,
            Place::Plain => false,
        };
        let mut parts = Parts {
            text,
            secrets,
            next_secret: 0,
            list: Vec::new(),
        };
        let mut at = 0;
        for (span, reference) in references {
            parts.literal(at..span.start);
            at = span.end;
            parts
                .list
                .push(Part::Reference(self.guarded(reference, secret_name)));
        }
        parts.literal(at..text.len());
        Template::from_parts(parts.list)
    }

    /// A list of arguments.
    pub(super) fn args(self, items: &[Value], path: &Path, notices: &mut Notices) -> Vec<Template> {
        let mut args = Vec::new();
        let mut flag: Option<String> = None;
        for (index, item) in items.iter().enumerate() {
            let at = path.item(index);
            let Some(text) = scalar(item, "args.converted", &at, notices) else {
                let text = format!("an argument must be a text, not {}; left out", kind(item));
                notices.add("args.dropped", &at, text);
                continue;
            };
            if text.contains('\0') {
                notices.add(
                    "args.dropped",
                    &at,
                    "the argument holds a NUL character; left out",
                );
                continue;
            }
            args.push(self.template(&text, Place::Arg(flag.as_deref())));
            flag = Some(text);
        }
        args
    }

    /// Variables of the environment.
    pub(super) fn env(
        self,
        map: &Map<String, Value>,
        path: &Path,
        notices: &mut Notices,
    ) -> BTreeMap<String, Template> {
        let mut env = BTreeMap::new();
        for (name, value) in map {
            let at = path.child(name);
            if name.is_empty() || name.len() > 256 || name.contains(|c: char| c == '=' || c.is_control()) {
                notices.add(
                    "env.dropped",
                    &at,
                    "this cannot be the name of a variable; left out",
                );
                continue;
            }
            match scalar(value, "env.converted", &at, notices) {
                Some(text) if !text.contains('\0') => {
                    env.insert(name.clone(), self.template(&text, Place::Env(name)));
                }
                _ => {
                    let text = format!(
                        "the value of {} must be a text, not {}; left out",
                        printable(name, 60),
                        kind(value)
                    );
                    notices.add("env.dropped", &at, text);
                }
            }
        }
        env
    }

    /// Headers; a name that stands twice in different case is taken once.
    pub(super) fn headers(
        self,
        map: &Map<String, Value>,
        path: &Path,
        notices: &mut Notices,
    ) -> BTreeMap<String, Template> {
        let mut headers = BTreeMap::new();
        for (name, value) in map {
            let at = path.child(name);
            let Some(text) = scalar(value, "header.converted", &at, notices) else {
                let text = format!("the value must be a text, not {}; left out", kind(value));
                notices.add("header.dropped", &at, text);
                continue;
            };
            let template = self.template(&text, Place::Header(name));
            if is_header_name(name) && !text.contains(['\0', '\r', '\n']) {
                put_header(&mut headers, name, template, &at, notices);
            } else {
                notices.add("header.dropped", &at, "this is no legal header; left out");
            }
        }
        headers
    }

    /// Wraps a default that stands for a secret, and tells keyring variables from the parent's.
    fn guarded(self, mut reference: Reference, secret_place: bool) -> Reference {
        if reference.kind == ReferenceKind::Environment && self.keyring.contains(&reference.name) {
            reference.kind = ReferenceKind::Secret;
        }
        if let Some(Fallback::Text(text)) = &reference.default {
            let named = secret_place || names_secret(&reference.name);
            let place = if named { Place::Secret } else { Place::Plain };
            if !spans(text, place).is_empty() {
                reference.default = Some(Fallback::Secret(Secret::new(text.clone())));
                reference.written = None;
            }
        }
        reference
    }
}

/// Sets a header, whatever the case of the one it replaces.
pub(super) fn put_header(
    headers: &mut BTreeMap<String, Template>,
    name: &str,
    value: Template,
    path: &Path,
    notices: &mut Notices,
) {
    let before = headers.len();
    headers.retain(|known, _| !known.eq_ignore_ascii_case(name));
    if headers.len() < before {
        notices.add(
            "header.replaced",
            path,
            format!("{name} replaces another header of this name"),
        );
    }
    headers.insert(name.to_owned(), value);
}

/// Whether this is a field name of RFC 9110, section 5.1.
pub(super) fn is_header_name(name: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.len() <= 256 && name.bytes().all(token)
}

/// Text, or a number or truth value made text and said so.
fn scalar(value: &Value, code: &'static str, path: &Path, notices: &mut Notices) -> Option<String> {
    let converted = match value {
        Value::String(text) => return Some(text.clone()),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    notices.add(
        code,
        path,
        format!("{} stands here instead of a text; converted", kind(value)),
    );
    Some(converted)
}

/// The text with every reference blotted out, lengths kept, so that its inside is not taken for parts of a url.
fn mask(text: &str, references: impl Iterator<Item = Range<usize>>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for span in references {
        masked.push_str(text.get(at..span.start).unwrap_or_default());
        masked.extend(std::iter::repeat_n('x', span.len()));
        at = span.end;
    }
    masked.push_str(text.get(at..).unwrap_or_default());
    masked
}

struct Parts<'t> {
    text: &'t str,
    secrets: Vec<Range<usize>>,
    /// The first secret that may reach beyond what was cut already.
    next_secret: usize,
    list: Vec<Part>,
}

impl Parts<'_> {
    /// Adds literal text, cut where secrets start and end.
    fn literal(&mut self, span: Range<usize>) {
        let mut at = span.start;
        while let Some(secret) = self.secrets.get(self.next_secret).cloned() {
            let (start, end) = (secret.start.max(at), secret.end.min(span.end));
            if start < end {
                self.push(at..start, false);
                self.push(start..end, true);
                at = end;
            }
            if secret.end > span.end {
                break;
            }
            self.next_secret += 1;
        }
        self.push(at..span.end, false);
    }

    fn push(&mut self, span: Range<usize>, secret: bool) {
        match self.text.get(span) {
            None | Some("") => {}
            Some(text) if secret => self.list.push(Part::Secret(Secret::new(text))),
            Some(text) => self.list.push(Part::Text(text.to_owned())),
        }
    }
}
