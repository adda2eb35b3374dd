//! Authorization requests: what a browser brought → a request that may be shown.
//!
//! A fault has one of two types. [`LocalFault`] stays on a page of ours, because
//! nobody vouches for the place that the request names. A [`Refusal`] holds a
//! redirect URI that has been matched with a registered one, so there is nothing
//! else that it could be sent to (OAuth 2.1 section 4.1.2.1).

#[cfg(test)]
mod tests;

use crate::authorization_server::authorization::AuthorizationRequest;
use crate::authorization_server::client::{ClientId, RegisteredClient};
use crate::authorization_server::client_document::DocumentError;
use crate::authorization_server::client_rules::ClientRules;
use crate::authorization_server::form::InvalidForm;
use crate::authorization_server::parameters::{Parameters, Repeated};
use crate::authorization_server::pkce::CodeChallenge;
use crate::authorization_server::redirect_uri::RedirectUri;
use crate::contract::issuer::Issuer;
use crate::contract::resource::ResourceUri;
use crate::contract::scope::ScopeSet;

/// The longest request, in bytes (checklist #33).
pub(super) const MAX_REQUEST_BYTES: usize = 8 * 1024;

/// The longest `state`, in bytes (checklist #33).
const MAX_STATE_BYTES: usize = 2 * 1024;

/// The parameters of an authorization request as they came. Nothing in it is
/// trusted, not even the name of the client.
#[derive(Clone, Debug)]
pub(super) struct AuthorizeQuery(Parameters);

/// A fault that is told on a page of ours and never by a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LocalFault {
    /// Longer than anything that an honest client sends.
    #[error("the request is too long")]
    TooLong,
    /// It cannot be read without guessing.
    #[error(transparent)]
    Unreadable(#[from] InvalidForm),
    /// `client_id` or `redirect_uri` is there twice.
    #[error(transparent)]
    Repeated(#[from] Repeated),
    /// There is no `client_id`.
    #[error("client_id is missing")]
    MissingClientId,
    /// The client's name is a URL, and what is there is of no use.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The client's name is a URL of this server.
    #[error("an address of this server is no client")]
    OwnAddress,
    /// The operator has turned clients with documents of their own off.
    #[error("clients that are named by a URL are not allowed on this server")]
    DocumentsOff,
    /// The operator lets only some clients in.
    #[error("this server lets only certain apps in, and this is none of them")]
    ClientNotAllowed,
    /// Nobody of that name has registered.
    #[error("the client is not registered")]
    UnknownClient,
    /// There is no `redirect_uri`. OAuth 2.1 section 4.1.1 lets it out when only one
    /// is registered; we demand it always, since every client sends it and one rule
    /// is easier to keep than two (checklist #11).
    #[error("redirect_uri is missing")]
    MissingRedirectUri,
    /// The client has not registered that place.
    #[error("the redirect URI is not registered for the client")]
    UnregisteredRedirectUri,
}

/// The `error` of an authorization response (OAuth 2.1 section 4.1.2.1, RFC 8707
/// section 2, OIDC Core section 3.1.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusalCode {
    /// The owner said no.
    AccessDenied,
    /// The client wanted no page, but consent is a page.
    InteractionRequired,
    /// A parameter is missing, doubled or malformed.
    InvalidRequest,
    /// The token is wanted for somebody else's resource.
    InvalidTarget,
    /// Request objects are not read.
    RequestNotSupported,
    /// References to request objects are not followed.
    RequestUriNotSupported,
    /// Anything but `code`.
    UnsupportedResponseType,
}

/// A request that ends with an error at the client's own redirect URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    redirect_uri: RedirectUri,
    state: Option<String>,
    code: RefusalCode,
    description: String,
}

/// What became of a request whose client and redirect URI are known.
pub(super) type Judgement = Result<AuthorizationRequest, Refusal>;

impl AuthorizeQuery {
    /// Takes the encoded parameters, from the URL or from a form.
    ///
    /// # Errors
    ///
    /// [`LocalFault`].
    pub(super) fn parse(encoded: &[u8]) -> Result<Self, LocalFault> {
        if encoded.len() > MAX_REQUEST_BYTES {
            return Err(LocalFault::TooLong);
        }
        Ok(Self(Parameters::parse(encoded)?))
    }

    /// The same request as a query.
    pub(super) fn encoded(&self) -> String {
        self.0.encoded()
    }

    /// The client that the request claims to be from.
    ///
    /// # Errors
    ///
    /// [`LocalFault`].
    pub(super) fn client_id(&self) -> Result<ClientId, LocalFault> {
        let presented = self.0.single("client_id")?.ok_or(LocalFault::MissingClientId)?;
        Ok(ClientId::presented(presented))
    }

    /// Checks the request against the client that it named.
    ///
    /// # Errors
    ///
    /// [`LocalFault`] while there is no place to send an answer to. All that comes
    /// after is in the [`Judgement`].
    pub(super) fn judge(
        self,
        client: RegisteredClient,
        resource: &ResourceUri,
        rules: &ClientRules,
    ) -> Result<Judgement, LocalFault> {
        let presented = self.0.single("redirect_uri")?.ok_or(LocalFault::MissingRedirectUri)?;
        let redirect_uri =
            client.matching_redirect_uri(presented).ok_or(LocalFault::UnregisteredRedirectUri)?;
        // A published client has been judged by its host; behind any other is whoever
        // gets the answer.
        if client.document_host().is_none() && !rules.allows_place(&redirect_uri.target()) {
            return Err(LocalFault::ClientNotAllowed);
        }
        // A doubled state is not sent back: there is no telling which one was meant.
        let state = self.0.single("state").ok().flatten();
        if state.is_some_and(|state| state.len() > MAX_STATE_BYTES) {
            return Err(LocalFault::TooLong);
        }
        let state = state.map(str::to_owned);
        Ok(match self.check(resource) {
            Ok((challenge, requested)) => {
                Ok(AuthorizationRequest { client, redirect_uri, state, challenge, requested })
            }
            Err((code, description)) => Err(Refusal { redirect_uri, state, code, description }),
        })
    }

    fn check(
        &self,
        resource: &ResourceUri,
    ) -> Result<(CodeChallenge, ScopeSet), (RefusalCode, String)> {
        let invalid = |fault: Repeated| (RefusalCode::InvalidRequest, fault.to_string());
        let single = |name| self.0.single(name).map_err(invalid);
        let refuse = |code, description: &str| Err((code, description.to_owned()));

        single("state")?;
        if single("request")?.is_some() {
            return refuse(RefusalCode::RequestNotSupported, "request objects are not supported");
        }
        if single("request_uri")?.is_some() {
            return refuse(RefusalCode::RequestUriNotSupported, "request_uri is not supported");
        }
        match single("response_type")? {
            Some("code") => {}
            None => return refuse(RefusalCode::InvalidRequest, "response_type is missing"),
            Some(_) => {
                return refuse(RefusalCode::UnsupportedResponseType, "response_type must be code");
            }
        }
        let challenge = CodeChallenge::from_request(
            single("code_challenge")?,
            single("code_challenge_method")?,
        )
        .map_err(|error| (RefusalCode::InvalidRequest, error.to_string()))?;
        let scope = single("scope")?.unwrap_or_default();
        // May be repeated (RFC 8707 section 2), but there is one resource here.
        if !self.0.all("resource").all(|indicator| resource.is_meant_by(indicator)) {
            return refuse(RefusalCode::InvalidTarget, "resource is not the one served here");
        }
        // Consent is asked for every time (checklist #143), and by the time anything is
        // sent back the owner has signed in: what is missing is the consent.
        if single("prompt")?.is_some_and(|prompt| prompt.split(' ').any(|word| word == "none")) {
            return refuse(RefusalCode::InteractionRequired, "consent is always asked for");
        }
        let known = ScopeSet::parse_known(scope);
        Ok((challenge, if known.is_empty() { ScopeSet::ALL } else { known }))
    }
}

impl Refusal {
    /// The owner's refusal of a request that was in order.
    pub(super) fn denied(request: AuthorizationRequest) -> Self {
        Self {
            redirect_uri: request.redirect_uri,
            state: request.state,
            code: RefusalCode::AccessDenied,
            description: "the owner did not allow it".to_owned(),
        }
    }

    /// Where the answer goes.
    pub(super) const fn redirect_uri(&self) -> &RedirectUri {
        &self.redirect_uri
    }

    /// For the log.
    pub(super) fn reason(&self) -> String {
        format!("{} ({})", self.code.as_str(), self.description)
    }

    /// The URL that tells the client (OAuth 2.1 section 4.1.2.1, RFC 9207 section 2).
    pub(super) fn location(&self, issuer: &Issuer) -> String {
        let description = ("error_description", &*self.description);
        let mut parameters = vec![("error", self.code.as_str()), description];
        parameters.extend(self.state.as_deref().map(|state| ("state", state)));
        parameters.push(("iss", issuer.as_str()));
        self.redirect_uri.with_parameters(&parameters)
    }
}

impl RefusalCode {
    const fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "access_denied",
            Self::InteractionRequired => "interaction_required",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidTarget => "invalid_target",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::UnsupportedResponseType => "unsupported_response_type",
        }
    }
}

/// The URL that brings the client its code (OAuth 2.1 section 4.1.2, RFC 9207
/// section 2).
pub(super) fn success_location(
    redirect_uri: &RedirectUri,
    code: &str,
    state: Option<&str>,
    issuer: &Issuer,
) -> String {
    let mut parameters = vec![("code", code)];
    parameters.extend(state.map(|state| ("state", state)));
    parameters.push(("iss", issuer.as_str()));
    redirect_uri.with_parameters(&parameters)
}
