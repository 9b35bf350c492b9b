//! Tokens that show by themselves what they are.

use std::ops::Range;

/// Words with the prefix of a known kind of token, and what follows `Bearer` or `Basic`.
pub(super) fn known_tokens(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut after_scheme = false;
    for (start, word) in words(text) {
        let known = PREFIXES
            .iter()
            .any(|prefix| word.starts_with(prefix) && word.len() >= prefix.len() + 10);
        let jwt = word.starts_with("eyJ") && word.matches('.').count() >= 1 && word.len() >= 24;
        if known || jwt || (after_scheme && word.len() >= 6) {
            found.push(start..start + word.len());
        }
        after_scheme = word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
    }
    if let Some(start) = text.find("-----BEGIN ")
        && text.contains("PRIVATE KEY-----")
    {
        found.push(start..text.len());
    }
    found
}

const PREFIXES: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "whsec_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "xoxe-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "sbp_",
    "ntn_",
    "secret_",
    "pplx-",
    "tvly-",
    "figd_",
    "lin_api_",
    "SG.",
    "dop_v1_",
    "shpat_",
    "gsk_",
    "r8_",
    "fc-",
    "jina_",
    "xai-",
    "phx_",
    "phc_",
    "dapi",
    "nvapi-",
    "sntrys_",
    "sntryu_",
    "ATATT",
    "EAACEdEose0cBA",
    "PMAK-",
    "key-",
    "apify_api_",
    "rnd_",
    "vcp_",
    "sb_",
];

/// Words of a text with their offsets; what separates parts of headers, urls and assignments separates words.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let base = text.as_ptr().addr();
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | ',' | ';' | '=' | ':' | '/' | '&' | '?' | '@' | '#'
            )
    })
    .filter(|word| !word.is_empty())
    .map(move |word| (word.as_ptr().addr() - base, word))
}
