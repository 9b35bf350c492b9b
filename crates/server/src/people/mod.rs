//! The pages people sign in with: plain forms, without script.

mod account;
mod approvals;
pub(crate) mod browser;
pub(crate) mod html;
mod invitation;
#[expect(clippy::module_inception, reason = "it is the page of that name")]
mod people;
mod return_to;
mod sign_in;
mod visible;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use gateway::{Failure, FailureKind};
use http::StatusCode;
use identity::password::HashError;
use identity::{Begun, Refused};

use crate::problem::Problem;
use crate::state::AppState;

/// Largest form, in bytes.
const MOST: usize = 32 * 1024;

pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/sign-in", get(sign_in::form).post(sign_in::sign_in))
        .route("/sign-out", post(sign_in::sign_out))
        .route(
            "/invitations/{token}",
            get(invitation::form).post(invitation::accept),
        )
        .route("/approvals", get(approvals::list))
        .route(
            "/approvals/{approval}",
            get(approvals::show).post(approvals::answer),
        )
        .route("/people", get(people::show).post(people::invite))
        .route("/people/{member}", post(people::change))
        .route("/account", get(account::show))
        .route("/account/password", post(account::password))
        .route("/account/sessions/{session}/end", post(account::end))
        .layer(DefaultBodyLimit::max(MOST))
}

/// Signs the browser in and sends the person on. Whatever session it had before is not the one it has now.
fn enter(state: &AppState, begun: &Begun, to: &str) -> Response {
    let mut response = Redirect::to(to).into_response();
    browser::keep(state, &mut response, &begun.token);
    response
}

/// The status of a form that comes back, and the field that is wrong; an error where it is our fault.
fn told(refused: Refused) -> Result<(StatusCode, &'static str, String, Option<u64>), Problem> {
    let text = refused.to_string();
    match refused {
        Refused::Wrong => Ok((StatusCode::FORBIDDEN, "password", text, None)),
        Refused::Throttled(wait) => Ok((
            StatusCode::TOO_MANY_REQUESTS,
            "password",
            text,
            Some(wait.as_secs() + 1),
        )),
        Refused::Weak(_) => Ok((StatusCode::UNPROCESSABLE_ENTITY, "password", text, None)),
        Refused::Invalid { field, .. } => Ok((StatusCode::UNPROCESSABLE_ENTITY, field, text, None)),
        Refused::Taken => Ok((StatusCode::CONFLICT, "email", text, None)),
        Refused::Gone => Ok((StatusCode::NOT_FOUND, "", text, None)),
        Refused::Hash(HashError::Busy) => Ok((StatusCode::SERVICE_UNAVAILABLE, "", text, Some(5))),
        Refused::Store(error) if error.is_passing() => Err(Problem(Failure::new(
            FailureKind::Unavailable,
            "record.unavailable",
            "the database takes nothing at the moment, so nothing was done; try again later",
        ))),
        other => Err(Problem(Failure::internal("signing in failed", other))),
    }
}
