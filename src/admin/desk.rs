//! Requests → what the authorization server says to them. The same for a server that
//! runs, behind its socket, and for one that a command has opened by itself.

use super::protocol::{Reply, Request};
use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::administration::AdministrationError;
use crate::authorization_server::password::AlsoEnds;

/// Does what is asked for. What comes behind the reply, if anything, is the second.
pub(super) async fn answer(server: &AuthorizationServer, request: Request) -> (Reply, Vec<u8>) {
    let outcome = if matches!(request, Request::Backup) {
        let backup = server.backup().await;
        backup.map(|backup| (Reply::Backup { bytes: backup.len() as u64 }, backup))
    } else {
        attempt(server, request).await.map(|reply| (reply, Vec::new()))
    };
    outcome.unwrap_or_else(|error| {
        let text = error.to_string();
        let is_missing = matches!(error, AdministrationError::Missing(_));
        (if is_missing { Reply::Missing(text) } else { Reply::Refused(text) }, Vec::new())
    })
}

async fn attempt(
    server: &AuthorizationServer,
    request: Request,
) -> Result<Reply, AdministrationError> {
    Ok(match request {
        Request::Backup => Reply::Refused("a backup is more than a line".to_owned()),
        Request::Users => Reply::Users(server.user_facts().await?),
        Request::SetupLink { user } => {
            let link = server.setup_link(user.as_deref()).await?;
            Reply::Link { user: link.user, url: link.url }
        }
        Request::SetPassword { user, password, disconnect_apps, remove_passkeys } => {
            let also = AlsoEnds { apps: disconnect_apps, passkeys: remove_passkeys };
            let user = server.give_password(user.as_deref(), &password.0, also).await?;
            let apps = if disconnect_apps { "Their apps are disconnected." } else { KEPT_APPS };
            let passkeys =
                if remove_passkeys { "Their passkeys are removed." } else { KEPT_PASSKEYS };
            Reply::Done(format!(
                "{user} has a new password, and is signed out everywhere. {apps} {passkeys}"
            ))
        }
        Request::Clients => Reply::Clients(server.client_facts().await?),
        Request::Client { id } => {
            let clients = server.client_facts().await?;
            let client = clients.into_iter().find(|client| client.id == id);
            Reply::Client(Box::new(client.ok_or(AdministrationError::Missing("client"))?))
        }
        Request::RemoveClient { id } => {
            let grants = server.remove_client(&id).await?;
            Reply::Done(format!(
                "The client is removed, and {} ended. It can ask anew unless allowed_clients \
                 keeps it out.",
                counted(grants, "grant")
            ))
        }
        Request::Grants { user, also_ended } => {
            Reply::Grants(server.grant_facts(user.as_deref(), also_ended).await?)
        }
        Request::RevokeGrant { id } => {
            server.revoke_grant(&id).await?;
            Reply::Done("The grant is revoked. The app's next request is refused.".to_owned())
        }
        Request::RevokeGrants { user } => {
            let ended = server.revoke_grants(user.as_deref()).await?;
            Reply::Done(format!("{} revoked.", counted(ended, "grant")))
        }
        Request::Sessions => Reply::Sessions(server.session_facts().await?),
        Request::RevokeSession { id } => {
            server.revoke_session(&id).await?;
            Reply::Done("The browser is signed out.".to_owned())
        }
        Request::RevokeSessions { user } => {
            let ended = server.revoke_sessions(user.as_deref()).await?;
            Reply::Done(format!("{} signed out.", counted(ended, "browser")))
        }
        Request::Events { user, most } => {
            Reply::Events(server.events(user.as_deref(), most).await?)
        }
        Request::Keys => Reply::Keys(server.key_facts()),
        Request::RotateKeys => {
            server.turn_keys().await?;
            Reply::Done("Another key signs from now on. Nobody has to sign in again.".to_owned())
        }
        Request::RevokeKey { kid } => {
            server.withdraw_key(&kid).await?;
            Reply::Done(
                "The key is revoked. Tokens that it signed are refused; apps fetch new ones by \
                 themselves."
                    .to_owned(),
            )
        }
    })
}

const KEPT_PASSKEYS: &str =
    "Passkeys go on signing in, if there are any; `--remove-passkeys` ends that.";
const KEPT_APPS: &str = "Their apps stay connected; `brain-mcp grant revoke --all` ends that.";

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what} is") } else { format!("{number} {what}s are") }
}
