//! Presets: the list of them, and what one makes of an input.

use ::connections::preset::{self, Place, Preset, PresetAuth, PresetTool, Variant};
use api::connections::{AuthInput, HeaderInput, OauthInput};
use api::{Page, PageQuery, presets};
use domain::{AccountKind, PresetRef, Transport};
use gateway::capability::{Capability, Context, Declaration, Failure};

use super::READ;
use crate::{convert, paging};

const LIST: Declaration = Declaration {
    id: "connections.presets",
    title: "List presets",
    description: "Lists servers that are known by name, and the ways to connect to each that are open here: where it is, how one \
                  proves oneself, what is known about its tools. A preset for an internal address is shown where the operator \
                  registered exactly that address.",
    path: "/presets",
    paged: true,
    ..READ
};

pub(super) fn capability() -> Capability {
    Capability::new(LIST, list)
}

async fn list(context: Context, query: PageQuery) -> Result<Page<presets::Preset>, Failure> {
    let open: Vec<presets::Preset> = preset::catalogue()
        .iter()
        .map(|preset| shown(&context, preset))
        .filter(|preset| !preset.variants.is_empty())
        .collect();
    let wanted = paging::request(query.cursor, query.limit);
    let page = paging::cut("presets", open, |preset| preset.id.clone(), &wanted)?;
    Ok(paging::page(page, |preset| preset))
}

/// Whether a variant is open here: one for an internal address only where the operator registered exactly that address.
pub(super) fn is_open(context: &Context, variant: &Variant) -> bool {
    let registered = |url: &String| context.gateway.connections().is_registered(url);
    variant.kind != Place::Internal || variant.url.as_ref().is_some_and(registered)
}

fn shown(context: &Context, preset: &'static Preset) -> presets::Preset {
    let variants = preset.variants.iter().filter(|variant| is_open(context, variant));
    presets::Preset {
        id: preset.id.clone(),
        name: preset.name.clone(),
        publisher: preset.publisher.clone(),
        description: preset.description.clone(),
        website: preset.website.clone(),
        confidence: preset.confidence.as_str().to_owned(),
        notes: preset.notes.clone(),
        variants: variants
            .map(|variant| shown_variant(context, preset, variant))
            .collect(),
    }
}

fn shown_variant(context: &Context, preset: &Preset, variant: &Variant) -> presets::PresetVariant {
    let starters = preset.starters(variant);
    let tool = |tool: &PresetTool| presets::PresetTool {
        name: tool.name.clone(),
        former_names: tool.former.clone(),
        risk: convert::risk(tool.risk),
        effect: convert::effect(tool.effect),
        starter: starters.contains(&tool.name.as_str()),
        confidence: tool.confidence.unwrap_or(preset.confidence).as_str().to_owned(),
        note: tool.note.clone(),
    };
    let auth = &variant.auth;
    let oauth = auth.kind == AccountKind::Oauth;
    presets::PresetVariant {
        id: variant.id.clone(),
        name: variant.name.clone(),
        place: variant.kind.as_str().to_owned(),
        url: variant.url.clone(),
        transport: convert::transport(variant.transport),
        auth: presets::PresetAuth {
            kind: auth.kind.to_string(),
            secret: auth.secret.clone(),
            header_name: auth.header_name.clone(),
            registration: auth.registration.map(|how| how.as_str().to_owned()),
            callback_uri: oauth.then(|| context.gateway.connections().sign_in().callback().into()),
            scopes: auth.scopes.clone().unwrap_or_default(),
        },
        listing_proves: variant.listing_proves,
        verified_by: preset.probe(variant).map(|probe| probe.tool.clone()),
        confidence: variant
            .confidence
            .unwrap_or(preset.confidence)
            .as_str()
            .to_owned(),
        note: variant.note.clone(),
        tools: preset.tools(variant).map(tool).collect(),
    }
}

/// What an input says beside the preset.
pub(super) struct Wanted {
    pub(super) variant: Option<String>,
    pub(super) url: Option<String>,
    pub(super) transport: Option<Transport>,
    pub(super) auth: Option<AuthInput>,
}

/// What a preset makes of it.
pub(super) struct Chosen {
    pub(super) preset: &'static Preset,
    pub(super) reference: PresetRef,
    pub(super) url: String,
    pub(super) transport: Transport,
    pub(super) auth: AuthInput,
    pub(super) headers: Vec<HeaderInput>,
    /// The tools it starts with.
    pub(super) starters: Vec<std::sync::Arc<str>>,
}

/// Chooses a variant and fills in what it says.
pub(super) fn choose(context: &Context, named: &str, wanted: Wanted) -> Result<Chosen, Failure> {
    let Some(preset) = preset::find(named) else {
        let detail = format!("there is no preset {named:?}; connections.presets lists those there are");
        return Err(Failure::field("preset", detail));
    };
    let variant = variant(context, preset, wanted.variant.as_deref())?;
    if let Some(transport) = wanted.transport.filter(|given| *given != variant.transport) {
        let detail = format!(
            "this variant is reached over {}, not {transport}; leave the transport out",
            variant.transport
        );
        return Err(Failure::field("transport", detail));
    }
    let header = |(name, value): (&String, &String)| HeaderInput {
        name: name.clone(),
        value: value.clone(),
    };
    Ok(Chosen {
        preset,
        reference: PresetRef {
            id: preset.id.as_str().into(),
            variant: variant.id.as_str().into(),
            provided: false,
        },
        url: url(variant, wanted.url)?,
        transport: variant.transport,
        auth: auth(&variant.auth, wanted.auth)?,
        headers: variant.headers.iter().map(header).collect(),
        starters: preset.starters(variant).into_iter().map(Into::into).collect(),
    })
}

fn variant(
    context: &Context,
    preset: &'static Preset,
    named: Option<&str>,
) -> Result<&'static Variant, Failure> {
    let open = || preset.variants.iter().filter(|variant| is_open(context, variant));
    let Some(named) = named else {
        return open()
            .next()
            .ok_or_else(|| Failure::field("preset", "no variant of this preset is open here"));
    };
    if let Some(variant) = open().find(|variant| variant.id == named) {
        return Ok(variant);
    }
    let detail = match preset.variant(named).and_then(|variant| variant.url.as_deref()) {
        Some(internal) => format!(
            "this variant is at {internal}, which the operator has not registered for MCP servers ([[internal_urls]])"
        ),
        None => {
            let ids: Vec<&str> = open().map(|variant| variant.id.as_str()).collect();
            format!("must be one of {}", ids.join(", "))
        }
    };
    Err(Failure::field("variant", detail))
}

fn url(variant: &Variant, given: Option<String>) -> Result<String, Failure> {
    match (&variant.url, given) {
        (Some(fixed), None) => Ok(fixed.clone()),
        // One it had before leads to the present one.
        (Some(fixed), Some(given)) if variant.is_at(given.trim()) => Ok(fixed.clone()),
        (Some(fixed), Some(_)) => {
            let detail = format!(
                "this variant is at {fixed}; leave the URL out, or connect to another server without a preset"
            );
            Err(Failure::field("url", detail))
        }
        (None, Some(given)) => Ok(given),
        (None, None) => {
            let detail = "this variant is a deployment of your own; give its complete public HTTPS URL";
            Err(Failure::field("url", detail))
        }
    }
}

/// The account as the variant has it, with the secret that was given.
fn auth(wanted: &PresetAuth, given: Option<AuthInput>) -> Result<AuthInput, Failure> {
    let needs = || {
        let secret = wanted.secret.as_deref().unwrap_or("a token");
        Failure::field(
            "auth",
            format!("this variant needs {secret}: give it as auth of the type bearer"),
        )
    };
    match (wanted.kind, given) {
        (AccountKind::None, None | Some(AuthInput::None)) => Ok(AuthInput::None),
        (AccountKind::Bearer, Some(auth @ AuthInput::Bearer { .. })) => Ok(auth),
        (AccountKind::Header, Some(AuthInput::Bearer { token })) => Ok(AuthInput::Header {
            header_name: wanted.header_name.clone().unwrap_or_default(),
            value_prefix: wanted.value_prefix.clone(),
            token,
        }),
        (AccountKind::Bearer | AccountKind::Header, None) => Err(needs()),
        (AccountKind::Oauth, None) => Ok(AuthInput::Oauth(oauth(wanted, OauthInput::default()))),
        (AccountKind::Oauth, Some(AuthInput::Oauth(given))) => Ok(AuthInput::Oauth(oauth(wanted, given))),
        (kind, Some(_)) => {
            let detail = match kind {
                AccountKind::None => {
                    "this variant takes no credential; choose another variant for one".to_owned()
                }
                AccountKind::Oauth => {
                    "this variant is signed in to (type oauth); choose another variant for a key".to_owned()
                }
                _ => needs().detail,
            };
            Err(Failure::field("auth", detail))
        }
        (_, None) => Err(needs()),
    }
}

fn oauth(wanted: &PresetAuth, given: OauthInput) -> OauthInput {
    let own_client = given.client_secret.is_some();
    OauthInput {
        issuer: given.issuer.or_else(|| wanted.issuer.clone()),
        scopes: given.scopes.or_else(|| wanted.scopes.clone()),
        client_id: given.client_id,
        client_secret: given.client_secret,
        token_endpoint_auth_method: given
            .token_endpoint_auth_method
            .or_else(|| wanted.token_endpoint_auth_method.clone().filter(|_| own_client)),
        profile: given.profile.or_else(|| wanted.profile.clone()),
        unreported_lifetime: given
            .unreported_lifetime
            .or_else(|| wanted.unreported_lifetime.then_some(true)),
    }
}
