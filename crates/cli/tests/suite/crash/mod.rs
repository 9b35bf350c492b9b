//! `kill -9` of the server at every step of a call, on both databases: nothing is lost, nothing is sent twice, and what nobody knows
//! is said to be unknown.
//!
//! Nothing in the product stops at a step. The server outside holds its answers, and a second connection to the database holds what
//! the server wants to write.

mod again;
mod steps;

use testkit::database::Held;

use crate::client::{Client, succeeded};
use crate::scene::{Kind, Scene};

/// How far a call came when the server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nothing of it is written: the intent of a call that changes something, the decision of one that reads, which is sent meanwhile.
    Unwritten,
    /// Nothing of it is written, and its answer is there.
    UnwrittenAnswered,
    /// It is written, and its server has not been sent it yet.
    Unsent,
    /// It is written and sent.
    Sent,
    /// It was answered; its end is not written.
    Unended,
    /// Its end is written.
    Ended,
}

/// One step of one kind of call, and what is to come of it.
struct Case {
    step: Step,
    tool: &'static str,
    /// How often the server outside gets it.
    sent: usize,
    /// Whether the client gets its answer.
    answered: bool,
    /// How the record shows it afterwards; none when it is not there.
    stands: Option<&'static str>,
}

const fn case(
    step: Step,
    tool: &'static str,
    sent: usize,
    answered: bool,
    stands: Option<&'static str>,
) -> Case {
    Case {
        step,
        tool,
        sent,
        answered,
        stands,
    }
}

const UNKNOWN: Option<&str> = Some("unknown");
const SUCCEEDED: Option<&str> = Some("succeeded");

const CASES: [Case; 11] = [
    case(Step::Unwritten, "up__write", 0, false, None),
    case(Step::Unsent, "fresh__write", 0, false, UNKNOWN),
    case(Step::Sent, "up__write", 1, false, UNKNOWN),
    case(Step::Unended, "up__write", 1, true, UNKNOWN),
    case(Step::Ended, "up__write", 1, true, SUCCEEDED),
    case(Step::Unwritten, "up__read", 1, false, None),
    case(Step::UnwrittenAnswered, "up__read", 1, false, None),
    case(Step::Unsent, "fresh__read", 0, false, UNKNOWN),
    case(Step::Sent, "up__read", 1, false, UNKNOWN),
    case(Step::Unended, "up__read", 1, true, UNKNOWN),
    case(Step::Ended, "up__read", 1, true, SUCCEEDED),
];

/// Kills at the step and looks at what is left.
async fn check(scene: &mut Scene, case: &Case) {
    let what = format!("{:?} {:?} {}", scene.kind, case.step, case.tool);
    let (before, calls, head) = (scene.listed(&[]), scene.upstream.calls(), scene.verify(None));
    let client = Client::begin(&scene.house).await;
    let steps::Reached { held, call } = steps::reach(scene, &client, case).await;
    scene.house.kill();
    // The machine went away, not the process alone: what its connections asked for last is not done after all.
    scene.database.end_others().await.unwrap();
    if let Some(held) = held {
        held.release().await.unwrap();
    }
    scene.upstream.release();
    let answer = call.await.unwrap();
    assert_eq!(answer.is_some(), case.answered, "{what}: {answer:?}");
    assert!(!case.answered || succeeded(answer.as_ref()), "{what}: {answer:?}");
    scene.house.again();

    let new = |status: &[&str]| {
        let mut now = scene.listed(status);
        now.retain(|item| before.iter().all(|other| other.call != item.call));
        now
    };
    let shown: Vec<String> = new(&[]).into_iter().map(|item| item.status).collect();
    assert_eq!(shown, case.stands.into_iter().collect::<Vec<_>>(), "{what}");
    let unknown = new(&["--status", "unknown"]);
    assert_eq!(
        unknown.len(),
        usize::from(case.stands == UNKNOWN),
        "{what}: {unknown:?}"
    );
    assert_eq!(scene.upstream.calls() - calls, case.sent, "{what}: sent");
    scene.verify(Some(&head));
    // Whoever calls again has a call of its own, which is sent once.
    scene.call_well(case.tool).await;
    assert_eq!(
        scene.upstream.calls() - calls,
        case.sent + 1,
        "{what}: sent again"
    );
    scene.check_database().await;
}

async fn matrix(kind: Kind, tool: &str) {
    let Some(mut scene) = Scene::start(kind, "").await else {
        return;
    };
    scene.connect("fresh", "per_call").await;
    for name in ["up__read", "up__write", "fresh__read", "fresh__write"] {
        scene.call_well(name).await;
    }
    for case in CASES.iter().filter(|case| case.tool.ends_with(tool)) {
        check(&mut scene, case).await;
    }
    assert!(scene.house.stop().success());
    let open = scene.database.number("SELECT count(*) FROM open_intents").await;
    assert_eq!(open.unwrap(), 0);
}

mod sqlite {
    use super::{Kind, matrix};

    #[tokio::test(flavor = "multi_thread")]
    async fn killed_at_every_step_of_a_call_that_changes_something() {
        matrix(Kind::Sqlite, "write").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn killed_at_every_step_of_a_call_that_reads() {
        matrix(Kind::Sqlite, "read").await;
    }
}

mod postgres {
    use super::{Kind, matrix};

    #[tokio::test(flavor = "multi_thread")]
    async fn killed_at_every_step_of_a_call_that_changes_something() {
        matrix(Kind::Postgres, "write").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn killed_at_every_step_of_a_call_that_reads() {
        matrix(Kind::Postgres, "read").await;
    }

    // The database goes on with what it was asked last, also when whoever asked is gone and its successor starts meanwhile. It does not
    // where the statement was new to that connection and was still being prepared; then the end is the successor's.
    #[tokio::test(flavor = "multi_thread")]
    async fn an_end_that_is_written_after_the_kill_is_the_only_end() {
        let Some(mut scene) = super::Scene::start(Kind::Postgres, "").await else {
            return;
        };
        let mut ends = Vec::new();
        while ends.len() < 8 && !ends.iter().any(|end| end == "succeeded") {
            scene.call_well("up__write").await;
            ends.push(ended_by_whom(&mut scene).await);
            scene.check_database().await;
            scene.verify(None);
        }
        assert!(ends.iter().any(|end| end == "succeeded"), "{ends:?}");
    }

    /// Kills the server while the end of a call waits to be written; how that call ended.
    async fn ended_by_whom(scene: &mut super::Scene) -> String {
        let before = scene.listed(&[]);
        let client = super::Client::begin(&scene.house).await;
        let case = super::case(super::Step::Unended, "up__write", 1, true, super::SUCCEEDED);
        let reached = super::steps::reach(scene, &client, &case).await;
        scene.house.kill();
        scene.house.begin_again();
        // The end of the call, and the successor that looks what was cut off.
        scene.until_so_many_wait(2).await;
        let held: Option<super::Held> = reached.held;
        held.unwrap().release().await.unwrap();
        scene.house.wait_until_it_serves();
        let mut now = scene.listed(&[]).into_iter();
        let ended = now.find(|item| before.iter().all(|other| other.call != item.call));
        ended.unwrap().status
    }
}
