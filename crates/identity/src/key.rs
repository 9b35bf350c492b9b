//! The text of a key: `sb_<admin|agent>_<id>_<secret>`.

use domain::{KeyId, Secret};

use crate::opaque::Opaque;

/// A key's text, taken apart. The whole text is hashed, so that kind and id cannot be exchanged.
pub struct KeyText {
    /// Which key it claims to be.
    pub id: KeyId,
    /// SHA-256 of the text.
    pub hash: [u8; 32],
}

/// Text that is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a Switchboard key: expected sb_admin_… or sb_agent_…")]
pub struct KeyTextError;

impl KeyText {
    /// Takes a key's text apart. Says nothing about whether such a key exists.
    ///
    /// # Errors
    /// When it has another form.
    pub fn parse(text: &str) -> Result<Self, KeyTextError> {
        let opaque = Opaque::parse(text)
            .filter(|opaque| matches!(opaque.kind, "admin" | "agent"))
            .ok_or(KeyTextError)?;
        Ok(Self {
            id: KeyId::from_uuid(opaque.id),
            hash: opaque.hash,
        })
    }

    /// Makes the text of a new key.
    ///
    /// # Errors
    /// When the operating system gives no random numbers.
    pub fn generate(kind: &str, id: KeyId) -> Result<Secret, getrandom::Error> {
        Opaque::generate(kind, id.uuid()).map(|(text, _)| text)
    }
}

#[cfg(test)]
mod tests {
    use domain::KeyId;

    use super::KeyText;
    use crate::opaque::Opaque;

    #[test]
    fn what_is_made_is_read() {
        let id = KeyId::generate();
        let text = KeyText::generate("admin", id).unwrap();
        let read = KeyText::parse(text.expose()).unwrap();
        assert_eq!(read.id, id);
        let other = text.expose().replacen("admin", "agent", 1);
        assert_ne!(
            KeyText::parse(&other).unwrap().hash,
            read.hash,
            "the kind is part of what is hashed"
        );
    }

    #[test]
    fn other_text_is_refused() {
        let id = KeyId::generate().uuid().simple().to_string();
        let (token, _) = Opaque::generate("token", KeyId::generate().uuid()).unwrap();
        let short = format!("sb_admin_{id}_AAAA");
        for text in [
            "",
            "sb_admin",
            "sb_root_x_y",
            token.expose(),
            "Bearer",
            &short,
            &"x".repeat(300),
            "sb_admin_nouuid_AAAA",
        ] {
            assert!(KeyText::parse(text).is_err(), "{text:?}");
        }
    }
}
