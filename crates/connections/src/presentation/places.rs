//! Cards of the places that `search_places` found.

use serde_json::Value;

use super::maps_url::maps_url;
use super::{Unpresentable, structured, text};

/// Most cards of one answer.
pub const MAX_CARDS: usize = 6;

/// A place that may be shown: never without the attribution and the links that its provider asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceCard {
    /// Its Place ID, without `places/`.
    pub place_id: String,
    /// The title of its attribution.
    pub title: String,
    /// Its page.
    pub place_url: String,
    /// The way there.
    pub directions_url: String,
    /// Latitude and longitude, in degrees.
    pub location: Option<(f64, f64)>,
    /// Where it stands in the result: what `[0]`, `[1]` in its summary mean.
    pub index: usize,
}

/// The cards of one search. A place that lacks something, or has a link that does not lead to Maps, is left out alone.
///
/// # Errors
/// The call failed, or the result has no structured content.
pub fn places(result: &Value) -> Result<Vec<PlaceCard>, Unpresentable> {
    let content = structured(result)?;
    let all = content.get("places").and_then(Value::as_array);
    let cards = all.into_iter().flatten().enumerate();
    Ok(cards.filter_map(|(index, place)| card(index, place)).collect())
}

fn card(index: usize, place: &Value) -> Option<PlaceCard> {
    let id = text(place, "/id").or_else(|| text(place, "/place"))?;
    let place_id = id.strip_prefix("places/").unwrap_or(id);
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if place_id.is_empty() || place_id.len() > 300 || !place_id.chars().all(legal) {
        return None;
    }
    // Newer Google APIs call a link Uri.
    let link = |name: &str| {
        let url = text(place, &format!("/googleMapsLinks/{name}Url"));
        let uri = || text(place, &format!("/googleMapsLinks/{name}Uri"));
        url.or_else(uri).and_then(maps_url).map(str::to_owned)
    };
    Some(PlaceCard {
        place_id: place_id.to_owned(),
        title: text(place, "/attribution/title")?.to_owned(),
        place_url: link("place")?,
        directions_url: link("directions")?,
        location: location(place),
        index,
    })
}

fn location(place: &Value) -> Option<(f64, f64)> {
    let number = |name: &str| place.pointer(&format!("/location/{name}"))?.as_f64();
    let (latitude, longitude) = (number("latitude")?, number("longitude")?);
    let on_earth = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
    on_earth.then_some((latitude, longitude))
}

/// The cards to show beside an answer, at most [`MAX_CARDS`]: the places it names or cites, by all its searches (oldest first); where it
/// names none, those of the last search.
#[must_use]
pub fn choose(searches: &[Vec<PlaceCard>], answer: &str) -> Vec<PlaceCard> {
    let Some(last) = searches.last() else {
        return Vec::new();
    };
    let lower = answer.to_lowercase();
    let named = |card: &&PlaceCard| {
        lower.contains(&card.title.to_lowercase())
            || answer.contains(&card.place_id)
            || answer.contains(&card.place_url)
    };
    let cited = |card: &&PlaceCard| answer.contains(&format!("[{}]", card.index));
    let mut found: Vec<PlaceCard> = Vec::new();
    // Citations count from the result they came with: the last one.
    let mentioned = last
        .iter()
        .filter(|card| named(card) || cited(card))
        .chain(searches.iter().rev().skip(1).flatten().filter(named));
    for card in mentioned {
        if !found.iter().any(|known| known.place_id == card.place_id) {
            found.push(card.clone());
        }
    }
    if found.is_empty() {
        found.clone_from(last);
    }
    found.truncate(MAX_CARDS);
    found
}
