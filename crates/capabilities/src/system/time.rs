//! The current time: the one built-in tool that needs nothing.

use api::system::{CurrentTime, CurrentTimeQuery};
use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;
use domain::{Effect, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};

use crate::convert;

const CURRENT_TIME: Declaration = Declaration {
    id: "current_time",
    title: "Current time",
    description: "Tells the current date and time, in UTC and in a time zone of your choice.",
    method: Method::Get,
    path: "/time",
    success: 200,
    paged: false,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli, Surface::Agent],
    action: Action::Use,
    command: Some("time"),
};

pub(super) fn capability() -> Capability {
    Capability::new(CURRENT_TIME, current_time)
}

async fn current_time(context: Context, query: CurrentTimeQuery) -> Result<CurrentTime, Failure> {
    answer(convert::time(context.now), query.time_zone.as_deref())
}

fn answer(now: DateTime<Utc>, zone: Option<&str>) -> Result<CurrentTime, Failure> {
    let zone = zone.unwrap_or("UTC");
    let unknown = |_| {
        Failure::field(
            "time_zone",
            "not a time zone: give an IANA name such as Europe/Brussels",
        )
    };
    let zone: Tz = zone.parse().map_err(unknown)?;
    let local = now.with_timezone(&zone);
    Ok(CurrentTime {
        utc: now.to_rfc3339_opts(SecondsFormat::Secs, true),
        local: local.to_rfc3339_opts(SecondsFormat::Secs, false),
        time_zone: zone.name().to_owned(),
        weekday: local.format("%A").to_string(),
    })
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::answer;

    // V187
    #[test]
    fn zones_and_their_summer_time() {
        let cases = [
            (
                "2026-03-29T00:59:59Z",
                Some("Europe/Brussels"),
                "2026-03-29T01:59:59+01:00",
                "Sunday",
            ),
            (
                "2026-03-29T01:00:00Z",
                Some("Europe/Brussels"),
                "2026-03-29T03:00:00+02:00",
                "Sunday",
            ),
            (
                "2026-11-30T20:00:00Z",
                Some("Pacific/Kiritimati"),
                "2026-12-01T10:00:00+14:00",
                "Tuesday",
            ),
            (
                "2026-11-30T20:00:00Z",
                None,
                "2026-11-30T20:00:00+00:00",
                "Monday",
            ),
        ];
        for (now, zone, local, weekday) in cases {
            let now = DateTime::parse_from_rfc3339(now).unwrap().to_utc();
            let said = answer(now, zone).unwrap();
            assert_eq!(
                (said.local.as_str(), said.weekday.as_str()),
                (local, weekday),
                "{now} in {zone:?}"
            );
        }
        assert_eq!(
            answer(DateTime::UNIX_EPOCH, Some("Mars/Olympus"))
                .unwrap_err()
                .field
                .as_deref(),
            Some("time_zone")
        );
    }
}
