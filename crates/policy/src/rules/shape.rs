//! Takes a rule apart: which of its conditions can be settled before a call, which must wait for it, and what those read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cedar_policy::pst::{BinaryOp, Clause, Expr, Literal, Template, UnaryOp, Var};

use super::arguments::Kind;
use super::calendar::WEEKDAYS;
use super::subject::Field;

/// A rule's conditions. All of them must hold for the rule to speak.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Those that look at nothing but who acts and the tool.
    pub(super) settled: Vec<Arc<Expr>>,
    /// Those that look at arguments or time, in the order they were written.
    pub(super) residual: Vec<Arc<Expr>>,
    /// What the latter read.
    pub(super) reads: Reads,
    /// What is wrong with the rule beyond what Cedar itself finds.
    pub(super) findings: Vec<Finding>,
}

/// What conditions read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// Arguments, by pointer, in which kinds.
    pub(crate) arguments: BTreeMap<Arc<str>, BTreeSet<Kind>>,
    /// Attributes of the agent.
    pub(crate) principal: bool,
    /// Attributes of the tool.
    pub(crate) resource: bool,
    /// Who is behind the agent.
    pub(crate) caller: bool,
    /// Where the run comes from.
    pub(crate) channel: bool,
    /// The instant.
    pub(crate) now: bool,
    /// The hour.
    pub(crate) hour: bool,
    /// The weekday.
    pub(crate) weekday: bool,
}

/// A mistake, and a piece of the rule's text near it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) near: String,
    pub(super) message: String,
}

impl Reads {
    /// Whether the call itself is looked at.
    fn call(&self) -> bool {
        !self.arguments.is_empty() || self.now || self.hour || self.weekday
    }

    /// Both together.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (pointer, kinds) in &other.arguments {
            self.arguments.entry(pointer.clone()).or_default().extend(kinds);
        }
        self.principal |= other.principal;
        self.resource |= other.resource;
        self.caller |= other.caller;
        self.channel |= other.channel;
        self.now |= other.now;
        self.hour |= other.hour;
        self.weekday |= other.weekday;
    }
}

/// Takes the conditions of a policy apart; its scope is the caller's to look at.
pub(super) fn shape(policy: &Template) -> Shape {
    let mut shape = Shape::default();
    let mut conjuncts = Vec::new();
    for clause in policy.clauses() {
        match clause {
            Clause::When(condition) => split(condition, false, &mut conjuncts),
            Clause::Unless(condition) => split(condition, true, &mut conjuncts),
        }
    }
    for conjunct in conjuncts {
        let mut reads = Reads::default();
        visit(&conjunct, &mut reads, &mut shape.findings);
        if reads.call() {
            shape.reads.merge(&reads);
            shape.residual.push(conjunct);
        } else {
            shape.settled.push(conjunct);
        }
    }
    shape
}

/// The conditions that must all hold for this one to hold (or, negated, to fail).
fn split(expr: &Arc<Expr>, negated: bool, out: &mut Vec<Arc<Expr>>) {
    match &**expr {
        Expr::BinaryOp {
            op: BinaryOp::And,
            left,
            right,
        } if !negated => {
            split(left, false, out);
            split(right, false, out);
        }
        Expr::BinaryOp {
            op: BinaryOp::Or,
            left,
            right,
        } if negated => {
            split(left, true, out);
            split(right, true, out);
        }
        Expr::UnaryOp {
            op: UnaryOp::Not,
            expr,
        } => split(expr, !negated, out),
        _ if negated => out.push(Arc::new(Expr::UnaryOp {
            op: UnaryOp::Not,
            expr: expr.clone(),
        })),
        _ => out.push(expr.clone()),
    }
}

/// The field an expression reads.
pub(super) fn field(expr: &Expr) -> Option<Field> {
    let Expr::GetAttr { expr, attr } = expr else {
        return None;
    };
    match (&**expr, attr.as_str()) {
        (Expr::Var(Var::Principal), "handle") => Some(Field::AgentHandle),
        (Expr::Var(Var::Principal), "id") => Some(Field::AgentId),
        (Expr::Var(Var::Context), "channel") => Some(Field::Channel),
        (Expr::Var(Var::Resource), "name") => Some(Field::ToolName),
        (Expr::Var(Var::Resource), "connection") => Some(Field::ToolConnection),
        (Expr::Var(Var::Resource), "risk") => Some(Field::ToolRisk),
        (Expr::Var(Var::Resource), "effect") => Some(Field::ToolEffect),
        (Expr::Var(Var::Resource), "kind") => Some(Field::ToolKind),
        (inner, "kind") if context_field(inner) == Some("caller") => Some(Field::CallerKind),
        (inner, "id") if context_field(inner) == Some("caller") => Some(Field::CallerId),
        _ => None,
    }
}

/// The text of a string literal.
pub(super) fn literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(Literal::String(text)) => Some(text),
        _ => None,
    }
}

/// The argument that `bag.hasTag(pointer)` or `bag.getTag(pointer)` reads.
pub(super) fn argument<'e>(bag: &Expr, pointer: &'e Expr) -> Option<(Kind, &'e str)> {
    Some((bag_kind(bag)?, literal(pointer)?))
}

/// The field of the context an expression reads.
pub(super) fn context_field(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::GetAttr { expr, attr } if matches!(**expr, Expr::Var(Var::Context)) => Some(attr),
        _ => None,
    }
}

fn visit(expr: &Expr, reads: &mut Reads, findings: &mut Vec<Finding>) {
    match expr {
        Expr::BinaryOp {
            op: op @ (BinaryOp::GetTag | BinaryOp::HasTag),
            left,
            right,
        } => {
            visit_argument(*op, (left, right), reads, findings);
            return;
        }
        Expr::BinaryOp {
            op: BinaryOp::Eq | BinaryOp::NotEq | BinaryOp::Contains,
            left,
            right,
        } => {
            check_words(left, right, findings);
            check_words(right, left, findings);
        }
        Expr::Var(Var::Principal) => reads.principal = true,
        Expr::Var(Var::Resource) => reads.resource = true,
        Expr::Var(Var::Context) => findings.push(Finding {
            near: "context".into(),
            message: "`context` is used as a whole; read one of its fields, as in `context.channel`".into(),
        }),
        _ => {}
    }
    if let Some(name) = context_field(expr) {
        match name {
            "caller" => reads.caller = true,
            "channel" => reads.channel = true,
            "now" => reads.now = true,
            "hour" => reads.hour = true,
            "weekday" => reads.weekday = true,
            _ => findings.push(misread()),
        }
        return;
    }
    for child in children(expr, findings) {
        visit(child, reads, findings);
    }
}

fn visit_argument(
    op: BinaryOp,
    (bag, pointer): (&Expr, &Expr),
    reads: &mut Reads,
    findings: &mut Vec<Finding>,
) {
    let Some(kind) = bag_kind(bag) else {
        findings.push(misread());
        return;
    };
    let Some(pointer) = literal(pointer) else {
        findings.push(Finding {
            near: if matches!(op, BinaryOp::GetTag) { "getTag(" } else { "hasTag(" }.into(),
            message: "the argument's pointer is computed; write it as a literal text, so that it is known what the rule reads"
                .into(),
        });
        return;
    };
    if !(pointer.is_empty() || pointer.starts_with('/')) {
        findings.push(Finding {
            near: format!("\"{pointer}\""),
            message: format!(
                "`{pointer}` is not a JSON pointer; write \"/{pointer}\" for the argument of that name"
            ),
        });
    }
    reads.arguments.entry(pointer.into()).or_default().insert(kind);
}

fn bag_kind(bag: &Expr) -> Option<Kind> {
    match bag {
        Expr::GetAttr { expr, attr } if context_field(expr) == Some("arguments") => Kind::named(attr),
        _ => None,
    }
}

fn misread() -> Finding {
    Finding {
        near: "context.arguments".into(),
        message: "arguments are read as `context.arguments.<kind>.hasTag(\"/pointer\")` and `.getTag(\"/pointer\")`; kinds are text, \
                  texts, integer, number, flag and kind"
            .into(),
    }
}

/// Comparing with a word the field never holds is a rule that never speaks.
fn check_words(subject: &Expr, compared: &Expr, findings: &mut Vec<Finding>) {
    let (written, words) = match (field(subject), context_field(subject)) {
        (Some(field), _) => (field.written(), field.words()),
        (None, Some("weekday")) => ("context.weekday", Some(WEEKDAYS)),
        (None, _) => return,
    };
    let Some(words) = words else { return };
    let literals: Vec<&str> = match compared {
        Expr::Set(items) => items.iter().filter_map(|item| literal(item)).collect(),
        _ => literal(compared).into_iter().collect(),
    };
    for unknown in literals.into_iter().filter(|text| !words.contains(text)) {
        findings.push(Finding {
            near: format!("\"{unknown}\""),
            message: format!(
                "`{written}` is never \"{unknown}\"; it is one of {}",
                words.join(", ")
            ),
        });
    }
}

fn children<'e>(expr: &'e Expr, findings: &mut Vec<Finding>) -> Vec<&'e Expr> {
    match expr {
        Expr::Literal(_) | Expr::Var(_) => Vec::new(),
        Expr::UnaryOp { expr, .. }
        | Expr::GetAttr { expr, .. }
        | Expr::HasAttr { expr, .. }
        | Expr::Like { expr, .. } => {
            vec![expr]
        }
        Expr::BinaryOp { left, right, .. } => vec![left, right],
        Expr::Is { expr, in_expr, .. } => {
            let mut all: Vec<&Expr> = vec![expr];
            all.extend(in_expr.as_deref());
            all
        }
        Expr::IfThenElse {
            cond,
            then_expr,
            else_expr,
        } => vec![cond, then_expr, else_expr],
        Expr::Set(items) => items.iter().map(|item| &**item).collect(),
        Expr::Record(fields) => fields.values().map(|value| &**value).collect(),
        _ => {
            findings.push(Finding {
                near: String::new(),
                message: format!("`{expr}` is not understood here; write it differently"),
            });
            Vec::new()
        }
    }
}
