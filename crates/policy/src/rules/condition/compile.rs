//! From Cedar's syntax tree to what is compared directly.

use cedar_policy::pst::{
    ActionConstraint, BinaryOp, EntityOrSlot, EntityType, EntityUID, Expr, Literal, PrincipalConstraint,
    ResourceConstraint, Template, UnaryOp, Var,
};

use super::{Pattern, Quantity, Relation, Source, Test};
use crate::rules::arguments::{Kind, ten_thousandths};
use crate::rules::shape::{argument, context_field, field, literal};
use crate::rules::subject::Field;

/// The tests of a rule's scope.
pub(crate) fn scope(policy: &Template) -> Option<Vec<Test>> {
    let action = match &policy.action {
        ActionConstraint::Any => Test::Always(true),
        ActionConstraint::Eq(action) => Test::Always(&*action.eid == "call"),
        ActionConstraint::In(actions) => Test::Always(actions.iter().any(|action| &*action.eid == "call")),
    };
    let entity = |subject: EntityOrSlot| match subject {
        EntityOrSlot::Entity(uid) => Some(uid),
        EntityOrSlot::Slot(_) => None,
    };
    let principal = match policy.principal.clone() {
        PrincipalConstraint::Any | PrincipalConstraint::Is(_) => Test::Always(true),
        PrincipalConstraint::Eq(e) | PrincipalConstraint::In(e) | PrincipalConstraint::IsIn(_, e) => {
            agent(&entity(e)?)?
        }
    };
    let resource = match policy.resource.clone() {
        ResourceConstraint::Any | ResourceConstraint::Is(_) => Test::Always(true),
        ResourceConstraint::Eq(e) | ResourceConstraint::In(e) | ResourceConstraint::IsIn(_, e) => {
            tool(&entity(e)?)?
        }
    };
    Some(vec![action, principal, resource])
}

/// The test of a condition; none where it is not one of the plain ones.
pub(crate) fn plain(expr: &Expr) -> Option<Test> {
    match expr {
        Expr::Literal(Literal::Bool(answer)) => Some(Test::Always(*answer)),
        Expr::UnaryOp {
            op: UnaryOp::Not,
            expr,
        } => Some(Test::Not(Box::new(plain(expr)?))),
        Expr::BinaryOp { op, left, right } => binary(*op, left, right),
        Expr::Like { expr, pattern } => Some(Test::Like(source(expr)?, Pattern::new(pattern))),
        Expr::Is {
            expr,
            entity_type,
            in_expr,
        } => {
            let is = variable_of(expr, entity_type)?;
            let Some(container) = in_expr else { return Some(is) };
            Some(Test::All(vec![is, within(expr, container)?]))
        }
        _ => None,
    }
}

fn binary(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Test> {
    match op {
        BinaryOp::And => Some(Test::All(vec![plain(left)?, plain(right)?])),
        BinaryOp::Or => Some(Test::Any(vec![plain(left)?, plain(right)?])),
        BinaryOp::Eq => equals(left, right),
        BinaryOp::NotEq => equals(left, right).map(|test| Test::Not(Box::new(test))),
        BinaryOp::In => within(left, right),
        BinaryOp::Contains => contains(left, right),
        BinaryOp::HasTag => argument(left, right).map(|(kind, pointer)| Test::Has(kind, pointer.into())),
        BinaryOp::GetTag => match argument(left, right)? {
            (Kind::Flag, pointer) => Some(Test::Flag(pointer.into())),
            (Kind::Text | Kind::Texts | Kind::Integer | Kind::Number | Kind::Type, _) => None,
        },
        BinaryOp::Less | BinaryOp::DecimalLessThan => compare(Relation::Less, left, right),
        BinaryOp::LessEq | BinaryOp::DecimalLessEq => compare(Relation::LessOrEqual, left, right),
        BinaryOp::Greater | BinaryOp::DecimalGreater => compare(Relation::Greater, left, right),
        BinaryOp::GreaterEq | BinaryOp::DecimalGreaterEq => compare(Relation::GreaterOrEqual, left, right),
        // Arithmetic, addresses and durations are left to Cedar.
        _ => None,
    }
}

fn equals(left: &Expr, right: &Expr) -> Option<Test> {
    one_way(left, right)
        .or_else(|| one_way(right, left))
        .or_else(|| compare(Relation::Equal, left, right))
}

fn one_way(subject: &Expr, value: &Expr) -> Option<Test> {
    match (subject, value) {
        (Expr::Var(Var::Principal), Expr::Literal(Literal::EntityUID(uid))) => agent(uid),
        // Equality is narrower than `in`: a tool is never equal to a connection.
        (Expr::Var(Var::Resource), Expr::Literal(Literal::EntityUID(uid))) if type_is(&uid.ty, "Tool") => {
            tool(uid)
        }
        _ => Some(Test::Equals(source(subject)?, literal(value)?.into())),
    }
}

fn contains(set: &Expr, item: &Expr) -> Option<Test> {
    if let Expr::Set(items) = set {
        let source = source(item)?;
        let tests = items
            .iter()
            .map(|item| literal(item).map(|text| Test::Equals(source.clone(), text.into())));
        return Some(Test::Any(tests.collect::<Option<_>>()?));
    }
    match tag(set)? {
        (Kind::Texts, pointer) => Some(Test::Contains(pointer.into(), literal(item)?.into())),
        (Kind::Text | Kind::Integer | Kind::Number | Kind::Flag | Kind::Type, _) => None,
    }
}

fn compare(relation: Relation, left: &Expr, right: &Expr) -> Option<Test> {
    let (quantity, relation, value) = match (quantity(left), quantity(right)) {
        (Some(quantity), None) => (quantity, relation, right),
        (None, Some(quantity)) => (quantity, relation.turned(), left),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let decimal = matches!(quantity, Quantity::Argument(Kind::Number, _));
    let with = match value {
        Expr::Literal(Literal::Long(number)) if !decimal => *number,
        Expr::UnaryOp {
            op: UnaryOp::Decimal,
            expr,
        } if decimal => ten_thousandths(literal(expr)?),
        _ => return None,
    };
    Some(Test::Compare(quantity, relation, with))
}

fn source(expr: &Expr) -> Option<Source> {
    if let Some(field) = field(expr) {
        return Some(Source::Field(field));
    }
    if context_field(expr) == Some("weekday") {
        return Some(Source::Weekday);
    }
    match tag(expr)? {
        (kind @ (Kind::Text | Kind::Type), pointer) => Some(Source::Argument(kind, pointer.into())),
        (Kind::Texts | Kind::Integer | Kind::Number | Kind::Flag, _) => None,
    }
}

fn quantity(expr: &Expr) -> Option<Quantity> {
    if context_field(expr) == Some("hour") {
        return Some(Quantity::Hour);
    }
    match tag(expr)? {
        (kind @ (Kind::Integer | Kind::Number), pointer) => Some(Quantity::Argument(kind, pointer.into())),
        (Kind::Text | Kind::Texts | Kind::Flag | Kind::Type, _) => None,
    }
}

/// The argument an expression gets.
fn tag(expr: &Expr) -> Option<(Kind, &str)> {
    match expr {
        Expr::BinaryOp {
            op: BinaryOp::GetTag,
            left,
            right,
        } => argument(left, right),
        _ => None,
    }
}

fn within(subject: &Expr, container: &Expr) -> Option<Test> {
    match (subject, container) {
        (Expr::Var(Var::Principal), Expr::Literal(Literal::EntityUID(uid))) => agent(uid),
        (Expr::Var(Var::Resource), Expr::Literal(Literal::EntityUID(uid))) => tool(uid),
        (Expr::Var(Var::Principal | Var::Resource), Expr::Set(items)) => Some(Test::Any(
            items
                .iter()
                .map(|item| within(subject, item))
                .collect::<Option<_>>()?,
        )),
        _ => None,
    }
}

fn agent(uid: &EntityUID) -> Option<Test> {
    type_is(&uid.ty, "Agent")
        .then(|| Test::Equals(Source::Field(Field::AgentHandle), uid.eid.as_str().into()))
}

fn tool(uid: &EntityUID) -> Option<Test> {
    if type_is(&uid.ty, "Connection") {
        // No connection has an empty namespace, but a capability's is shown as empty.
        return Some(if uid.eid.is_empty() {
            Test::Always(false)
        } else {
            Test::Equals(Source::Field(Field::ToolConnection), uid.eid.as_str().into())
        });
    }
    type_is(&uid.ty, "Tool").then(|| Test::ToolIs(uid.eid.as_str().into()))
}

fn variable_of(expr: &Expr, wanted: &EntityType) -> Option<Test> {
    let own = match expr {
        Expr::Var(Var::Principal) => "Agent",
        Expr::Var(Var::Resource) => "Tool",
        _ => return None,
    };
    Some(Test::Always(type_is(wanted, own)))
}

fn type_is(entity: &EntityType, name: &str) -> bool {
    entity.0.namespace.is_empty() && entity.0.id.as_str() == name
}
