//! What goes wrong in front of a browser, and the page that says so.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::authorization_server::client_document::NoClient;
use crate::authorization_server::error::Outcome;
use crate::authorization_server::form::InvalidForm;
use crate::authorization_server::pages::{MessagePage, page};
use crate::authorization_server::parameters::Repeated;
use crate::authorization_server::pending::NotTaken;
use crate::authorization_server::request::LocalFault;
use crate::authorization_server::store::StoreError;
use crate::rates::Wait;

/// Why a browser gets a page that it did not ask for. `Display` is for the log.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    /// An authorization request that must not be answered by a redirect.
    #[error(transparent)]
    Request(#[from] LocalFault),
    /// Posted by somebody else's page, from another browser, or by an old form.
    #[error("a form that was not rendered for this browser")]
    ForeignForm,
    /// Nothing waits under that name in this browser.
    #[error("no such authorization waits in this browser")]
    Gone,
    /// An answer to something that does not wait any more.
    #[error("answered twice, too late, or in another browser")]
    AnsweredBefore,
    /// A form that no page of ours sends.
    #[error("a form cannot be read: {0}")]
    BadForm(&'static str),
    /// A form beyond all measure.
    #[error("a form is too large")]
    TooLarge,
    /// A body that is no form.
    #[error("a body is no form")]
    NotAForm,
    /// Another method than the page has.
    #[error("the page does not have this method")]
    WrongMethod,
    /// The setup link was used, or a newer one was printed.
    #[error("the setup link is not valid")]
    NotTheSetupLink,
    /// There is nobody yet who could sign in.
    #[error("there is no owner yet")]
    NoOwner,
    /// Too many passwords at once.
    #[error("too many passwords are waiting to be hashed")]
    Busy,
    /// Too many requests.
    #[error(transparent)]
    TooMany(#[from] Wait),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// When to come again after [`PageError::Busy`].
pub(super) const BUSY_FOR: Duration = Duration::from_secs(5);

impl PageError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Request(_) | Self::BadForm(_) => StatusCode::BAD_REQUEST,
            Self::ForeignForm | Self::AnsweredBefore | Self::NoOwner => StatusCode::FORBIDDEN,
            Self::Gone | Self::NotTheSetupLink => StatusCode::NOT_FOUND,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotAForm => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    const fn title_and_advice(&self) -> (&'static str, &'static str) {
        match self {
            Self::Request(LocalFault::Document(_)) => (
                "This app cannot be looked up",
                "The app that sent you here is named by a web address, and what this server \
                 found there is not enough to know who asks. Nothing was allowed. Try again in \
                 a few minutes; if that does not help, tell the app's makers.",
            ),
            Self::Request(LocalFault::DocumentsOff | LocalFault::ClientNotAllowed) => (
                "This app is not let in",
                "Whoever runs this server has chosen which apps may ask for access. Nothing \
                 was allowed.",
            ),
            Self::Request(_) => (
                "This request cannot be answered",
                "The app that sent you here asked in a way that is not safe to answer. Nothing \
                 was allowed. Remove the connection in the app and add it again; if that does \
                 not help, tell its makers.",
            ),
            Self::ForeignForm => (
                "This form cannot be accepted",
                "It is out of date, was opened in another browser, or came from another site. \
                 Nothing was changed. Go back to the app and start again, with cookies allowed \
                 for this site.",
            ),
            Self::Gone => (
                "Nothing waits for you here",
                "The request was answered, has expired, or was started in another browser. Go \
                 back to the app and start again.",
            ),
            Self::AnsweredBefore => (
                "Already answered or expired",
                "This request was answered before, waited for more than ten minutes, or was \
                 started in another browser. If the app is not connected, go back to it and \
                 start again.",
            ),
            Self::BadForm(_) | Self::NotAForm => (
                "This form cannot be read",
                "What your browser sent is not what this page asks for. Nothing was changed. \
                 Go back and try again.",
            ),
            Self::TooLarge => {
                ("Too much at once", "What was sent is too large. Nothing was changed.")
            }
            Self::WrongMethod => {
                ("Not like that", "This page cannot be used in that way. Open it in a browser.")
            }
            Self::NotTheSetupLink => (
                "This link does not work any more",
                "A setup link works once, and only until the server starts again. If there is no \
                 owner yet, restart the server; it prints a new link.",
            ),
            Self::NoOwner => (
                "Set up this server first",
                "Nobody owns this server yet. Open the setup link that it printed when it \
                 started, choose a password, and then connect the app again.",
            ),
            Self::Busy => (
                "Busy, please try again",
                "Too many people are signing in at this moment. Wait a few seconds and send the \
                 form again.",
            ),
            Self::TooMany(_) => (
                "Please wait a little",
                "More was asked from your address than this server answers in a minute. Nothing \
                 was changed. Wait, and then load this page again.",
            ),
            Self::Store(_) => (
                "Something is broken here",
                "The server could not read or write its data. Its log says more. Nothing was \
                 allowed.",
            ),
        }
    }

    /// What helps the makers of an app and tells nobody a secret.
    fn detail(&self) -> Option<String> {
        match self {
            Self::Request(LocalFault::Document(error)) => Some(error.on_a_page()),
            Self::Request(fault) => Some(fault.to_string()),
            Self::BadForm(what) => Some((*what).to_owned()),
            Self::TooMany(wait) => Some(format!("It is answered again in {} s.", wait.seconds())),
            Self::ForeignForm
            | Self::Gone
            | Self::AnsweredBefore
            | Self::TooLarge
            | Self::NotAForm
            | Self::WrongMethod
            | Self::NotTheSetupLink
            | Self::NoOwner
            | Self::Busy
            | Self::Store(_) => None,
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let status = self.status();
        let outcome = match self {
            Self::Store(_) => Outcome::failed(&self),
            Self::TooMany(_) => Outcome::one_of_many(format!("refused: {self}")),
            _ => Outcome::fine(format!("refused: {self}")),
        };
        let (title, advice) = self.title_and_advice();
        let mut message = page(status, &MessagePage { title, advice, detail: self.detail() });
        message.extensions_mut().insert(outcome);
        let wait = match self {
            Self::Busy => BUSY_FOR.as_secs(),
            Self::TooMany(wait) => wait.seconds(),
            _ => return message,
        };
        ([(header::RETRY_AFTER, wait)], message).into_response()
    }
}

impl From<NotTaken> for PageError {
    fn from(reason: NotTaken) -> Self {
        match reason {
            NotTaken::Gone => Self::AnsweredBefore,
            NotTaken::ForeignForm => Self::ForeignForm,
        }
    }
}

impl From<NoClient> for PageError {
    fn from(reason: NoClient) -> Self {
        match reason {
            NoClient::Fault(fault) => Self::Request(fault),
            NoClient::Store(error) => Self::Store(error),
        }
    }
}

impl From<InvalidForm> for PageError {
    fn from(_: InvalidForm) -> Self {
        Self::BadForm("its encoding")
    }
}

impl From<Repeated> for PageError {
    fn from(Repeated(name): Repeated) -> Self {
        Self::BadForm(name)
    }
}
