//! `/logout`: ends a browser session, here and not only in the browser.

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pages::{SignOutPage, page};
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::pending::PendingName;
use crate::authorization_server::session::{OwnPage, Visitor};

/// Asks first: a GET changes nothing.
pub(super) async fn show(visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    if visitor.user().is_none() {
        return Redirect::to("/login").into_response();
    }
    let request = PendingName::in_query(query.as_deref());
    let action = request.map_or("/logout".to_owned(), |request| request.at("/logout"));
    page(StatusCode::OK, &SignOutPage { action, form_token: visitor.cookie().form_token() })
}

/// Signs out. What waits for an answer can be answered by who signs in next.
pub(super) async fn answer(
    State(server): State<AuthorizationServer>,
    _own: OwnPage,
    visitor: Visitor,
    RawQuery(query): RawQuery,
    PostedForm(body): PostedForm,
) -> Result<Response, PageError> {
    let fields = Parameters::parse(&body)?;
    visitor.check_form_token(fields.single("form")?)?;
    let cookie = server.end_session(&visitor).await?;
    let request = PendingName::in_query(query.as_deref());
    let next = request.map_or("/login".to_owned(), |request| request.at("/login"));
    Ok(([cookie.set_cookie(&server.settings().issuer)], Redirect::to(&next)).into_response())
}
