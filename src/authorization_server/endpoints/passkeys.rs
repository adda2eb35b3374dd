//! `/account/passkeys`: what signs a user in besides the password.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::endpoints::sign_in::FOR_PASSKEYS;
use crate::authorization_server::own_page::OwnPage;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pages::{PASSKEY_POLICY, PasskeysPage, page};
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::passkey::PasskeyKey;
use crate::authorization_server::passkeys::{NotAdded, PasskeyName};
use crate::authorization_server::session::{FreshOwner, Visitor};

/// What a form of the page asks for.
enum Change<'a> {
    Add { name: PasskeyName, response: &'a str },
    Rename(PasskeyKey, PasskeyName),
    Remove(PasskeyKey),
}

const NONE_SUCH: &str = "There is no such passkey any more.";

/// Shows them to a user who has signed in just now: what can be done here outlasts the
/// session (checklist #149).
pub(super) async fn show(
    State(server): State<AuthorizationServer>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let Some(owner) = visitor.fresh_owner(&server) else {
        return Ok(Redirect::to(FOR_PASSKEYS).into_response());
    };
    let done = server.browsing().notices.take(owner.cookie().key());
    render(&server, &visitor, &owner, (StatusCode::OK, done, None)).await
}

/// Does one thing and shows the page anew.
pub(super) async fn change(
    State(server): State<AuthorizationServer>,
    _own: OwnPage,
    visitor: Visitor,
    PostedForm(body): PostedForm,
) -> Result<Response, PageError> {
    let fields = Parameters::parse(&body)?;
    visitor.check_form_token(fields.single("form")?)?;
    let Some(owner) = visitor.fresh_owner(&server) else {
        return Ok(Redirect::to(FOR_PASSKEYS).into_response());
    };
    let done = match Change::read(&fields)? {
        Change::Add { name, response } => match server.add_passkey(&owner, name, response).await {
            Ok(()) => "The passkey is added. You can sign in with it from now on.",
            Err(NotAdded::Store(error)) => return Err(error.into()),
            Err(reason) => {
                tracing::info!(%reason, "a passkey was not added");
                let message = (StatusCode::UNPROCESSABLE_ENTITY, None, Some(problem(&reason)));
                return render(&server, &visitor, &owner, message).await;
            }
        },
        Change::Rename(key, name) => {
            if server.rename_passkey(owner.name(), key, name).await? {
                "The passkey has its new name."
            } else {
                NONE_SUCH
            }
        }
        Change::Remove(key) => {
            if server.remove_passkey(owner.name(), key).await? {
                "The passkey is removed. It signs nobody in any more."
            } else {
                NONE_SUCH
            }
        }
    };
    server.browsing().notices.leave(owner.cookie().key(), done, server.clock().now());
    Ok(Redirect::to("/account/passkeys").into_response())
}

fn problem(reason: &NotAdded) -> &'static str {
    match reason {
        NotAdded::Known => "This passkey has been added before.",
        NotAdded::TooMany => "There is no room for another passkey. Remove one first.",
        NotAdded::Fault(_) | NotAdded::Impossible | NotAdded::Store(_) => {
            "The passkey is not added: what your browser sent is too old, or not what this page \
             asked for. Please try again."
        }
    }
}

async fn render(
    server: &AuthorizationServer,
    visitor: &Visitor,
    owner: &FreshOwner,
    (status, done, problem): (StatusCode, Option<&'static str>, Option<&'static str>),
) -> Result<Response, PageError> {
    let passkeys = server.passkeys_of(owner.name()).await?;
    let wish = server.wish_for_passkey(owner.name(), &passkeys, visitor);
    let form_token = owner.cookie().form_token();
    let template = PasskeysPage { user: owner.name(), form_token, passkeys, wish, done, problem };
    let policy = [(header::CONTENT_SECURITY_POLICY, PASSKEY_POLICY)];
    Ok((policy, page(status, &template)).into_response())
}

impl<'a> Change<'a> {
    fn read(fields: &'a Parameters) -> Result<Self, PageError> {
        let name =
            || Ok::<_, PageError>(PasskeyName::typed(fields.single("name")?.unwrap_or_default()));
        let key = || {
            let key = fields.single("key")?.and_then(PasskeyKey::named);
            key.ok_or(PageError::BadForm("there is no such passkey"))
        };
        match fields.single("change")? {
            Some("add") => {
                let response = fields.single("passkey")?;
                let response = response.ok_or(PageError::BadForm("there is no passkey in it"))?;
                Ok(Self::Add { name: name()?, response })
            }
            Some("rename") => Ok(Self::Rename(key()?, name()?)),
            Some("remove") => Ok(Self::Remove(key()?)),
            _ => Err(PageError::BadForm("it asks for nothing that this page does")),
        }
    }
}
