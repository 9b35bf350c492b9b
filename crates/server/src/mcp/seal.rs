//! `requestState` of our own: what a retry refers to, sealed so that nobody else and no other request can use it (2026-07-28, MRTR).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What states of ours begin with; an upstream's own go to the upstream.
const PREFIX: &str = "sb1.";
const CLAIMS: usize = 1 + 16 + 8;

/// What a retry goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refers {
    /// A call that waits for the client's answers.
    Parked([u8; 16]),
    /// A question to a person, by its id.
    Approval([u8; 16]),
    /// Nothing: the same call is made again.
    Again,
}

/// Seals and opens states. The key lives as long as the process, as does what states refer to.
pub(super) struct Seal {
    key: Option<[u8; 32]>,
}

/// A state that is not ours, is over, or belongs to another principal or request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("requestState is not valid for this request, or its time is over; start again without it")]
pub(super) struct BadState;

impl Default for Seal {
    fn default() -> Self {
        Self { key: random() }
    }
}

/// Random bytes; none where the operating system has none.
pub(super) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}

/// Whether a state was made here.
pub(super) fn is_ours(state: &str) -> bool {
    state.starts_with(PREFIX)
}

impl Seal {
    /// A state for whoever and whatever `bound` says, good until `expires` (seconds since 1970).
    pub(super) fn seal(&self, refers: Refers, expires: u64, bound: &[u8]) -> Option<String> {
        let (kind, id) = match refers {
            Refers::Parked(id) => (0, id),
            Refers::Approval(id) => (1, id),
            Refers::Again => (2, [0; 16]),
        };
        let mut sealed = Vec::with_capacity(CLAIMS + 32);
        sealed.push(kind);
        sealed.extend_from_slice(&id);
        sealed.extend_from_slice(&expires.to_be_bytes());
        let mac = self.mac(&sealed, bound)?.finalize().into_bytes();
        sealed.extend_from_slice(&mac);
        Some(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// What a state refers to.
    pub(super) fn open(&self, state: &str, now: u64, bound: &[u8]) -> Result<Refers, BadState> {
        let text = state.strip_prefix(PREFIX).ok_or(BadState)?;
        let sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| BadState)?;
        let (claims, mac) = sealed.split_at_checked(CLAIMS).ok_or(BadState)?;
        self.mac(claims, bound)
            .ok_or(BadState)?
            .verify_slice(mac)
            .map_err(|_| BadState)?;
        let (kind, rest) = claims.split_first().ok_or(BadState)?;
        let (id, expires) = rest.split_first_chunk::<16>().ok_or(BadState)?;
        let expires = expires
            .first_chunk::<8>()
            .map(|bytes| u64::from_be_bytes(*bytes))
            .ok_or(BadState)?;
        if expires <= now {
            return Err(BadState);
        }
        match kind {
            0 => Ok(Refers::Parked(*id)),
            1 => Ok(Refers::Approval(*id)),
            2 => Ok(Refers::Again),
            _ => Err(BadState),
        }
    }

    fn mac(&self, claims: &[u8], bound: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_ref()?).ok()?;
        mac.update(claims);
        mac.update(bound);
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadState, Refers, Seal};

    #[test]
    fn opens_only_what_it_sealed() {
        let seal = Seal::default();
        let refers = Refers::Approval([7; 16]);
        let state = seal.seal(refers, 100, b"me and this request").unwrap();
        assert_eq!(seal.open(&state, 99, b"me and this request"), Ok(refers));
        assert_eq!(
            seal.open(&state, 100, b"me and this request"),
            Err(BadState),
            "over"
        );
        assert_eq!(seal.open(&state, 99, b"another"), Err(BadState), "another's");
        assert_eq!(
            Seal::default().open(&state, 99, b"me and this request"),
            Err(BadState),
            "another key"
        );
        let tampered = state.replacen("sb1.A", "sb1.B", 1);
        assert_ne!(tampered, state);
        for bad in [&*tampered, "sb1.", "sb1.AAAA", "", "x"] {
            assert_eq!(seal.open(bad, 99, b"me and this request"), Err(BadState), "{bad}");
        }
    }
}
