//! `/authorize` (OAuth 2.1 section 3.1): where clients send the browser.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pending::Owner;
use crate::authorization_server::request::AuthorizeQuery;
use crate::authorization_server::session::Visitor;

/// Takes a request and lets it wait for the owner. Whatever the request is worth, a
/// browser that nobody has signed in with is sent no further than to our own pages
/// (OAuth 2.1 section 7.13.2, checklist #28).
pub(super) async fn ask(
    State(server): State<AuthorizationServer>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = AuthorizeQuery::parse(query.unwrap_or_default().as_bytes())?;
    let settings = server.settings();
    let client = server.client_to_ask_for(query.client_id()?).await?;
    let judgement = query.judge(client, &settings.resource, &settings.clients)?;
    let owner = visitor.owner();
    let name = server.browsing().pending.add(judgement, visitor.cookie().key(), owner);
    let next = match owner {
        Owner::SignedIn => name.at("/consent"),
        Owner::Unknown => name.at("/login"),
    };
    Ok(visitor.with_cookie(&settings.issuer, Redirect::to(&next)))
}

/// Takes the same as a form. The form comes from another site, so our cookie does not
/// come with it; it does with the GET that we turn it into.
pub(super) async fn ask_by_form(PostedForm(body): PostedForm) -> Result<Response, PageError> {
    let query = AuthorizeQuery::parse(&body)?;
    Ok(Redirect::to(&format!("/authorize?{}", query.encoded())).into_response())
}
