//! The server's tests: real HTTP against a whole Switchboard on loopback.

mod mcp;
