//! The commands about people, apps and keys, as the owner runs them beside a server that
//! runs, and without one.

#![expect(clippy::disallowed_methods, reason = "the files of the test itself")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::forms::Form;
use crate::support::{Browser, McpClient, OAuthClient, PASSWORD, Process, Tokens, VaultBuilder};

/// A server that runs, with its folders.
struct Running {
    server: Process,
    vault: VaultBuilder,
    data: PathBuf,
    port: u16,
    _folder: TempDir,
}

/// What a command printed, and how it ended.
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Running {
    fn start() -> Self {
        let vault = VaultBuilder::plain(&[("a.md", "text")]);
        let folder = tempfile::tempdir().unwrap();
        let (data, port) = (folder.path().join("data"), Process::free_port());
        let server = Process::start(vault.root(), &data, port);
        Self { server, vault, data, port, _folder: folder }
    }

    /// Kills the server and starts another one.
    fn restart(&mut self) {
        self.server.kill();
        self.server = Process::start(self.vault.root(), &self.data, self.port);
    }

    fn command(&self, line: &str) -> Done {
        command(&self.data, line, "")
    }

    /// The answer of a command, as JSON.
    #[track_caller]
    fn json(&self, line: &str) -> Value {
        let Done { code, out, err } = self.command(&format!("{line} --json"));
        assert_eq!(code, 0, "{line}: {out} {err}");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    async fn connected(&self, name: &str) -> (OAuthClient, Tokens) {
        let client = OAuthClient::registered(&self.server, name).await;
        let tokens = client.tokens(&self.server, &["wiki:read"]).await;
        (client, tokens)
    }

    async fn status(&self, tokens: &Tokens) -> u16 {
        let client = McpClient::with_token(&tokens.access);
        let reply = client.request(&self.server, "tools/list", "", json!({})).await;
        reply.status.as_u16()
    }
}

fn command(data: &Path, line: &str, typed: &str) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_brain-mcp"))
        .args(line.split(' '))
        .args(["--data-dir".as_ref(), data.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Done { code, out: text(output.stdout), err: text(output.stderr) }
}

/// Issue 4 "Administration": what is revoked at the terminal is refused with the next
/// request, whatever kind of thing it was.
#[tokio::test]
async fn what_is_revoked_at_the_terminal_is_refused_at_once() {
    let run = Running::start();
    let (client, tokens) = run.connected("Notes app").await;
    assert_eq!(run.status(&tokens).await, 200);

    let grants = run.json("grant list");
    assert_eq!(
        (grants[0]["user"].as_str(), grants[0]["app"].as_str()),
        (Some("owner"), Some("Notes app"))
    );
    assert_eq!(grants[0]["scopes"], "wiki:read");
    let id = grants[0]["id"].as_str().unwrap().to_owned();
    let shown = run.command("grant list").out;
    assert!(
        shown.starts_with("ID ") && shown.contains(&id) && shown.contains("Notes app"),
        "{shown}"
    );
    assert_eq!(run.command(&format!("grant revoke {id}")).code, 0);
    assert_eq!(run.status(&tokens).await, 401);
    assert_eq!(client.refresh(&run.server, &tokens.refresh).await.json()["error"], "invalid_grant");
    let again = run.command(&format!("grant revoke {id}"));
    assert_eq!(again.code, 1, "it is over already");
    assert!(again.err.contains("there is no such grant"), "{}", again.err);
    assert_eq!(run.json("grant list"), json!([]));
    assert_eq!(
        run.json("grant list --ended")[0]["end_reason"],
        "it was revoked at the server's terminal"
    );

    // A client, with all that it was given.
    let tokens = client.tokens(&run.server, &["wiki:read"]).await;
    let clients = run.json("client list");
    assert_eq!(clients[0]["grants"], 1);
    let shown = run.command(&format!("client show {}", client.id)).out;
    assert!(
        shown.contains("http://127.0.0.1:53000/callback") && shown.contains("nobody"),
        "{shown}"
    );
    assert_eq!(run.command(&format!("client remove {}", client.id)).code, 0);
    assert_eq!(run.status(&tokens).await, 401);
    let refused = client.refresh(&run.server, &tokens.refresh).await;
    assert_eq!(
        (refused.status.as_u16(), refused.json()["error"].as_str()),
        (401, Some("invalid_client"))
    );
    assert_eq!(run.command(&format!("client show {}", client.id)).code, 1);

    // Browsers.
    assert_eq!(run.command("session revoke --user owner").code, 0);
    let mut browser = Browser::signed_in(&run.server).await;
    let is_signed_in = async |browser: &mut Browser| {
        let page = browser.open(&run.server, "/account").await;
        page.reply().body.contains("Your account")
    };
    assert!(is_signed_in(&mut browser).await);
    let sessions = run.json("session list");
    assert_eq!(sessions.as_array().unwrap().len(), 1, "the others were signed out");
    let only = sessions[0]["id"].as_str().unwrap();
    assert_eq!(run.command(&format!("session revoke {only}")).code, 0);
    assert!(!is_signed_in(&mut browser).await);
    assert_eq!(run.command(&format!("session revoke {only}")).code, 1);
    assert_eq!(run.command("session revoke --all").code, 0);
    assert_eq!(run.json("session list"), json!([]));
}

/// Checklist 134: a key that is revoked at the terminal takes its tokens with it at once,
/// at the resource server too; apps get new ones without anybody's help.
#[tokio::test]
async fn a_key_that_is_revoked_at_the_terminal_takes_its_tokens_with_it() {
    let mut run = Running::start();
    let (client, tokens) = run.connected("An app").await;
    let keys = run.json("key list");
    let in_state = |keys: &Value, state: &str| {
        let mut found = keys.as_array().unwrap().iter().filter(|key| key["state"] == state);
        found.next().unwrap()["kid"].as_str().unwrap().to_owned()
    };
    let (current, next) = (in_state(&keys, "current"), in_state(&keys, "next"));
    let too_early = run.command("key rotate");
    assert_eq!(too_early.code, 2);
    assert!(too_early.err.contains("has not been published for long enough"), "{}", too_early.err);
    assert_eq!(run.status(&tokens).await, 200);
    assert_eq!(run.command(&format!("key revoke {current}")).code, 0);
    assert_eq!(run.status(&tokens).await, 401);
    let published = run.server.get("/jwks").await.body;
    assert!(!published.contains(&current) && published.contains(&next));
    let refreshed = client.refresh(&run.server, &tokens.refresh).await;
    let tokens = Tokens::of(&refreshed.json());
    assert_eq!(run.status(&tokens).await, 200);
    assert_eq!(run.command("key revoke nonsense").code, 1);
    // Design section 10: what was acknowledged survives.
    run.restart();
    assert_eq!(in_state(&run.json("key list"), "revoked"), current);
    assert_eq!(run.status(&tokens).await, 200);
}

/// Whose password is lost gets a new one, by a link or at the terminal; the old one and
/// all browsers that knew it are out.
#[tokio::test]
async fn a_lost_password_is_replaced() {
    let run = Running::start();
    let (_, tokens) = run.connected("An app").await;
    let users = run.json("user list");
    assert_eq!((&users[0]["name"], &users[0]["apps"]), (&json!("owner"), &json!(1)));

    let old = run.json("owner setup-link")["url"].as_str().unwrap().to_owned();
    let link = run.json("user setup-link owner")["url"].as_str().unwrap().to_owned();
    assert!(link.starts_with(run.server.issuer()), "{link}");
    let mut browser = Browser::default();
    let gone = browser.open(&run.server, &old).await;
    assert_eq!(gone.reply().status, 404, "the newer one replaces it");
    let page = browser.open(&run.server, &link).await;
    let chosen = "another password of mine";
    let choose = |form: Form| form.fill("password", chosen).fill("repeated", chosen);
    page.submit_with(&mut browser, &run.server, "Save and continue", choose).await;
    assert_eq!(run.json("session list").as_array().unwrap().len(), 1, "the one that chose it");
    assert_eq!(browser.open(&run.server, &link).await.reply().status, 404, "it works once");
    assert_eq!(run.status(&tokens).await, 200, "apps stay connected unless it is asked for");

    let short = command(&run.data, "owner set-password", "short\n");
    assert_eq!(short.code, 2);
    assert!(short.err.contains("at least 12 characters"), "{}", short.err);
    let set = command(&run.data, "owner set-password --disconnect-apps", &format!("{PASSWORD}\n"));
    assert_eq!(set.code, 0, "{}", set.err);
    assert_eq!(run.status(&tokens).await, 401);
    assert_eq!(run.json("session list"), json!([]));
    Browser::signed_in(&run.server).await;
    assert_eq!(run.json("session list").as_array().unwrap().len(), 1, "with the new password");

    let add = run.command("user add alice");
    assert_eq!(add.code, 2);
    assert!(add.err.contains("[[user]]"), "{}", add.err);
    assert_eq!(run.command("user setup-link nobody").code, 1);
}

/// Design section 2: only the user who runs the server reaches it; a socket that a killed
/// server left is no obstacle, and that of a living one stays its own.
#[tokio::test]
async fn the_socket_is_private_and_follows_its_server() {
    let mut run = Running::start();
    let socket = run.data.join("admin.sock");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);

    // Another server on the same directory does not start, and takes nothing.
    let second = Command::new(env!("CARGO_BIN_EXE_brain-mcp"))
        .args(["serve", "--listen", "127.0.0.1:0", "--vault"])
        .args([run.vault.root().as_os_str(), "--data-dir".as_ref(), run.data.as_os_str()])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert_eq!(run.command("key list").code, 0);

    let (_, tokens) = run.connected("An app").await;
    run.server.kill();
    assert!(socket.exists(), "nobody could remove it");
    let listed = run.command("grant list --json");
    assert!(listed.err.contains("No server runs"), "{}", listed.err);
    let grants: Value = serde_json::from_str(&listed.out).unwrap();
    let id = grants[0]["id"].as_str().unwrap();
    assert_eq!(run.command(&format!("grant revoke {id}")).code, 0, "on the stored data");
    // A link that is made without a server works when there is one.
    let link = Command::new(env!("CARGO_BIN_EXE_brain-mcp"))
        .args(["owner", "setup-link", "--json"])
        .args(["--data-dir".as_ref(), run.data.as_os_str()])
        .env("BRAIN_MCP_RESOURCE", run.server.resource())
        .output()
        .unwrap();
    let link: Value = serde_json::from_slice(&link.stdout).unwrap();
    run.restart();
    assert_eq!(run.status(&tokens).await, 401);
    assert_eq!(mode(&socket), 0o600);
    let page = Browser::default().open(&run.server, link["url"].as_str().unwrap()).await;
    assert_eq!(page.reply().status, 200);
    assert_eq!(run.command("key list").err, "", "through the socket again");
}

/// Where nothing was ever set up, nothing is made by looking.
#[test]
fn without_any_data_the_owner_is_told_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let nothing = command(&data, "grant list", "");
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("start `brain-mcp serve` once"), "{}", nothing.err);
    assert!(!data.exists());
    // The directory is open, and nobody answers.
    let run = Running::start();
    fs::remove_file(run.data.join("admin.sock")).unwrap();
    let silent = run.command("grant list");
    assert_eq!(silent.code, 2);
    assert!(silent.err.contains("does not answer at its socket"), "{}", silent.err);
    assert_eq!(command(&run.data, "grant revoke", "").code, 2, "which one?");
}

/// Files that a command makes belong to who runs it; the server must be able to read them.
#[test]
fn the_stored_data_of_another_user_is_left_alone() {
    let run = Running::start();
    let Running { mut server, data, .. } = run;
    server.kill();
    // Only root can give something away; whoever else runs the tests has seen the rest.
    if std::os::unix::fs::chown(&data, Some(65_534), None).is_err() {
        return;
    }
    let refused = command(&data, "grant list", "");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("belongs to another user"), "{}", refused.err);
    std::os::unix::fs::chown(&data, Some(0), None).unwrap();
    assert_eq!(command(&data, "grant list", "").code, 0);
}

/// Whatever comes through the socket is answered or cut off, and the server goes on.
#[test]
fn nonsense_at_the_socket_is_refused() {
    let run = Running::start();
    let socket = run.data.join("admin.sock");
    let say = |bytes: &[u8]| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        // The server may have heard enough before everything is said.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).map(|_| answer).unwrap_or_default()
    };
    for nonsense in [
        &b"\n"[..],
        b"",
        b"{}\n",
        b"[]\n",
        b"\xff\xfe\n",
        b"{\"command\":\"users\"}",
        b"{\"command\":\"launch\"}\n",
        b"{\"command\":\"revoke_grant\"}\n",
        b"{\"command\":\"grants\",\"also_ended\":true,\"user\":null,\"more\":1}\n",
        "{\"command\":\"users\"".repeat(10_000).as_bytes(),
    ] {
        let answer = say(nonsense);
        assert!(answer.is_empty() || answer.contains("refused"), "{answer}");
    }
    assert!(say(b"{\"command\":\"users\"}\n").contains("owner"));
    // Who says nothing keeps nobody else from being served.
    let silent: Vec<UnixStream> = (0..7).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    assert_eq!(run.command("key list").code, 0);
    let mut rest = Vec::new();
    for mut stream in silent {
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
        stream.read_to_end(&mut rest).unwrap();
    }
    assert!(String::from_utf8(rest).unwrap().contains("did not arrive in time"));
}

/// Whoever holds connections open and says nothing does not keep the owner waiting.
#[test]
fn silence_at_the_socket_keeps_nobody_out() {
    let run = Running::start();
    let socket = run.data.join("admin.sock");
    for connections in [9, 100] {
        let silent: Vec<UnixStream> =
            (0..connections).map(|_| UnixStream::connect(&socket).unwrap()).collect();
        let begun = std::time::Instant::now();
        assert_eq!(run.command("key list").code, 0);
        assert!(begun.elapsed().as_secs() < 5, "{connections}: {:?}", begun.elapsed());
        drop(silent);
    }
}

/// Design section 2: with `--json` a program gets an object with `error` for whatever goes
/// wrong, and a status that says so.
#[test]
fn with_json_every_failure_is_an_object() {
    let run = Running::start();
    let nowhere = run.data.with_extension("nowhere");
    let file = run.data.with_extension("file");
    fs::write(&file, "x").unwrap();
    let (nowhere, file) = (nowhere.to_str().unwrap(), file.to_str().unwrap());
    let long = "x".repeat(5);
    for line in [
        "client show nobody",
        "client remove nobody",
        "grant revoke nobody",
        "session revoke nobody",
        "key revoke nobody",
        "user add bob",
        "user remove owner",
        "user setup-link nobody",
        &format!("owner set-password --password-file {nowhere}"),
        &format!("owner set-password --password-file {file}"),
        "audit tail --user nobody",
        "audit export --user nobody",
        &format!("backup {file}"),
        &format!("restore {file}"),
        &format!("restore {nowhere} --replace"),
        &format!("client list --config {nowhere}"),
        &format!("classify --vault {nowhere}"),
        &format!("search --vault {nowhere} {long}"),
        &format!("stats --vault {nowhere}"),
        &format!("check --vault {nowhere} --listen x"),
        "client list --no-such-flag",
        "grant revoke",
    ] {
        let words = line.split(' ').next().unwrap();
        let own = ["classify", "search", "stats"].contains(&words);
        let done = if own {
            without_data(&format!("{line} --json"))
        } else {
            run.command(&format!("{line} --json"))
        };
        if done.code == 0 {
            // Somebody who did nothing has an empty trail.
            assert!(line.starts_with("audit"), "{line}: {}", done.out);
            continue;
        }
        let answer: Value = serde_json::from_str(&done.out)
            .unwrap_or_else(|error| panic!("{line}: {error}: {:?} {}", done.out, done.err));
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{line}: {answer}"));
        assert!(!error.is_empty() && answer.as_object().unwrap().len() == 1, "{line}: {answer}");
    }
}

fn without_data(line: &str) -> Done {
    let output =
        Command::new(env!("CARGO_BIN_EXE_brain-mcp")).args(line.split(' ')).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Done { code, out: text(output.stdout), err: text(output.stderr) }
}

/// Issue 4 "Audit trail": what happened is told at the terminal, what was done there too,
/// for people and for programs.
#[tokio::test]
async fn what_happened_is_told() {
    let run = Running::start();
    run.connected("An app").await;
    assert_eq!(run.command("grant revoke --all").code, 0);
    let tail = run.command("audit tail").out;
    for text in ["An app", "signed in", "allowed", "it was revoked at the server's terminal"] {
        assert!(tail.contains(text), "{text}\nnot in {tail}");
    }
    let lines = run.command("audit tail --lines 1").out;
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(lines.contains("ended"), "the newest: {lines}");
    let exported = run.command("audit export").out;
    let events: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["by"]), (&json!("ended"), &json!("operator")));
    let registered = events.iter().find(|event| event["event"] == "registered").unwrap();
    assert_eq!((&registered["by"], &registered["name"]), (&json!("stranger"), &json!("An app")));
    let owners = run.command("audit export --user owner").out;
    assert!(owners.contains("signed_in") && !owners.contains("registered"), "{owners}");
}

/// Issue 4 "Administration": a backup is made while the server runs, and restored when it
/// does not; after it, nothing of before lets anybody in.
#[tokio::test]
async fn a_backup_comes_back_without_any_access() {
    let mut run = Running::start();
    let (client, before) = run.connected("Kept app").await;
    let file = run.data.with_extension("backup");
    let name = file.to_str().unwrap();
    let made = run.command(&format!("backup {name}"));
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(made.out.contains("are not in it"), "{}", made.out);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let again = run.command(&format!("backup {name}"));
    assert_eq!(again.code, 2, "a backup is not overwritten");
    let rotated = Tokens::of(&client.refresh(&run.server, &before.refresh).await.json());
    let (later, after) = run.connected("Later app").await;
    let mut browser = Browser::signed_in(&run.server).await;

    let running = run.command(&format!("restore {name} --replace"));
    assert_eq!(running.code, 2);
    assert!(running.err.contains("stop it first"), "{}", running.err);
    run.server.kill();
    let occupied = run.command(&format!("restore {name}"));
    assert_eq!(occupied.code, 2);
    assert!(occupied.err.contains("--replace"), "{}", occupied.err);
    let damaged = run.data.with_extension("damaged");
    fs::write(&damaged, &fs::read_to_string(&file).unwrap()[..100]).unwrap();
    let refused = run.command(&format!("restore {} --replace", damaged.display()));
    assert_eq!(refused.code, 2);
    let done = run.command(&format!("restore {name} --replace"));
    assert_eq!(done.code, 0, "{}", done.err);
    run.restart();

    for tokens in [&before, &rotated, &after] {
        assert_eq!(run.status(tokens).await, 401);
    }
    for refresh in [&before.refresh, &rotated.refresh] {
        let refused = client.refresh(&run.server, refresh).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["error"]),
            (400, &json!("invalid_grant"))
        );
    }
    // Registered after the backup: it is told to register anew.
    let unknown = later.refresh(&run.server, &after.refresh).await;
    assert_eq!(
        (unknown.status.as_u16(), &unknown.json()["error"]),
        (401, &json!("invalid_client"))
    );
    let page = browser.open(&run.server, "/account").await;
    assert!(!page.reply().body.contains("Your account"), "signed out");
    let mut browser = Browser::signed_in(&run.server).await;
    let page = browser.open(&run.server, "/account").await;
    assert!(page.reply().body.contains("the server was restored from a backup"));
    let tail = run.command("audit tail").out;
    assert!(tail.contains("restored from a backup of 20"), "{tail}");
    let tokens = client.tokens(&run.server, &["wiki:read"]).await;
    assert_eq!(run.status(&tokens).await, 200, "the app is known, and asks anew");
}

/// What stands in the answer is for the owner; secrets are for nobody.
#[tokio::test]
async fn no_secret_is_listed() {
    let run = Running::start();
    let (_, tokens) = run.connected("An app").await;
    let mut all = String::new();
    for line in ["user list", "client list", "grant list", "session list", "key list"] {
        all.push_str(&run.command(&format!("{line} --json")).out);
    }
    for secret in [&tokens.access, &tokens.refresh, PASSWORD, "sealed", "digest"] {
        assert!(!all.contains(secret), "{secret}");
    }
    assert!(all.contains("127.0.0.1:53000"), "the search finds what is there");
}
