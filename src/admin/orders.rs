//! The commands about what the authorization server keeps, as they are typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::reach::Place;

/// A command, by what it is about.
#[derive(Clone, Debug, Subcommand)]
pub enum Order {
    /// The owner's password: make a setup link, or set it here.
    Owner(Owner),
    /// Users, who come from the configuration: list them, let them choose a password.
    User(User),
    /// Apps that have registered or were approved.
    Client(Client),
    /// What users gave to apps.
    Grant(Grant),
    /// Browsers in which somebody is signed in.
    Session(Session),
    /// Keys that sign access tokens.
    Key(Key),
    /// What happened: who signed in, allowed, revoked, and when.
    Audit(Audit),
    /// Write all that is worth keeping into a file, also while the server runs.
    Backup(Backup),
    /// Bring a backup back, without a server. All apps have to be connected again.
    Restore(Restore),
}

impl Order {
    /// Which data it is about, and how the answer is printed.
    #[must_use]
    pub const fn place(&self) -> &Place {
        match self {
            Self::Owner(order) => &order.place,
            Self::User(order) => &order.place,
            Self::Client(order) => &order.place,
            Self::Grant(order) => &order.place,
            Self::Session(order) => &order.place,
            Self::Key(order) => &order.place,
            Self::Audit(order) => &order.place,
            Self::Backup(order) => &order.place,
            Self::Restore(order) => &order.place,
        }
    }
}

/// `brain-mcp backup`
#[derive(Clone, Debug, Args)]
pub struct Backup {
    /// The file. There must be none of that name yet.
    pub file: PathBuf,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// `brain-mcp restore`
#[derive(Clone, Debug, Args)]
pub struct Restore {
    /// The file that `backup` wrote.
    pub file: PathBuf,
    /// Put it in the place of the data that is there.
    #[arg(long)]
    pub replace: bool,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// `brain-mcp audit`
#[derive(Clone, Debug, Args)]
pub struct Audit {
    /// What to do.
    #[command(subcommand)]
    pub what: AuditOrder,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// How events are shown.
#[derive(Clone, Debug, Subcommand)]
pub enum AuditOrder {
    /// Show the last events.
    Tail {
        /// How many.
        #[arg(long, value_name = "NUMBER", default_value_t = 30)]
        lines: usize,
        /// To this user only.
        #[arg(long)]
        user: Option<String>,
    },
    /// Print all events that are kept, one JSON object a line.
    Export {
        /// To this user only.
        #[arg(long)]
        user: Option<String>,
    },
}

/// `brain-mcp owner`
#[derive(Clone, Debug, Args)]
pub struct Owner {
    /// What to do.
    #[command(subcommand)]
    pub what: OwnerOrder,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What can be done about the owner.
#[derive(Clone, Debug, Subcommand)]
pub enum OwnerOrder {
    /// Print a link by which the owner chooses a new password. It works once, for a day.
    SetupLink,
    /// Set the owner's password. Asks for it, or reads one line of standard input.
    SetPassword(NewPassword),
}

/// How a password is set.
#[derive(Clone, Debug, Args)]
pub struct NewPassword {
    /// Disconnect all apps of that user, too.
    #[arg(long)]
    pub disconnect_apps: bool,
    /// Remove all passkeys of that user, too: else they go on signing in.
    #[arg(long)]
    pub remove_passkeys: bool,
    /// File with the password on one line.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}

/// `brain-mcp user`
#[derive(Clone, Debug, Args)]
pub struct User {
    /// What to do.
    #[command(subcommand)]
    pub what: UserOrder,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What can be done about users.
#[derive(Clone, Debug, Subcommand)]
pub enum UserOrder {
    /// List the users.
    List,
    /// Print a link by which a user chooses a new password. It works once, for a day.
    SetupLink {
        /// Who.
        user: String,
    },
    /// Set a user's password. Asks for it, or reads one line of standard input.
    SetPassword {
        /// Whose.
        user: String,
        /// How.
        #[command(flatten)]
        how: NewPassword,
    },
    /// Say how users are added: they stand in the configuration file.
    Add {
        /// Who.
        user: Option<String>,
    },
    /// Say how users are removed.
    Remove {
        /// Who.
        user: Option<String>,
    },
}

/// `brain-mcp client`
#[derive(Clone, Debug, Args)]
pub struct Client {
    /// What to do.
    #[command(subcommand)]
    pub what: ClientOrder,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What can be done about clients.
#[derive(Clone, Debug, Subcommand)]
pub enum ClientOrder {
    /// List all apps, the one used last first.
    List,
    /// Show all that is known of one.
    Show {
        /// Its id.
        id: String,
    },
    /// Forget an app and disconnect it from everybody.
    #[command(visible_alias = "revoke")]
    Remove {
        /// Its id.
        id: String,
    },
}

/// `brain-mcp grant`
#[derive(Clone, Debug, Args)]
pub struct Grant {
    /// What to do.
    #[command(subcommand)]
    pub what: GrantOrder,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What can be done about grants.
#[derive(Clone, Debug, Subcommand)]
pub enum GrantOrder {
    /// List what is connected.
    List {
        /// Of this user only.
        #[arg(long)]
        user: Option<String>,
        /// Also what has ended.
        #[arg(long)]
        ended: bool,
    },
    /// Disconnect an app: one grant, or all of them.
    Revoke(Which),
}

/// One, or all.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false, id = "one or all")]
pub struct Which {
    /// Its id, as the list shows it. Put -- in front of one that begins with -h or -V.
    #[arg(allow_hyphen_values = true)]
    pub id: Option<String>,
    /// All of them.
    #[arg(long)]
    pub all: bool,
    /// All of this user.
    #[arg(long)]
    pub user: Option<String>,
}

/// `brain-mcp session`
#[derive(Clone, Debug, Args)]
pub struct Session {
    /// What to do.
    #[command(subcommand)]
    pub what: SessionOrder,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What can be done about sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionOrder {
    /// List the browsers.
    List,
    /// Sign out: one browser, or all of them.
    Revoke(Which),
}

/// `brain-mcp key`
#[derive(Clone, Debug, Args)]
pub struct Key {
    /// What to do.
    #[command(subcommand)]
    pub what: KeyOrder,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What can be done about keys.
#[derive(Clone, Debug, Subcommand)]
pub enum KeyOrder {
    /// List the keys.
    List,
    /// Let the next key sign from now on.
    Rotate,
    /// Take a key out: tokens that it signed are refused at once.
    Revoke {
        /// Its id. Put -- in front of one that begins with -h or -V.
        #[arg(allow_hyphen_values = true)]
        kid: String,
    },
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{Grant, GrantOrder, Key, KeyOrder, Order, Which};
    use crate::admin::arguments::{Arguments, Command};

    fn order(line: &str) -> Order {
        match Arguments::try_parse_from(line.split(' ')).map(|parsed| parsed.command) {
            Ok(Command::Manage(order)) => order,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// Ids are base64url, and one in 64 begins with a minus.
    #[test]
    fn ids_that_look_like_flags_are_ids() {
        let which = |line: &str| match order(line) {
            Order::Grant(Grant { what: GrantOrder::Revoke(Which { id, all, .. }), place }) => {
                (id, all, place.json)
            }
            other => panic!("{line}: {other:?}"),
        };
        let id = |text: &str| Some(text.to_owned());
        assert_eq!(which("brain-mcp grant revoke -abc_"), (id("-abc_"), false, false));
        assert_eq!(which("brain-mcp grant revoke --json -abc_"), (id("-abc_"), false, true));
        assert_eq!(which("brain-mcp grant revoke -abc_ --json"), (id("-abc_"), false, true));
        assert_eq!(which("brain-mcp grant revoke -- -habc"), (id("-habc"), false, false));
        assert_eq!(which("brain-mcp grant revoke --all"), (None, true, false));
        let key = order("brain-mcp key revoke -Abc");
        assert!(
            matches!(key, Order::Key(Key { what: KeyOrder::Revoke { kid }, .. }) if kid == "-Abc")
        );
    }
}
