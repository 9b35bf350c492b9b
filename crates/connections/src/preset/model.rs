//! What a preset says, as its file has it. Unknown members are errors.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use domain::{AccountKind, Effect, Risk, Transport};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Read in the vendor's own source, specification or documentation.
    Seen,
    /// Read in somebody else's recording of the server.
    Seen3p,
    /// Concluded.
    Inferred,
    /// Not looked up.
    Memory,
}

impl Confidence {
    /// The word used in every interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Seen3p => "seen_3p",
            Self::Inferred => "inferred",
            Self::Memory => "memory",
        }
    }
}

/// A server people know by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its id: a slug.
    pub id: String,
    /// Ids it had before; they still find it.
    #[serde(default)]
    pub former_ids: Vec<String>,
    /// What people call it.
    pub name: String,
    /// Who publishes the server.
    pub publisher: String,
    /// Whether that is who the product is of, too. False for servers others wrote for it.
    #[serde(default = "yes")]
    pub first_party: bool,
    /// Where to read about it.
    pub website: String,
    /// What it is for.
    pub description: String,
    /// Where most of this comes from.
    #[serde(deserialize_with = "confidence")]
    pub confidence: Confidence,
    /// Its names in the public registry of servers.
    #[serde(default)]
    pub registry_names: Vec<String>,
    /// What people should know before they connect it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Whether its results may be kept. False where the provider forbids it.
    #[serde(default = "yes")]
    pub retain: bool,
    /// The ways to connect to it, the usual one first.
    pub variants: Vec<Variant>,
    /// A harmless call that proves the credential.
    #[serde(default)]
    pub verify: Option<Probe>,
    /// What is done for every tool.
    #[serde(default)]
    pub every_tool: Option<Shape>,
    /// Its tools, as far as they are known.
    #[serde(default)]
    pub tools: Vec<PresetTool>,
}

/// Where a variant's server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// At the provider, at one fixed URL.
    Hosted,
    /// At one fixed internal URL; offered only where the operator registered exactly that.
    Internal,
    /// Wherever somebody deployed it: a public HTTPS URL that is given.
    Deployed,
}

impl Place {
    /// The word used in every interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hosted => "hosted",
            Self::Internal => "internal",
            Self::Deployed => "deployed",
        }
    }
}

/// One way to connect to a server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its id: a slug, unique in its preset.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Where the server is.
    pub kind: Place,
    /// Its URL; none where it is given.
    #[serde(default)]
    pub url: Option<String>,
    /// URLs it had before. Whoever names one gets the present one.
    #[serde(default)]
    pub former_urls: Vec<String>,
    /// How it is reached.
    #[serde(deserialize_with = "word")]
    pub transport: Transport,
    /// How one proves oneself.
    pub auth: PresetAuth,
    /// Further headers, none of them secret.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether a server that lists its tools has thereby taken the credential.
    #[serde(default = "yes")]
    pub listing_proves: bool,
    /// The tools offered at the start, where they are not those marked as starters.
    #[serde(default)]
    pub starters: Option<Vec<String>>,
    /// Tools of this variant alone.
    #[serde(default)]
    pub tools: Vec<PresetTool>,
    /// Its own harmless call.
    #[serde(default)]
    pub verify: Option<Probe>,
    /// Where this comes from, where it is not where the rest of the preset does.
    #[serde(default, deserialize_with = "maybe_confidence")]
    pub confidence: Option<Confidence>,
    /// What people must do or know for this variant.
    #[serde(default)]
    pub note: Option<String>,
}

/// How one proves oneself to a server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetAuth {
    /// Of which kind.
    #[serde(deserialize_with = "word")]
    pub kind: AccountKind,
    /// The header that carries the secret, for `header`.
    #[serde(default)]
    pub header_name: Option<String>,
    /// What stands before it.
    #[serde(default)]
    pub value_prefix: Option<String>,
    /// What the secret is, for people.
    #[serde(default)]
    pub secret: Option<String>,
    /// How one becomes a client, for `oauth`.
    #[serde(default)]
    pub registration: Option<Registration>,
    /// The authorization server.
    #[serde(default)]
    pub issuer: Option<String>,
    /// The scopes that are asked for; what the server says when left out.
    #[serde(default)]
    pub scopes: Option<Vec<String>>,
    /// `standard` or `offline_consent`.
    #[serde(default)]
    pub profile: Option<String>,
    /// How the client authenticates.
    #[serde(default)]
    pub token_endpoint_auth_method: Option<String>,
    /// Whether tokens without a lifetime are taken.
    #[serde(default)]
    pub unreported_lifetime: bool,
}

/// How one becomes a client of an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// By itself.
    Dynamic,
    /// A person registers an app with exactly our redirect URI, and gives its ID and secret.
    OwnApp,
}

impl Registration {
    /// The word used in every interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::OwnApp => "own_app",
        }
    }
}

/// A harmless call and how its answer is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Which tool. It only reads.
    pub tool: String,
    /// With which arguments.
    #[serde(deserialize_with = "json")]
    pub arguments: Value,
    /// Texts in a failed answer that say that the credential was refused; case does not matter.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// Texts in any answer that say that it proves nothing: quotas, services that are not switched on.
    #[serde(default)]
    pub unproven: Vec<String>,
}

/// What is known about a tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetTool {
    /// Its name.
    pub name: String,
    /// Names the same tool had before; they still find it.
    #[serde(default)]
    pub former: Vec<String>,
    /// How much harm it can do.
    #[serde(deserialize_with = "word")]
    pub risk: Risk,
    /// Whether it changes something.
    #[serde(deserialize_with = "word")]
    pub effect: Effect,
    /// Whether it is offered at the start.
    #[serde(default)]
    pub starter: bool,
    /// What people should know about it.
    #[serde(default)]
    pub note: Option<String>,
    /// Where this comes from, where it is not where the rest of the preset does.
    #[serde(default, deserialize_with = "maybe_confidence")]
    pub confidence: Option<Confidence>,
    /// How its results are shown.
    #[serde(default)]
    pub presentation: Option<String>,
    /// What is done with its schema and arguments.
    #[serde(default)]
    pub shape: Option<Shape>,
}

/// What is done with a tool's schema and with its arguments before they are checked. Nothing here loosens: arguments must fit both
/// what the server says and what is said here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Shape {
    /// A merge patch (RFC 7396) for the input schema. Properties it names that the schema lacks are left out.
    #[serde(deserialize_with = "maybe_json")]
    pub tighten: Option<Value>,
    /// An input schema in place of the server's, where that is incomplete.
    #[serde(deserialize_with = "maybe_json")]
    pub schema: Option<Value>,
    /// A sentence put before the description.
    pub hint: Option<String>,
    /// Arguments that are refused.
    pub refuse: Vec<String>,
    /// Members that are renamed at every depth, unless the right one is there too.
    pub rename: BTreeMap<String, String>,
    /// Prefixes taken off texts.
    pub strip_prefix: Vec<StripPrefix>,
    /// Pointers to lists: one text becomes a list of one, a text that is a JSON list of texts becomes that list.
    pub list: Vec<String>,
    /// Lists whose texts become objects.
    pub objects: Vec<Objects>,
    /// Arguments of which at most one may be given.
    pub exclusive: Vec<Vec<String>>,
}

/// A prefix taken off a text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripPrefix {
    /// Where the text stands: a JSON pointer (RFC 6901).
    pub path: String,
    /// What is taken off.
    pub prefix: String,
}

/// A list whose texts become objects with one member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objects {
    /// Where the list stands: a JSON pointer (RFC 6901).
    pub path: String,
    /// The member.
    pub key: String,
}

impl Preset {
    /// The variant with this id.
    #[must_use]
    pub fn variant(&self, id: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.id == id)
    }

    /// What is said about a tool of a variant, by its name or a former one.
    #[must_use]
    pub fn tool<'a>(&'a self, variant: &'a Variant, name: &str) -> Option<&'a PresetTool> {
        let all = || variant.tools.iter().chain(&self.tools);
        all()
            .find(|tool| tool.name == name)
            .or_else(|| all().find(|tool| tool.former.iter().any(|former| former == name)))
    }

    /// The tools of a variant.
    pub fn tools<'a>(&'a self, variant: &'a Variant) -> impl Iterator<Item = &'a PresetTool> {
        variant.tools.iter().chain(&self.tools)
    }

    /// The tools that a variant offers at the start.
    #[must_use]
    pub fn starters<'a>(&'a self, variant: &'a Variant) -> Vec<&'a str> {
        match &variant.starters {
            Some(named) => named.iter().map(String::as_str).collect(),
            None => self
                .tools(variant)
                .filter(|tool| tool.starter)
                .map(|tool| tool.name.as_str())
                .collect(),
        }
    }

    /// The harmless call of a variant.
    #[must_use]
    pub fn probe<'a>(&'a self, variant: &'a Variant) -> Option<&'a Probe> {
        variant.verify.as_ref().or(self.verify.as_ref())
    }
}

impl Variant {
    /// Whether a server at this URL is this variant's: its fixed one, or any for a deployment of one's own.
    #[must_use]
    pub fn is_at(&self, url: &str) -> bool {
        match &self.url {
            Some(fixed) => fixed == url || self.former_urls.iter().any(|former| former == url),
            None => self.kind == Place::Deployed,
        }
    }
}

const fn yes() -> bool {
    true
}

fn word<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: Display,
{
    String::deserialize(deserializer)?
        .parse()
        .map_err(de::Error::custom)
}

fn confidence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Confidence, D::Error> {
    match &*String::deserialize(deserializer)? {
        "seen" => Ok(Confidence::Seen),
        "seen_3p" => Ok(Confidence::Seen3p),
        "inferred" => Ok(Confidence::Inferred),
        "memory" => Ok(Confidence::Memory),
        other => Err(de::Error::custom(format!(
            "no confidence {other:?}; one of seen, seen_3p, inferred, memory"
        ))),
    }
}

fn maybe_confidence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Confidence>, D::Error> {
    confidence(deserializer).map(Some)
}

fn json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let text = String::deserialize(deserializer)?;
    domain::parse_unique(&text).map_err(de::Error::custom)
}

fn maybe_json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    json(deserializer).map(Some)
}
