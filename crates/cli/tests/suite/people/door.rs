//! Who comes in, and who does not.

use http::{Method, StatusCode};
use serde_json::json;

use super::{OWNER, PASSWORD, accept, owner, send_form, sign_in, text};
use crate::house::House;
use crate::scene::{Kind, Scene};
use crate::sign_in::rest;

/// What is written into the form, the status, and words of the answer.
type Refused<'a> = (&'a [(&'a str, &'a str)], u16, &'a str);

#[tokio::test(flavor = "multi_thread")]
async fn the_first_owner_comes_once() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(mut scene) = Scene::start(kind, "").await else {
            continue;
        };
        first_owner(&mut scene.house).await;
    }
}

async fn first_owner(house: &mut House) {
    let link = house.owner_link.clone();
    assert!(link.starts_with("sb_invitation_"), "{}", house.told);
    let page = format!("{}/invitations/{link}", house.url);
    let shown = super::browse(house, "", &page).await;
    let html = text(&shown);
    assert!(
        html.contains("Become the first Owner") && html.contains("autocomplete=\"new-password\""),
        "{html}"
    );
    // What is wrong is said at its field, and nothing is lost but the password.
    let refused: &[Refused<'_>] = &[
        (
            &[("email", "nobody"), ("name", "N"), ("password", PASSWORD)],
            422,
            "no e-mail address",
        ),
        (
            &[("email", OWNER), ("name", " "), ("password", PASSWORD)],
            422,
            "a name of",
        ),
        (
            &[("email", OWNER), ("name", "N"), ("password", "short")],
            422,
            "fewer than 12",
        ),
        (
            &[("email", OWNER), ("name", "N"), ("password", "owner@example.com")],
            422,
            "mostly your address",
        ),
        (
            &[("email", OWNER), ("name", "N"), ("password", "aaaaaaaaaaaaaaa")],
            422,
            "repeats itself",
        ),
    ];
    for (fields, status, words) in refused {
        let answer = accept(house, &link, fields).await.unwrap_err();
        let html = text(&answer);
        assert_eq!(answer.status, *status, "{fields:?}: {html}");
        assert!(
            html.contains(words) && html.contains("aria-invalid"),
            "{fields:?}: {html}"
        );
        assert!(!html.contains(fields[2].1) || fields[2].1 == OWNER, "{html}");
    }
    let person = owner(house).await;
    let account = person.get(house, &format!("{}/account", house.url)).await;
    assert!(
        text(&account).contains("Olive Owner") && text(&account).contains("owner"),
        "{}",
        text(&account)
    );
    // Spent.
    let fields = [
        ("email", "second@example.com"),
        ("name", "S"),
        ("password", PASSWORD),
    ];
    let again = accept(house, &link, &fields).await.unwrap_err();
    assert_eq!(again.status, StatusCode::NOT_FOUND, "{}", text(&again));
    for made_up in [
        link.replace("sb_invitation_", "sb_admin_"),
        format!("{}AA", link.get(..link.len() - 2).unwrap()),
    ] {
        let answer = accept(house, &made_up, &fields).await.unwrap_err();
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", text(&answer));
    }
    // Who is there stays there, and no start asks for an Owner again.
    house.stop();
    house.again();
    assert!(!house.told.contains("/invitations/"), "{}", house.told);
    let account = person.get(house, &format!("{}/account", house.url)).await;
    assert_eq!(account.status, StatusCode::OK, "{}", text(&account));
    // A link that nobody used is worth nothing after the next start.
    let record = house.json(&["audit", "list", "--limit", "100"]).to_string();
    assert!(
        record.contains("invitations.accept") && record.contains("sessions.begin"),
        "{record}"
    );
    assert!(!record.contains(PASSWORD) && !house.log().contains(PASSWORD) && !house.log().contains(&link));
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_come_and_go() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(scene) = Scene::start(kind, "").await else {
            continue;
        };
        browsers(&scene.house).await;
    }
}

async fn browsers(house: &House) {
    let account = format!("{}/account", house.url);
    let first = owner(house).await;
    // Whoever is not signed in is sent to the page for it, and back.
    let away = super::browse(house, "", &account).await;
    assert_eq!(away.status, StatusCode::SEE_OTHER);
    assert_eq!(away.headers["location"], "/sign-in?return_to=%2Faccount");
    for cookie in ["switchboard_session=", "switchboard_session=sb_session_x_y"] {
        assert_eq!(
            super::browse(house, cookie, &account).await.status,
            StatusCode::SEE_OTHER
        );
    }
    let twice = format!("{}; {}", first.cookie, first.cookie);
    assert_eq!(
        super::browse(house, &twice, &account).await.status,
        StatusCode::SEE_OTHER
    );
    // Capitals do not matter in an address, and an unknown one is told as little as a wrong password.
    let second = sign_in(house, "OWNER@example.com", PASSWORD).await.unwrap();
    assert_ne!(first.cookie, second.cookie);
    let mut said = Vec::new();
    for (email, password) in [(OWNER, "another long password"), ("nobody@example.com", PASSWORD)] {
        let refused = sign_in(house, email, password).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        said.push(text(&refused).replace(email, ""));
    }
    assert_eq!(said[0], said[1]);
    // A new password signs the other browser out; the old one is needed for it.
    let form = format!("{account}/password");
    let wrong = [
        ("old_password", "not this one at all"),
        ("password", "five words that never meet"),
    ];
    assert_eq!(
        second.post(house, &form, &wrong).await.status,
        StatusCode::FORBIDDEN
    );
    let right = [
        ("old_password", PASSWORD),
        ("password", "five words that never meet"),
    ];
    let changed = second.post(house, &form, &right).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", text(&changed));
    assert_eq!(first.get(house, &account).await.status, StatusCode::SEE_OTHER);
    assert_eq!(second.get(house, &account).await.status, StatusCode::OK);
    assert!(sign_in(house, OWNER, PASSWORD).await.is_err());
    // Signed out, the cookie is worth nothing, wherever it was copied to.
    let out = second.post(house, &format!("{}/sign-out", house.url), &[]).await;
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(second.get(house, &account).await.status, StatusCode::SEE_OTHER);
    // Nobody tries for ever: after a few tries a wait is asked for, whatever the password.
    let mut waits = 0;
    for _ in 0..6 {
        if let Err(refused) = sign_in(house, "guessed@example.com", "some long guess").await {
            waits += i32::from(
                refused.status == StatusCode::TOO_MANY_REQUESTS
                    && refused.headers.contains_key("retry-after"),
            );
        }
    }
    assert!(waits >= 1, "six tries without a wait");
}

/// Forms of other sites do nothing, and cookies open nothing but pages.
#[tokio::test(flavor = "multi_thread")]
async fn forms_of_others() {
    let house = House::start(&["--no-sample"]);
    let person = owner(&house).await;
    let out = format!("{}/sign-out", house.url);
    let cookie = person.cookie.as_str();
    let from: &[&[(&str, &str)]] = &[
        &[],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://127.0.0.1:1")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("origin", &house.url), ("sec-fetch-site", "cross-site")],
    ];
    for headers in from {
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain([("cookie", cookie)]).collect();
        for url in [
            &out,
            &format!("{}/sign-in", house.url),
            &format!("{}/oauth/authorize", house.url),
        ] {
            let refused = testkit::http::send(Method::POST, url, &headers, "")
                .await
                .unwrap();
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{url} {headers:?}");
        }
    }
    let api = format!("{}/api/v1/agents", house.url);
    let by_cookie = testkit::http::send(Method::GET, &api, &[("cookie", cookie)], "")
        .await
        .unwrap();
    assert_eq!(by_cookie.status, StatusCode::UNAUTHORIZED);
    let token = cookie.split_once('=').unwrap().1;
    let as_key = rest(&house, token, (Method::GET, "/agents"), &json!(null)).await;
    assert_eq!(as_key.status, StatusCode::UNAUTHORIZED);
    let account = person.get(&house, &format!("{}/account", house.url)).await;
    assert_eq!(account.status, StatusCode::OK, "still signed in");
    // Where a person goes on to after signing in is a page of ours, whatever the link said.
    let url = format!("{}/sign-in", house.url);
    for (to, want) in [("//evil.example", "/account"), ("/account?x=1", "/account?x=1")] {
        let fields = [("email", OWNER), ("password", PASSWORD), ("return_to", to)];
        let entered = send_form(&house, "", &url, &fields).await;
        assert_eq!(entered.headers["location"], want);
    }
}
