//! A telephone call as a row.

use domain::{AgentId, PhoneCall, PhoneCallId, PhoneTurn, RunId, Timestamp};
use sea_orm::{QueryResult, Value};

use crate::StoreError;
use crate::sql::{corrupt, count, get, time, time_or_none, word};

/// All columns but what it is found by.
pub(super) fn columns(call: &PhoneCall) -> Vec<(&'static str, Value)> {
    let text = |text: &Option<std::sync::Arc<str>>| Value::from(text.as_deref().map(str::to_owned));
    vec![
        ("agent_id", call.agent.uuid().into()),
        ("run_id", call.run.uuid().into()),
        ("local_number", text(&call.local_number)),
        ("remote_number", call.remote_number.to_string().into()),
        ("direction", call.direction.as_str().into()),
        ("status", call.status.as_str().into()),
        ("blocked", call.blocked.into()),
        ("reason", text(&call.reason)),
        ("hangup_reason", text(&call.hangup_reason)),
        ("authority", call.authority.as_str().into()),
        ("started_at", call.started_at.map(Timestamp::micros).into()),
        ("ended_at", call.ended_at.map(Timestamp::micros).into()),
        ("created_at", call.created_at.micros().into()),
        ("updated_at", call.updated_at.micros().into()),
    ]
}

/// Reads a row.
pub(super) fn read(row: &QueryResult) -> Result<PhoneCall, StoreError> {
    let text = |column| get::<Option<String>>(row, column).map(|text| text.map(Into::into));
    Ok(PhoneCall {
        id: PhoneCallId::from_uuid(get(row, "phone_call_id")?),
        agent: AgentId::from_uuid(get(row, "agent_id")?),
        run: RunId::from_uuid(get(row, "run_id")?),
        local_number: text("local_number")?,
        remote_number: get::<String>(row, "remote_number")?.into(),
        direction: word(row, "direction")?,
        status: word(row, "status")?,
        blocked: get(row, "blocked")?,
        reason: text("reason")?,
        hangup_reason: text("hangup_reason")?,
        authority: word(row, "authority")?,
        started_at: time_or_none(row, "started_at")?,
        ended_at: time_or_none(row, "ended_at")?,
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
    })
}

/// Reads what somebody said.
pub(super) fn turn(row: &QueryResult) -> Result<PhoneTurn, StoreError> {
    Ok(PhoneTurn {
        seq: count(row, "seq")?,
        at_ms: u64::try_from(get::<i64>(row, "at_ms")?).map_err(|e| corrupt("turn of a call", e))?,
        party: word(row, "party")?,
        text: get::<String>(row, "words")?.into(),
        created_at: time(row, "created_at")?,
    })
}
