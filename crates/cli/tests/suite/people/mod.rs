//! People: the first Owner, invitations, roles, passwords and browsers, through the pages as a browser uses them.

mod client;
mod door;
mod roles;

use http::{Method, StatusCode};
use testkit::http::Answer;

use crate::house::House;

/// The first Owner's address.
pub(crate) const OWNER: &str = "owner@example.com";
/// The first Owner's password.
pub(crate) const PASSWORD: &str = "four words nobody joins";

/// A browser somebody is signed in with.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// What it keeps.
    pub(crate) cookie: String,
}

impl Person {
    /// Opens a page.
    pub(crate) async fn get(&self, house: &House, url: &str) -> Answer {
        browse(house, &self.cookie, url).await
    }

    /// Sends a form of a page.
    pub(crate) async fn post(&self, house: &House, url: &str, fields: &[(&str, &str)]) -> Answer {
        send_form(house, &self.cookie, url, fields).await
    }
}

/// The first Owner, who comes by the link of the start, and later with a password.
pub(crate) async fn owner(house: &House) -> Person {
    house.owner.get_or_init(|| arrive(house)).await.clone()
}

async fn arrive(house: &House) -> Person {
    if let Ok(person) = sign_in(house, OWNER, PASSWORD).await {
        return person;
    }
    let fields = [("email", OWNER), ("name", "Olive Owner"), ("password", PASSWORD)];
    let accepted = accept(house, &house.owner_link, &fields).await;
    accepted.unwrap_or_else(|answer| panic!("no Owner: {}\n{}", text(&answer), house.log()))
}

/// Signs somebody in; what the page says where it does not.
pub(crate) async fn sign_in(house: &House, email: &str, password: &str) -> Result<Person, Box<Answer>> {
    let url = format!("{}/sign-in", house.url);
    entered(send_form(house, "", &url, &[("email", email), ("password", password)]).await)
}

/// Accepts an invitation by its token.
pub(crate) async fn accept(
    house: &House,
    token: &str,
    fields: &[(&str, &str)],
) -> Result<Person, Box<Answer>> {
    let url = format!("{}/invitations/{token}", house.url);
    entered(send_form(house, "", &url, fields).await)
}

fn entered(answer: Answer) -> Result<Person, Box<Answer>> {
    if answer.status != StatusCode::SEE_OTHER {
        return Err(Box::new(answer));
    }
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(
        cookie.contains("; HttpOnly; SameSite=Lax") && cookie.contains("Path=/;"),
        "{cookie}"
    );
    Ok(Person {
        cookie: cookie.split(';').next().unwrap().to_owned(),
    })
}

/// Opens a page with these cookies.
pub(crate) async fn browse(_house: &House, cookie: &str, url: &str) -> Answer {
    let headers = [("cookie", cookie)];
    testkit::http::send(Method::GET, url, &headers, "").await.unwrap()
}

/// Sends a form as a page of the server does.
pub(crate) async fn send_form(house: &House, cookie: &str, url: &str, fields: &[(&str, &str)]) -> Answer {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let headers = [
        ("cookie", cookie),
        ("origin", house.url.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    testkit::http::send(Method::POST, url, &headers, body)
        .await
        .unwrap()
}

/// An answer as text.
pub(crate) fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}
