//! The built program as a process of its own, for what only a process can do: die.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::site::{PASSWORD, Site};

/// A running program; killed when the value goes.
pub struct Process {
    child: Child,
    site: Site,
}

/// Turned off: one address asks for everything here.
const UNLIMITED: [&str; 9] = [
    "bad_token_per_minute",
    "mcp_per_minute",
    "sign_in_per_minute",
    "authorize_per_minute",
    "pages_per_minute",
    "token_per_minute",
    "refresh_per_minute",
    "wrong_secret_per_minute",
    "register_per_minute",
];

impl Process {
    /// Starts the program on a vault, with its data in `data`, on `port`, and waits
    /// until it serves.
    pub fn start(vault: &Path, data: &Path, port: u16) -> Self {
        Self::start_as(Command::new(Self::PROGRAM), vault, data, port)
    }

    /// The same under a name, for what browsers do for names only.
    pub fn start_at_name(vault: &Path, data: &Path, port: u16) -> Self {
        let site = Site::behind_socket(&format!("http://localhost:{port}"));
        let mut command = Command::new(Self::PROGRAM);
        command.env("BRAIN_MCP_RESOURCE", site.resource());
        let mut process = Self::start_as(command, vault, data, port);
        process.site = site;
        process
    }

    /// The same as an argument of another program, with an inbox.
    pub fn start_under(mut other: Command, vault: &Path, data: &Path, port: u16) -> Self {
        other.arg(Self::PROGRAM).env("BRAIN_MCP_INBOX", "inbox");
        Self::start_as(other, vault, data, port)
    }

    /// Starts the program so that it logs as much as it can, in this format, to a file.
    pub fn start_talkative(vault: &Path, data: &Path, format: &str, log: &Path) -> Self {
        let mut command = Command::new(Self::PROGRAM);
        command.env("BRAIN_MCP_LOG", "trace").env("BRAIN_MCP_LOG_FORMAT", format);
        command.stderr(fs::File::create(log).expect("a file"));
        Self::start_with(command, vault, data, Self::free_port())
    }

    const PROGRAM: &str = env!("CARGO_BIN_EXE_brain-mcp");

    fn start_as(mut command: Command, vault: &Path, data: &Path, port: u16) -> Self {
        command.env("BRAIN_MCP_LOG", "error");
        Self::start_with(command, vault, data, port)
    }

    /// Starts the program with nobody at the other end of what it prints and logs.
    pub fn start_unheard(vault: &Path, data: &Path, port: u16) -> Self {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(Self::PROGRAM);
        command.env("BRAIN_MCP_LOG", "trace").stderr(writer.try_clone().expect("another"));
        let child = Self::arguments(&mut command, vault, data, port).stdout(writer).spawn();
        let site = Site::behind_socket(&format!("http://127.0.0.1:{port}"));
        Self { child: child.expect("it starts"), site }
    }

    fn start_with(mut command: Command, vault: &Path, data: &Path, port: u16) -> Self {
        let command = Self::arguments(&mut command, vault, data, port);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let output = child.stdout.take().expect("piped");
        let mut lines = BufReader::new(output).lines();
        let greeting = lines.next().expect("a greeting").expect("text");
        assert!(greeting.contains("is serving"), "{greeting}");
        Self { child, site: Site::behind_socket(&format!("http://127.0.0.1:{port}")) }
    }

    fn arguments<'a>(
        command: &'a mut Command,
        vault: &Path,
        data: &Path,
        port: u16,
    ) -> &'a mut Command {
        let password = data.with_extension("password");
        fs::write(&password, PASSWORD).expect("written");
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--vault".as_ref(), vault.as_os_str(), "--data-dir".as_ref(), data.as_os_str()])
            .args(["--owner-password-file".as_ref(), password.as_os_str()])
            .args(UNLIMITED.iter().flat_map(|name| ["--limit".to_owned(), format!("{name}=0")]))
    }

    /// Where this process sees a path, if it has mounts of its own.
    pub fn view_of(&self, path: &Path) -> PathBuf {
        let inside = path.strip_prefix("/").expect("a whole path");
        Path::new("/proc").join(self.child.id().to_string()).join("root").join(inside)
    }

    /// The time that it has computed so far, in the system's ticks of 10 ms.
    #[expect(clippy::disallowed_methods, reason = "the system's account of it is no page")]
    pub fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it runs");
        // Behind the name, which is in parentheses, come the state and ten more fields.
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        let times = fields.split_whitespace().skip(11).take(2);
        times.map(|time| time.parse::<u64>().expect("a number")).sum()
    }

    /// A port that was free a moment ago.
    pub fn free_port() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    }

    /// `kill -9`, as a power cut does it, except that the disk keeps what it was given.
    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Already gone if the test killed it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Deref for Process {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}
