//! `brain-mcp backup` and `brain-mcp restore`: the file on this side.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::{form, print, reach};
use crate::admin::orders::{Backup as BackupOrder, Restore as RestoreOrder};
use crate::admin::protocol::{Reply, Request};
use crate::admin::reach::{connect, require_own};
use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::backup::Backup;
use crate::clock::Clock;
use crate::entropy::Entropy;

/// Writes a backup, for this user only. Under its name there is a whole one or none.
pub(super) fn backup(order: &BackupOrder) -> anyhow::Result<ExitCode> {
    let BackupOrder { file, place } = order;
    if file.exists() {
        bail!("{} is there already; name a new file", file.display());
    }
    let (reply, bytes) = reach(place)?.ask(Request::Backup)?;
    if !matches!(reply, Reply::Backup { .. }) {
        return print(place, form(place), &reply);
    }
    Backup::read(&bytes).context("what arrived is no backup; nothing is written")?;
    write(file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
    let done = format!(
        "{} has users with the digests of their passwords, apps, what they were given, and the \
         audit trail. Keys, codes, tokens and sessions are not in it: after a restore everybody \
         signs in and connects anew.",
        file.display()
    );
    print(place, form(place), &Reply::Done(done))
}

#[expect(clippy::disallowed_methods, reason = "a backup is no page")]
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut unfinished = OsString::from(file);
    unfinished.push(".unfinished");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut out = File::options().create_new(true).write(true).mode(0o600).open(&unfinished)?;
    out.write_all(bytes)?;
    out.sync_all()?;
    fs::rename(&unfinished, file)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Brings a backup back.
#[expect(clippy::disallowed_methods, reason = "a backup is no page")]
pub(super) fn restore(order: &RestoreOrder) -> anyhow::Result<ExitCode> {
    let RestoreOrder { file, replace, place } = order;
    let shown = file.display();
    let bytes = fs::read(file).with_context(|| format!("cannot read {shown}"))?;
    let backup = Backup::read(&bytes).with_context(|| format!("cannot restore {shown}"))?;
    if connect(&place.directory()?)?.is_some() {
        bail!("a server runs on that data; stop it first");
    }
    let settings = place.settings()?;
    require_own(&settings.data_dir)?;
    let (clock, entropy) = (Clock::system(), Entropy::system());
    AuthorizationServer::restore(&settings, &backup, *replace, &clock, &entropy)?;
    let moved = if *backup.issuer() == settings.issuer {
        String::new()
    } else {
        format!(" It was made at {}.", backup.issuer())
    };
    let made_at = crate::admin::tables::moment(backup.made_at());
    let done = format!(
        "The data is that of {made_at}.{moved} Passwords are those of that time, and apps that \
         were registered are known; but all access has ended: connect apps anew. A password that \
         was changed since because somebody knew it has to be changed again: `brain-mcp owner \
         set-password`."
    );
    print(place, form(place), &Reply::Done(done))
}
