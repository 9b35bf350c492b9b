//! Telephone calls and what was said on them.

use api::Page;
use api::phone::{
    AuthorityMode, Direction, ListPhoneCalls, PhoneCall, PhoneCallPageQuery, PhoneCallQuery, PhoneTurn,
};
use chrono::{DateTime, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _, Utc};
use chrono_tz::Tz;
use domain::{PhoneCallId, Timestamp};
use gateway::capability::{Capability, Context, Declaration, Failure};
use store::PhoneCallFilter;

use super::READ;
use crate::{convert, find, paging};

const LIST: Declaration = READ;

const SHOW: Declaration = Declaration {
    id: "phone.call",
    title: "Show a telephone call",
    description: "Shows a telephone call: who with, when, and how it went.",
    path: "/phone-calls/{phone_call}",
    paged: false,
    ..READ
};

const TRANSCRIPT: Declaration = Declaration {
    id: "phone.transcript",
    title: "Read a telephone call",
    description: "Shows what was said on a telephone call, in order.",
    path: "/phone-calls/{phone_call}/transcript",
    ..READ
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(LIST, list),
        Capability::new(SHOW, show),
        Capability::new(TRANSCRIPT, transcript),
    ]
}

async fn list(context: Context, query: ListPhoneCalls) -> Result<Page<PhoneCall>, Failure> {
    let agent = match (&query.agent, context.principal.bound_agent()) {
        (None, None) => None,
        (named, _) => Some(find::own_agent(&context, named.as_deref())?.id),
    };
    // A call that was turned away is the people's business and not the agent's.
    let blocked = match context.principal.bound_agent() {
        Some(_) => Some(false),
        None => query.blocked,
    };
    let zone = zone(query.time_zone.as_deref())?;
    let time = |field, text: &Option<String>, end| {
        text.as_deref()
            .map(|text| moment(text, zone, end).ok_or_else(|| Failure::field(field, NOT_A_TIME)))
            .transpose()
    };
    let filter = PhoneCallFilter {
        agent,
        blocked,
        from: time("from", &query.from, false)?,
        until: time("until", &query.until, true)?,
        skip: query.skip.unwrap_or(0),
    };
    let wanted = paging::request(query.cursor, query.limit);
    let page = context
        .store()
        .list_phone_calls(context.tenant(), &filter, &wanted)
        .await?;
    Ok(paging::page(page, shown))
}

async fn show(context: Context, query: PhoneCallQuery) -> Result<PhoneCall, Failure> {
    Ok(shown(
        known(&context, PhoneCallId::from_uuid(query.phone_call)).await?,
    ))
}

async fn transcript(context: Context, query: PhoneCallPageQuery) -> Result<Page<PhoneTurn>, Failure> {
    let call = known(&context, PhoneCallId::from_uuid(query.phone_call)).await?;
    let wanted = paging::request(query.cursor, query.limit);
    let page = context
        .store()
        .list_phone_turns(context.tenant(), call.id, &wanted)
        .await?;
    Ok(paging::page(page, |turn| PhoneTurn {
        seq: turn.seq,
        at_ms: turn.at_ms,
        party: turn.party.to_string(),
        text: turn.text.to_string(),
        created_at: convert::time(turn.created_at),
    }))
}

/// The telephone call with this id, if whoever asks may know of it.
pub(super) async fn known(context: &Context, id: PhoneCallId) -> Result<domain::PhoneCall, Failure> {
    let found = context.store().phone_call(context.tenant(), id).await?;
    let bound = context.principal.bound_agent();
    found
        .filter(|call| bound.is_none_or(|bound| bound == call.agent && !call.blocked))
        .ok_or_else(|| Failure::not_found("call").at("phone_call"))
}

const NOT_A_TIME: &str = "must be a time as in RFC 3339, or a day as 2026-07-01";

fn zone(name: Option<&str>) -> Result<Tz, Failure> {
    let unknown = |_| Failure::field("time_zone", "must be an IANA name such as Europe/Brussels");
    name.unwrap_or("UTC").parse().map_err(unknown)
}

/// A time, or a day's first moment (`end`: the moment after its last). What a zone skips begins when it goes on.
fn moment(text: &str, zone: Tz, end: bool) -> Option<Timestamp> {
    let micros = |at: DateTime<Utc>| Timestamp::from_micros(at.timestamp_micros());
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(micros(at.to_utc()));
    }
    let local = match text.parse::<NaiveDate>() {
        Ok(day) if end => day.checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN),
        Ok(day) => day.and_time(NaiveTime::MIN),
        Err(_) => text.parse::<NaiveDateTime>().ok()?,
    };
    // The clock is never set on by more than a few hours at once.
    let at = (0..=8).find_map(|half_hours| {
        zone.from_local_datetime(&(local + chrono::TimeDelta::minutes(30 * half_hours)))
            .earliest()
    });
    at.map(|at| micros(at.to_utc()))
}

fn shown(call: domain::PhoneCall) -> PhoneCall {
    let text = |text: Option<std::sync::Arc<str>>| text.map(|text| text.to_string());
    PhoneCall {
        id: call.id.uuid(),
        agent_id: call.agent.uuid(),
        local_number: text(call.local_number),
        remote_number: call.remote_number.to_string(),
        direction: match call.direction {
            domain::Direction::Inbound => Direction::Inbound,
            domain::Direction::Outbound => Direction::Outbound,
        },
        status: call.status.to_string(),
        blocked: call.blocked,
        reason: text(call.reason),
        hangup_reason: text(call.hangup_reason),
        authority_mode: authority(call.authority),
        started_at: call.started_at.map(convert::time),
        ended_at: call.ended_at.map(convert::time),
        created_at: convert::time(call.created_at),
        updated_at: convert::time(call.updated_at),
    }
}

/// The same in the API's words.
pub(super) const fn authority(mode: domain::AuthorityMode) -> AuthorityMode {
    match mode {
        domain::AuthorityMode::ContactScoped => AuthorityMode::ContactScoped,
        domain::AuthorityMode::Yolo => AuthorityMode::Yolo,
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::moment;

    #[test]
    fn days_and_times() {
        let cases = [
            ("2026-07-01T10:00:00Z", "UTC", false, Some("2026-07-01T10:00:00Z")),
            (
                "2026-07-01T10:00:00+02:00",
                "UTC",
                true,
                Some("2026-07-01T08:00:00Z"),
            ),
            (
                "2026-07-01",
                "America/New_York",
                false,
                Some("2026-07-01T04:00:00Z"),
            ),
            (
                "2026-07-06",
                "America/New_York",
                true,
                Some("2026-07-07T04:00:00Z"),
            ),
            (
                "2026-07-01T10:00:00",
                "Europe/Brussels",
                false,
                Some("2026-07-01T08:00:00Z"),
            ),
            // The hour that is skipped, and the day that begins in it.
            (
                "2026-03-29T02:30:00",
                "Europe/Brussels",
                false,
                Some("2026-03-29T01:00:00Z"),
            ),
            (
                "2026-09-06",
                "America/Santiago",
                false,
                Some("2026-09-06T04:00:00Z"),
            ),
            ("tomorrow", "UTC", false, None),
            ("2026-13-01", "UTC", false, None),
        ];
        for (text, zone, end, expected) in cases {
            let zone: Tz = zone.parse().unwrap();
            let expected = expected.map(|text| chrono::DateTime::parse_from_rfc3339(text).unwrap());
            let found = moment(text, zone, end).map(|at| at.micros());
            assert_eq!(
                found,
                expected.map(|at| at.timestamp_micros()),
                "{text} in {zone}"
            );
        }
    }
}
