//! Verifies a connection: a person has one harmless tool of it called, and hears what that says about the credential.

use ::connections::preset::{self, Probe};
use api::connections::{ConnectionQuery, Verification};
use domain::{OutcomeCode, Proof, Verified};
use gateway::capability::{Capability, Context, Declaration, Failure};
use gateway::{ProbeRequest, Probed, ReplyBody, ToolReply};
use serde_json::Value;

use super::{CHANGE, shown};
use crate::{convert, find};

const VERIFY: Declaration = Declaration {
    id: "connections.verify",
    title: "Verify a connection",
    description: "Calls the one harmless tool that its preset names, and says whether the server took the credential: proven, \
                  unproven or rejected. The call is decided and recorded like any other. Listing tools, as test and refresh do, proves \
                  no credential at many servers.",
    path: "/connections/{connection}/verify",
    success: 200,
    idempotent: false,
    risk: domain::Risk::Medium,
    ..CHANGE
};

pub(super) fn capability() -> Capability {
    Capability::new(VERIFY, verify)
}

/// What a verification came to.
struct Found {
    proof: Proof,
    detail: String,
    call: Option<domain::CallId>,
}

impl Found {
    fn unproven(detail: impl Into<String>) -> Self {
        Self {
            proof: Proof::Unproven,
            detail: detail.into(),
            call: None,
        }
    }
}

async fn verify(context: Context, query: ConnectionQuery) -> Result<Verification, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let known = connection
        .preset
        .as_ref()
        .and_then(preset::of)
        .and_then(|(preset, variant)| preset.probe(variant));
    let found = match known {
        None => Found::unproven("no harmless call is known for this server, so nothing was called"),
        Some(_) if !connection.enabled => {
            Found::unproven("the connection is switched off, so nothing was called")
        }
        Some(probe) => call(&context, &connection, probe).await?,
    };
    if known.is_some() {
        let verified = Verified {
            proof: found.proof,
            at: context.now,
        };
        context
            .store()
            .set_verified(context.tenant(), (connection.id, connection.version), verified)
            .await?;
        context.gateway.refresh(context.tenant()).await?;
    }
    let now = find::connection(&context, &query.connection)?;
    Ok(Verification {
        proof: convert::proof(found.proof),
        detail: found.detail,
        tool: known.map(|probe| probe.tool.clone()),
        call_id: found.call.map(|call| call.uuid()),
        connection: shown::one(&context, &now).await?,
    })
}

async fn call(context: &Context, connection: &domain::Connection, probe: &Probe) -> Result<Found, Failure> {
    let request = ProbeRequest {
        principal: context.principal,
        surface: context.surface,
        connection: connection.id,
        tool: probe.tool.as_str().into(),
        arguments: probe.arguments.clone(),
    };
    Ok(match context.gateway.probe(request).await? {
        Probed::Answered(reply) => read(probe, &reply),
        Probed::Unable(why) => Found::unproven(why),
    })
}

/// What an answer says about the credential.
fn read(probe: &Probe, reply: &ToolReply) -> Found {
    let (proof, detail) = match &reply.body {
        ReplyBody::Result(raw) => {
            let result: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            let proof = preset::judge(probe, &result);
            let detail = match proof {
                Proof::Proven => "the server did what was asked of it",
                Proof::Rejected => "the server refused the credential; give another one or sign in again",
                Proof::Unproven => {
                    "the server answered, but not in a way that says anything about the credential"
                }
            };
            (proof, detail.to_owned())
        }
        _ if reply.outcome.code == Some(OutcomeCode::AuthRejected) => {
            let detail = "the server refused the credential; give another one or sign in again";
            (Proof::Rejected, detail.to_owned())
        }
        ReplyBody::Error(error) => (
            Proof::Unproven,
            format!("the server answered with error {}", error.code),
        ),
        ReplyBody::Notice(notice) => (Proof::Unproven, notice.text.clone()),
        ReplyBody::InputRequired(_) | ReplyBody::Approval(_) => (
            Proof::Unproven,
            "the server wants something of a person first".to_owned(),
        ),
    };
    Found {
        proof,
        detail,
        call: Some(reply.call),
    }
}
