//! Root keys: made here, kept by the operator.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::{Digest, Secret};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::VaultError;

/// 32 random bytes that every other key is sealed with.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RootKey([u8; 32]);

/// The root key that seals, and older ones that still open.
#[derive(Debug, Clone)]
pub struct RootKeys {
    /// Seals and opens.
    pub current: RootKey,
    /// Only open, until a rotation has sealed everything again.
    pub previous: Vec<RootKey>,
}

impl RootKey {
    /// A new key.
    ///
    /// # Errors
    /// When the operating system gives no random numbers.
    pub fn generate() -> Result<Self, VaultError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut()).map_err(|_| VaultError::NoRandom)?;
        Ok(Self(*bytes))
    }

    /// The key that this base64 text says; space around it is dropped.
    ///
    /// # Errors
    /// When it is not 32 bytes as base64.
    pub fn from_base64(text: &Secret) -> Result<Self, VaultError> {
        let bytes = Zeroizing::new(
            STANDARD
                .decode(text.expose().trim())
                .map_err(|_| VaultError::BadKey)?,
        );
        bytes
            .as_slice()
            .try_into()
            .map(Self)
            .map_err(|_| VaultError::BadKey)
    }

    /// The key as base64 text, for the file it is kept in.
    #[must_use]
    pub fn to_base64(&self) -> Secret {
        Secret::new(STANDARD.encode(self.0))
    }

    /// What names this key without saying it: the first half of a digest of it.
    #[must_use]
    pub fn id(&self) -> String {
        let mut labelled = Zeroizing::new(b"switchboard root key id v1".to_vec());
        labelled.extend_from_slice(&self.0);
        Digest::of(&labelled).to_string().chars().take(32).collect()
    }

    pub(super) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl RootKeys {
    /// One key and no older ones.
    #[must_use]
    pub const fn only(current: RootKey) -> Self {
        Self {
            current,
            previous: Vec::new(),
        }
    }
}

impl fmt::Debug for RootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RootKey({})", self.id())
    }
}
