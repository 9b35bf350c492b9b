//! Passwords: which are taken, and how they are held against what is stored.
//!
//! Sources: NIST SP 800-63B section 3.1.1 (length over rules, a list of what everybody tries), OWASP's parameters for Argon2id.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, PasswordHash, Version};
use domain::Secret;
use tokio::sync::Semaphore;

/// Fewest characters of a password.
pub const MIN: usize = 12;
/// Most characters of a password.
pub const MAX: usize = 128;
/// Memory of one hash, in KiB.
const MEMORY: u32 = 19 * 1024;
/// Passes over it.
const PASSES: u32 = 2;
/// Hashes computed at once: each takes its memory and a processor.
const AT_ONCE: usize = 2;
/// How long somebody waits for their turn before they are asked to come back: strangers may not pile up work without end.
const PATIENCE: Duration = Duration::from_secs(10);

static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(AT_ONCE)));

/// Why a password is not taken. Says what to do instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Weak {
    /// Too short.
    #[error("the password has fewer than 12 characters; take several words")]
    Short,
    /// Too long.
    #[error("the password has more than 128 characters")]
    Long,
    /// Few different characters, or rows of the keyboard.
    #[error(
        "the password repeats itself or follows the keyboard; take several words that do not belong together"
    )]
    Pattern,
    /// Holds who it is for, or this product.
    #[error(
        "the password is mostly your address, your name or the name of this product; take something nobody knows of you"
    )]
    Known,
}

/// Whether a password may be had by this person.
///
/// # Errors
/// Why not.
pub fn check(password: &Secret, email: &str, name: &str) -> Result<(), Weak> {
    let text = password.expose();
    let length = text.chars().count();
    if length < MIN {
        return Err(Weak::Short);
    }
    if length > MAX {
        return Err(Weak::Long);
    }
    let plain = text.to_lowercase();
    let account = email.split('@').next().unwrap_or_default();
    let words = [account, email, name, "switchboard"];
    let mut rest = plain.clone();
    let known = name.split_whitespace().chain(words).map(str::to_lowercase);
    let mut known: Vec<String> = known.filter(|word| word.chars().count() >= 3).collect();
    known.sort_by_key(|word| std::cmp::Reverse(word.len()));
    for word in known {
        rest = rest.replace(&word, "");
    }
    // What is left of it would have to be guessed.
    if rest.chars().count() < 8 && rest.len() < plain.len() {
        return Err(Weak::Known);
    }
    for row in ROWS {
        rest = rest.replace(row, "");
    }
    let mut different: Vec<char> = rest.chars().collect();
    different.sort_unstable();
    different.dedup();
    if different.len() < 5 || is_run(&rest) {
        return Err(Weak::Pattern);
    }
    Ok(())
}

/// What everybody tries, and rows of keyboards.
const ROWS: &[&str] = &[
    "password",
    "passwort",
    "motdepasse",
    "contrasena",
    "qwertyuiop",
    "qwertzuiop",
    "azertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
    "1qaz2wsx",
    "3edc4rfv",
    "qwerty",
    "qwertz",
    "azerty",
    "asdfgh",
    "letmein",
    "welcome",
    "iloveyou",
    "administrator",
    "admin",
    "changeme",
    "secret",
    "1234567890",
    "0123456789",
    "0987654321",
    "123456789",
    "12345678",
    "1234567",
    "123456",
    "abcdefgh",
    "abc123",
];

/// Whether every character follows the one before it, or all repeat a short part.
fn is_run(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let follows = |step: i64| {
        chars
            .iter()
            .zip(chars.iter().skip(1))
            .all(|(a, b)| i64::from(u32::from(*b)) - i64::from(u32::from(*a)) == step)
    };
    let repeats = |part: usize| chars.iter().zip(chars.iter().skip(part)).all(|(a, b)| a == b);
    chars.is_empty() || follows(1) || follows(-1) || (1..=4).any(repeats)
}

/// A fault while hashing.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    /// Many want to sign in at this moment.
    #[error("many people sign in at this moment; try again in a few seconds")]
    Busy,
    /// No random numbers, no memory, or a stored hash that is none.
    #[error("the password cannot be hashed: {0}")]
    Fault(String),
}

/// Hashes a new password, in the PHC string format. Waits for its turn, and runs beside the tasks of requests.
///
/// # Errors
/// When the system gives no random numbers or no memory.
pub async fn hash(password: Secret) -> Result<String, HashError> {
    in_turn(move || {
        let hashed = hasher()?.hash_password(password.expose().as_bytes());
        hashed.map(|hash| hash.to_string()).map_err(fault)
    })
    .await
}

/// Whether a password is the one that was hashed. Where there is no hash it costs the same and says no.
///
/// # Errors
/// When the system gives no memory, or the stored hash is none.
pub async fn verify(password: Secret, hash: Option<String>) -> Result<bool, HashError> {
    in_turn(move || {
        let known = hash.is_some();
        let text = hash.unwrap_or_else(|| NOBODY.to_owned());
        let hash = PasswordHash::new(&text).map_err(fault)?;
        let same = hasher()?
            .verify_password(password.expose().as_bytes(), &hash)
            .is_ok();
        Ok(known && same)
    })
    .await
}

/// A hash of random bytes that nobody kept.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c3dpdGNoYm9hcmQtLW5vYm9keQ$1rVvYQn2Tn0oJbqSxJ6VbY7zQ4C7oP1m8Qk0rM5b9tE";

async fn in_turn<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HashError> + Send + 'static,
) -> Result<T, HashError> {
    let turn = tokio::time::timeout(PATIENCE, TURNS.clone().acquire_owned());
    let turn = turn.await.map_err(|_| HashError::Busy)?.map_err(fault)?;
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    done.await.map_err(fault)?
}

fn hasher() -> Result<Argon2<'static>, HashError> {
    let params = Params::new(MEMORY, PASSES, 1, None).map_err(fault)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn fault(error: impl ToString) -> HashError {
    HashError::Fault(error.to_string())
}

#[cfg(test)]
mod tests {
    use domain::Secret;

    use super::{NOBODY, Weak, check, hash, verify};

    #[test]
    fn which_passwords_are_taken() {
        let cases = [
            ("correct horse battery", Ok(())),
            ("tr0ub4dor&3-and-more", Ok(())),
            (
                "\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}\u{3092}\u{5fd8}\u{308c}\u{306a}\u{3044}\u{3067}\u{306d}",
                Ok(()),
            ),
            ("short", Err(Weak::Short)),
            ("elevenchars", Err(Weak::Short)),
            ("aaaaaaaaaaaaaa", Err(Weak::Pattern)),
            ("abababababababab", Err(Weak::Pattern)),
            ("password1234", Err(Weak::Pattern)),
            ("123456789012", Err(Weak::Pattern)),
            ("qwertyuiop12", Err(Weak::Pattern)),
            ("abcdefghijklmnop", Err(Weak::Pattern)),
            ("ada@example.com", Err(Weak::Known)),
            ("AdaLovelace12", Err(Weak::Known)),
            ("switchboard1", Err(Weak::Known)),
            ("ada and the difference engine", Ok(())),
        ];
        for (password, want) in cases {
            let said = check(
                &Secret::new(password.to_owned()),
                "ada@example.com",
                "Ada Lovelace",
            );
            assert_eq!(said, want, "{password}");
        }
        assert_eq!(check(&Secret::new("x1".repeat(65)), "", ""), Err(Weak::Long));
    }

    #[tokio::test]
    async fn hashes() {
        let password = || Secret::new("correct horse battery".to_owned());
        let hashed = hash(password()).await.unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hashed}");
        assert_ne!(hashed, hash(password()).await.unwrap(), "each has its own salt");
        assert!(verify(password(), Some(hashed.clone())).await.unwrap());
        let other = Secret::new("correct horse batterz".to_owned());
        assert!(!verify(other, Some(hashed)).await.unwrap());
        assert!(!verify(password(), None).await.unwrap());
        assert!(!verify(password(), Some(NOBODY.to_owned())).await.unwrap());
        assert!(verify(password(), Some("plain".to_owned())).await.is_err());
    }
}
