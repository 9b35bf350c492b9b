//! Asking people to come.

use api::members::{CreatedInvitation, Invitation, InvitationQuery, InviteMember};
use api::words::RoleScope;
use api::{Page, PageQuery};
use domain::{InvitationId, Surface};
use gateway::capability::{Capability, Context, Declaration, Failure, Method};

use super::{LIST, Power, REMOVE, UPDATE};
use crate::{convert, find, paging};

/// It answers with a link that lets somebody in, which must not travel through a model: not on the operator's MCP endpoint.
const INVITE: Declaration = Declaration {
    id: "members.invite",
    title: "Invite a person",
    description: "Asks a person to come. The answer holds the link on which they choose a password, this once; it is good for seven days.",
    method: Method::Post,
    path: "/members",
    success: 201,
    surfaces: &[Surface::Api, Surface::Cli, Surface::Page],
    ..UPDATE
};

const OPEN: Declaration = Declaration {
    id: "invitations.list",
    title: "List invitations",
    description: "Lists invitations, accepted and lapsed ones too, in the order they were made. Never their links.",
    path: "/invitations",
    ..LIST
};

const REVOKE: Declaration = Declaration {
    id: "invitations.revoke",
    title: "Take an invitation back",
    description: "Takes back an invitation that nobody has accepted yet: its link is worth nothing from now on.",
    path: "/invitations/{invitation}",
    ..REMOVE
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(INVITE, invite),
        Capability::new(OPEN, list),
        Capability::new(REVOKE, revoke),
    ]
}

async fn invite(context: Context, input: InviteMember) -> Result<CreatedInvitation, Failure> {
    let scope = convert::to_scope(input.scope.unwrap_or(RoleScope::Workspace));
    let role = convert::to_role(input.role);
    Power::of(&context).await?.gives(role, scope)?;
    let email =
        identity::read_email(&input.email).map_err(|refused| Failure::field("email", refused.to_string()))?;
    let (invitation, token, hash) = identity::invite(Some(email), (role, scope), context.now)
        .map_err(|error| Failure::internal("an invitation could not be made", error))?;
    let change = find::change(&context, INVITE.id);
    context
        .store()
        .insert_invitation(context.tenant(), &change, &invitation, hash)
        .await?;
    let url = format!("{}/invitations/{}", context.gateway.public_url(), token.expose());
    Ok(CreatedInvitation {
        invitation: shown(invitation),
        url,
    })
}

async fn list(context: Context, query: PageQuery) -> Result<Page<Invitation>, Failure> {
    let page = context
        .store()
        .list_invitations(context.tenant(), &paging::request(query.cursor, query.limit))
        .await?;
    Ok(paging::page(page, shown))
}

async fn revoke(context: Context, query: InvitationQuery) -> Result<(), Failure> {
    let id = InvitationId::from_uuid(query.invitation);
    let change = find::change(&context, REVOKE.id);
    context
        .store()
        .revoke_invitation(context.tenant(), &change, id)
        .await?;
    Ok(())
}

fn shown(invitation: domain::Invitation) -> Invitation {
    Invitation {
        id: invitation.id.uuid(),
        email: invitation.email,
        role: convert::role(invitation.role),
        scope: convert::scope(invitation.scope),
        created_at: convert::time(invitation.created_at),
        expires_at: convert::time(invitation.expires_at),
        accepted_at: invitation.accepted_at.map(convert::time),
        revoked_at: invitation.revoked_at.map(convert::time),
    }
}
