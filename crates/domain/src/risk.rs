//! How much harm a tool can do, and whether it changes anything.

use std::fmt;
use std::str::FromStr;

/// How risky a tool is. An imported tool is high until a person classifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Runs without a person.
    Low,
    /// A tool policy may send it to a person.
    Medium,
    /// Asks a person, unless the grant says unattended.
    High,
}

/// Whether a tool may change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A person or preset said that it only reads.
    ReadOnly,
    /// It may change something, or nobody said that it does not.
    Mutating,
}

macro_rules! words {
    ($name:ident, $what:literal, $($variant:ident = $word:literal),*) => {
        impl $name {
            /// The word used in every interface.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(concat!("not a ", $what)),
                }
            }
        }
    };
}
pub(crate) use words;

words!(Risk, "risk", Low = "low", Medium = "medium", High = "high");
words!(Effect, "effect", ReadOnly = "read_only", Mutating = "mutating");
