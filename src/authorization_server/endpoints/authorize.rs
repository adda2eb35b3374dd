//! `/authorize` (OAuth 2.1 section 3.1): where clients send the browser.

use axum::extract::{RawQuery, State};
use axum::response::{Extension, IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::endpoints::log::about_app;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::error::Outcome;
use crate::authorization_server::limits::Asking;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pending::Owner;
use crate::authorization_server::request::AuthorizeQuery;
use crate::authorization_server::session::Visitor;
use crate::peer::Peer;

/// Takes a request and lets it wait for the owner. Whatever the request is worth, a
/// browser that nobody has signed in with is sent no further than to our own pages
/// (OAuth 2.1 section 7.13.2, checklist #28).
pub(super) async fn ask(
    State(server): State<AuthorizationServer>,
    visitor: Visitor,
    peer: Peer,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = AuthorizeQuery::parse(query.unwrap_or_default().as_bytes())?;
    let settings = server.settings();
    let known = server.known_browser(visitor.device()).await?;
    // Before anything is looked up, or fetched from elsewhere.
    server.limits().authorize(known.map_or(Asking::Stranger(peer), Asking::KnownBrowser))?;
    let client = server.client_to_ask_for(query.client_id()?).await?;
    about_app(&client.id);
    let judgement = query.judge(client, &settings.resource, &settings.clients)?;
    let outcome = match &judgement {
        Ok(_) => "the request waits for the user".to_owned(),
        Err(refusal) => format!("refused once the user is known: {}", refusal.reason()),
    };
    let (owner, next) = match (visitor.user(), known) {
        (Some(_), _) => (Owner::SignedIn, "/consent"),
        (None, Some(_)) => (Owner::SignedInBefore, "/login"),
        (None, None) => (Owner::Unknown, "/login"),
    };
    let browser = visitor.cookie().key();
    let name = server.browsing().pending.add(judgement, browser, (owner, peer));
    let answer = (Extension(Outcome::fine(outcome)), Redirect::to(&name.at(next)));
    Ok(visitor.with_cookie(&settings.issuer, answer))
}

/// Takes the same as a form. The form comes from another site, so our cookie does not
/// come with it; it does with the GET that we turn it into.
pub(super) async fn ask_by_form(PostedForm(body): PostedForm) -> Result<Response, PageError> {
    let query = AuthorizeQuery::parse(&body)?;
    Ok(Redirect::to(&format!("/authorize?{}", query.encoded())).into_response())
}
