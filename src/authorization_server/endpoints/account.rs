//! `/account`: what was given away, and how to take it back.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::account::PasswordUnchanged;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::endpoints::sign_in::FOR_ACCOUNT;
use crate::authorization_server::grant::GrantId;
use crate::authorization_server::own_page::OwnPage;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pages::{AccountPage, page};
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::password::{AlsoEnds, NewPassword, Password};
use crate::authorization_server::session::Visitor;
use crate::authorization_server::sign_in::SignInError;
use crate::contract::scope::{Scope, ScopeSet};
use crate::peer::Peer;

/// What a form of the page asks for.
enum Change {
    Disconnect(GrantId),
    DisconnectAll,
    Narrow(GrantId, ScopeSet),
    SignOutElsewhere,
    Password(AlsoEnds),
}

const DISCONNECTED: &str = "The app is disconnected. Its next request is refused.";

pub(super) async fn show(
    State(server): State<AuthorizationServer>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let Some(user) = visitor.user() else {
        return Ok(Redirect::to(FOR_ACCOUNT).into_response());
    };
    let done = server.browsing().notices.take(visitor.cookie().key());
    render(&server, &visitor, user, StatusCode::OK, Message { done, problem: None }).await
}

/// Does one thing and shows the page anew. Taking back asks for no fresh sign-in; a new
/// password asks for the present one.
pub(super) async fn change(
    State(server): State<AuthorizationServer>,
    _own: OwnPage,
    visitor: Visitor,
    peer: Peer,
    PostedForm(body): PostedForm,
) -> Result<Response, PageError> {
    let fields = Parameters::parse(&body)?;
    visitor.check_form_token(fields.single("form")?)?;
    let Some(user) = visitor.user() else {
        return Ok(Redirect::to(FOR_ACCOUNT).into_response());
    };
    let done = match Change::read(&fields)? {
        Change::Disconnect(id) if server.disconnect(user, id).await? => DISCONNECTED,
        Change::Disconnect(_) => "There is no such connection any more.",
        Change::DisconnectAll => {
            server.disconnect_all(user).await?;
            "All apps are disconnected. Their next requests are refused."
        }
        Change::Narrow(id, left) => match server.narrow(user, id, left).await? {
            None => "There is no such connection any more.",
            Some(left) if left.is_empty() => DISCONNECTED,
            Some(_) => "The app may do what is ticked below, and nothing else.",
        },
        Change::SignOutElsewhere => {
            server.sign_out_elsewhere(user, &visitor).await?;
            "You are signed out everywhere else."
        }
        Change::Password(also) => {
            let browser = (&visitor, peer);
            return change_password(&server, browser, user, &fields, also).await;
        }
    };
    server.browsing().notices.leave(visitor.cookie().key(), done, server.clock().now());
    Ok(Redirect::to("/account").into_response())
}

async fn change_password(
    server: &AuthorizationServer,
    (visitor, peer): (&Visitor, Peer),
    user: &str,
    fields: &Parameters,
    also: AlsoEnds,
) -> Result<Response, PageError> {
    let typed = |name| fields.single(name).map(Option::unwrap_or_default);
    let present = Password::typed(typed("present")?);
    let problem = match NewPassword::typed_twice(typed("password")?, typed("repeated")?) {
        Err(unfit) => format!("The password is not changed: {unfit}."),
        Ok(new) => {
            let passwords = (present, new);
            let browser = (visitor, peer);
            match server.change_password(user, browser, passwords, also).await {
                Ok(begun) => {
                    let done = "Your password is changed. You are signed out everywhere else.";
                    server.browsing().notices.leave(begun.cookie.key(), done, server.clock().now());
                    return Ok((begun.set_cookies(), Redirect::to("/account")).into_response());
                }
                Err(PasswordUnchanged::Store(error)) => return Err(error.into()),
                Err(PasswordUnchanged::Unproven(reason)) => match reason {
                    SignInError::Busy => return Err(PageError::Busy),
                    SignInError::Store(error) => return Err(error.into()),
                    SignInError::Wrong => {
                        "The password is not changed: the present one is not right.".to_owned()
                    }
                    SignInError::Wait(wait) => {
                        format!("Too many tries. Please wait {} s and try again.", wait.seconds())
                    }
                },
            }
        }
    };
    let message = Message { done: None, problem: Some(problem) };
    render(server, visitor, user, StatusCode::UNPROCESSABLE_ENTITY, message).await
}

/// What the page says on top of what it always shows.
struct Message {
    done: Option<&'static str>,
    problem: Option<String>,
}

async fn render(
    server: &AuthorizationServer,
    visitor: &Visitor,
    user: &str,
    status: StatusCode,
    Message { done, problem }: Message,
) -> Result<Response, PageError> {
    let account = server.account(user, visitor).await?;
    let template = AccountPage {
        resource: &server.settings().resource,
        user,
        form_token: visitor.cookie().form_token(),
        account,
        shortest: NewPassword::MIN_CHARACTERS,
        done,
        problem,
        can_have_passkeys: server.can_have_passkeys(),
    };
    Ok(page(status, &template))
}

impl Change {
    fn read(fields: &Parameters) -> Result<Self, PageError> {
        let grant = || {
            let name = fields.single("grant")?.unwrap_or_default();
            name.parse().map_err(|_| PageError::BadForm("there is no such connection"))
        };
        match fields.single("change")? {
            Some("disconnect") => Ok(Self::Disconnect(grant()?)),
            Some("disconnect-all") => Ok(Self::DisconnectAll),
            Some("narrow") => {
                let known =
                    |name: &str| Scope::ALL.into_iter().find(|scope| scope.as_str() == name);
                let scopes = fields.all("scope").map(|name| known(name).ok_or("an unknown scope"));
                let left = scopes.collect::<Result<_, _>>().map_err(PageError::BadForm)?;
                Ok(Self::Narrow(grant()?, left))
            }
            Some("sign-out-elsewhere") => Ok(Self::SignOutElsewhere),
            Some("password") => Ok(Self::Password(AlsoEnds {
                apps: fields.single("end_apps")?.is_some(),
                passkeys: fields.single("end_passkeys")?.is_some(),
            })),
            _ => Err(PageError::BadForm("it asks for nothing that this page does")),
        }
    }
}
