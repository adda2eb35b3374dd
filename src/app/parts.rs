//! Configuration → parts → one router.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use axum::Router;

use super::metrics::Panel;
use super::requests::Requests;
use super::{Application, SignsIn, StartError, layers};
use crate::authorization_server::password::Password;
use crate::authorization_server::{
    AuthorizationServer, Settings as AuthorizationSettings, SetupLink, page_for_visitors,
};
use crate::clock::Clock;
use crate::configuration::{Configuration, People, TokenSource, User};
use crate::contract::issuer::Issuer;
use crate::contract::liveness::GrantLiveness;
use crate::contract::resource::ResourceUri;
use crate::entropy::Entropy;
use crate::mcp::service::McpServer;
use crate::mcp::vaults::{UserVaults, Vaults};
use crate::refusals::Refusals;
use crate::resource_server::key_source::KeySource;
use crate::resource_server::sessions::Sessions;
use crate::resource_server::verify::ForeignGrants;
use crate::resource_server::{ResourceServer, Settings as ResourceSettings};
use crate::vault::{Languages, Settings as VaultSettings, Unavailable, Vault};

pub(super) async fn build(
    configuration: Configuration,
    resource: ResourceUri,
    clock: Clock,
    entropy: Entropy,
) -> Result<Application, StartError> {
    let (refusals, started_at) = (Refusals::default(), clock.now());
    let (vaults, opened) = {
        let (people, clock) = (configuration.people.clone(), clock.clone());
        let vaults = EveryVault {
            languages: configuration.languages.clone(),
            refusals: refusals.clone(),
            clock,
        };
        blocking(move || vaults.open(&people)).await?
    };
    let tokens =
        Tokens::build(&configuration, &resource, &clock, entropy.clone(), refusals).await?;
    let sessions = Sessions::new();
    let mcp = McpServer::new(vaults, configuration.toolsets, entropy);
    let mcp = mcp.into_http(sessions.manager());
    let settings = ResourceSettings {
        issuer: tokens.issuer.clone(),
        resource: resource.clone(),
        allowed_origins: configuration.allowed_origins.clone(),
        key_source: tokens.keys,
        limit: configuration.mcp_limit,
        bad_token_limit: configuration.bad_token_limit,
    };
    let resource_server = ResourceServer::new(settings, tokens.liveness, clock, sessions);
    let both = resource_server.router(mcp).merge(tokens.routes);
    let requests = Arc::<Requests>::default();
    let (sites, proxies) = (resource_server.sites(), &configuration.trusted_proxies);
    let router = layers::around(both, sites, proxies, Arc::clone(&requests));
    let Tokens { issuer, signs_in, setup_links, authorization_server, .. } = tokens;
    let panel = Panel {
        started_at,
        requests,
        resource_server,
        authorization_server: authorization_server.clone(),
        vaults: opened,
    };
    Ok(Application { router, resource, issuer, signs_in, setup_links, authorization_server, panel })
}

/// What the resource server is told about the issuer, foreign or embedded; and
/// what the embedded one adds to the routes.
struct Tokens {
    issuer: Issuer,
    keys: KeySource,
    liveness: Arc<dyn GrantLiveness>,
    routes: Router,
    signs_in: SignsIn,
    setup_links: Vec<SetupLink>,
    authorization_server: Option<AuthorizationServer>,
}

impl Tokens {
    async fn build(
        configuration: &Configuration,
        resource: &ResourceUri,
        clock: &Clock,
        entropy: Entropy,
        refusals: Refusals,
    ) -> Result<Self, StartError> {
        match &configuration.tokens {
            TokenSource::Foreign { issuer, jwks_url } => Ok(Self {
                issuer: issuer.clone(),
                keys: KeySource::url(jwks_url.as_str())?,
                liveness: Arc::new(ForeignGrants),
                routes: page_for_visitors(resource),
                signs_in: SignsIn::Elsewhere,
                setup_links: Vec::new(),
                authorization_server: None,
            }),
            TokenSource::Embedded { issuer, owner_password } => {
                let settings = configuration.authorization_settings(issuer.as_ref(), resource)?;
                let settings = AuthorizationSettings { refusals, ..settings };
                let issuer = settings.issuer.clone();
                let server = {
                    let clock = clock.clone();
                    blocking(move || AuthorizationServer::open(settings, clock, entropy)).await?
                };
                let password = owner_password.as_ref();
                let password = password.map(|password| Password::typed(password.expose()));
                let setup_links = server.first_run(password).await?;
                let publisher = server.clone();
                let keys = KeySource::embedded(Arc::new(move || publisher.public_key_set()));
                Ok(Self {
                    issuer,
                    keys,
                    liveness: server.liveness(),
                    routes: server.router(),
                    signs_in: SignsIn::Here,
                    setup_links,
                    authorization_server: Some(server),
                })
            }
        }
    }
}

/// Runs what blocks on the disk away from the threads that serve.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(broken) => std::panic::resume_unwind(broken.into_panic()),
    }
}

/// What all vaults have in common.
struct EveryVault {
    languages: Languages,
    refusals: Refusals,
    clock: Clock,
}

impl EveryVault {
    /// By whom they belong to, and each of them once.
    fn open(&self, people: &People) -> Result<(Vaults, Vec<Vault>), StartError> {
        match people {
            People::SingleOwner { vault, inbox } => {
                let vault = self.open_one(vault, inbox.as_deref())?;
                Ok((Vaults::single(vault.clone()), vec![vault]))
            }
            People::Named(users) => {
                let (mut by_subject, mut opened) = (Vec::new(), Vec::new());
                for user in users {
                    let vaults = self.open_those_of(user)?;
                    opened.extend(vaults.named.values().cloned());
                    for subject in user.subjects.iter().chain([&user.name]) {
                        by_subject.push((subject.clone(), vaults.clone()));
                    }
                }
                Ok((Vaults::for_users(by_subject), opened))
            }
        }
    }

    fn open_those_of(&self, user: &User) -> Result<UserVaults, StartError> {
        let mut default = None;
        let mut named = BTreeMap::new();
        for (name, folder) in &user.vaults {
            let vault = self.open_one(folder, user.inbox.as_deref())?;
            default.get_or_insert_with(|| vault.clone());
            named.insert(name.clone(), vault);
        }
        let default = default.expect("the configuration gives every user a vault");
        Ok(UserVaults { default, named })
    }

    fn open_one(&self, folder: &Path, inbox: Option<&str>) -> Result<Vault, StartError> {
        let settings = VaultSettings {
            root: folder.to_owned(),
            inbox: inbox.map(str::to_owned),
            languages: self.languages.clone(),
            refusals: self.refusals.clone(),
        };
        let vault = Vault::open(settings, self.clock.clone())?;
        vault.follow();
        // A wrong folder is easily named, and would show only as searches without hits.
        let pages = vault.classification().map(|classification| classification.pages.len());
        let folder = folder.display();
        match pages {
            Ok(0) => tracing::warn!(%folder, "the vault has no pages; is it the right folder?"),
            Ok(pages) => tracing::info!(%folder, pages, "opened a vault"),
            // The vault has said why.
            Err(Unavailable) => {}
        }
        Ok(vault)
    }
}
