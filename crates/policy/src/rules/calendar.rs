//! A timestamp as rules read it: the hour, the weekday and the instant, all in UTC.

use domain::Timestamp;

const DAY_MICROS: i64 = 86_400_000_000;

/// The hour of the day in UTC, 0–23.
pub(super) fn hour(at: Timestamp) -> i64 {
    at.micros().rem_euclid(DAY_MICROS) / 3_600_000_000
}

/// The weekday in UTC, `monday` to `sunday`.
pub(super) fn weekday(at: Timestamp) -> &'static str {
    // 1970-01-01 was a Thursday.
    match at.micros().div_euclid(DAY_MICROS).rem_euclid(7) {
        0 => "thursday",
        1 => "friday",
        2 => "saturday",
        3 => "sunday",
        4 => "monday",
        5 => "tuesday",
        _ => "wednesday",
    }
}

/// All weekdays.
pub(super) const WEEKDAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The instant in the form Cedar's `datetime` takes, to the millisecond, held within the years 0001 to 9999.
pub(super) fn instant(at: Timestamp) -> String {
    let micros = at
        .micros()
        .clamp(-62_135_596_800_000_000, 253_402_300_799_999_999);
    let (days, rest) = (micros.div_euclid(DAY_MICROS), micros.rem_euclid(DAY_MICROS));
    let (year, month, day) = date(days);
    let millis = rest / 1_000;
    let (h, m, s, ms) = (
        millis / 3_600_000,
        millis / 60_000 % 60,
        millis / 1_000 % 60,
        millis % 1_000,
    );
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{ms:03}Z")
}

/// The proleptic Gregorian date of a day counted from 1970-01-01: years are counted from March, so that the leap day is the last of
/// its year, and in eras of 400 years, which all have the same length.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::{hour, instant, weekday};

    #[test]
    fn known_instants() {
        for (micros, want_instant, want_hour, want_weekday) in [
            (0, "1970-01-01T00:00:00.000Z", 0, "thursday"),
            (-1, "1969-12-31T23:59:59.999Z", 23, "wednesday"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000Z", 0, "tuesday"),
            (1_796_052_915_123_000, "2026-11-30T15:35:15.123Z", 15, "monday"),
            (4_107_542_399_000_000, "2100-02-28T23:59:59.000Z", 23, "sunday"),
            (i64::MAX, "9999-12-31T23:59:59.999Z", 4, "sunday"),
        ] {
            let at = Timestamp::from_micros(micros);
            assert_eq!(
                (instant(at).as_str(), hour(at), weekday(at)),
                (want_instant, want_hour, want_weekday),
                "{micros}"
            );
        }
    }
}
