//! Records of clients that today's rules would not register any more.
//!
//! A redirect URI is judged by the rules whenever it is read, so that no stored text is a
//! way around them. A version with stricter rules therefore cannot read all that an older
//! one has written. What only the rules refuse is removed at the start, and the owner is
//! told; what is unreadable for another reason is damage, and stays.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Store, StoreError, Trees, decode};
use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::client::ClientId;
use crate::authorization_server::grant::{self, EndReason};
use crate::authorization_server::redirect_uri::RedirectUri;
use crate::clock::UnixTime;

/// As much of a stored client as needs no rule to be read.
#[derive(Deserialize)]
struct Client {
    client: Registration,
}

#[derive(Deserialize)]
struct Registration {
    id: ClientId,
    redirect_uris: Vec<String>,
}

/// The same of a grant or a code.
#[derive(Deserialize)]
struct Approval {
    terms: Terms,
}

#[derive(Deserialize)]
struct Terms {
    client: ClientId,
    redirect_uri: Option<String>,
}

/// The client that a record is of, if the rules refuse a place that it names.
pub(super) fn refused_client(tree: &str, value: &[u8]) -> Option<ClientId> {
    let (client, places) = if tree == "clients" {
        let Client { client } = decode(value).ok()?;
        (client.id, client.redirect_uris)
    } else {
        let Approval { terms } = decode(value).ok()?;
        (terms.client, terms.redirect_uri.into_iter().collect())
    };
    places.iter().any(|place| RedirectUri::register(place).is_err()).then_some(client)
}

/// Removes what the rules refuse, before anything else is read. Answers which clients that
/// was about.
pub(super) fn remove(trees: &Trees) -> Result<BTreeSet<ClientId>, StoreError> {
    let mut refused = BTreeSet::new();
    for (name, tree) in
        [("clients", &trees.clients), ("grants", &trees.grants), ("codes", &trees.codes)]
    {
        for entry in tree {
            let (key, value) = entry?;
            if let Some(client) = refused_client(name, &value) {
                tree.remove(key)?;
                refused.insert(client);
            }
        }
    }
    for client in &refused {
        // Also one that approved access went to a place of, and that names others now.
        trees.clients.remove(client.as_str())?;
        for entry in &trees.client_digests {
            let (digest, id) = entry?;
            if id == client.as_str().as_bytes() {
                trees.client_digests.remove(digest)?;
            }
        }
    }
    Ok(refused)
}

impl Store {
    /// Ends what is left of the access of clients that were removed, and tells the owner.
    pub(super) fn mourn(
        &self,
        removed: BTreeSet<ClientId>,
        now: UnixTime,
    ) -> Result<(), StoreError> {
        for client in &removed {
            let is_its_own = |terms: &grant::Terms| terms.client == *client;
            self.end_access_where(is_its_own, now, EndReason::ClientRemoved)?;
            self.note(&Event::new(now, Actor::Server, What::ClientRemoved).of_client(client))?;
            tracing::warn!(
                %client,
                "an app was removed: its answers would go to a place that is not allowed any more"
            );
        }
        if removed.is_empty() { Ok(()) } else { self.0.durability.wait() }
    }
}
