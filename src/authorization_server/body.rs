//! Request bodies, up to a limit.

use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use http_body_util::LengthLimitError;

use super::error::EndpointError;

/// No request to an OAuth endpoint has a reason to be longer (design section 9).
const MAX_BYTES: usize = 64 * 1024;

/// # Errors
///
/// [`EndpointError::TooLarge`], or [`EndpointError::BodyLost`] if the connection broke.
pub(crate) async fn read(request: Request) -> Result<Bytes, EndpointError> {
    to_bytes(request.into_body(), MAX_BYTES).await.map_err(|error| match std::error::Error::source(
        &error,
    ) {
        Some(source) if source.is::<LengthLimitError>() => EndpointError::TooLarge,
        _ => EndpointError::BodyLost,
    })
}
