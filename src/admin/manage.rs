//! Runs the commands about what the authorization server keeps.

mod files;

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::Value;

use super::orders::{
    Audit, AuditOrder, Client, ClientOrder, Grant, GrantOrder, Key, KeyOrder, NewPassword, Order,
    Owner, OwnerOrder, Session, SessionOrder, User, UserOrder, Which,
};
use super::protocol::{Reply, Request, Secret};
use super::reach::{Place, Reached};
use super::tables;
use super::terminal::{Paint, fail, unless_closed};

/// Said to who wants to change the users.
const USERS_ARE_CONFIGURED: &str = "\
users stand in the configuration file, with their vaults: add or remove a [[user]] there and
restart the server. Who is removed there is nobody from then on, and so are their apps; who is
new gets a link to choose a password, printed at the start.";

/// Runs a command: exit status 1 if what it names does not exist, 2 if it was refused.
///
/// # Errors
///
/// Why the data cannot be reached, in words for the owner.
pub fn run(order: Order) -> anyhow::Result<ExitCode> {
    let (place, request) = match order {
        Order::Owner(Owner { what, place }) => (place, owner(what)?),
        Order::User(User { what, place }) => (place, user(what)?),
        Order::Client(Client { what, place }) => (place, client(what)),
        Order::Grant(Grant { what, place }) => (place, grant(what)),
        Order::Session(Session { what, place }) => (place, session(what)),
        Order::Key(Key { what, place }) => (place, key(what)),
        Order::Backup(order) => return files::backup(&order),
        Order::Restore(order) => return files::restore(&order),
        Order::Audit(Audit { what, place }) => {
            let (request, form) = audit(what, form(&place));
            return print(&place, form, &ask(&place, request)?);
        }
    };
    print(&place, form(&place), &ask(&place, request)?)
}

/// How an answer is printed.
#[derive(Clone, Copy)]
enum Form {
    /// For people.
    Text,
    /// One JSON value.
    Json,
    /// A JSON value for each item, one a line.
    JsonLines,
}

const fn form(place: &Place) -> Form {
    if place.json { Form::Json } else { Form::Text }
}

fn ask(place: &Place, request: Request) -> anyhow::Result<Reply> {
    Ok(reach(place)?.ask(request)?.0)
}

/// Finds the data, and says so if no server runs.
fn reach(place: &Place) -> anyhow::Result<Reached> {
    let reached = place.reach()?;
    if matches!(reached, Reached::Closed(_)) {
        eprintln!("No server runs; this is about the stored data.");
    }
    Ok(reached)
}

fn owner(what: OwnerOrder) -> anyhow::Result<Request> {
    Ok(match what {
        OwnerOrder::SetupLink => Request::SetupLink { user: None },
        OwnerOrder::SetPassword(how) => set_password(None, &how)?,
    })
}

fn user(what: UserOrder) -> anyhow::Result<Request> {
    Ok(match what {
        UserOrder::List => Request::Users,
        UserOrder::SetupLink { user } => Request::SetupLink { user: Some(user) },
        UserOrder::SetPassword { user, how } => set_password(Some(user), &how)?,
        UserOrder::Add { .. } | UserOrder::Remove { .. } => bail!(USERS_ARE_CONFIGURED),
    })
}

fn client(what: ClientOrder) -> Request {
    match what {
        ClientOrder::List => Request::Clients,
        ClientOrder::Show { id } => Request::Client { id },
        ClientOrder::Remove { id } => Request::RemoveClient { id },
    }
}

fn grant(what: GrantOrder) -> Request {
    match what {
        GrantOrder::List { user, ended } => Request::Grants { user, also_ended: ended },
        GrantOrder::Revoke(Which { id: Some(id), .. }) => Request::RevokeGrant { id },
        GrantOrder::Revoke(Which { user, .. }) => Request::RevokeGrants { user },
    }
}

fn session(what: SessionOrder) -> Request {
    match what {
        SessionOrder::List => Request::Sessions,
        SessionOrder::Revoke(Which { id: Some(id), .. }) => Request::RevokeSession { id },
        SessionOrder::Revoke(Which { user, .. }) => Request::RevokeSessions { user },
    }
}

fn key(what: KeyOrder) -> Request {
    match what {
        KeyOrder::List => Request::Keys,
        KeyOrder::Rotate => Request::RotateKeys,
        KeyOrder::Revoke { kid } => Request::RevokeKey { kid },
    }
}

fn audit(what: AuditOrder, form: Form) -> (Request, Form) {
    match what {
        AuditOrder::Tail { lines, user } => (Request::Events { user, most: lines }, form),
        AuditOrder::Export { user } => {
            (Request::Events { user, most: usize::MAX }, Form::JsonLines)
        }
    }
}

fn set_password(user: Option<String>, how: &NewPassword) -> anyhow::Result<Request> {
    let password = Secret(password(how.password_file.as_deref())?);
    let NewPassword { disconnect_apps, remove_passkeys, .. } = *how;
    Ok(Request::SetPassword { user, password, disconnect_apps, remove_passkeys })
}

/// The password: from a file, from whoever types it twice, or from another program.
#[expect(clippy::disallowed_methods, reason = "a file with a password is no page")]
fn password(file: Option<&Path>) -> anyhow::Result<String> {
    if let Some(file) = file {
        let text = fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read", file.display()))?;
        return only_line(text);
    }
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).context("no password came")?;
        return only_line(line);
    }
    let first = typed("New password: ")?;
    if first != typed("The same again: ")? {
        bail!("the two were not the same; nothing is changed");
    }
    Ok(first)
}

fn only_line(text: String) -> anyhow::Result<String> {
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() || line.contains(['\n', '\r']) {
        bail!("the password must be one line");
    }
    Ok(line.to_owned())
}

/// One line that is typed and not shown.
fn typed(prompt: &str) -> anyhow::Result<String> {
    let input = io::stdin();
    eprint!("{prompt}");
    let shown = tcgetattr(&input)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    tcsetattr(&input, OptionalActions::Now, &shown)?;
    eprintln!();
    read.context("no password came")?;
    only_line(line)
}

fn print(place: &Place, form: Form, reply: &Reply) -> anyhow::Result<ExitCode> {
    match reply {
        Reply::Missing(text) => return Ok(fail(text, place.json, ExitCode::FAILURE)),
        Reply::Refused(text) => return Ok(fail(text, place.json, ExitCode::from(2))),
        _ => {}
    }
    let mut out = io::stdout().lock();
    let written = match form {
        Form::Json => as_json(reply).and_then(|value| writeln!(out, "{value:#}")),
        Form::JsonLines => write_lines(&mut out, reply),
        Form::Text => tables::write(&mut out, reply, Paint::of(&io::stdout())),
    };
    unless_closed(written)?;
    Ok(ExitCode::SUCCESS)
}

/// Lists as arrays, all else as one object.
fn as_json(reply: &Reply) -> io::Result<Value> {
    Ok(match serde_json::to_value(reply)? {
        Value::Object(tagged) => match reply {
            Reply::Done(_) => Value::Object(tagged),
            _ => tagged.into_iter().next().map(|(_, value)| value).unwrap_or_default(),
        },
        other => other,
    })
}

fn write_lines(out: &mut impl Write, reply: &Reply) -> io::Result<()> {
    match as_json(reply)? {
        Value::Array(items) => items.iter().try_for_each(|item| writeln!(out, "{item}")),
        other => writeln!(out, "{other}"),
    }
}
