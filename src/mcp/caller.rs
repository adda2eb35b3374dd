//! The request's verified token → the viewer that a tool asks for.

use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::handler::server::common::{AsRequestContext, FromContextPart};

use crate::access::permit::Viewer;
use crate::resource_server::verify::VerifiedToken;

/// A tool that names a [`Viewer`] cannot run for a request that the guard has not
/// let through. The token is that of the very request, in a session too.
impl<C: AsRequestContext> FromContextPart<C> for Viewer {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        let parts = context.as_request_context().extensions.get::<Parts>();
        parts
            .and_then(|parts| parts.extensions.get::<VerifiedToken>())
            .map(Self::of)
            // Only a mistake in the wiring gets here. Fail closed and say nothing.
            .ok_or_else(|| ErrorData::internal_error("not available", None))
    }
}
