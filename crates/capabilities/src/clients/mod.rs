//! MCP clients that people let in. A person does on a page; who administers sees them and throws them out.

use api::clients::{AllowClient, AllowedClient, Client, ClientQuery};
use api::{Page, PageQuery};
use domain::{Consent, ConsentId, Effect, Identity, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use store::NewCode;

use crate::{convert, find, paging};

const LIST: Declaration = Declaration {
    id: "clients.list",
    title: "List MCP clients",
    description: "Lists the MCP clients that people let in by signing in, and as which agent, oldest first; those whose time is over too.",
    method: Method::Get,
    path: "/clients",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Read,
    command: None,
};

const REVOKE: Declaration = Declaration {
    id: "clients.revoke",
    title: "Throw an MCP client out",
    description: "Ends what a person allowed an MCP client: its tokens are worth nothing from now on. To come back it has to ask again.",
    method: Method::Delete,
    path: "/clients/{client}",
    success: 204,
    paged: false,
    risk: Risk::High,
    effect: Effect::Mutating,
    action: Action::Administer,
    ..LIST
};

/// The page has shown who asks and for what; this is the person's yes.
const ALLOW: Declaration = Declaration {
    id: "clients.allow",
    title: "Let an MCP client in",
    description: "Lets an MCP client act as an agent, and gives it the code for its tokens.",
    method: Method::Post,
    path: "/clients",
    success: 201,
    surfaces: &[Surface::Page],
    action: Action::Consent,
    ..REVOKE
};

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(LIST, list),
        Capability::new(REVOKE, revoke),
        Capability::new(ALLOW, allow),
    ]
}

async fn list(context: Context, query: PageQuery) -> Result<Page<Client>, Failure> {
    let page = context
        .store()
        .list_consents(context.tenant(), &paging::request(query.cursor, query.limit))
        .await?;
    Ok(paging::page(page, shown))
}

async fn revoke(context: Context, query: ClientQuery) -> Result<(), Failure> {
    let id = ConsentId::from_uuid(query.client);
    let change = find::change(&context, REVOKE.id);
    context
        .store()
        .end_consent(context.tenant(), &change, id, "revoked")
        .await?;
    // Tokens are credentials as keys are.
    context.gateway.keys_changed().await?;
    Ok(())
}

async fn allow(context: Context, input: AllowClient) -> Result<AllowedClient, Failure> {
    let Identity::Member { id: member, .. } = context.principal.identity else {
        return Err(Failure::internal("a client was let in by nobody", "no member"));
    };
    let agent = find::agent(&context, &input.agent)?;
    let (code, token) = identity::oauth::new_code(context.now)
        .map_err(|error| Failure::internal("a code could not be made", error))?;
    let consent = Consent {
        id: ConsentId::generate(),
        member: Some(member),
        agent: agent.id,
        client: input.client_id.into(),
        client_name: input.client_name.into(),
        resource: input.resource.into(),
        created_at: context.now,
        last_used_at: None,
        ended_at: None,
        ended_by: None,
    };
    let code_for = NewCode {
        token,
        redirect_uri: input.redirect_uri,
        challenge: input.challenge,
    };
    let change = find::change(&context, ALLOW.id);
    context
        .store()
        .insert_consent(context.tenant(), &change, &consent, &code_for)
        .await?;
    Ok(AllowedClient {
        code: code.expose().to_owned(),
    })
}

fn shown(consent: Consent) -> Client {
    Client {
        id: consent.id.uuid(),
        name: consent.client_name.to_string(),
        client_id: consent.client.to_string(),
        member_id: consent.member.map(domain::MemberId::uuid),
        agent_id: consent.agent.uuid(),
        resource: consent.resource.to_string(),
        created_at: convert::time(consent.created_at),
        last_used_at: consent.last_used_at.map(convert::time),
        ended_at: consent.ended_at.map(convert::time),
        ended_by: consent.ended_by.map(|by| by.to_string()),
    }
}
