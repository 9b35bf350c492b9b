//! stdio MCP echo server (newline-delimited JSON-RPC), for gateways that spawn child processes.
use std::io::{BufRead, Write};
fn main() {
    let out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(msg) = serde_json::from_str::<serde_json::Value>(&line) else {
            continue;
        };
        if let Some(v) = mcpbench::answer(&msg) {
            let mut o = out.lock();
            let _ = serde_json::to_writer(&mut o, &v);
            let _ = o.write_all(b"\n");
            let _ = o.flush();
        }
    }
}
