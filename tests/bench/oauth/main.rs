//! Measures the authorization server over loopback, as Markdown tables: whole dances, the
//! token endpoint, a store with many clients and grants, and oidc-provider beside it.
//!
//! ```text
//! cargo build --release
//! cargo bench --bench oauth -- --seconds 5 --clients 10000 --grants 100000
//! npm --prefix tests/bench/oidc_provider ci --ignore-scripts   # for the comparison, left out without it
//! ```
//!
//! `BRAIN_MCP_BINARY` names another binary than `target/release/brain-mcp`.

#![expect(unreachable_pub, reason = "nobody outside links to a bench")]

mod dance;
mod http;
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use self::dance::{Person, exchange, refresh, register};
use self::http::Connection;
use self::program::{PASSWORD, Program, data_of, size_on_disk};

const CONNECTIONS: [usize; 3] = [1, 8, 32];
/// Codes that are exchanged for one figure.
const CODES: usize = 2_000;
/// Browsers that allow at once.
const BROWSERS: usize = 8;
const WARM_UP: Duration = Duration::from_secs(1);

struct Plan {
    binary: PathBuf,
    seconds: Duration,
    clients: usize,
    grants: usize,
}

impl Plan {
    fn from_arguments() -> Self {
        let arguments: Vec<String> = std::env::args().collect();
        let number = |name: &str, default: usize| {
            let at = arguments.iter().position(|argument| argument == name);
            at.map_or(default, |at| arguments[at + 1].parse().expect("a number"))
        };
        // Cargo runs this in the folder of the package.
        let binary = option_env("BRAIN_MCP_BINARY", "target/release/brain-mcp");
        Self {
            binary: std::path::absolute(binary).expect("a path"),
            seconds: Duration::from_secs(number("--seconds", 3) as u64),
            clients: number("--clients", 0),
            grants: number("--grants", 0),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads no configuration")]
fn option_env(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

#[tokio::main]
async fn main() {
    let plan = Plan::from_arguments();
    let folder = tempfile::tempdir().expect("a folder");
    let server = Program::brain_mcp(&plan.binary, folder.path()).await;
    println!("| what | figure |\n|---|---|");
    row("start with an empty store", &milliseconds(server.started_in));
    row("memory then", &format!("{} MiB", server.resident()));
    for browsers in [1, BROWSERS] {
        let count = dances(&server, plan.seconds, browsers).await;
        let rate = per_second(count, plan.seconds);
        row(&format!("whole dances a second, {browsers} at once"), &rate);
    }
    token_endpoint(&server, &plan).await;
    documents(&server, &plan).await;
    if plan.grants > 0 {
        large_store(server, &plan, folder.path()).await;
    }
    let beside = Path::new("tests/bench/oidc_provider");
    if beside.join("node_modules").exists() {
        comparison(&plan, beside).await;
    }
}

fn row(what: &str, figure: &str) {
    println!("| {what} | {figure} |");
}

fn milliseconds(span: Duration) -> String {
    format!("{:.0} ms", span.as_secs_f64() * 1e3)
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn per_second(count: usize, span: Duration) -> String {
    format!("{:.0}", count as f64 / span.as_secs_f64())
}

/// How many dances some browsers do, each with a client of its own: authorize, sign-in
/// checked, consent, code, tokens, a refresh.
async fn dances(server: &Program, span: Duration, browsers: usize) -> usize {
    let mut tasks = JoinSet::new();
    let port = server.port;
    for number in 0..browsers {
        tasks.spawn(async move {
            let mut person = Person::signed_in(port, PASSWORD).await;
            let mut connection = Connection::open(port).await;
            let client = register(&mut connection, &format!("dancer {number}")).await;
            let (end, mut count) = (Instant::now() + span, 0);
            while Instant::now() < end {
                let code = person.allow(&client).await;
                let token = exchange(&mut connection, &client, &code).await;
                refresh(&mut connection, &client, &token).await;
                count += 1;
            }
            count
        });
    }
    tasks.join_all().await.into_iter().sum()
}

/// Codes of a client, allowed by several browsers at once.
async fn codes(port: u16, client: &str, count: usize) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for _ in 0..BROWSERS {
        let client = client.to_owned();
        tasks.spawn(async move {
            let mut person = Person::signed_in(port, PASSWORD).await;
            let mut codes = Vec::new();
            for _ in 0..count / BROWSERS {
                codes.push(person.allow(&client).await);
            }
            codes
        });
    }
    tasks.join_all().await.concat()
}

async fn token_endpoint(server: &Program, plan: &Plan) {
    let mut connection = Connection::open(server.port).await;
    let client = register(&mut connection, "measured").await;
    for connections in CONNECTIONS {
        let codes = codes(server.port, &client, CODES).await;
        let begun = Instant::now();
        let took = exchanges(server.port, &client, codes, connections).await;
        let rate = per_second(took.len(), begun.elapsed());
        let what = format!("`/token`, codes, {connections} connections: a second, p50 / p99");
        row(&what, &format!("{rate}, {}", latency(took)));
    }
    for connections in CONNECTIONS {
        let took = refreshes(server.port, &client, plan.seconds, connections).await;
        let rate = per_second(took.len(), plan.seconds);
        let what = format!("`/token`, refreshes, {connections} connections: a second, p50 / p99");
        row(&what, &format!("{rate}, {}", latency(took)));
    }
}

async fn exchanges(
    port: u16,
    client: &str,
    codes: Vec<String>,
    connections: usize,
) -> Vec<Duration> {
    let mut tasks = JoinSet::new();
    for share in codes.chunks(codes.len().div_ceil(connections)) {
        let (client, share) = (client.to_owned(), share.to_vec());
        tasks.spawn(async move {
            let mut connection = Connection::open(port).await;
            let mut took = Vec::new();
            for code in share {
                let begun = Instant::now();
                exchange(&mut connection, &client, &code).await;
                took.push(begun.elapsed());
            }
            took
        });
    }
    tasks.join_all().await.concat()
}

async fn refreshes(port: u16, client: &str, span: Duration, connections: usize) -> Vec<Duration> {
    let tokens = refresh_tokens(port, client, connections).await;
    let (took, _) = refresh_chains(port, client, span, tokens).await;
    took
}

/// As many refresh tokens of a client.
async fn refresh_tokens(port: u16, client: &str, count: usize) -> Vec<String> {
    let mut connection = Connection::open(port).await;
    let mut tokens = Vec::new();
    for code in codes(port, client, count.next_multiple_of(BROWSERS)).await {
        tokens.push(exchange(&mut connection, client, &code).await);
    }
    tokens.truncate(count);
    tokens
}

/// Refreshes for so long, each token on a connection of its own: how long each refresh
/// took, and the tokens at the end.
async fn refresh_chains(
    port: u16,
    client: &str,
    span: Duration,
    tokens: Vec<String>,
) -> (Vec<Duration>, Vec<String>) {
    let mut tasks = JoinSet::new();
    for mut token in tokens {
        let client = client.to_owned();
        tasks.spawn(async move {
            let mut connection = Connection::open(port).await;
            let (end, mut took) = (Instant::now() + span, Vec::new());
            while Instant::now() < end {
                let begun = Instant::now();
                token = refresh(&mut connection, &client, &token).await;
                took.push(begun.elapsed());
            }
            (took, token)
        });
    }
    let (took, tokens): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().unzip();
    (took.concat(), tokens)
}

/// How long each of the answers took that some connections got.
async fn gets(port: u16, path: &str, span: Duration, connections: usize) -> Vec<Duration> {
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let path = path.to_owned();
        tasks.spawn(async move {
            let mut connection = Connection::open(port).await;
            let (end, mut took) = (Instant::now() + span, Vec::new());
            while Instant::now() < end {
                let begun = Instant::now();
                connection.get(&path, &[]).await.expect(200);
                took.push(begun.elapsed());
            }
            took
        });
    }
    tasks.join_all().await.concat()
}

const METADATA: &str = "/.well-known/oauth-authorization-server";

async fn documents(server: &Program, plan: &Plan) {
    let all = [(server.port, METADATA), (server.port, "/jwks"), (server.metrics_port, "/metrics")];
    for (port, path) in all {
        let took = gets(port, path, plan.seconds, BROWSERS).await;
        let rate = per_second(took.len(), plan.seconds);
        let what = format!("`{path}`, {BROWSERS} connections: a second, p50 / p99");
        row(&what, &format!("{rate}, {}", latency(took)));
    }
}

/// The same server with many clients and grants, all of them made through its front door.
async fn large_store(server: Program, plan: &Plan, folder: &Path) {
    let begun = Instant::now();
    fill(server.port, plan).await;
    let (clients, grants) = (plan.clients, plan.grants);
    let rate = per_second(grants, begun.elapsed());
    row(&format!("dances a second while {clients} clients get {grants} grants"), &rate);
    row("memory then", &format!("{} MiB", server.resident()));
    drop(server);
    row("on disk", &format!("{} MiB", size_on_disk(&data_of(folder))));
    let mut starts = Vec::new();
    for _ in 0..3 {
        starts.push(Program::brain_mcp(&plan.binary, folder).await.started_in);
    }
    let starts = starts.into_iter().map(milliseconds).collect::<Vec<_>>().join(", ");
    row("starts with that store", &starts);
    let server = Program::brain_mcp(&plan.binary, folder).await;
    row("memory after a start", &format!("{} MiB", server.resident()));
    token_endpoint(&server, plan).await;
    documents(&server, plan).await;
    let mut person = Person::signed_in(server.port, PASSWORD).await;
    let begun = Instant::now();
    let page = person.get("/account").await.expect(200);
    let size = page.body.len() / 1024;
    row("`/account`", &format!("{}, {size} KiB", milliseconds(begun.elapsed())));
    for kind in ["client", "grant"] {
        let begun = Instant::now();
        let out = Command::new(&plan.binary)
            .args([kind, "list", "--json", "--data-dir"])
            .arg(data_of(folder))
            .output()
            .expect("a command");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let size = out.stdout.len() / 1024;
        row(&format!("`{kind} list`"), &format!("{}, {size} KiB", milliseconds(begun.elapsed())));
    }
    row("memory at the end", &format!("{} MiB", server.resident()));
}

async fn fill(port: u16, plan: &Plan) {
    let mut tasks = JoinSet::new();
    let (clients, each) = (plan.clients / BROWSERS, plan.grants / plan.clients);
    for browser in 0..BROWSERS {
        tasks.spawn(async move {
            let mut person = Person::signed_in(port, PASSWORD).await;
            let mut connection = Connection::open(port).await;
            for number in 0..clients {
                let name = format!("app {number} of {browser}");
                let client = register(&mut connection, &name).await;
                for _ in 0..each {
                    let code = person.allow(&client).await;
                    exchange(&mut connection, &client, &code).await;
                }
            }
        });
    }
    tasks.join_all().await;
}

/// Both servers, one after the other, with the same requests from the same generator.
async fn comparison(plan: &Plan, beside: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = Program::brain_mcp(&plan.binary, folder.path()).await;
    let mut connection = Connection::open(ours.port).await;
    let client = register(&mut connection, "compared").await;
    let (theirs, _) = Program::oidc_provider(beside, 0);
    println!("\n| requests a second, p50 / p99 | brain-mcp | oidc-provider |\n|---|---|---|");
    let figure = |took: Vec<Duration>| {
        let rate = per_second(took.len(), plan.seconds);
        format!("{rate}, {}", latency(took))
    };
    for (what, our_path, their_path) in [
        ("discovery", METADATA, "/.well-known/openid-configuration"),
        ("key set", "/jwks", "/jwks"),
    ] {
        for connections in CONNECTIONS {
            let mut figures = Vec::new();
            for (port, path) in [(ours.port, our_path), (theirs.port, their_path)] {
                gets(port, path, WARM_UP, connections).await;
                figures.push(figure(gets(port, path, plan.seconds, connections).await));
            }
            println!("| {what}, {connections} connections | {} |", figures.join(" | "));
        }
    }
    let mut memory = String::new();
    for connections in CONNECTIONS {
        let our_tokens = refresh_tokens(ours.port, &client, connections).await;
        // Its store forgets all but the last thousand entries, so it begins anew.
        let (theirs, their_tokens) = Program::oidc_provider(beside, connections);
        let mut figures = Vec::new();
        for (port, client, tokens) in
            [(ours.port, &*client, our_tokens), (theirs.port, "bench", their_tokens)]
        {
            let (_, tokens) = refresh_chains(port, client, WARM_UP, tokens).await;
            let (took, _) = refresh_chains(port, client, plan.seconds, tokens).await;
            figures.push(figure(took));
        }
        println!("| refresh, {connections} connections | {} |", figures.join(" | "));
        memory = format!("{} MiB | {} MiB", ours.resident(), theirs.resident());
    }
    println!("| memory after that | {memory} |");
}

/// The middle one and the one that a hundredth is slower than.
fn latency(mut took: Vec<Duration>) -> String {
    took.sort_unstable();
    let part = |percent: usize| took[(took.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    format!("{:.2} / {:.2} ms", part(50), part(99))
}
