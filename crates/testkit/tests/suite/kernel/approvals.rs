//! Questions to a person: asked once, for exactly one call, used once.

use std::time::Duration;

use domain::{Answer, ApprovalId, ApprovalState, CallId, KeyKind, Status, Surface};
use futures::future::join_all;
use gateway::{Changed, Context, FailureKind, ReplyBody, Scope};
use serde_json::{Value, json};

use super::both;
use super::house::{Bench, Decided, House, START, TTL, asked, denied, key, request, result};
use super::upstream::{Upstream, tool};

both!(
    a_call_is_parked_once_and_goes_through_once,
    an_approval_is_for_exactly_one_call,
    many_repeats_spend_one_approval,
    many_repeats_ask_one_question,
    no_stands_and_says_so,
    questions_and_answers_lapse,
    no_agent_ever_answers,
    what_was_tightened_meanwhile_wins,
    whoever_waits_hears_the_answer,
    a_parked_call_is_shown_as_its_question_stands,
);

/// A house with a tool that asks, and its upstream.
async fn asking(bench: Bench) -> (House, Upstream) {
    let upstream = Upstream::echoing(vec![tool("send")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("mail", &upstream).await;
    house.grant("mail/send", "allow").await;
    (house, upstream)
}

async fn state(house: &House, id: ApprovalId) -> ApprovalState {
    house
        .store
        .approval(house.tenant, id)
        .await
        .unwrap()
        .unwrap()
        .state
}

async fn pending(house: &House) -> Vec<Value> {
    let listed = house.admin("list_approvals", json!({})).await;
    listed["items"].as_array().unwrap().clone()
}

// O055, O026, V063
async fn a_call_is_parked_once_and_goes_through_once(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let arguments = json!({ "to": "team@example.com", "n": 1 });
    let first = house.call("mail__send", arguments.clone()).await;
    let id = asked(&first);
    let ReplyBody::Approval(notice) = &first.body else {
        panic!()
    };
    assert_eq!(&*notice.url, format!("http://localhost:7100/approvals/{id}"));
    assert_eq!(notice.expires_at, START.plus(TTL));
    // However often it is repeated meanwhile, in whatever order its members come: it is one question.
    let shuffled = json!({ "n": 1, "to": "team@example.com" });
    assert_eq!(asked(&house.call("mail__send", arguments.clone()).await), id);
    assert_eq!(asked(&house.call("mail__send", shuffled).await), id);
    let open = pending(&house).await;
    assert_eq!(open.len(), 1);
    assert_eq!(
        (&open[0]["arguments"], &open[0]["tool"]),
        (&arguments, &json!("mail__send"))
    );
    assert_eq!(
        (&open[0]["reason"], &open[0]["risk"]),
        (&json!("high_risk"), &json!("high"))
    );
    assert!(upstream.calls().is_empty());

    house.answer(id, "approved").await;
    let through = house.call("mail__send", arguments.clone()).await;
    assert_eq!(result(&through)["structuredContent"]["echo"], arguments);
    let recorded = Decided::of(&house.item(through.call).await);
    assert_eq!(
        (&*recorded.decision, recorded.reason.code.as_str()),
        ("allow", "approved")
    );
    assert_eq!(state(&house, id).await, ApprovalState::Spent);
    assert_eq!(upstream.arguments(), std::slice::from_ref(&arguments));
    // It was for once.
    assert_ne!(asked(&house.call("mail__send", arguments).await), id);
    assert_eq!(upstream.calls().len(), 1);
    house.verify().await;
}

async fn an_approval_is_for_exactly_one_call(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let arguments = json!({ "to": "a@example.com" });
    let id = asked(&house.call("mail__send", arguments.clone()).await);
    house.answer(id, "approved").await;
    // Other arguments.
    let other = asked(&house.call("mail__send", json!({ "to": "b@example.com" })).await);
    assert_ne!(other, id);
    // Another key of the same agent, and an administrator acting for it.
    for principal in [key(house.tenant, KeyKind::Agent(house.agent.id)), house.admin] {
        let view = house.view_of(principal, Scope::All);
        let reply = house.gateway.call(&view, request("mail__send", &arguments)).await;
        assert_ne!(asked(&reply), id);
    }
    // Another definition: the answer was about the one before.
    let mut changed = tool("send");
    changed["description"] = json!("sends to everybody");
    upstream.now_lists(vec![changed]);
    house
        .admin("connections.refresh", json!({ "connection": "mail" }))
        .await;
    let change = house
        .admin("connections.changes", json!({ "connection": "mail" }))
        .await;
    let digest = &change["items"][0]["offered_digest"];
    house
        .admin(
            "connections.accept",
            json!({ "connection": "mail", "tool": "send", "digest": digest }),
        )
        .await;
    assert_ne!(asked(&house.call("mail__send", arguments).await), id);
    assert_eq!(state(&house, id).await, ApprovalState::Approved);
    assert!(upstream.calls().is_empty());
    house.verify().await;
}

async fn many_repeats_spend_one_approval(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let arguments = json!({ "to": "a@example.com" });
    let id = asked(&house.call("mail__send", arguments.clone()).await);
    house.answer(id, "approved").await;
    let view = house.view();
    let replies =
        join_all((0..32).map(|_| house.gateway.call(&view, request("mail__send", &arguments)))).await;
    let (through, again): (Vec<_>, Vec<_>) = replies
        .iter()
        .partition(|reply| reply.outcome.status == Status::Succeeded);
    assert_eq!((through.len(), again.len(), upstream.calls().len()), (1, 31, 1));
    // The others ask anew, together one question.
    let mut questions: Vec<ApprovalId> = again.into_iter().map(asked).collect();
    questions.sort_unstable();
    questions.dedup();
    assert_eq!(questions.len(), 1);
    assert_ne!(questions[0], id);
    house.verify().await;
}

async fn many_repeats_ask_one_question(bench: Bench) {
    let (house, _upstream) = asking(bench).await;
    let view = house.view();
    let replies =
        join_all((0..32).map(|_| house.gateway.call(&view, request("mail__send", &json!({}))))).await;
    let first = asked(&replies[0]);
    assert!(replies.iter().all(|reply| asked(reply) == first));
    assert_eq!(pending(&house).await.len(), 1);
    house.verify().await;
}

async fn no_stands_and_says_so(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let id = asked(&house.call("mail__send", json!({ "to": "x" })).await);
    house.answer(id, "denied").await;
    let reply = house.call("mail__send", json!({ "to": "x" })).await;
    assert_eq!(denied(&reply), "refused");
    // A no is about that call only, and once given it stays.
    asked(&house.call("mail__send", json!({ "to": "y" })).await);
    let again = json!({ "approval": id.uuid(), "decision": "approved" });
    assert_eq!(
        house.ask("resolve_approval", again).await.unwrap_err().code,
        "approval.closed"
    );
    assert_eq!(
        denied(&house.call("mail__send", json!({ "to": "x" })).await),
        "refused"
    );
    assert!(upstream.calls().is_empty());
    house.verify().await;
}

async fn questions_and_answers_lapse(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let call = json!({ "to": "x" });
    // Nobody answers in time.
    let unanswered = asked(&house.call("mail__send", call.clone()).await);
    house.clock.advance(TTL - Duration::from_micros(1));
    assert_eq!(asked(&house.call("mail__send", call.clone()).await), unanswered);
    house.clock.advance(Duration::from_micros(1));
    let late = json!({ "approval": unanswered.uuid(), "decision": "approved" });
    assert_eq!(
        house.ask("resolve_approval", late).await.unwrap_err().code,
        "approval.closed"
    );
    let unused = asked(&house.call("mail__send", call.clone()).await);
    assert_ne!(unused, unanswered);
    // Nobody uses the answer in time.
    house.answer(unused, "approved").await;
    house.clock.advance(TTL);
    let third = asked(&house.call("mail__send", call.clone()).await);
    assert!(third != unused && third != unanswered);
    let mut changes = house.gateway.changes();
    assert_eq!(house.gateway.expire_approvals().await.unwrap(), 2);
    let mut told = Vec::new();
    while told.len() < 2 {
        if let Changed::Approval(id) = changes.recv().await.unwrap().what {
            told.push(id);
        }
    }
    assert_eq!(told, [unanswered, unused]);
    for id in told {
        assert_eq!(state(&house, id).await, ApprovalState::Expired);
    }
    assert_eq!(state(&house, third).await, ApprovalState::Pending);
    // A no lapses as well: then a person is asked again.
    house.answer(third, "denied").await;
    assert_eq!(denied(&house.call("mail__send", call.clone()).await), "refused");
    house.clock.advance(TTL);
    assert_ne!(asked(&house.call("mail__send", call).await), third);
    assert!(upstream.calls().is_empty());
    house.verify().await;
}

// O025
async fn no_agent_ever_answers(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let id = asked(&house.call("mail__send", json!({})).await);
    let input = || {
        (
            "resolve_approval",
            json!({ "approval": id.uuid(), "decision": "approved" }),
        )
    };
    for surface in [Surface::Api, Surface::Mcp, Surface::Cli] {
        let refused = house.ask_as(house.caller, surface, input()).await.unwrap_err();
        assert_eq!(
            (refused.kind, refused.code),
            (FailureKind::Forbidden, "access.forbidden"),
            "{surface}"
        );
        let stranger = house.ask_as(house.stranger, surface, input()).await.unwrap_err();
        assert_eq!(stranger.kind, FailureKind::NotFound, "{surface}");
    }
    for principal in [house.caller, house.admin] {
        let refused = house
            .ask_as(principal, Surface::Agent, input())
            .await
            .unwrap_err();
        assert_eq!(refused.code, "operation.not_found");
    }
    // Not even a grant written past every check makes it a tool.
    let forged = domain::Grant {
        agent: house.agent.id,
        subject: domain::GrantSubject::Tool(domain::ToolRef::Capability("resolve_approval".into())),
        permission: domain::Permission::Unattended,
        at: START,
    };
    house
        .store
        .set_grants(house.tenant, &store::Change::by_system("test"), &[forged])
        .await
        .unwrap();
    house.gateway.refresh(house.tenant).await.unwrap();
    let reply = house.call("resolve_approval", input().1).await;
    assert_eq!(denied(&reply), "unknown_tool");
    // Nor does a handler that acts for an agent.
    for (principal, agent) in [
        (house.caller, None),
        (house.admin, Some(house.agent.id)),
        (house.caller, Some(house.agent.id)),
    ] {
        let context = Context {
            gateway: house.gateway.clone(),
            principal,
            agent,
            surface: Surface::Api,
            call: domain::CallId::generate(),
            now: house.clock.now(),
        };
        let refused = house
            .gateway
            .resolve(&context, id, Answer::Approved, None)
            .await
            .unwrap_err();
        assert_eq!(refused.code, "approval.not_a_person");
    }
    assert_eq!(state(&house, id).await, ApprovalState::Pending);
    assert!(upstream.calls().is_empty());
    house.verify().await;
}

async fn what_was_tightened_meanwhile_wins(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let id = asked(&house.call("mail__send", json!({})).await);
    house.answer(id, "approved").await;
    house
        .rule(
            "never",
            "forbid(principal, action, resource in Connection::\"mail\") when { context.hour < 24 };",
        )
        .await;
    assert_eq!(denied(&house.call("mail__send", json!({})).await), "rule_forbids");
    house.no_rules().await;
    house.grant("mail/send", "deny").await;
    assert_eq!(denied(&house.call("mail__send", json!({})).await), "grant_denies");
    assert_eq!(state(&house, id).await, ApprovalState::Approved);
    assert!(upstream.calls().is_empty());
    // The answer itself still holds.
    house.grant("mail/send", "allow").await;
    assert_eq!(
        house.call("mail__send", json!({})).await.outcome.status,
        Status::Succeeded
    );
    assert_eq!(state(&house, id).await, ApprovalState::Spent);
    house.verify().await;
}

async fn whoever_waits_hears_the_answer(bench: Bench) {
    let (house, _upstream) = asking(bench).await;
    let id = asked(&house.call("mail__send", json!({})).await);
    let long = Duration::from_secs(60);
    let waiting = house.gateway.wait_for_answer(&house.caller, id, long);
    let (heard, _) = tokio::join!(waiting, house.answer(id, "approved"));
    assert_eq!(heard.unwrap(), ApprovalState::Approved);
    // Not longer than asked to, and nobody else's.
    let open = asked(&house.call("mail__send", json!({ "n": 2 })).await);
    let brief = house
        .gateway
        .wait_for_answer(&house.caller, open, Duration::ZERO)
        .await;
    assert_eq!(brief.unwrap(), ApprovalState::Pending);
    let foreign = house.gateway.wait_for_answer(&house.stranger, open, long).await;
    assert_eq!(foreign.unwrap_err().kind, FailureKind::NotFound);
    house.clock.advance(TTL);
    let lapsed = house.gateway.wait_for_answer(&house.caller, open, long).await;
    assert_eq!(lapsed.unwrap(), ApprovalState::Expired);
    house.verify().await;
}

/// How people see a call, which the filter by that status finds and one by another does not.
async fn shown(house: &House, call: CallId) -> (String, Value) {
    house.settle().await;
    let all = house.admin("activity.list", json!({ "call": call.uuid() })).await;
    let item = &all["items"][0];
    for status in [
        "started",
        "waiting",
        "approved",
        "succeeded",
        "failed",
        "denied",
        "expired",
        "unknown",
    ] {
        let filter = json!({ "call": call.uuid(), "status": status });
        let found = house.admin("activity.list", filter).await["items"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(found, usize::from(item["status"] == status), "{status}: {item:#}");
    }
    (item["status"].as_str().unwrap().to_owned(), item["code"].clone())
}

// O026
async fn a_parked_call_is_shown_as_its_question_stands(bench: Bench) {
    let (house, upstream) = asking(bench).await;
    let waiting = ("waiting".to_owned(), json!("approval_required"));
    let mut parked = Vec::new();
    for n in 0..4 {
        let reply = house.call("mail__send", json!({ "n": n })).await;
        assert_eq!(shown(&house, reply.call).await, waiting);
        parked.push((reply.call, asked(&reply)));
    }
    house.answer(parked[0].1, "denied").await;
    house.answer(parked[1].1, "approved").await;
    house.answer(parked[2].1, "approved").await;
    let through = house.call("mail__send", json!({ "n": 1 })).await;
    assert_eq!(through.outcome.status, Status::Succeeded);
    let stand = async |wanted: [(&str, Value); 4]| {
        for ((call, _), (status, code)) in parked.iter().zip(wanted) {
            assert_eq!(shown(&house, *call).await, (status.to_owned(), code));
        }
    };
    let (no, lapsed) = (json!("denied"), json!("approval_expired"));
    let yes = ("approved", Value::Null);
    let open = ("waiting", json!("approval_required"));
    stand([("denied", no.clone()), yes.clone(), yes.clone(), open]).await;
    // What used the answer is an entry of its own, under the same question.
    let filter = json!({ "call": through.call.uuid() });
    let item = house.admin("activity.list", filter).await["items"][0].clone();
    assert_eq!(
        (&item["status"], &item["approval_id"]),
        (&json!("succeeded"), &json!(parked[1].1.uuid()))
    );
    house.clock.advance(TTL);
    let expired = ("expired", lapsed);
    let after = [("denied", no), yes, expired.clone(), expired];
    stand(after.clone()).await;
    house.gateway.expire_approvals().await.unwrap();
    stand(after).await;
    assert_eq!(upstream.calls().len(), 1);
    house.verify().await;
}
