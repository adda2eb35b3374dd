//! What the operator can count of the resource server.

use super::ResourceServer;
use crate::metrics::{Exposition, Kind, labels};

labels! {
    /// Why a request to `/mcp` got no further than the guard.
    pub(super) enum Refused {
        ForeignOrigin = "foreign_origin",
        NoToken = "no_token",
        InvalidToken = "invalid_token",
        TooManyGuesses = "too_many_guesses",
        KeysUnavailable = "keys_unavailable",
        TooManyRequests = "too_many_requests",
        TooManyStreams = "too_many_streams",
        MissingScope = "missing_scope",
    }
}

impl ResourceServer {
    /// Tells the operator what there is and what has happened since the start. Blocks.
    pub(crate) fn tell_figures(&self, page: &mut Exposition) {
        page.tally(
            "brain_mcp_mcp_refused_total",
            "Requests to the MCP endpoint that were refused before they reached it.",
            "reason",
            &self.guard.refused,
        );
        page.number(
            Kind::Gauge,
            "brain_mcp_open_streams",
            "Event streams that clients have open.",
            self.guard.streams.count(),
        );
        page.number(
            Kind::Gauge,
            "brain_mcp_mcp_sessions",
            "MCP sessions of protocol revisions that have them.",
            self.guard.sessions.count(),
        );
    }
}
