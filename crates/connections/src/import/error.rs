//! Why a whole file could not be read; everything smaller is a [`Notice`](super::Notice).

use super::format::Format;

/// A file that could not be read at all. Messages never quote the file, which may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file is larger than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
    #[error("the file has {bytes} bytes, {limit} are allowed; import a part of it")]
    TooLarge {
        /// Size of the file in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The file is not UTF-8.
    #[error("not UTF-8 text at line {line}, column {column}; save the file as UTF-8 and import it again")]
    NotUtf8 {
        /// Line of the first wrong byte, from 1.
        line: usize,
        /// Column (in bytes) of the first wrong byte, from 1.
        column: usize,
    },
    /// The file holds nothing but white space.
    #[error("the file is empty; there is nothing to import")]
    Empty,
    /// The file breaks the rules of its format.
    #[error("invalid {format} at line {line}, column {column}: {problem}")]
    Syntax {
        /// Format the file was read as.
        format: Format,
        /// Line, from 1; 0 where the format's reader does not tell.
        line: usize,
        /// Column, from 1; 0 where the format's reader does not tell.
        column: usize,
        /// What is wrong, without quoting values.
        problem: String,
    },
    /// Objects and lists are nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("values are nested deeper than {limit} levels; no client configuration needs that")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
    },
    /// More than [`MAX_VALUES`](super::MAX_VALUES) values, repetitions by YAML aliases counted.
    #[error("the file holds more than {limit} values; import a part of it")]
    TooManyValues {
        /// The limit.
        limit: usize,
    },
    /// The outermost value is not an object (a map, a table).
    #[error("the outermost value is {found}, not an object; is this a client configuration?")]
    NotAnObject {
        /// What stands there instead: "a list", "a string" …
        found: &'static str,
    },
}
