//! Configuration → parts → one router.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use axum::Router;

use super::{Application, StartError, layers};
use crate::authorization_server::{AuthorizationServer, Settings as AuthorizationSettings};
use crate::clock::Clock;
use crate::configuration::{Configuration, People, TokenSource, User};
use crate::contract::issuer::Issuer;
use crate::contract::liveness::GrantLiveness;
use crate::contract::resource::ResourceUri;
use crate::entropy::Entropy;
use crate::mcp::service::McpServer;
use crate::mcp::vaults::{UserVaults, Vaults};
use crate::resource_server::key_source::KeySource;
use crate::resource_server::sessions::Sessions;
use crate::resource_server::verify::ForeignGrants;
use crate::resource_server::{ResourceServer, Settings as ResourceSettings};
use crate::vault::{Settings as VaultSettings, Vault};

pub(super) fn build(
    configuration: &Configuration,
    resource: ResourceUri,
    clock: Clock,
    entropy: Entropy,
) -> Result<Application, StartError> {
    let vaults = open_vaults(&configuration.people, &clock)?;
    let tokens = Tokens::build(configuration, &resource, &clock, entropy)?;
    let sessions = Sessions::new();
    let mcp = McpServer::new(vaults).into_http(sessions.manager());
    let settings = ResourceSettings {
        issuer: tokens.issuer,
        resource: resource.clone(),
        allowed_origins: configuration.allowed_origins.clone(),
        key_source: tokens.keys,
    };
    let resource_server = ResourceServer::new(settings, tokens.liveness, clock, sessions);
    let routes = resource_server.router(mcp).merge(tokens.routes);
    let router = layers::around(routes, resource_server.sites(), &configuration.trusted_proxies);
    Ok(Application { router, resource, setup_link: tokens.setup_link })
}

/// What the resource server is told about the issuer, foreign or embedded; and
/// what the embedded one adds to the routes.
struct Tokens {
    issuer: Issuer,
    keys: KeySource,
    liveness: Arc<dyn GrantLiveness>,
    routes: Router,
    setup_link: Option<String>,
}

impl Tokens {
    fn build(
        configuration: &Configuration,
        resource: &ResourceUri,
        clock: &Clock,
        entropy: Entropy,
    ) -> Result<Self, StartError> {
        match &configuration.tokens {
            TokenSource::Foreign { issuer, jwks_url } => Ok(Self {
                issuer: issuer.clone(),
                keys: KeySource::url(jwks_url.as_str())?,
                liveness: Arc::new(ForeignGrants),
                routes: Router::new(),
                setup_link: None,
            }),
            TokenSource::Embedded { issuer, owner_password } => {
                let issuer = match issuer {
                    Some(issuer) => issuer.clone(),
                    None => resource.origin().parse()?,
                };
                let settings = AuthorizationSettings {
                    lifetimes: configuration.lifetimes,
                    users: user_names(&configuration.people),
                    owner_password: owner_password
                        .as_ref()
                        .map(|password| password.expose().to_owned()),
                    ..AuthorizationSettings::new(
                        issuer.clone(),
                        resource.clone(),
                        configuration.data_dir.clone(),
                    )
                };
                let server = AuthorizationServer::open(settings, clock.clone(), entropy)?;
                let publisher = server.clone();
                let keys = KeySource::embedded(Arc::new(move || publisher.public_key_set()));
                Ok(Self {
                    issuer,
                    keys,
                    liveness: server.liveness(),
                    routes: server.router(),
                    setup_link: server.setup_link(),
                })
            }
        }
    }
}

fn open_vaults(people: &People, clock: &Clock) -> Result<Vaults, StartError> {
    match people {
        People::SingleOwner { vault } => Ok(Vaults::single(open_vault(vault, None, clock)?)),
        People::Named(users) => {
            let mut by_subject = Vec::new();
            for user in users {
                let vaults = open_vaults_of(user, clock)?;
                for subject in user.subjects.iter().chain([&user.name]) {
                    by_subject.push((subject.clone(), vaults.clone()));
                }
            }
            Ok(Vaults::for_users(by_subject))
        }
    }
}

fn open_vaults_of(user: &User, clock: &Clock) -> Result<UserVaults, StartError> {
    let mut default = None;
    let mut named = BTreeMap::new();
    for (name, folder) in &user.vaults {
        let vault = open_vault(folder, user.inbox.as_deref(), clock)?;
        default.get_or_insert_with(|| vault.clone());
        named.insert(name.clone(), vault);
    }
    let default = default.expect("the configuration gives every user a vault");
    Ok(UserVaults { default, named })
}

fn open_vault(folder: &Path, inbox: Option<&str>, clock: &Clock) -> Result<Vault, StartError> {
    let settings = VaultSettings { root: folder.to_owned(), inbox: inbox.map(str::to_owned) };
    Vault::open(settings, clock.clone()).map_err(|error| StartError::Vault {
        folder: folder.display().to_string(),
        error,
    })
}

fn user_names(people: &People) -> Vec<String> {
    match people {
        People::SingleOwner { .. } => vec![crate::configuration::check::OWNER.to_owned()],
        People::Named(users) => users.iter().map(|user| user.name.clone()).collect(),
    }
}
