//! Text that proves who sends it and says nothing else: `sb_<kind>_<id>_<secret>`, with 256 bits of secret.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Secret;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Random bytes of a secret: 256 bits.
const SECRET_BYTES: usize = 32;
/// Longest text looked at; a real one has about 80 characters.
const MAX_TEXT: usize = 256;

/// Such a text, taken apart. The whole of it is hashed, so that kind and id cannot be exchanged.
pub(crate) struct Opaque<'a> {
    pub(crate) kind: &'a str,
    pub(crate) id: Uuid,
    /// SHA-256 of the text.
    pub(crate) hash: [u8; 32],
}

impl<'a> Opaque<'a> {
    /// Takes a text apart; none where it has another form.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let mut parts = text.splitn(4, '_');
        let (Some("sb"), Some(kind), Some(id), Some(secret)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return None;
        };
        let id = Uuid::try_parse(id).ok()?;
        let bytes = URL_SAFE_NO_PAD.decode(secret).ok()?;
        (bytes.len() == SECRET_BYTES).then(|| Self {
            kind,
            id,
            hash: Sha256::digest(text.as_bytes()).into(),
        })
    }

    /// Makes a new one, and its hash.
    pub(crate) fn generate(kind: &str, id: Uuid) -> Result<(Secret, [u8; 32]), getrandom::Error> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret)?;
        let text = format!("sb_{kind}_{}_{}", id.simple(), URL_SAFE_NO_PAD.encode(secret));
        let hash = Sha256::digest(text.as_bytes()).into();
        Ok((Secret::new(text), hash))
    }
}
