//! Parameters of a request, from its query or form.

use super::Refusal;

/// Most parameters looked at.
const MOST: usize = 64;

/// Names and values. No name may come twice (RFC 6749 section 3.1).
#[derive(Debug, Clone, Default)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads `application/x-www-form-urlencoded`.
    #[must_use]
    pub fn read(text: &[u8]) -> Self {
        let pairs = url::form_urlencoded::parse(text).into_owned();
        Self(pairs.take(MOST).collect())
    }

    /// The value by this name; one that is empty counts as left out.
    ///
    /// # Errors
    /// Where it is given twice.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        let first = found.next();
        if found.next().is_some() {
            return Err(Refusal::request(format!("`{name}` is given more than once")));
        }
        Ok(first
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty()))
    }

    /// The value by this name.
    ///
    /// # Errors
    /// Where it is missing or given twice.
    pub fn needed(&self, name: &str) -> Result<&str, Refusal> {
        self.one(name)?
            .ok_or_else(|| Refusal::request(format!("`{name}` is missing")))
    }
}
