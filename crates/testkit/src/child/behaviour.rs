//! How a scripted child misbehaves, as its command line says.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Everything a scripted child can do wrong. Without any of it, it is a plain server of both lifecycles.
#[derive(Debug, Clone, Default, Parser)]
#[command(about = "A stdio MCP server that misbehaves as told")]
pub struct Behaviour {
    /// Print this line on standard output before anything else; repeatable
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub noise: Vec<String>,
    /// Print this line before every answer; repeatable
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub noise_each: Vec<String>,
    /// Print a line that is not UTF-8 before anything else
    #[arg(long)]
    pub invalid_utf8: bool,
    /// Print so many bytes without a line end before anything else
    #[arg(long, value_name = "BYTES")]
    pub endless_line: Option<u64>,
    /// Write so many bytes to standard error before reading anything
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub flood_stderr: u64,
    /// Wait so many milliseconds before reading anything
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub slow_start_ms: u64,
    /// End after so many answers
    #[arg(long, value_name = "COUNT")]
    pub die_after: Option<u64>,
    /// End instead of answering the so-manieth tool call
    #[arg(long, value_name = "NUMBER")]
    pub die_on_call: Option<u64>,
    /// End when a message of this method comes; repeatable
    #[arg(long, value_name = "METHOD")]
    pub die_on: Vec<String>,
    /// Never answer requests of this method; repeatable
    #[arg(long, value_name = "METHOD")]
    pub hang_on: Vec<String>,
    /// Stay when asked to terminate
    #[arg(long)]
    pub ignore_sigterm: bool,
    /// Stay when standard input ends
    #[arg(long)]
    pub ignore_eof: bool,
    /// Start a process that stays and append its id to this file
    #[arg(long, value_name = "FILE")]
    pub grandchild: Option<PathBuf>,
    /// Append the own process id to this file: one line a start
    #[arg(long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,
    /// Append the name of every tool called to this file, before answering
    #[arg(long, value_name = "FILE")]
    pub count_calls: Option<PathBuf>,
    /// Send the client a request of this method once it is initialized; repeatable
    #[arg(long, value_name = "METHOD")]
    pub ask: Vec<String>,
    /// How to answer `server/discover`
    #[arg(long, value_enum, default_value_t)]
    pub discover: Discovering,
    /// Play the script in this file, as long as it is there; see `testkit::hostile`
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Append the method of every message to this file, while a script is played
    #[arg(long, value_name = "FILE")]
    pub heard: Option<PathBuf>,
    /// Write so many bytes to standard error before every answer of a tool
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub flood_each: u64,
    /// Only stay for two minutes
    #[arg(long, hide = true)]
    pub linger: bool,
}

/// How a scripted child answers `server/discover`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Discovering {
    /// With a result
    Result,
    /// With -32601
    #[default]
    Unknown,
    /// With -32602
    Invalid,
    /// Not at all
    Never,
}
