//! Lines out of chunks, each within a bound; a longer line costs its head and its tail, not the session.

use std::collections::VecDeque;

/// How much of an oversized line's beginning and end is kept.
const HEAD: usize = 4096;
const TAIL: usize = 256;

/// One line, without its line end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// More than the limit; only both ends are left.
    Oversized { head: &'a [u8], tail: &'a [u8] },
}

/// Cuts a stream of chunks into lines. Pure; holds at most the limit.
pub(crate) struct Framer {
    limit: usize,
    partial: Vec<u8>,
    /// The tail of an oversized line being skipped.
    skipping: Option<VecDeque<u8>>,
}

impl Framer {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: Vec::new(),
            skipping: None,
        }
    }

    /// Takes the next chunk and hands over the lines it completes.
    pub(crate) fn push(&mut self, chunk: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if self.partial.is_empty() && self.skipping.is_none() && line.len() <= self.limit {
                take(Line::Whole(line));
            } else {
                self.keep(line);
                self.flush(&mut take);
            }
        }
        self.keep(rest);
    }

    /// The stream has ended; what is left is a line too.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() {
            self.flush(&mut take);
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if let Some(tail) = &mut self.skipping {
            tail.extend(piece.iter().skip(piece.len().saturating_sub(TAIL)));
            tail.drain(..tail.len().saturating_sub(TAIL));
        } else if self.partial.len() + piece.len() <= self.limit {
            self.partial.extend_from_slice(piece);
        } else {
            let mut tail: VecDeque<u8> = self.partial.iter().rev().take(TAIL).rev().copied().collect();
            tail.extend(piece.iter().skip(piece.len().saturating_sub(TAIL)));
            tail.drain(..tail.len().saturating_sub(TAIL));
            let missing = HEAD.saturating_sub(self.partial.len());
            self.partial.extend(piece.iter().take(missing));
            self.partial.truncate(HEAD);
            self.partial.shrink_to_fit();
            self.skipping = Some(tail);
        }
    }

    fn flush(&mut self, take: &mut impl FnMut(Line<'_>)) {
        match self.skipping.take() {
            None => take(Line::Whole(&self.partial)),
            Some(mut tail) => take(Line::Oversized {
                head: &self.partial,
                tail: tail.make_contiguous(),
            }),
        }
        self.partial.clear();
        // One large message should not pin its size for the life of the session.
        self.partial.shrink_to(64 * 1024);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop, proptest};

    use super::{Framer, HEAD, Line, TAIL};

    fn lines(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut framer = Framer::new(limit);
        let mut seen = Vec::new();
        let mut take = |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::Oversized { head, tail } => {
                    assert!(head.len() <= HEAD && tail.len() <= TAIL);
                    format!(
                        "oversized …{}",
                        String::from_utf8_lossy(tail.split_at(tail.len() - 2).1)
                    )
                }
            });
        };
        for chunk in chunks {
            framer.push(chunk, &mut take);
        }
        framer.finish(&mut take);
        seen
    }

    #[test]
    fn cuts_lines() {
        let check = |chunks: &[&[u8]], want: &[&str]| assert_eq!(lines(8, chunks), want);
        check(&[b"one\ntwo\n"], &["one", "two"]);
        check(&[b"on", b"e\n", b"\n", b"last"], &["one", "", "last"]);
        check(
            &[b"12345678\n123456789\nok\n"],
            &["12345678", "oversized …89", "ok"],
        );
        check(&[b"1234", b"56789abcdef", b"xyz\nok"], &["oversized …yz", "ok"]);
        check(&[], &[]);
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(
            text in prop::collection::vec(any::<u8>().prop_map(|b| if b < 60 { b'\n' } else { b'a' + b % 26 }), 0..400),
            cuts in prop::collection::vec(0usize..400, 0..20),
        ) {
            let mut at: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> = at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            assert_eq!(lines(6, &chunks), lines(6, &[&text]));
        }
    }
}
