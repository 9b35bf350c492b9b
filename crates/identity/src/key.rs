//! The text of a key: `sb_<admin|agent>_<id>_<secret>`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{KeyId, Secret};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Random bytes of a secret: 256 bits.
const SECRET_BYTES: usize = 32;
/// Longest text looked at; a real key has about 80 characters.
const MAX_TEXT: usize = 256;

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
        if text.len() > MAX_TEXT {
            return Err(KeyTextError);
        }
        let mut parts = text.splitn(4, '_');
        let (Some("sb"), Some("admin" | "agent"), Some(id), Some(secret)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(KeyTextError);
        };
        let id = Uuid::try_parse(id).map_err(|_| KeyTextError)?;
        let bytes = URL_SAFE_NO_PAD.decode(secret).map_err(|_| KeyTextError)?;
        if bytes.len() != SECRET_BYTES {
            return Err(KeyTextError);
        }
        Ok(Self {
            id: KeyId::from_uuid(id),
            hash: Sha256::digest(text.as_bytes()).into(),
        })
    }

    /// Makes the text of a new key.
    ///
    /// # Errors
    /// When the operating system gives no random numbers.
    pub fn generate(kind: &str, id: KeyId) -> Result<Secret, getrandom::Error> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret)?;
        Ok(Secret::new(format!(
            "sb_{kind}_{}_{}",
            id.uuid().simple(),
            URL_SAFE_NO_PAD.encode(secret)
        )))
    }
}

#[cfg(test)]
mod tests {
    use domain::KeyId;

    use super::KeyText;

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
        let short = format!("sb_admin_{id}_AAAA");
        for text in [
            "",
            "sb_admin",
            "sb_root_x_y",
            "Bearer",
            &short,
            &"x".repeat(300),
            "sb_admin_nouuid_AAAA",
        ] {
            assert!(KeyText::parse(text).is_err(), "{text:?}");
        }
    }
}
