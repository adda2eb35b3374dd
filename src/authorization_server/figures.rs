//! What the operator can count of the authorization server.

use super::AuthorizationServer;
use super::audit::What;
use super::client_document::{DocumentError, FetchError};
use super::grant::EndReason;
use super::session::is_over;
use crate::metrics::{Exposition, Kind, labels};

labels! {
    /// What happens, as it is counted: the events of the audit trail, and refreshes, of
    /// which there are too many for it.
    pub(crate) enum Happening {
        SignedIn = "signed_in",
        SignInFailed = "sign_in_failed",
        PasskeyShown = "passkey_shown",
        PasskeyRefused = "passkey_refused",
        PasskeyCopied = "passkey_copied",
        PasskeyAdded = "passkey_added",
        PasskeyRemoved = "passkey_removed",
        SignedOut = "signed_out",
        PasswordChanged = "password_changed",
        SetupLinkMade = "setup_link_made",
        Registered = "registered",
        Allowed = "allowed",
        Denied = "denied",
        Connected = "connected",
        Refreshed = "refreshed",
        RefreshRefused = "refresh_refused",
        TokenReused = "token_reused",
        CodeReplayed = "code_replayed",
        Narrowed = "narrowed",
        Revoked = "revoked",
        ClientRemoved = "client_removed",
        KeyRotated = "key_rotated",
        KeyRevoked = "key_revoked",
        BackupMade = "backup_made",
        Restored = "restored",
    }
}

labels! {
    /// What came of looking for a client's metadata document.
    pub(super) enum DocumentFetch {
        Fetched = "fetched",
        NotPublic = "not_public",
        Unreachable = "unreachable",
        BadAnswer = "bad_answer",
        BadDocument = "bad_document",
        OverBudget = "over_budget",
    }
}

impl Happening {
    /// What an event is counted as.
    pub(super) const fn of(what: &What) -> Self {
        match what {
            What::SignedIn => Self::SignedIn,
            What::SignInFailed => Self::SignInFailed,
            What::PasskeyShown { .. } => Self::PasskeyShown,
            What::PasskeyRefused => Self::PasskeyRefused,
            What::PasskeyCopied { .. } => Self::PasskeyCopied,
            What::PasskeyAdded { .. } => Self::PasskeyAdded,
            What::PasskeyRemoved { .. } | What::PasskeysRemoved => Self::PasskeyRemoved,
            What::SignedOut | What::SignedOutElsewhere => Self::SignedOut,
            What::PasswordChanged => Self::PasswordChanged,
            What::SetupLinkMade => Self::SetupLinkMade,
            What::Registered { .. } => Self::Registered,
            What::Allowed { .. } => Self::Allowed,
            What::Denied { .. } => Self::Denied,
            What::Connected { .. } => Self::Connected,
            What::Narrowed { .. } => Self::Narrowed,
            What::Ended { reason: EndReason::RefreshTokenReused } => Self::TokenReused,
            What::Ended { reason: EndReason::CodeReplayed } => Self::CodeReplayed,
            What::Ended { .. } => Self::Revoked,
            What::ClientRemoved => Self::ClientRemoved,
            What::KeyRotated => Self::KeyRotated,
            What::KeyRevoked { .. } => Self::KeyRevoked,
            What::BackupMade => Self::BackupMade,
            What::Restored { .. } => Self::Restored,
        }
    }
}

impl DocumentFetch {
    /// What a fetch is counted as that failed with this error, or did not fail.
    pub(super) const fn of(error: Option<&DocumentError>) -> Self {
        use FetchError::{
            Connection, NotFound, NotJson, NotPublic, Redirect, Status, TooLarge, TooSlow,
        };
        match error {
            None => Self::Fetched,
            Some(DocumentError::Fetch(NotPublic)) => Self::NotPublic,
            Some(DocumentError::Fetch(Connection | NotFound | TooSlow)) => Self::Unreachable,
            Some(DocumentError::Fetch(Redirect | Status(_) | NotJson | TooLarge)) => {
                Self::BadAnswer
            }
            Some(DocumentError::Content(_) | DocumentError::Url(_)) => Self::BadDocument,
            Some(DocumentError::Busy) => Self::OverBudget,
        }
    }
}

impl AuthorizationServer {
    /// Counts something that is written down nowhere else.
    pub(super) fn count(&self, happening: Happening) {
        self.0.happened.add(happening);
    }

    /// Tells the operator what there is and what has happened since the start. Blocks.
    pub(crate) fn tell_figures(&self, page: &mut Exposition) {
        let (store, now) = (self.store(), self.clock().now());
        page.tally(
            "brain_mcp_oauth_events_total",
            "What users, clients and strangers did.",
            "event",
            &self.0.happened,
        );
        page.tally(
            "brain_mcp_oauth_limited_total",
            "Requests to the authorization server that met a limit.",
            "limit",
            self.limits().refused(),
        );
        page.tally(
            "brain_mcp_client_documents_total",
            "Looks for metadata documents and keys of clients, by what came of them.",
            "result",
            self.client_documents().outcomes(),
        );
        let policy = self.settings().refresh_policy();
        let grants = store.count_grants(|grant| grant.is_over_since(policy) > now);
        page.number(Kind::Gauge, "brain_mcp_grants", "Connections that are alive.", grants);
        let clients = store.count_clients();
        page.number(Kind::Gauge, "brain_mcp_clients", "Clients that are known.", clients);
        let lifetimes = self.settings().lifetimes;
        match store.sessions_where(|session| !is_over(session, &lifetimes, now)) {
            Ok(sessions) => page.number(
                Kind::Gauge,
                "brain_mcp_browser_sessions",
                "Browsers in which somebody is signed in.",
                sessions.len(),
            ),
            Err(error) => tracing::error!(%error, "the sessions could not be counted"),
        }
        page.number(
            Kind::Gauge,
            "brain_mcp_passwords_waiting",
            "Passwords that are hashed or wait for it.",
            self.browsing().passwords.waiting(),
        );
    }
}
