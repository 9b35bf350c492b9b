//! What a person must be told: everything that was not taken over, was converted, or means something else elsewhere.

/// One remark about the file or an entry. It names keys and places, never values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Stable code, one of [`CODES`].
    pub code: &'static str,
    /// Where in the file, as a JSON pointer (RFC 6901); empty for the whole file.
    pub path: String,
    /// What was found and what to do.
    pub text: String,
}

/// Every code and what it stands for. Codes are never renamed.
pub const CODES: &[(&str, &str)] = &[
    ("approval.not-carried", "automatic approval in the client gives no right here"),
    ("args.converted", "an argument was not text and was converted"),
    ("args.dropped", "an argument could not be taken"),
    ("args.string", "args is one text instead of a list; not split"),
    ("auth.refused", "a credential in a form its own client refuses"),
    ("auth.unsupported", "a way to authenticate that only the client has"),
    ("bridge.option", "an option of mcp-remote that was not taken over"),
    ("bridge.unwrapped", "mcp-remote was unwrapped to the remote server behind it"),
    ("command.array", "command is a list where the client wants text"),
    ("command.line", "command holds a whole command line; not split"),
    ("command.not-run", "a command that the client would run; never run here"),
    ("command.shell", "the command goes through a shell"),
    ("command.windows-wrapper", "cmd /c is a Windows wrapper"),
    ("entry.no-slug", "no usable character in the name"),
    ("entry.not-an-object", "the entry is not an object"),
    ("entry.switch-only", "the entry only switches a server that is defined elsewhere"),
    ("env.converted", "a value of the environment was not text and was converted"),
    ("env.dropped", "a variable of the environment could not be taken"),
    ("env.file", "a file of variables is named; not read"),
    ("field.not-applicable", "the field has no meaning for this kind of server"),
    ("field.not-carried", "the field is known and has no counterpart"),
    ("field.unknown", "the field is not known"),
    ("field.wrong-type", "the field has the wrong type"),
    ("file.bom", "a byte order mark was skipped"),
    ("file.duplicate-key", "a key stands twice; the last one was taken"),
    ("file.no-servers", "no servers found"),
    ("file.other-keys", "keys beside the servers were not looked at"),
    ("file.root", "servers stand under another client's key"),
    ("file.too-many-entries", "entries over the limit were left out"),
    ("header.converted", "a header's value was not text and was converted"),
    ("header.dropped", "a header could not be taken"),
    ("header.replaced", "a header replaced another of the same name"),
    ("input.command", "an input is a command; not run"),
    ("input.unclear", "an input could not be read"),
    ("input.undefined", "a reference to an input that is not declared"),
    ("launch.ambiguous", "both a command and a url"),
    ("launch.extension", "an extension of the editor; nothing to launch"),
    ("launch.hub-block", "a block of the hub; nothing to launch"),
    ("launch.not-mcp", "not an MCP server"),
    ("launch.nothing", "nothing to launch"),
    ("link.invalid", "an install link that could not be read"),
    ("name.replaced", "characters of the name were replaced or cut"),
    ("notices.more", "further notices were left out"),
    ("oauth.option", "an OAuth setting that was not taken over"),
    ("precedence.shadowed", "an entry of the same name wins in its scope"),
    ("project.switches", "servers of a project file are approved or switched off here"),
    ("secret.literal", "secrets stand in clear in the file"),
    ("server.not-allowed", "switched off by the file's own list of servers"),
    ("timeout.ignored", "the client ignores this time limit"),
    ("timeout.invalid", "a time limit that is no positive number"),
    ("timeout.unit-unknown", "a time limit whose unit the client does not document"),
    ("tools.pattern", "a pattern for tools that was not taken over"),
    ("transport.inferred", "the transport was inferred"),
    ("transport.mismatch", "the stated transport does not fit the entry"),
    ("transport.nested", "the transport is an object; its fields were taken"),
    ("transport.unknown", "a transport that is not known"),
    ("transport.websocket", "WebSocket is no MCP transport"),
    ("url.credentials", "credentials in the url"),
    ("url.foreign-key", "the url stands under another client's key"),
    ("url.invalid", "not a usable url"),
    ("url.several", "more than one url"),
    ("url.socket", "a socket of the local machine"),
    ("url.untyped", "a url without type, which the client skips"),
    ("variable.client-only", "a variable only the client knows"),
    ("variable.file", "a reference to a file; not read"),
    ("variable.not-expanded", "looks like a variable; the client passes it on as it stands"),
];

/// Notices kept for one entry or for the file; the rest is counted.
const LIMIT: usize = 200;

/// A place in the file, as a JSON pointer.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(String);

/// A bounded list of notices.
#[derive(Debug, Default)]
pub(super) struct Notices {
    list: Vec<Notice>,
    left_out: usize,
}

impl Path {
    pub(super) fn child(&self, key: &str) -> Self {
        let key = printable(key, 80).replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{key}", self.0))
    }

    /// The first key.
    pub(super) fn first(&self) -> String {
        self.0.split('/').nth(1).unwrap_or_default().replace("~1", "/").replace("~0", "~")
    }

    /// Whether another place is this one or below it.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let below = other.0.strip_prefix(self.0.as_str());
        !self.0.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// A place below this one that is a path of its own (`env/NAME`).
    pub(super) fn place(&self, place: &str) -> Self {
        match place.split_once('/') {
            Some((field, name)) => self.child(field).child(name),
            None => self.child(place),
        }
    }

    pub(super) fn item(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }
}

impl Notices {
    pub(super) fn add(&mut self, code: &'static str, path: &Path, text: impl AsRef<str>) {
        if self.list.len() >= LIMIT {
            self.left_out += 1;
            return;
        }
        let text = printable(text.as_ref(), 600);
        self.list.push(Notice { code, path: path.0.clone(), text });
    }

    pub(super) fn into_list(mut self) -> Vec<Notice> {
        if self.left_out > 0 {
            let text = format!("{} further notices were left out; import a smaller part to see them", self.left_out);
            self.list.push(Notice { code: "notices.more", path: String::new(), text });
        }
        self.list
    }
}

/// Text that cannot steer a terminal and has a bounded length (in characters).
pub(super) fn printable(text: &str, limit: usize) -> String {
    let mut shown: String = text
        .chars()
        .take(limit)
        .map(|c| if c.is_control() || is_bidi(c) { '\u{FFFD}' } else { c })
        .collect();
    if text.chars().nth(limit).is_some() {
        shown.push('…');
    }
    shown
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}')
}
