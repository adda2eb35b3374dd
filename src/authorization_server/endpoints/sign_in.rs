//! `/login`: who are you?

use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Extension, IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::error::Outcome;
use crate::authorization_server::own_page::OwnPage;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pages::{Asker, SignInPage, UserField, WelcomePage, page};
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::password::Password;
use crate::authorization_server::pending::{PendingName, Shown};
use crate::authorization_server::session::Visitor;
use crate::authorization_server::sign_in::SignInError;
use crate::peer::Peer;

/// Where somebody is sent who wants to see the account and has not signed in.
pub(super) const FOR_ACCOUNT: &str = "/login?to=account";

/// Shows the form, unless there is nothing to sign in for: then it shows who is
/// signed in, or goes on to what waits.
pub(super) async fn show(
    State(server): State<AuthorizationServer>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let destination = Destination::in_query(query.as_deref());
    let response = match (visitor.user(), &destination) {
        (Some(user), Destination::Welcome) => {
            let form_token = visitor.cookie().form_token();
            let resource = &server.settings().resource;
            page(StatusCode::OK, &WelcomePage { resource, user, form_token })
        }
        (Some(_), Destination::Account) => Redirect::to("/account").into_response(),
        (_, Destination::Request(request)) if visitor.fresh_owner(&server).is_some() => {
            Redirect::to(&request.at("/consent")).into_response()
        }
        _ => form(&server, &visitor, &destination, Attempt::First).await?,
    };
    Ok(visitor.with_cookie(&server.settings().issuer, response))
}

/// Signs in, and goes on to what waits for the owner.
pub(super) async fn answer(
    State(server): State<AuthorizationServer>,
    _own: OwnPage,
    visitor: Visitor,
    peer: Peer,
    RawQuery(query): RawQuery,
    PostedForm(body): PostedForm,
) -> Result<Response, PageError> {
    let fields = Parameters::parse(&body)?;
    visitor.check_form_token(fields.single("form")?)?;
    let destination = Destination::in_query(query.as_deref());
    let user = fields.single("user")?.unwrap_or_default();
    let password = Password::typed(fields.single("password")?.unwrap_or_default());
    let failure = match server.sign_in(user, password, (&visitor, peer)).await {
        Ok(signed_in) => match server.start_session(&visitor, signed_in).await? {
            Some(begun) => {
                let outcome = Extension(Outcome::fine("signed in".to_owned()));
                let next = Redirect::to(&destination.once_signed_in());
                return Ok((outcome, begun.set_cookies(), next).into_response());
            }
            None => Attempt::Wrong { user },
        },
        Err(SignInError::Busy) => return Err(PageError::Busy),
        Err(SignInError::Store(error)) => return Err(error.into()),
        Err(SignInError::Wrong) => Attempt::Wrong { user },
        Err(SignInError::Wait(wait)) => Attempt::TooMany { user, seconds: wait.seconds() },
    };
    form(&server, &visitor, &destination, failure).await
}

/// Where somebody goes who has signed in. One of our own pages, whatever the query says.
enum Destination {
    Welcome,
    Account,
    Request(PendingName),
}

impl Destination {
    fn in_query(query: Option<&str>) -> Self {
        let is_account = || query.is_some_and(|query| query == "to=account");
        match PendingName::in_query(query) {
            Some(request) => Self::Request(request),
            None if is_account() => Self::Account,
            None => Self::Welcome,
        }
    }

    const fn request(&self) -> Option<&PendingName> {
        match self {
            Self::Request(request) => Some(request),
            Self::Welcome | Self::Account => None,
        }
    }

    fn form_action(&self) -> String {
        match self {
            Self::Welcome => "/login".to_owned(),
            Self::Account => FOR_ACCOUNT.to_owned(),
            Self::Request(request) => request.at("/login"),
        }
    }

    fn once_signed_in(&self) -> String {
        match self {
            Self::Welcome => "/login".to_owned(),
            Self::Account => "/account".to_owned(),
            Self::Request(request) => request.at("/consent"),
        }
    }
}

/// How the sign-in went so far.
enum Attempt<'a> {
    First,
    Wrong { user: &'a str },
    TooMany { user: &'a str, seconds: u64 },
}

async fn form(
    server: &AuthorizationServer,
    visitor: &Visitor,
    destination: &Destination,
    attempt: Attempt<'_>,
) -> Result<Response, PageError> {
    if !server.store().read(|store| Ok(store.has_users())).await? {
        return Err(PageError::NoOwner);
    }
    let (typed, problem) = match &attempt {
        Attempt::First => ("", None),
        Attempt::Wrong { user } => {
            let what = match &*server.settings().users {
                [_] => "The password is",
                _ => "The user name or the password is",
            };
            (*user, Some(format!("{what} not right. Please try again.")))
        }
        Attempt::TooMany { user, seconds } => {
            let problem = format!("Too many tries. Please wait {seconds} s and try again.");
            (*user, Some(problem))
        }
    };
    let user_field = match &*server.settings().users {
        [only] => UserField::Preset(only.clone()),
        _ => UserField::Asked(typed.to_owned()),
    };
    let waiting = destination.request().and_then(|name| {
        let shown = server.browsing().pending.show(name, visitor.cookie().key())?;
        match shown {
            Shown::Request(request) => Some(Asker::of(&request)),
            Shown::Refusal => None,
        }
    });
    let template = SignInPage {
        issuer: &server.settings().issuer,
        action: destination.form_action(),
        form_token: visitor.cookie().form_token(),
        user_field,
        asker: waiting,
        problem,
    };
    Ok(match attempt {
        Attempt::First => page(StatusCode::OK, &template),
        Attempt::Wrong { .. } => {
            let outcome = Outcome::suspicious("refused: user name and password do not fit");
            (Extension(outcome), page(StatusCode::FORBIDDEN, &template)).into_response()
        }
        Attempt::TooMany { seconds, .. } => {
            let outcome = Outcome::one_of_many("refused: too many tries".to_owned());
            let page = page(StatusCode::TOO_MANY_REQUESTS, &template);
            (Extension(outcome), [(header::RETRY_AFTER, seconds)], page).into_response()
        }
    })
}
