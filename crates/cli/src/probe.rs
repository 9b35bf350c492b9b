//! The reading of configuration, as its fuzz target reaches it. Nothing else uses this, and nothing of it is promised.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use domain::Namespace;

use crate::config;

/// What holds of any text that is given as the configuration file.
///
/// # Panics
///
/// If it does not.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    // The same text as a file beside the data: no mistake in it may be more than a sentence.
    if let Err(problem) = config::entries(text) {
        assert!(!problem.is_empty(), "an error without words");
    }
    let config = match config::from_text(text) {
        Ok(config) => config,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            for problem in problems {
                assert!(!problem.to_string().trim().is_empty(), "an error without words");
            }
            return;
        }
    };
    let mut names = HashSet::new();
    for entry in &config.connections {
        assert!(Namespace::new(&entry.name).is_ok(), "{}", entry.name);
        assert!(names.insert(&entry.name), "{}", entry.name);
        assert!(!entry.command.is_empty(), "{}", entry.name);
    }
    assert!(config::rules(&config.rules).is_ok(), "rules were checked");
    // Times are added to the time of the day and to clocks that start at zero.
    for (name, seconds) in config.times() {
        let time = Duration::from_secs(seconds);
        assert!(Instant::now().checked_add(time).is_some(), "{name}: {seconds}");
    }
}
