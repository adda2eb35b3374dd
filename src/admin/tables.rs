//! Answers for people: tables, and the facts of one thing.

use std::io::{self, Write};

use jiff::Timestamp;

use super::protocol::Reply;
use super::terminal::{Paint, Role};
use crate::authorization_server::administration::{
    ClientFacts, GrantFacts, KeyFacts, SessionFacts, UserFacts,
};
use crate::clock::UnixTime;

/// Writes an answer for people.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn write(out: &mut impl Write, reply: &Reply, paint: Paint) -> io::Result<()> {
    match reply {
        Reply::Done(text) | Reply::Missing(text) | Reply::Refused(text) => writeln!(out, "{text}"),
        Reply::Link { user, url } => writeln!(
            out,
            "Open this link once, within a day, to choose the password of {user}:\n   {url}"
        ),
        Reply::Users(users) => {
            Table::of(users, ["USER", "PASSWORD SINCE", "PASSKEYS", "APPS", "BROWSERS"])
                .write(out, paint)
        }
        Reply::Clients(clients) => {
            let columns = ["ID", "APP", "APPROVED", "GRANTS", "LAST USED"];
            Table::of(clients, columns).write(out, paint)
        }
        Reply::Client(client) => facts(out, client, paint),
        Reply::Grants(grants) => {
            let columns = ["ID", "USER", "APP", "MAY", "LAST USED", "ENDS"];
            Table::of(grants, columns).write(out, paint)
        }
        Reply::Sessions(sessions) => {
            Table::of(sessions, ["ID", "USER", "SIGNED IN", "LAST SEEN"]).write(out, paint)
        }
        Reply::Backup { bytes } => writeln!(out, "a backup of {bytes} bytes"),
        Reply::Events(events) => {
            for event in events {
                let user = event.user.as_deref().unwrap_or("-");
                let text = event.text(str::to_owned);
                let line = format!("{}  {user:<12}  {text}", moment(event.at));
                writeln!(out, "{}", Paint::Plain.text(Role::Aside, &line))?;
            }
            Ok(())
        }
        Reply::Keys(keys) => Table::of(keys, ["ID", "STATE", "SINCE", "MADE"]).write(out, paint),
    }
}

fn facts(out: &mut impl Write, client: &ClientFacts, paint: Paint) -> io::Result<()> {
    let mut line = |name: &str, value: &str| {
        let name = paint.text(Role::Title, &format!("{name:<15}"));
        writeln!(out, "{name}{}", Paint::Plain.text(Role::Aside, value))
    };
    line("id", &client.id)?;
    line("calls itself", client.name.as_deref().unwrap_or("-"))?;
    line("vouched for by", client.host.as_deref().unwrap_or("nobody"))?;
    for uri in &client.redirect_uris {
        line("answers go to", uri)?;
    }
    line("authenticates", &client.authentication)?;
    line("registered", &moment(client.registered_at))?;
    line("last used", &moment(client.last_used_at))?;
    line("was approved", yes_or_no(client.was_approved))?;
    line("grants", &client.grants.to_string())
}

/// What can be a row.
trait Row<const N: usize> {
    fn cells(&self) -> [String; N];
}

/// Rows under headings.
struct Table<const N: usize> {
    columns: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    fn of<T: Row<N>>(items: &[T], columns: [&'static str; N]) -> Self {
        Self { columns, rows: items.iter().map(Row::cells).collect() }
    }

    fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        if self.rows.is_empty() {
            return writeln!(out, "There are none.");
        }
        let width = |index: usize| {
            let cells = self.rows.iter().map(|row| row[index].chars().count());
            cells.max().unwrap_or_default().max(self.columns[index].len())
        };
        let widths: [usize; N] = std::array::from_fn(width);
        let line = |cells: [&str; N]| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        writeln!(out, "{}", paint.text(Role::Title, &line(self.columns)))?;
        for row in &self.rows {
            let cells = std::array::from_fn(|index| &*row[index]);
            // Names are somebody else's: no control character reaches the terminal.
            writeln!(out, "{}", Paint::Plain.text(Role::Aside, &line(cells)))?;
        }
        Ok(())
    }
}

impl Row<5> for UserFacts {
    fn cells(&self) -> [String; 5] {
        let since = self.password_since.map_or_else(|| "has none".to_owned(), moment);
        let (passkeys, apps) = (self.passkeys.to_string(), self.apps.to_string());
        [self.name.clone(), since, passkeys, apps, self.browsers.to_string()]
    }
}

impl Row<5> for ClientFacts {
    fn cells(&self) -> [String; 5] {
        [
            self.id.clone(),
            self.host.clone().or_else(|| self.name.clone()).unwrap_or_else(|| "-".to_owned()),
            yes_or_no(self.was_approved).to_owned(),
            self.grants.to_string(),
            moment(self.last_used_at),
        ]
    }
}

impl Row<6> for GrantFacts {
    fn cells(&self) -> [String; 6] {
        let reason = self.end_reason.as_deref().unwrap_or("its time was over");
        let end = self.ended_at.map(|at| format!("ended {}: {reason}", moment(at)));
        [
            self.id.clone(),
            self.user.clone(),
            self.app.clone().unwrap_or_else(|| self.client.clone()),
            self.scopes.clone(),
            moment(self.used_at),
            end.unwrap_or_else(|| moment(self.ends_at)),
        ]
    }
}

impl Row<4> for SessionFacts {
    fn cells(&self) -> [String; 4] {
        let Self { id, user, signed_in_at, seen_at } = self;
        [id.clone(), user.clone(), moment(*signed_in_at), moment(*seen_at)]
    }
}

impl Row<4> for KeyFacts {
    fn cells(&self) -> [String; 4] {
        [self.kid.clone(), self.state.clone(), moment(self.since), moment(self.created_at)]
    }
}

const fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// A moment for people, to the second.
pub(super) fn moment(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_seconds()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| "never".to_owned(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Paint, Reply, SessionFacts, UnixTime, write};

    fn text(reply: &Reply) -> String {
        let mut out = Vec::new();
        write(&mut out, reply, Paint::Plain).expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn tables_are_aligned_and_harmless() {
        let session = |id: &str, user: &str| SessionFacts {
            id: id.to_owned(),
            user: user.to_owned(),
            signed_in_at: UnixTime::from_seconds(1_800_000_000),
            seen_at: UnixTime::from_seconds(1_800_000_060),
        };
        let sessions = vec![session("abc", "owner"), session("d", "a\u{1b}[31m")];
        assert_eq!(
            text(&Reply::Sessions(sessions)).lines().collect::<Vec<_>>(),
            [
                "ID   USER    SIGNED IN             LAST SEEN",
                "abc  owner   2027-01-15T08:00:00Z  2027-01-15T08:01:00Z",
                "d    a\u{fffd}[31m  2027-01-15T08:00:00Z  2027-01-15T08:01:00Z",
            ]
        );
        assert_eq!(text(&Reply::Sessions(Vec::new())), "There are none.\n");
    }
}
