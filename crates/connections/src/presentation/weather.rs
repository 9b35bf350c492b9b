//! The weather that `lookup_weather` found: one moment, or one day.

use serde_json::Value;

use super::maps_url::maps_url;
use super::{Unpresentable, structured, text};

/// An amount with its unit, as the provider writes it (`CELSIUS`, `KILOMETERS_PER_HOUR`).
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// How much.
    pub value: f64,
    /// Of what; none where the provider does not say.
    pub unit: Option<String>,
}

/// The wind.
#[derive(Debug, Clone, PartialEq)]
pub struct Wind {
    /// Where it comes from, in words.
    pub cardinal: Option<String>,
    /// How fast it is.
    pub speed: Option<Measure>,
    /// How fast its gusts are.
    pub gust: Option<Measure>,
}

/// The weather of one moment (`temperature`) or one day (`highest`, `lowest`). Every part may be missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weather {
    /// What it is like, in words.
    pub description: Option<String>,
    /// Its kind, as `PARTLY_CLOUDY`.
    pub kind: Option<String>,
    /// Where: an address, or a Place ID.
    pub place: Option<String>,
    /// How warm it is.
    pub temperature: Option<Measure>,
    /// How warm it feels.
    pub feels_like: Option<Measure>,
    /// The day's highest temperature.
    pub highest: Option<Measure>,
    /// The day's lowest temperature.
    pub lowest: Option<Measure>,
    /// How likely rain or snow is, in percent.
    pub precipitation_percent: Option<u8>,
    /// How humid it is, in percent.
    pub humidity_percent: Option<u8>,
    /// How much of the sky is covered, in percent.
    pub cloud_percent: Option<u8>,
    /// The UV index.
    pub uv_index: Option<u8>,
    /// The wind.
    pub wind: Option<Wind>,
    /// Sunrise and sunset, RFC 3339.
    pub sun: (Option<String>, Option<String>),
    /// The attribution to show beside it: a title and, where it leads to Maps, its link.
    pub attribution: Option<(String, Option<String>)>,
}

/// Reads the weather.
///
/// # Errors
/// The call failed, or the result has no structured content.
pub fn weather(result: &Value) -> Result<Weather, Unpresentable> {
    let content = structured(result)?;
    let owned = |pointer: &str| text(content, pointer).map(str::to_owned);
    let percent = |pointer: &str| small(content, pointer).filter(|percent| *percent <= 100);
    let degrees = |name: &str| measure(content, &format!("/{name}"), "degrees");
    let link = text(content, "/attribution/url").and_then(maps_url);
    Ok(Weather {
        description: owned("/weatherCondition/description/text"),
        kind: owned("/weatherCondition/type"),
        place: owned("/returnedLocation/address").or_else(|| owned("/returnedLocation/placeId")),
        temperature: degrees("temperature"),
        feels_like: degrees("feelsLikeTemperature"),
        highest: degrees("maxTemperature"),
        lowest: degrees("minTemperature"),
        precipitation_percent: percent("/precipitation/probability/percent"),
        humidity_percent: percent("/relativeHumidity"),
        cloud_percent: percent("/cloudCover"),
        uv_index: small(content, "/uvIndex"),
        wind: wind(content),
        sun: (owned("/sunEvents/sunriseTime"), owned("/sunEvents/sunsetTime")),
        attribution: owned("/attribution/title").map(|title| (title, link.map(str::to_owned))),
    })
}

fn wind(content: &Value) -> Option<Wind> {
    let wind = Wind {
        cardinal: text(content, "/wind/direction/cardinal").map(str::to_owned),
        speed: measure(content, "/wind/speed", "value"),
        gust: measure(content, "/wind/gust", "value"),
    };
    (wind.cardinal.is_some() || wind.speed.is_some() || wind.gust.is_some()).then_some(wind)
}

fn measure(content: &Value, at: &str, amount: &str) -> Option<Measure> {
    Some(Measure {
        value: content.pointer(&format!("{at}/{amount}"))?.as_f64()?,
        unit: text(content, &format!("{at}/unit")).map(str::to_owned),
    })
}

fn small(content: &Value, pointer: &str) -> Option<u8> {
    let number = content.pointer(pointer)?.as_u64()?;
    u8::try_from(number).ok()
}
