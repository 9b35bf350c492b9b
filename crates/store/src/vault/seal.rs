//! Sealing: XChaCha20-Poly1305 under a fresh data key, which is sealed the same way under the root key.
//!
//! Both are bound to where the record lies, so that a record moved elsewhere does not open there.

use std::collections::HashMap;

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::{RootKey, RootKeys};
use crate::VaultError;

/// The version of the record format.
pub(crate) const VERSION: i64 = 1;
const NONCE: usize = 24;

/// The root keys, by id.
pub(crate) struct Seals {
    current: String,
    keys: HashMap<String, RootKey>,
}

/// A sealed secret.
pub(crate) struct Sealed {
    pub(crate) version: i64,
    pub(crate) key_id: String,
    /// Nonce and sealed data key.
    pub(crate) wrapped_key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) ciphertext: Vec<u8>,
}

/// Where a record lies.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) organization: Uuid,
    pub(crate) owner_kind: &'a str,
    pub(crate) owner: Uuid,
    pub(crate) field: &'a str,
}

impl Seals {
    pub(crate) fn new(keys: &RootKeys) -> Self {
        let all = std::iter::once(&keys.current).chain(&keys.previous);
        Self {
            current: keys.current.id(),
            keys: all.map(|key| (key.id(), key.clone())).collect(),
        }
    }

    /// The id of the key that seals.
    pub(crate) fn current(&self) -> &str {
        &self.current
    }

    /// Whether a key was given.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.keys.contains_key(id)
    }

    /// Seals a secret under the current key.
    pub(crate) fn seal(&self, place: Place<'_>, secret: &[u8]) -> Result<Sealed, VaultError> {
        let aad = associated(place, VERSION);
        let data_key = Zeroizing::new(random::<32>()?);
        let nonce = random::<NONCE>()?;
        let ciphertext = encrypt(&data_key, &nonce, &aad, secret)?;
        let wrapped_key = self.wrap(&data_key, &aad)?;
        Ok(Sealed {
            version: VERSION,
            key_id: self.current.clone(),
            wrapped_key,
            nonce: nonce.to_vec(),
            ciphertext,
        })
    }

    /// Opens a sealed secret.
    pub(crate) fn open(&self, place: Place<'_>, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let aad = associated(place, sealed.version);
        let data_key = self.unwrap(sealed, &aad)?;
        decrypt(&data_key, &sealed.nonce, &aad, &sealed.ciphertext)
    }

    /// The data key of a record, sealed under the current key instead.
    pub(crate) fn rewrap(&self, place: Place<'_>, sealed: &Sealed) -> Result<Vec<u8>, VaultError> {
        let aad = associated(place, sealed.version);
        let data_key = self.unwrap(sealed, &aad)?;
        self.wrap(&data_key, &aad)
    }

    fn wrap(&self, data_key: &[u8; 32], aad: &[u8]) -> Result<Vec<u8>, VaultError> {
        let nonce = random::<NONCE>()?;
        let mut wrapped = nonce.to_vec();
        wrapped.extend(encrypt(self.key(&self.current)?.bytes(), &nonce, aad, data_key)?);
        Ok(wrapped)
    }

    fn unwrap(&self, sealed: &Sealed, aad: &[u8]) -> Result<Zeroizing<[u8; 32]>, VaultError> {
        let (nonce, wrapped) = sealed
            .wrapped_key
            .split_at_checked(NONCE)
            .ok_or(VaultError::Sealed)?;
        let data_key = decrypt(self.key(&sealed.key_id)?.bytes(), nonce, aad, wrapped)?;
        data_key
            .as_slice()
            .try_into()
            .map(Zeroizing::new)
            .map_err(|_| VaultError::Sealed)
    }

    fn key(&self, id: &str) -> Result<&RootKey, VaultError> {
        self.keys
            .get(id)
            .ok_or_else(|| VaultError::UnknownKey { id: id.to_owned() })
    }
}

/// Organization, owner kind, owner, field and version, each with its length before it.
fn associated(place: Place<'_>, version: i64) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let version = version.to_be_bytes();
    let fields: [&[u8]; 5] = [
        place.organization.as_bytes(),
        place.owner_kind.as_bytes(),
        place.owner.as_bytes(),
        place.field.as_bytes(),
        &version,
    ];
    for field in fields {
        out.extend_from_slice(&(field.len() as u64).to_be_bytes());
        out.extend_from_slice(field);
    }
    out
}

fn encrypt(key: &[u8; 32], nonce: &[u8; NONCE], aad: &[u8], msg: &[u8]) -> Result<Vec<u8>, VaultError> {
    XChaCha20Poly1305::new(key.into())
        .encrypt(&XNonce::from(*nonce), Payload { msg, aad })
        .map_err(|_| VaultError::Sealed)
}

fn decrypt(key: &[u8; 32], nonce: &[u8], aad: &[u8], msg: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| VaultError::Sealed)?;
    XChaCha20Poly1305::new(key.into())
        .decrypt(&XNonce::from(nonce), Payload { msg, aad })
        .map(Zeroizing::new)
        .map_err(|_| VaultError::Sealed)
}

fn random<const N: usize>() -> Result<[u8; N], VaultError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| VaultError::NoRandom)?;
    Ok(bytes)
}
