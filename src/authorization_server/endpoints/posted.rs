//! Forms that browsers post to the pages.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::body;
use crate::authorization_server::error::EndpointError;
use crate::authorization_server::form::is_form;
use crate::authorization_server::page_error::PageError;

/// The bytes of a posted form, before they are decoded.
pub(super) struct PostedForm(pub(super) Bytes);

impl FromRequest<AuthorizationServer> for PostedForm {
    type Rejection = PageError;

    async fn from_request(
        request: Request,
        _server: &AuthorizationServer,
    ) -> Result<Self, PageError> {
        if !is_form(request.headers()) {
            return Err(PageError::NotAForm);
        }
        body::read(request).await.map(Self).map_err(|error| match error {
            EndpointError::TooLarge => PageError::TooLarge,
            _ => PageError::BadForm("it did not arrive"),
        })
    }
}
