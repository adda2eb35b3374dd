//! The request's verified token → the viewer that a tool asks for.

use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::handler::server::common::{AsRequestContext, FromContextPart};
use rmcp::model::Extensions;

use crate::access::permit::Viewer;
use crate::resource_server::standing::Standing;
use crate::resource_server::verify::VerifiedToken;

/// A tool that names a [`Viewer`] cannot run for a request that the guard has not
/// let through. The token is that of the very request, in a session too.
impl<C: AsRequestContext> FromContextPart<C> for Viewer {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        viewer(&context.as_request_context().extensions)
    }
}

/// The viewer behind a request.
pub(super) fn viewer(extensions: &Extensions) -> Result<Viewer, ErrorData> {
    part::<VerifiedToken>(extensions).map(Viewer::of)
}

/// What the session or stream of a request stands on, for as long as it lasts.
pub(super) fn standing(extensions: &Extensions) -> Result<Standing, ErrorData> {
    part::<Standing>(extensions).cloned()
}

fn part<T: Send + Sync + 'static>(extensions: &Extensions) -> Result<&T, ErrorData> {
    extensions
        .get::<Parts>()
        .and_then(|parts| parts.extensions.get())
        // Only a mistake in the wiring gets here. Fail closed and say nothing.
        .ok_or_else(|| ErrorData::internal_error("not available", None))
}
