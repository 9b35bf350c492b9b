//! Names to addresses: by the system, or from a fixed table.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

/// How names are resolved.
#[derive(Debug, Clone, Default)]
pub enum Resolver {
    /// The system's resolver.
    #[default]
    System,
    /// A fixed table; other names do not resolve.
    Fixed(Arc<FixedNames>),
}

/// A table of names whose answers may change from one lookup to the next, as a hostile name server's do.
#[derive(Debug, Default)]
pub struct FixedNames {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    /// Names that are served at a port of their own, as behind a mapping of ports.
    mapped: HashMap<String, SocketAddr>,
}

impl FixedNames {
    /// A table of names, each with its answers in order; the last answer repeats for ever.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = (N, Vec<Vec<IpAddr>>)>) -> Self {
        let answers = names
            .into_iter()
            .map(|(name, answers)| (name.into(), answers.into()))
            .collect();
        Self {
            answers: Mutex::new(answers),
            mapped: HashMap::new(),
        }
    }

    /// Adds a name that is served at this address and port, whatever port a URL says.
    #[must_use]
    pub fn mapped(mut self, name: impl Into<String>, to: SocketAddr) -> Self {
        self.mapped.insert(name.into(), to);
        self
    }

    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = answers.get_mut(name) else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "name is not in the fixed table",
            ));
        };
        let answer = if queue.len() > 1 {
            queue.pop_front()
        } else {
            queue.front().cloned()
        };
        Ok(answer.unwrap_or_default())
    }
}

impl Resolver {
    /// Every address of a name, in the order to try them.
    ///
    /// # Errors
    /// The name does not resolve or has no address.
    pub(crate) async fn lookup(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let addresses: Vec<SocketAddr> = match self {
            Self::System => tokio::net::lookup_host((name, port)).await?.collect(),
            Self::Fixed(names) if names.mapped.contains_key(name) => {
                names.mapped.get(name).copied().into_iter().collect()
            }
            Self::Fixed(names) => names
                .lookup(name)?
                .into_iter()
                .map(|ip| SocketAddr::new(ip, port))
                .collect(),
        };
        if addresses.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "name has no address"));
        }
        Ok(addresses)
    }
}
