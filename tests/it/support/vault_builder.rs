//! Folders of notes, made for one test.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A folder of notes that goes away with the value.
pub struct VaultBuilder {
    folder: TempDir,
}

impl VaultBuilder {
    /// A plain folder with these files.
    pub fn plain(files: &[(&str, &str)]) -> Self {
        let vault = Self { folder: tempfile::tempdir().expect("a folder") };
        for (path, text) in files {
            vault.write(path, text);
        }
        vault
    }

    /// A git repository with these files, committed.
    pub fn git(files: &[(&str, &str)]) -> Self {
        let vault = Self::plain(files);
        vault.run_git(&["init", "-q", "-b", "main"]);
        vault.commit();
        vault
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, making the folders that it needs.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("written");
    }

    /// Commits everything as it is.
    pub fn commit(&self) {
        self.run_git(&["add", "-A"]);
        self.run_git(&["commit", "-q", "--allow-empty", "-m", "state"]);
    }

    /// Runs git in the folder, untouched by the settings of whoever runs the tests.
    pub fn run_git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .current_dir(self.root())
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "test")))
            .envs(
                ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"]
                    .map(|name| (name, "test@example.invalid")),
            )
            .status()
            .expect("git runs");
        assert!(status.success(), "git {arguments:?}");
    }
}
