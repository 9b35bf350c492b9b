//! Results in the shapes that Google publishes, and such as must not be shown.

use serde_json::{Value, json};

use super::maps_url::maps_url;
use super::{MAX_CARDS, Measure, PlaceCard, Unpresentable, choose, places, weather};

fn place(id: &str, title: &str) -> Value {
    json!({
        "place": format!("places/{id}"),
        "id": id,
        "location": { "latitude": 38.7, "longitude": -9.1 },
        "googleMapsLinks": {
            "placeUrl": format!("https://maps.google.com/?cid={id}"),
            "directionsUrl": format!("https://www.google.com/maps/dir//'{id}'"),
            "reviewsUrl": "https://www.google.com/maps/place//data=!4m4",
        },
        "attribution": { "title": title, "url": format!("https://maps.google.com/?cid={id}") },
    })
}

fn found(places: Value) -> Value {
    json!({ "content": [], "structuredContent": { "places": places, "summary": "Two cafes [0] [1]." } })
}

// V117
#[test]
fn places_become_cards() {
    let cards = places(&found(json!([
        place("ChIJa", "Cafe A"),
        place("ChIJb", "Cafe B")
    ])))
    .unwrap();
    assert_eq!(cards.len(), 2);
    assert_eq!(
        cards[0],
        PlaceCard {
            place_id: "ChIJa".into(),
            title: "Cafe A".into(),
            place_url: "https://maps.google.com/?cid=ChIJa".into(),
            directions_url: "https://www.google.com/maps/dir//'ChIJa'".into(),
            location: Some((38.7, -9.1)),
            index: 0,
        }
    );
    assert_eq!(places(&json!({ "isError": true })), Err(Unpresentable::Failed));
    assert_eq!(
        places(&json!({ "content": [{ "type": "text", "text": "{}" }] })),
        Err(Unpresentable::NoStructure)
    );
    assert_eq!(places(&found(json!([]))), Ok(Vec::new()));
}

// V118: each stands for itself, and nothing is made up.
#[test]
fn incomplete_places_are_left_out_alone() {
    let without = |pointer: &str| {
        let mut broken = place("ChIJx", "Broken");
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = broken.pointer_mut(parent).unwrap();
        parent.as_object_mut().unwrap().remove(key);
        broken
    };
    let with = |pointer: &str, value: Value| {
        let mut broken = place("ChIJx", "Broken");
        *broken.pointer_mut(pointer).unwrap() = value;
        broken
    };
    for broken in [
        without("/attribution/title"),
        without("/googleMapsLinks/placeUrl"),
        without("/googleMapsLinks/directionsUrl"),
        with("/attribution/title", json!("  ")),
        with("/googleMapsLinks/placeUrl", json!("https://evil.example/maps")),
        with("/googleMapsLinks", json!("text")),
        with("/id", json!("../x")),
        json!(7),
    ] {
        let cards = places(&found(json!([broken, place("ChIJb", "Cafe B")]))).unwrap();
        let shown: Vec<(&str, usize)> = cards.iter().map(|card| (&*card.title, card.index)).collect();
        assert_eq!(shown, [("Cafe B", 1)], "{broken}");
    }
    for (kept, expected) in [
        (without("/location"), None),
        (with("/location/latitude", json!(91)), None),
        (with("/location/longitude", json!("0")), None),
    ] {
        let cards = places(&found(json!([kept]))).unwrap();
        assert_eq!(cards[0].location, expected, "{kept}");
    }
    let mut newer = place("ChIJn", "Newer");
    newer["googleMapsLinks"] = json!({ "placeUri": "https://maps.google.com/?cid=1", "directionsUri": "https://www.google.com/maps/dir/x" });
    newer.as_object_mut().unwrap().remove("id");
    let cards = places(&found(json!([newer]))).unwrap();
    assert_eq!(
        (&*cards[0].place_id, &*cards[0].place_url),
        ("ChIJn", "https://maps.google.com/?cid=1")
    );
}

// V119
#[test]
fn only_links_to_maps_are_shown() {
    for (url, shown) in [
        ("https://maps.google.com/?cid=123", true),
        ("https://maps.google.com:443/?cid=123", true),
        ("https://maps.app.goo.gl/abc", true),
        ("https://www.google.com/maps/dir//a", true),
        ("https://google.com/maps", true),
        (
            "https://www.google.com/maps/search/?api=1&query=x&query_place_id=ChIJ",
            true,
        ),
        ("http://maps.google.com/?cid=123", false),
        ("https://maps.google.com:8443/?cid=123", false),
        ("https://user@maps.google.com/", false),
        ("https://maps.google.com/?cid=1#fragment", false),
        ("https://www.google.com/url?q=https://evil.example", false),
        ("https://www.google.com/mapsx", false),
        ("https://www.google.com/maps/../url?q=x", false),
        ("https://maps.google.com.evil.example/", false),
        ("https://evil.example/maps.google.com", false),
        ("https://maps.google.com/?key=AIza", false),
        ("https://maps.google.com/?api_key=x", false),
        ("https://maps.google.com/?apiKey=x", false),
        ("https://maps.google.com/?access_token=x", false),
        ("https://maps.google.com/?client_secret=x", false),
        ("javascript:alert(1)", false),
        ("https://maps.google.com/\\evil", false),
        ("not a url", false),
    ] {
        assert_eq!(maps_url(url).is_some(), shown, "{url}");
    }
}

// V121
#[test]
fn at_most_six_cards_and_the_named_ones_first() {
    let search = |from: usize, count: usize| -> Vec<PlaceCard> {
        let all: Vec<Value> = (from..from + count)
            .map(|n| place(&format!("ChIJ{n}x"), &format!("Cafe {n}!")))
            .collect();
        places(&found(json!(all))).unwrap()
    };
    let (old, new) = (search(0, 8), search(10, 8));
    let titles = |searches: &[Vec<PlaceCard>], answer: &str| -> Vec<String> {
        choose(searches, answer)
            .into_iter()
            .map(|card| card.title)
            .collect()
    };
    let both = [old.clone(), new];
    assert_eq!(
        titles(&both, "Here is what I found."),
        [
            "Cafe 10!", "Cafe 11!", "Cafe 12!", "Cafe 13!", "Cafe 14!", "Cafe 15!"
        ]
    );
    assert_eq!(titles(&both, "I like CAFE 13! best."), ["Cafe 13!"]);
    // Cited places are those of the last search; named ones may be of any.
    assert_eq!(titles(&both, "This one [2], or Cafe 3!"), ["Cafe 12!", "Cafe 3!"]);
    let everything = (0..8).map(|n| format!("[{n}]")).collect::<String>();
    assert_eq!(titles(&both, &everything).len(), MAX_CARDS);
    assert_eq!(titles(&[old.clone(), old], "Cafe 1! and Cafe 1!"), ["Cafe 1!"]);
    assert!(titles(&[], "x").is_empty());
}

// The published shapes of a moment and of a day; every part may be missing.
#[test]
fn the_weather_is_read_as_far_as_it_is_said() {
    let degrees = |degrees: f64| {
        Some(Measure {
            value: degrees,
            unit: Some("CELSIUS".into()),
        })
    };
    let moment = json!({ "structuredContent": {
        "weatherCondition": { "type": "PARTLY_CLOUDY", "description": { "text": "Partly sunny", "languageCode": "en" } },
        "returnedLocation": { "address": "Lisbon, Portugal" },
        "temperature": { "degrees": 17.5, "unit": "CELSIUS" },
        "feelsLikeTemperature": { "degrees": 17, "unit": "CELSIUS" },
        "precipitation": { "probability": { "percent": 20, "type": "RAIN" } },
        "wind": { "direction": { "degrees": 315, "cardinal": "NORTHWEST" }, "speed": { "value": 14, "unit": "KILOMETERS_PER_HOUR" } },
        "relativeHumidity": 61, "uvIndex": 3, "cloudCover": 40,
        "attribution": { "title": "Google Maps", "url": "https://maps.google.com/?cid=1" },
    } });
    let read = weather(&moment).unwrap();
    assert_eq!(read.description.as_deref(), Some("Partly sunny"));
    assert_eq!(
        (read.temperature, read.feels_like, read.highest),
        (degrees(17.5), degrees(17.0), None)
    );
    assert_eq!(
        (read.precipitation_percent, read.humidity_percent, read.uv_index),
        (Some(20), Some(61), Some(3))
    );
    assert_eq!(read.wind.unwrap().cardinal.as_deref(), Some("NORTHWEST"));
    assert_eq!(
        read.attribution,
        Some((
            "Google Maps".into(),
            Some("https://maps.google.com/?cid=1".into())
        ))
    );
    let day = json!({ "structuredContent": {
        "maxTemperature": { "degrees": 21, "unit": "CELSIUS" },
        "minTemperature": { "degrees": 12, "unit": "CELSIUS" },
        "sunEvents": { "sunriseTime": "2026-12-01T07:36:00Z", "sunsetTime": "2026-12-01T17:15:00Z" },
        "relativeHumidity": 300,
        "attribution": { "title": "Google Maps", "url": "https://evil.example" },
    } });
    let read = weather(&day).unwrap();
    assert_eq!(
        (read.temperature, read.highest, read.lowest),
        (None, degrees(21.0), degrees(12.0))
    );
    assert_eq!(read.sun.0.as_deref(), Some("2026-12-01T07:36:00Z"));
    assert_eq!((read.humidity_percent, read.wind), (None, None));
    assert_eq!(read.attribution, Some(("Google Maps".into(), None)));
    assert_eq!(
        weather(&json!({ "structuredContent": {} })),
        Ok(super::Weather::default())
    );
    assert_eq!(
        weather(&json!({ "content": [] })),
        Err(Unpresentable::NoStructure)
    );
}
