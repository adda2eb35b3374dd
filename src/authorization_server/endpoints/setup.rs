//! `/setup`: whoever holds a setup link chooses the password of its user.

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::own_page::OwnPage;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pages::{SetupPage, page};
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::password::{AlsoEnds, NewPassword, UnfitPassword};
use crate::authorization_server::session::Visitor;
use crate::authorization_server::setup::SetupError;

/// Shows the form to whoever holds the link.
pub(super) async fn show(
    State(server): State<AuthorizationServer>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = Parameters::parse(query.unwrap_or_default().as_bytes())?;
    let token = query.single("token")?;
    let user = server.check_setup_secret(token).await?;
    let has_passkeys = !server.passkeys_of(&user).await?.is_empty();
    let link = Link { token: token.unwrap_or_default(), user: &user, has_passkeys };
    Ok(form(&server, &link, StatusCode::OK, None))
}

/// Gives the user the password, and signs that browser in.
pub(super) async fn answer(
    State(server): State<AuthorizationServer>,
    _own: OwnPage,
    visitor: Visitor,
    PostedForm(body): PostedForm,
) -> Result<Response, PageError> {
    let fields = Parameters::parse(&body)?;
    let token = fields.single("token")?;
    let user = server.check_setup_secret(token).await?;
    let has_passkeys = !server.passkeys_of(&user).await?.is_empty();
    let link = Link { token: token.unwrap_or_default(), user: &user, has_passkeys };
    let typed = fields.single("password")?.unwrap_or_default();
    let repeated = fields.single("repeated")?.unwrap_or_default();
    let password = match NewPassword::typed_twice(typed, repeated) {
        Ok(password) => password,
        Err(unfit) => return Ok(refuse(&server, &link, unfit)),
    };
    let passkeys = fields.single("end_passkeys")?.is_some();
    let also = AlsoEnds { passkeys, ..AlsoEnds::default() };
    let signed_in = server.set_up(token, password, also).await?;
    let begun = server.start_session(&visitor, signed_in).await?.ok_or(PageError::Gone)?;
    Ok((begun.set_cookies(), Redirect::to("/login")).into_response())
}

/// A link that was found good.
struct Link<'a> {
    token: &'a str,
    user: &'a str,
    has_passkeys: bool,
}

fn refuse(server: &AuthorizationServer, link: &Link<'_>, unfit: UnfitPassword) -> Response {
    let problem = match unfit {
        UnfitPassword::TooShort | UnfitPassword::TooLong => {
            format!("Please take another one: {unfit}.")
        }
        UnfitPassword::Unequal => "The two were not the same. Please type both again.".to_owned(),
    };
    form(server, link, StatusCode::UNPROCESSABLE_ENTITY, Some(problem))
}

fn form(
    server: &AuthorizationServer,
    link: &Link<'_>,
    status: StatusCode,
    problem: Option<String>,
) -> Response {
    let issuer = &server.settings().issuer;
    let shortest = NewPassword::MIN_CHARACTERS;
    let Link { token, user, has_passkeys } = *link;
    page(status, &SetupPage { issuer, token, user, has_passkeys, shortest, problem })
}

impl From<SetupError> for PageError {
    fn from(error: SetupError) -> Self {
        match error {
            // Lengths are told on the form; this is for the type system only.
            SetupError::Unfit(_) => Self::BadForm("the password is not fit"),
            SetupError::NotTheLink => Self::NotTheSetupLink,
            SetupError::Busy => Self::Busy,
            SetupError::Store(error) => Self::Store(error),
        }
    }
}
