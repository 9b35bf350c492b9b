//! How a server is reached: a process to start or an address.

use std::collections::BTreeMap;

use super::template::Template;

/// How to reach a server.
#[derive(Debug)]
pub enum Launch {
    /// A process that speaks over stdin and stdout.
    Command(Command),
    /// A server reached by HTTP.
    Remote(Remote),
    /// Nothing launchable; the notices say why.
    None,
}

/// A process to start. No shell is involved.
#[derive(Debug, Default)]
pub struct Command {
    /// The program.
    pub command: Template,
    /// Its arguments.
    pub args: Vec<Template>,
    /// Variables set for it.
    pub env: BTreeMap<String, Template>,
    /// Names of variables passed through from the parent's environment.
    pub pass_env: Vec<String>,
    /// Names of variables whose values the client keeps in a keyring: to be asked for.
    pub secret_env: Vec<String>,
    /// Working directory.
    pub cwd: Option<Template>,
    /// A file of variables, read at start by the client; `env` wins. Never read by the import.
    pub env_file: Option<Template>,
}

/// A server reached by HTTP.
#[derive(Debug)]
pub struct Remote {
    /// Which transport.
    pub transport: Transport,
    /// The address.
    pub url: Template,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, Template>,
    /// What the file says about OAuth.
    pub oauth: Option<OAuth>,
}

/// Transport of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05.
    Sse,
    /// Streamable HTTP first, then SSE.
    Auto,
}

/// What a file says about OAuth.
#[derive(Debug)]
pub enum OAuth {
    /// Switched off.
    Off,
    /// A registered client or wanted scopes.
    Client(Box<OAuthClient>),
}

/// A client registered beforehand; absent parts are discovered.
#[derive(Debug, Default)]
pub struct OAuthClient {
    /// Client identifier.
    pub client_id: Option<Template>,
    /// Client secret.
    pub client_secret: Option<Template>,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
}

impl Launch {
    /// All templates with their place (`env/NAME`, `args/0`, `headers/NAME`, `url` …).
    #[must_use]
    pub fn templates(&self) -> Vec<(String, &Template)> {
        let mut all = Vec::new();
        match self {
            Self::Command(c) => {
                all.push(("command".to_owned(), &c.command));
                all.extend(c.args.iter().enumerate().map(|(i, t)| (format!("args/{i}"), t)));
                all.extend(c.env.iter().map(|(name, t)| (format!("env/{name}"), t)));
                all.extend(c.cwd.iter().map(|t| ("cwd".to_owned(), t)));
                all.extend(c.env_file.iter().map(|t| ("env_file".to_owned(), t)));
            }
            Self::Remote(r) => {
                all.push(("url".to_owned(), &r.url));
                all.extend(r.headers.iter().map(|(name, t)| (format!("headers/{name}"), t)));
                if let Some(OAuth::Client(client)) = &r.oauth {
                    all.extend(client.client_id.iter().map(|t| ("oauth/client_id".to_owned(), t)));
                    all.extend(
                        client
                            .client_secret
                            .iter()
                            .map(|t| ("oauth/client_secret".to_owned(), t)),
                    );
                }
            }
            Self::None => {}
        }
        all
    }

    /// The same as [`templates`](Self::templates), to be changed.
    pub fn templates_mut(&mut self) -> Vec<(String, &mut Template)> {
        let mut all = Vec::new();
        match self {
            Self::Command(c) => {
                all.push(("command".to_owned(), &mut c.command));
                all.extend(
                    c.args
                        .iter_mut()
                        .enumerate()
                        .map(|(i, t)| (format!("args/{i}"), t)),
                );
                all.extend(c.env.iter_mut().map(|(name, t)| (format!("env/{name}"), t)));
                all.extend(c.cwd.iter_mut().map(|t| ("cwd".to_owned(), t)));
                all.extend(c.env_file.iter_mut().map(|t| ("env_file".to_owned(), t)));
            }
            Self::Remote(r) => {
                all.push(("url".to_owned(), &mut r.url));
                all.extend(
                    r.headers
                        .iter_mut()
                        .map(|(name, t)| (format!("headers/{name}"), t)),
                );
                if let Some(OAuth::Client(client)) = &mut r.oauth {
                    all.extend(
                        client
                            .client_id
                            .iter_mut()
                            .map(|t| ("oauth/client_id".to_owned(), t)),
                    );
                    all.extend(
                        client
                            .client_secret
                            .iter_mut()
                            .map(|t| ("oauth/client_secret".to_owned(), t)),
                    );
                }
            }
            Self::None => {}
        }
        all
    }
}
