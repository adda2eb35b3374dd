//! What a session or a stream stands on: the latest token that it was used with.
//!
//! What goes on behind a request that has been answered (notices of changes, say) must
//! not go on with the rights of that request for ever. It asks here, each time.

use std::sync::Arc;

use tokio::sync::watch;

use super::verify::{TokenVerifier, VerifiedToken};

/// The latest token of a session, or the token of one request. Cheap to clone.
#[derive(Clone)]
pub struct Standing {
    latest: watch::Receiver<VerifiedToken>,
    verifier: Arc<TokenVerifier>,
}

impl Standing {
    pub(super) const fn new(
        latest: watch::Receiver<VerifiedToken>,
        verifier: Arc<TokenVerifier>,
    ) -> Self {
        Self { latest, verifier }
    }

    /// One request, which no other token will take further.
    pub(super) fn of_request(token: VerifiedToken, verifier: Arc<TokenVerifier>) -> Self {
        Self::new(watch::channel(token).1, verifier)
    }

    /// The latest token, unless it has expired or its grant has ended or lost something.
    #[must_use]
    pub fn token(&self) -> Option<VerifiedToken> {
        let token = self.latest.borrow().clone();
        self.verifier.still_stands(&token).then_some(token)
    }

    /// Waits until the session is used with a newer token than this handle has seen.
    pub async fn renewed(&mut self) {
        if self.latest.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// A session whose tokens a test sends.
    #[cfg(test)]
    pub(crate) fn for_tests(token: VerifiedToken) -> (watch::Sender<VerifiedToken>, Self) {
        use super::key_source::KeySource;
        use super::verify::ForeignGrants;
        use crate::clock::Clock;

        let verifier = TokenVerifier::new(
            "https://auth.example.org".parse().expect("an issuer"),
            "https://wiki.example.org/mcp".parse().expect("a resource"),
            KeySource::url("https://auth.example.org/jwks").expect("a URL"),
            Arc::new(ForeignGrants),
            Clock::system(),
        );
        let (sender, latest) = watch::channel(token);
        (sender, Self::new(latest, Arc::new(verifier)))
    }
}
