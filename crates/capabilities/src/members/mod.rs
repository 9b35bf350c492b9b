//! People: who there is, who is asked to come, and what each may do.

mod invitations;

use api::members::{Member, MemberQuery, UpdateMember};
use api::{Page, PageQuery};
use domain::{Effect, Identity, MemberId, Risk, Role, Scope, Surface};
use gateway::FailureKind;
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use store::MemberChange;

use crate::{convert, find, paging};

const LIST: Declaration = Declaration {
    id: "members.list",
    title: "List members",
    description: "Lists the people who may sign in to this workspace, and what each may do, in the order they came.",
    method: Method::Get,
    path: "/members",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli, Surface::Page],
    action: Action::Read,
    command: None,
};

const SHOW: Declaration = Declaration {
    id: "members.show",
    title: "Show a member",
    description: "Shows a person: address, roles, and when they last signed in.",
    path: "/members/{member}",
    paged: false,
    ..LIST
};

const UPDATE: Declaration = Declaration {
    id: "members.update",
    title: "Change a member",
    description: "Changes what a person may do, or whether they may sign in; at once, wherever they are signed in. Only an Owner makes \
                  or changes an Owner, and one always stays.",
    method: Method::Patch,
    risk: Risk::High,
    effect: Effect::Mutating,
    action: Action::Administer,
    ..SHOW
};

const REMOVE: Declaration = Declaration {
    id: "members.remove",
    title: "Remove a member",
    description: "Removes a person from the organization: they are signed out, and the clients they let in are thrown out.",
    method: Method::Delete,
    success: 204,
    ..UPDATE
};

pub(crate) fn capabilities() -> Vec<Capability> {
    let mut own = vec![
        Capability::new(LIST, list),
        Capability::new(SHOW, show),
        Capability::new(UPDATE, update),
        Capability::new(REMOVE, remove),
    ];
    own.extend(invitations::capabilities());
    own
}

async fn list(context: Context, query: PageQuery) -> Result<Page<Member>, Failure> {
    let page = context
        .store()
        .list_members(context.tenant(), &paging::request(query.cursor, query.limit))
        .await?;
    Ok(paging::page(page, shown))
}

async fn show(context: Context, query: MemberQuery) -> Result<Member, Failure> {
    known(&context, MemberId::from_uuid(query.member))
        .await
        .map(shown)
}

async fn update(context: Context, input: UpdateMember) -> Result<Member, Failure> {
    let member = known(&context, MemberId::from_uuid(input.member)).await?;
    let scope = convert::to_scope(input.scope.unwrap_or(api::words::RoleScope::Workspace));
    let role = input.role.map(convert::to_role);
    let power = Power::of(&context).await?;
    power.over(&member)?;
    if let Some(role) = role {
        power.gives(role, scope)?;
    }
    let wanted = MemberChange {
        expected_version: input.expected_version,
        role: role.map(|role| (scope, Some(role))),
        enabled: input.enabled,
    };
    let change = find::change(&context, UPDATE.id);
    let stored = context
        .store()
        .update_member(context.tenant(), &change, member.id, wanted)
        .await?;
    context.gateway.keys_changed().await?;
    Ok(shown(stored))
}

async fn remove(context: Context, query: MemberQuery) -> Result<(), Failure> {
    let member = known(&context, MemberId::from_uuid(query.member)).await?;
    Power::of(&context).await?.over(&member)?;
    let change = find::change(&context, REMOVE.id);
    context
        .store()
        .remove_member(context.tenant(), &change, member.id)
        .await?;
    context.gateway.keys_changed().await?;
    Ok(())
}

/// What whoever asks may do with people.
struct Power {
    /// The role in the organization; an administrator's key has an Admin's in the workspace, and none above it.
    organization: Option<Role>,
    /// The higher of that and the role in the workspace.
    here: Role,
}

impl Power {
    async fn of(context: &Context) -> Result<Self, Failure> {
        let Identity::Member { id, role } = context.principal.identity else {
            return Ok(Self {
                organization: None,
                here: Role::Admin,
            });
        };
        let member = known(context, id).await?;
        Ok(Self {
            organization: member.organization_role,
            here: role,
        })
    }

    /// Whether it may give this role there.
    fn gives(&self, role: Role, scope: Scope) -> Result<(), Failure> {
        let own = match scope {
            Scope::Organization => self.organization,
            Scope::Workspace => Some(self.here),
        };
        let enough = own.is_some_and(|own| own == Role::Owner || role != Role::Owner && own.administers());
        if enough {
            return Ok(());
        }
        let detail = match (role, scope) {
            (Role::Owner, _) => "only an Owner who signed in makes somebody an Owner",
            (_, Scope::Organization) => {
                "a role in the whole organization is given by its Owners and Admins, signed in; give one in this workspace instead"
            }
            (_, Scope::Workspace) => "you may not give this role",
        };
        Err(Failure::new(
            FailureKind::Forbidden,
            "members.beyond_own_role",
            detail,
        ))
    }

    /// Whether it may change what this person has.
    fn over(&self, member: &domain::Member) -> Result<(), Failure> {
        member
            .organization_role
            .map_or(Ok(()), |role| self.gives(role, Scope::Organization))?;
        member
            .workspace_role
            .map_or(Ok(()), |role| self.gives(role, Scope::Workspace))
    }
}

async fn known(context: &Context, id: MemberId) -> Result<domain::Member, Failure> {
    let found = context.store().member(context.tenant(), id).await?;
    found
        .filter(|member| member.role().is_some())
        .ok_or_else(|| Failure::not_found("member").at("member"))
}

fn shown(member: domain::Member) -> Member {
    Member {
        id: member.id.uuid(),
        role: member.role().map(convert::role),
        organization_role: member.organization_role.map(convert::role),
        workspace_role: member.workspace_role.map(convert::role),
        email: member.email,
        name: member.name,
        enabled: member.enabled,
        created_at: convert::time(member.created_at),
        signed_in_at: member.signed_in_at.map(convert::time),
        version: member.version,
    }
}
