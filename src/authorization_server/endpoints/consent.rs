//! `/consent`: may it?

use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tracing::{Instrument as _, Span};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::answered::{FormDigest, SentBack, Turn};
use crate::authorization_server::authorization::{
    Approval, AuthorizationRequest, GrantSpan, InvalidApproval, PeopleSpan,
};
use crate::authorization_server::code::CodeDigest;
use crate::authorization_server::endpoints::log::{about_app, about_user};
use crate::authorization_server::endpoints::posted::PostedForm;
use crate::authorization_server::endpoints::send_back;
use crate::authorization_server::own_page::OwnPage;
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::pages::{Asker, CONSENT_POLICY, ConsentPage, Offer, page};
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::pending::{PendingName, Shown};
use crate::authorization_server::request::{Refusal, success_location};
use crate::authorization_server::session::FreshOwner;
use crate::authorization_server::store::choices::ChoiceKey;
use crate::authorization_server::store::{Store, StoreError};
use crate::contract::scope::{Scope, ScopeSet};

/// What the owner decided.
enum Answer {
    Deny,
    Allow { scopes: ScopeSet, grant: GrantSpan, people: PeopleSpan },
}

/// Shows what waits. A request that was faulty is sent back now that we know the
/// owner; nobody has to decide about it.
pub(super) async fn show(
    State(server): State<AuthorizationServer>,
    owner: FreshOwner,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let name = PendingName::in_query(query.as_deref()).ok_or(PageError::Gone)?;
    let browser = owner.cookie().key();
    let pending = &server.browsing().pending;
    let request = match pending.show(&name, browser).ok_or(PageError::Gone)? {
        Shown::Request(request) => request,
        Shown::Refusal => {
            let refusal = pending.take_refusal(&name, browser).ok_or(PageError::Gone)?;
            return Ok(send_back::refusal(&server, &refusal).into_response());
        }
    };
    let choice = ChoiceKey::of(owner.name(), &request);
    let last_time = server.store().read(move |store| store.last_choice(choice)).await?;
    let has_changed = server.has_changed_since_approval(owner.name(), &request.client).await?;
    let longest = server.settings().lifetimes.grant;
    let has_inbox = server.settings().has_inbox(owner.name());
    let template = ConsentPage {
        asker: Asker::of(&request),
        has_changed,
        offers: Offer::all(request.requested, last_time, has_inbox),
        grant_spans: GrantSpan::offers(longest),
        people_spans: PeopleSpan::offers(longest),
        resource: &server.settings().resource,
        user: owner.name(),
        action: name.at("/consent"),
        form_token: pending.render(&name, browser).ok_or(PageError::Gone)?,
        sign_out_action: name.at("/logout"),
        sign_out_token: owner.cookie().form_token(),
    };
    let policy = [(header::CONTENT_SECURITY_POLICY, CONSENT_POLICY)];
    Ok((policy, page(StatusCode::OK, &template)).into_response())
}

/// Takes the owner's answer, once, and sends the browser back to the client; again, if the
/// browser sends the form again at once.
pub(super) async fn answer(
    State(server): State<AuthorizationServer>,
    _own: OwnPage,
    owner: FreshOwner,
    RawQuery(query): RawQuery,
    PostedForm(body): PostedForm,
) -> Result<Response, PageError> {
    let name = PendingName::in_query(query.as_deref()).ok_or(PageError::AnsweredBefore)?;
    let form = FormDigest::of(&name, owner.cookie().key(), &body);
    match server.browsing().answered.begin(form).await {
        Turn::First(turn) => {
            let work = async move {
                let answer = take(&server, &owner, &name, &body).await?;
                turn.end(answer.clone());
                Ok::<_, PageError>(answer)
            };
            // Beside the request: a browser hangs up on the first when it sends the second.
            let work = tokio::spawn(work.instrument(Span::current()));
            Ok(work.await.map_err(|_| StoreError::Interrupted)??.into_response())
        }
        Turn::Again(answer) => again(&server, answer).await,
    }
}

async fn take(
    server: &AuthorizationServer,
    owner: &FreshOwner,
    name: &PendingName,
    body: &[u8],
) -> Result<SentBack, PageError> {
    let fields = Parameters::parse(body)?;
    let answer = Answer::read(&fields)?;
    let form_token = fields.single("form")?.unwrap_or_default();
    let request = server.browsing().pending.take(name, owner.cookie().key(), form_token)?;
    about_app(&request.client.id);
    about_user(owner.name());
    match answer {
        Answer::Allow { scopes, grant, people } if !scopes.is_empty() => {
            let now = server.clock().now();
            // The operator's limit holds whatever the page offers.
            let ends_at = now + grant.duration().min(server.settings().lifetimes.grant);
            let people_until = (now + people.duration()).min(ends_at);
            allow(server, owner, request, Approval { scopes, ends_at, people_until }).await
        }
        // To tick nothing is to deny (checklist #145).
        Answer::Allow { .. } | Answer::Deny => {
            server.note_denial(owner.name(), &request).await?;
            Ok(send_back::refusal(server, &Refusal::denied(request)))
        }
    }
}

/// The same answer again, unless the client has had its code: one that comes twice would
/// look like a theft (checklist #53).
async fn again(server: &AuthorizationServer, answer: SentBack) -> Result<Response, PageError> {
    if let Some(code) = answer.code {
        let issued = server.store().read(move |store| store.code(code)).await?;
        if !issued.is_some_and(|issued| issued.is_fresh()) {
            return Err(PageError::AnsweredBefore);
        }
    }
    let outcome = "the form came twice, and is answered as the first time".to_owned();
    Ok(SentBack { outcome, ..answer }.into_response())
}

async fn allow(
    server: &AuthorizationServer,
    owner: &FreshOwner,
    request: AuthorizationRequest,
    approval: Approval,
) -> Result<SentBack, PageError> {
    let (redirect_uri, state) = (request.redirect_uri.clone(), request.state.clone());
    let client = request.client.id.clone();
    let choice = ChoiceKey::of(owner.name(), &request);
    let approved = request.approve(owner.name(), approval).map_err(|error| match error {
        InvalidApproval::Widened => PageError::BadForm("a scope was ticked that was not offered"),
        InvalidApproval::Nothing => PageError::BadForm("no scope was ticked"),
    })?;
    let scopes = approval.scopes;
    let remember = move |store: &Store| store.remember_choice(choice, &client, scopes);
    server.store().change(remember).await?;
    let code = server.issue_code(approved).await?;
    let outcome =
        format!("allowed: {}; a code was sent to {}", approval.scopes, redirect_uri.target());
    let issuer = &server.settings().issuer;
    let location = success_location(&redirect_uri, &code, state.as_deref(), issuer);
    Ok(SentBack { redirect_uri, location, code: Some(CodeDigest::of(&code)), outcome })
}

impl Answer {
    fn read(fields: &Parameters) -> Result<Self, PageError> {
        match fields.single("decision")? {
            Some("deny") => return Ok(Self::Deny),
            Some("allow") => {}
            _ => return Err(PageError::BadForm("there is no decision in it")),
        }
        let known = |name: &str| Scope::ALL.into_iter().find(|scope| scope.as_str() == name);
        let scopes = fields.all("scope").map(|name| known(name).ok_or("an unknown scope"));
        let scopes: ScopeSet = scopes.collect::<Result<_, _>>().map_err(PageError::BadForm)?;
        let grant = fields.single("grant_for")?.and_then(GrantSpan::parse);
        // Only there if notes about people were offered; else it means nothing.
        let people = fields.single("people_for")?.map(PeopleSpan::parse);
        Ok(Self::Allow {
            scopes,
            grant: grant.ok_or(PageError::BadForm("an unknown duration"))?,
            people: people
                .unwrap_or(Some(PeopleSpan::Hour))
                .ok_or(PageError::BadForm("an unknown duration"))?,
        })
    }
}
