//! Text that must never be printed.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A token, password or key. Cannot be displayed, and debug output hides it; memory is wiped on drop.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes the text in.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The text itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn never_prints() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "[secret]");
    }
}
