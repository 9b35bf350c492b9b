//! Lines of bounded length from standard input.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// A line that is longer than allowed; nothing of it is kept.
    TooLong,
    /// The input has ended.
    End,
}

/// Reads the next line. A last line without an end counts.
///
/// Can be dropped and called again only between lines.
pub(super) async fn next(input: &mut (impl AsyncBufRead + Unpin), limit: usize) -> std::io::Result<Line> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = input.fill_buf().await?;
        if chunk.is_empty() {
            let ended = line.is_empty() && !too_long;
            return Ok(if ended { Line::End } else { whole(line, too_long) });
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(chunk.len());
        if line.len() + taken > limit {
            too_long = true;
            line = Vec::new();
        }
        if !too_long {
            line.extend(chunk.iter().take(taken));
        }
        input.consume(end.map_or(taken, |end| end + 1));
        if end.is_some() {
            return Ok(whole(line, too_long));
        }
    }
}

fn whole(line: Vec<u8>, too_long: bool) -> Line {
    if too_long {
        Line::TooLong
    } else {
        Line::Whole(line)
    }
}
