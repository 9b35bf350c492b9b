//! The last lines a server wrote outside the protocol, within a bound.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{LineSource, LogLine};

/// Lines longer than this are cut; whoever writes more to stderr is not writing for people.
pub(crate) const MAX_LINE: usize = 4096;

/// A ring of lines, bounded in bytes.
pub(crate) struct LogRing {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    lines: VecDeque<LogLine>,
    bytes: usize,
}

impl LogRing {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: Mutex::default(),
        }
    }

    /// Adds a line, pushing out the oldest.
    pub(crate) fn push(&self, line: LogLine) {
        let mut kept = self.lock();
        kept.bytes += line.text.len();
        kept.lines.push_back(line);
        while kept.bytes > self.limit && kept.lines.len() > 1 {
            if let Some(oldest) = kept.lines.pop_front() {
                kept.bytes -= oldest.text.len();
            }
        }
    }

    /// The lines kept, oldest first.
    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.lock().lines.iter().cloned().collect()
    }

    /// The last few lines of stderr in one text, for a failure report.
    pub(crate) fn last_words(&self) -> Option<String> {
        let kept = self.lock();
        let mut words: Vec<&str> = kept
            .lines
            .iter()
            .rev()
            .filter(|line| line.source != LineSource::Protocol && !line.text.trim().is_empty())
            .take(3)
            .map(|line| line.text.trim())
            .collect();
        words.reverse();
        (!words.is_empty()).then(|| words.join(" | "))
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogLine {
    /// A line from untrusted bytes, cut to a readable length.
    pub(crate) fn cut(source: LineSource, bytes: &[u8]) -> Self {
        let kept = bytes.get(..MAX_LINE).unwrap_or(bytes);
        let mut text = String::from_utf8_lossy(kept).trim_end_matches('\r').to_owned();
        if kept.len() < bytes.len() {
            text.push('…');
        }
        Self { source, text }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineSource, LogLine, LogRing};

    #[test]
    fn the_ring_forgets_the_oldest() {
        let ring = LogRing::new(10);
        for text in ["one", "two", "three", "four"] {
            ring.push(LogLine::cut(LineSource::Stderr, text.as_bytes()));
        }
        let texts: Vec<String> = ring.lines().into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["three", "four"]);
        assert_eq!(ring.last_words().unwrap(), "three | four");
        ring.push(LogLine::cut(LineSource::Stderr, &[b'x'; 5000]));
        assert_eq!(ring.lines().len(), 1);
    }
}
