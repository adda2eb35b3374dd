//! `/login`: who are you?

use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Extension, IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::error::Outcome;
use crate::authorization_server::own_page::OwnPage;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pages::{
    Asker, PASSKEY_POLICY, SignInPage, UserField, WelcomePage, page,
};
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::passkey::{ChallengeFault, PasskeyFault};
use crate::authorization_server::passkeys::PasskeyRefused;
use crate::authorization_server::password::Password;
use crate::authorization_server::pending::{PendingName, Shown};
use crate::authorization_server::session::Visitor;
use crate::authorization_server::sign_in::{SignInError, SignedIn};
use crate::peer::Peer;

/// Where somebody is sent who wants to see the account and has not signed in.
pub(super) const FOR_ACCOUNT: &str = "/login?to=account";
/// Where somebody is sent who wants to change passkeys and has not signed in just now.
pub(super) const FOR_PASSKEYS: &str = "/login?to=passkeys";

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
        (_, Destination::Passkeys | Destination::Request(_))
            if visitor.fresh_owner(&server).is_some() =>
        {
            Redirect::to(&destination.once_signed_in()).into_response()
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
    let destination = Destination::in_query(query.as_deref());
    if let Err(foreign) = visitor.check_form_token(fields.single("form")?) {
        // A form in a second tab, of before the user signed in in the first. What was typed
        // is not looked at: whoever made this browser send it gets it no further than a
        // link would.
        return match visitor.user() {
            Some(_) => Ok(Redirect::to(&destination.once_signed_in()).into_response()),
            None => Err(foreign),
        };
    }
    let browser = (&visitor, peer);
    let (shown, overtaken) = if let Some(response) = fields.single("passkey")? {
        (show_passkey(&server, browser, response).await?, Attempt::NoPasskey)
    } else {
        let user = fields.single("user")?.unwrap_or_default();
        let password = Password::typed(fields.single("password")?.unwrap_or_default());
        (show_password(&server, browser, user, password).await?, Attempt::Wrong { user })
    };
    let failure = match shown {
        Ok(signed_in) => match server.start_session(&visitor, signed_in).await? {
            Some(begun) => {
                let outcome = Extension(Outcome::fine("signed in".to_owned()));
                let next = Redirect::to(&destination.once_signed_in());
                return Ok((outcome, begun.set_cookies(), next).into_response());
            }
            None => overtaken,
        },
        Err(failure) => failure,
    };
    form(&server, &visitor, &destination, failure).await
}

async fn show_password<'a>(
    server: &AuthorizationServer,
    browser: (&Visitor, Peer),
    user: &'a str,
    password: Password,
) -> Result<Result<SignedIn, Attempt<'a>>, PageError> {
    match server.sign_in(user, password, browser).await {
        Ok(signed_in) => Ok(Ok(signed_in)),
        Err(SignInError::Busy) => Err(PageError::Busy),
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(SignInError::Wrong) => Ok(Err(Attempt::Wrong { user })),
        Err(SignInError::Wait(wait)) => Ok(Err(Attempt::TooMany { user, seconds: wait.seconds() })),
    }
}

async fn show_passkey(
    server: &AuthorizationServer,
    browser: (&Visitor, Peer),
    response: &str,
) -> Result<Result<SignedIn, Attempt<'static>>, PageError> {
    match server.sign_in_with_passkey(response, browser).await {
        Ok(signed_in) => Ok(Ok(signed_in)),
        Err(PasskeyRefused::Store(error)) => Err(error.into()),
        Err(PasskeyRefused::Wait(wait)) => {
            Ok(Err(Attempt::TooMany { user: "", seconds: wait.seconds() }))
        }
        Err(PasskeyRefused::Fault(PasskeyFault::Challenge(ChallengeFault::Expired))) => {
            Ok(Err(Attempt::TooLate))
        }
        Err(reason @ (PasskeyRefused::Fault(_) | PasskeyRefused::Impossible)) => {
            // Why, for the log only: on the page all reasons are one.
            tracing::info!(%reason, "a passkey was refused");
            Ok(Err(Attempt::NoPasskey))
        }
    }
}

/// Where somebody goes who has signed in. One of our own pages, whatever the query says.
enum Destination {
    Welcome,
    Account,
    Passkeys,
    Request(PendingName),
}

impl Destination {
    fn in_query(query: Option<&str>) -> Self {
        match (PendingName::in_query(query), query) {
            (Some(request), _) => Self::Request(request),
            (None, Some("to=account")) => Self::Account,
            (None, Some("to=passkeys")) => Self::Passkeys,
            (None, _) => Self::Welcome,
        }
    }

    const fn request(&self) -> Option<&PendingName> {
        match self {
            Self::Request(request) => Some(request),
            Self::Welcome | Self::Account | Self::Passkeys => None,
        }
    }

    fn form_action(&self) -> String {
        match self {
            Self::Welcome => "/login".to_owned(),
            Self::Account => FOR_ACCOUNT.to_owned(),
            Self::Passkeys => FOR_PASSKEYS.to_owned(),
            Self::Request(request) => request.at("/login"),
        }
    }

    fn once_signed_in(&self) -> String {
        match self {
            Self::Welcome => "/login".to_owned(),
            Self::Account => "/account".to_owned(),
            Self::Passkeys => "/account/passkeys".to_owned(),
            Self::Request(request) => request.at("/consent"),
        }
    }
}

/// How the sign-in went so far.
enum Attempt<'a> {
    First,
    Wrong {
        user: &'a str,
    },
    TooMany {
        user: &'a str,
        seconds: u64,
    },
    /// A passkey that proves nothing, whatever the reason.
    NoPasskey,
    /// One that was not shown in time.
    TooLate,
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
        Attempt::NoPasskey => {
            let problem = "This passkey is not known here, or could not be checked. Please try \
                           again, or use your password.";
            ("", Some(problem.to_owned()))
        }
        Attempt::TooLate => ("", Some("That took too long. Please try again.".to_owned())),
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
        passkey: server.offer_passkey(visitor).await?,
    };
    let answer = match attempt {
        Attempt::First => page(StatusCode::OK, &template),
        Attempt::NoPasskey | Attempt::TooLate => {
            let outcome = Outcome::suspicious("refused: the passkey proves nothing");
            (Extension(outcome), page(StatusCode::FORBIDDEN, &template)).into_response()
        }
        Attempt::Wrong { .. } => {
            let outcome = Outcome::suspicious("refused: user name and password do not fit");
            (Extension(outcome), page(StatusCode::FORBIDDEN, &template)).into_response()
        }
        Attempt::TooMany { seconds, .. } => {
            let outcome = Outcome::one_of_many("refused: too many tries".to_owned());
            let page = page(StatusCode::TOO_MANY_REQUESTS, &template);
            (Extension(outcome), [(header::RETRY_AFTER, seconds)], page).into_response()
        }
    };
    Ok(match template.passkey {
        Some(_) => ([(header::CONTENT_SECURITY_POLICY, PASSKEY_POLICY)], answer).into_response(),
        None => answer,
    })
}
