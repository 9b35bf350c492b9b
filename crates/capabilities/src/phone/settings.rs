//! How an agent speaks.

use api::phone::{AuthorityMode, OwnAgentQuery, SetAuthorityMode, SetVoice, VoiceSettings};
use domain::{Agent, Effect, Risk};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};

use super::{READ, calls, voices};
use crate::find;

const SHOW: Declaration = Declaration {
    id: "voice.show",
    title: "Show how an agent speaks",
    description: "Shows the voice an agent has on calls, what it is told for them, and what it may look at and say.",
    path: "/voice-settings",
    paged: false,
    ..READ
};

const SET: Declaration = Declaration {
    id: "voice.set",
    title: "Say how an agent speaks",
    description: "Replaces an agent's voice and what it is told for calls; what is left out goes back to the default. Holds from the \
                  next call on.",
    method: Method::Put,
    risk: Risk::Medium,
    effect: Effect::Mutating,
    ..SHOW
};

const AUTHORITY: Declaration = Declaration {
    id: "voice.set_authority",
    title: "Say what an agent may say",
    description: "Says what an agent may look at and say on calls: what concerns the person on the line, or whatever it may know.",
    path: "/voice-settings/authority",
    risk: Risk::High,
    action: Action::Administer,
    command: Some("voice set-authority"),
    ..SET
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(SHOW, show),
        Capability::new(SET, set),
        Capability::new(AUTHORITY, authority),
    ]
}

async fn show(context: Context, query: OwnAgentQuery) -> Result<VoiceSettings, Failure> {
    let agent = find::own_agent(&context, query.agent.as_deref())?;
    told(&context, &agent).await
}

async fn set(context: Context, input: SetVoice) -> Result<VoiceSettings, Failure> {
    let agent = find::own_agent(&context, input.agent.as_deref())?;
    if let Some(voice) = input.voice.as_deref() {
        voices::known(voice)?;
    }
    let before = context.store().voice_settings(context.tenant(), agent.id).await?;
    let after = domain::VoiceSettings {
        voice: input.voice.map(Into::into),
        instructions: input.instructions.map(Into::into),
        authority: before.authority,
    };
    let change = find::change(&context, SET.id);
    context
        .store()
        .set_voice_settings(context.tenant(), &change, agent.id, &after)
        .await?;
    told(&context, &agent).await
}

async fn authority(context: Context, input: SetAuthorityMode) -> Result<VoiceSettings, Failure> {
    let agent = find::agent(&context, &input.agent)?;
    let before = context.store().voice_settings(context.tenant(), agent.id).await?;
    let after = domain::VoiceSettings {
        authority: match input.authority_mode {
            AuthorityMode::ContactScoped => domain::AuthorityMode::ContactScoped,
            AuthorityMode::Yolo => domain::AuthorityMode::Yolo,
        },
        ..before
    };
    let change = find::change(&context, AUTHORITY.id);
    context
        .store()
        .set_voice_settings(context.tenant(), &change, agent.id, &after)
        .await?;
    told(&context, &agent).await
}

async fn told(context: &Context, agent: &Agent) -> Result<VoiceSettings, Failure> {
    let found = context.store().voice_settings(context.tenant(), agent.id).await?;
    let voice = found.voice.as_deref().map(str::to_owned);
    Ok(VoiceSettings {
        agent_id: agent.id.uuid(),
        effective_voice: match &voice {
            Some(voice) => voice.clone(),
            None => voices::default()?,
        },
        voice,
        instructions: found.instructions.as_deref().map(str::to_owned),
        authority_mode: calls::authority(found.authority),
    })
}
