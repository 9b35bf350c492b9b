//! A cleared call as a request of the protocol.

use std::borrow::Cow;

use domain::{Call, ClientContext, Target};
use mcp::wire::{Object, WireError};
use serde_json::value::RawValue;

use super::Dispatch;

/// What a caller may add to the params of its call.
const EXTRAS: [&str; 2] = ["inputResponses", "requestState"];

/// The method and params of a call, made of nothing but what was judged and the extras the protocol has for it. A tool's arguments
/// go as they came. For prompts and resources the call's arguments are the params as they came, under the server's own name.
pub(super) fn of(call: &Call, to: &Dispatch) -> Result<(Cow<'static, str>, Object), WireError> {
    let (method, mut params) = match &call.target {
        Target::Tool(tool) => {
            let mut params = Object::new().with("name", &**tool.name())?;
            params.insert("arguments", call.arguments.raw().to_owned());
            ("tools/call", params)
        }
        Target::Prompt { name, .. } => ("prompts/get", named(call, "name", name)?),
        Target::Resource { uri, .. } => ("resources/read", named(call, "uri", uri)?),
        // Which file is among the arguments, which the kernel made.
        Target::Skill { .. } => ("resources/read", Object::parse(call.arguments.raw())?),
    };
    add_extras(&mut params, to);
    Ok((Cow::Borrowed(method), params))
}

/// The params of a prompt or resource request, with the server's own name in place of the exposed one.
pub(super) fn named(call: &Call, key: &str, name: &str) -> Result<Object, WireError> {
    let mut params = Object::parse(call.arguments.raw())?;
    params.remove("_meta");
    for extra in EXTRAS {
        params.remove(extra);
    }
    params.set(key, name)?;
    Ok(params)
}

pub(super) fn add_extras(params: &mut Object, to: &Dispatch) {
    for (key, value) in to.extras.iter().filter(|(key, _)| EXTRAS.contains(&&**key)) {
        params.insert(key, value.as_ref().to_owned());
    }
    if let Some(meta) = &to.client.meta {
        params.insert("_meta", meta.as_ref().to_owned());
    }
}

/// What a modern server is told about the client: everything in a session of its own; in a shared one only what it can do and hear,
/// which decides how the server may answer.
pub(super) fn context(client: &ClientContext, own: bool) -> mcp::ClientContext {
    let owned = |raw: &std::sync::Arc<RawValue>| raw.as_ref().to_owned();
    mcp::ClientContext {
        capabilities: client.capabilities.as_ref().map(owned),
        info: client.info.as_ref().filter(|_| own).map(owned),
        log_level: client.log_level.as_ref().map(|level| level.to_string()),
    }
}
