//! Programs that help, and what it costs if they are missing.

use std::process::Command;

use super::Finding;

pub(super) fn look() -> Vec<Finding> {
    vec![
        found("git").unwrap_or_else(|| {
            Finding::warning(
                "git is not installed",
                "install git 2.39.1 or newer if a vault is a git repository: without it such a \
                 vault is not served, since only git knows what is encrypted",
            )
        }),
        found("git-crypt").unwrap_or_else(|| {
            Finding::warning(
                "git-crypt is not installed",
                "install it if the vault has encrypted pages: without it they stay locked here, \
                 and what is committed is not encrypted",
            )
        }),
    ]
}

/// The program, if it says its version.
pub(super) fn found(program: &str) -> Option<Finding> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    let version = String::from_utf8_lossy(&said).trim().to_owned();
    output.status.success().then(|| Finding::fine(format!("{program} is there: {version}")))
}
