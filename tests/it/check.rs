//! `brain-mcp check`: what it says of a server that is right, and of everything that is
//! usually wrong in front of one.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, DATE, HOST, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use brain_mcp::admin::doctor::public::{Expected, look};
use brain_mcp::admin::doctor::{Finding, Verdict, rules, write};
use brain_mcp::admin::terminal::Paint;
use brain_mcp::app::Application;
use brain_mcp::clock::Clock;
use brain_mcp::configuration::Configuration;
use brain_mcp::entropy::Entropy;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::support::{Process, VaultBuilder};

/// What a proxy does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    None,
    DropsAuthorization,
    DropsChallenge,
    RenamesHost,
    DropsCors,
    RedirectsToTls,
    ReachesNobody,
    KeepsWellKnownToItself,
    LetsEverybodyIn,
    LivesInThePast,
    ForwardsTheEndpointOnly,
    HoldsBack,
}

/// A server behind a proxy with a habit, and what `check` says of it from outside.
async fn seen(habit: Habit, adjust: impl FnOnce(&mut Expected)) -> Vec<Finding> {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let data = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let configuration = Configuration::for_vault(vault.root(), data.path().join("data"));
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let application = Application::build(configuration, address, clock, entropy).await.unwrap();
    let router = application.router();
    let keys = router.clone().oneshot(get("/jwks", address)).await.unwrap();
    let keys = axum::body::to_bytes(keys.into_body(), 1 << 20).await.unwrap();
    let keys: Value = serde_json::from_slice(&keys).unwrap();
    let proxy = Router::new().fallback(move |request| forward(habit, router.clone(), request));
    let serving = tokio::spawn(async move { axum::serve(listener, proxy).await });
    let mut expected = Expected {
        resource: format!("http://{address}/mcp").parse().unwrap(),
        issuer: format!("http://{address}").parse().unwrap(),
        is_ours: true,
        key: keys["keys"][0]["kid"].as_str().map(str::to_owned),
    };
    adjust(&mut expected);
    let findings = look(&expected, &Clock::system()).await;
    serving.abort();
    findings
}

fn get(path: &str, address: SocketAddr) -> Request {
    Request::get(path).header(HOST, address.to_string()).body(axum::body::Body::empty()).unwrap()
}

async fn forward(habit: Habit, router: Router, mut request: Request) -> Response {
    let path = request.uri().path().to_owned();
    match habit {
        Habit::DropsAuthorization => drop(request.headers_mut().remove(AUTHORIZATION)),
        Habit::RenamesHost => {
            request.headers_mut().insert(HOST, "backend.internal".parse().unwrap());
        }
        Habit::RedirectsToTls => {
            return (StatusCode::MOVED_PERMANENTLY, [("location", "https://notes.example/mcp")])
                .into_response();
        }
        Habit::ReachesNobody => return StatusCode::BAD_GATEWAY.into_response(),
        Habit::LetsEverybodyIn => return "Hello".into_response(),
        Habit::KeepsWellKnownToItself if path.starts_with("/.well-known/") => {
            return StatusCode::NOT_FOUND.into_response();
        }
        Habit::ForwardsTheEndpointOnly if !path.contains("mcp") && !path.contains("well-known") => {
            return StatusCode::NOT_FOUND.into_response();
        }
        _ => {}
    }
    let mut response = router.oneshot(request).await.unwrap();
    let headers: &mut HeaderMap = response.headers_mut();
    match habit {
        Habit::DropsChallenge => drop(headers.remove(WWW_AUTHENTICATE)),
        Habit::DropsCors => drop(headers.remove("access-control-allow-origin")),
        Habit::LivesInThePast => {
            headers.insert(DATE, "Tue, 01 Jan 2019 00:00:00 GMT".parse().unwrap());
        }
        Habit::HoldsBack => {
            let (parts, body) = response.into_parts();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            return Response::from_parts(parts, body.into());
        }
        _ => {}
    }
    response
}

fn faults(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.verdict == Verdict::Fault).collect()
}

/// Issue 4 "Administration": nothing is said of what is right.
#[tokio::test]
async fn a_server_that_is_right_has_no_faults() {
    let findings = seen(Habit::None, |_| {}).await;
    assert_eq!(faults(&findings), [&findings[0]; 0], "{findings:#?}");
    assert!(findings.len() >= 6, "{findings:#?}");
    assert!(findings.iter().all(|finding| finding.cure.is_empty()));
}

/// Issue 4 "Administration": each of these is seen from outside, told by its own words,
/// and with what to do.
#[tokio::test]
async fn what_proxies_do_wrong_is_told() {
    for (habit, what, cure) in [
        (Habit::DropsAuthorization, "Authorization header does not arrive", "proxy pass it on"),
        (Habit::DropsChallenge, "without a WWW-Authenticate header", "pass it on"),
        (Habit::RenamesHost, "does not know the name", "Host"),
        (Habit::DropsCors, "lacks `access-control-allow-origin", "CORS"),
        (Habit::RedirectsToTls, "leads to https://notes.example/mcp", "`resource`"),
        (Habit::ReachesNobody, "does not reach the server", "brain-mcp serve"),
        (Habit::KeepsWellKnownToItself, "is no JSON document (404", "/.well-known/"),
        (Habit::LetsEverybodyIn, "without asking for a token", "something else"),
        (Habit::LivesInThePast, "differ by", "set the clock"),
        (Habit::HoldsBack, "holds streamed answers back", "buffering"),
        (Habit::ForwardsTheEndpointOnly, "/token is not this server's", "all paths"),
    ] {
        let findings = seen(habit, |_| {}).await;
        let told = faults(&findings);
        let fits = |it: &&&Finding| it.what.contains(what) && it.cure.contains(cure);
        assert!(told.iter().any(|it| fits(&it)), "{habit:?}: {told:#?}");
    }
}

/// The mistakes in what the server was told.
#[tokio::test]
async fn what_does_not_fit_together_is_told() {
    let other_issuer = seen(Habit::None, |expected| {
        expected.issuer =
            expected.issuer.as_str().replace("127.0.0.1", "localhost").parse().unwrap();
    });
    let told = other_issuer.await;
    assert!(
        faults(&told).iter().any(|it| it.what.contains("says that the issuer is")),
        "{told:#?}"
    );
    let other_server = seen(Habit::None, |expected| expected.key = Some("another".to_owned()));
    let told = other_server.await;
    assert!(faults(&told).iter().any(|it| it.what.contains("has other keys")), "{told:#?}");
    let nobody = Expected {
        resource: format!("http://127.0.0.1:{}/mcp", Process::free_port()).parse().unwrap(),
        issuer: "http://127.0.0.1:1".parse().unwrap(),
        is_ours: true,
        key: None,
    };
    let told = look(&nobody, &Clock::system()).await;
    assert!(told[0].cure.contains("nobody listens there"), "{told:#?}");
    let nameless = Expected {
        resource: "https://no-such-host.invalid/mcp".parse().unwrap(),
        issuer: "https://no-such-host.invalid".parse().unwrap(),
        ..nobody
    };
    let told = look(&nameless, &Clock::system()).await;
    assert!(told[0].what.contains("cannot be reached"), "{told:#?}");
}

/// gitattributes.md section 7: rules that git reads without a word and that protect
/// nothing.
#[test]
fn rules_that_protect_nothing_are_told() {
    let vault = tempfile::tempdir().unwrap();
    let root = vault.path();
    fs::create_dir_all(root.join("people/deep")).unwrap();
    let long = format!("people/** filter=git-crypt {}", "x".repeat(2100));
    for (line, what) in [
        ("people/ filter=git-crypt", "matches nothing in it"),
        ("people filter=git-crypt", "matches nothing in it"),
        ("/people/ filter=git-crypt", "matches nothing in it"),
        ("people/* filter=git-crypt", "does not reach into folders"),
        ("people/** filter=git-crypt # secret", "no comment"),
        ("people/** filter = git-crypt", "blanks around ="),
        ("people/** filter=git-crypt,diff=git-crypt", "commas"),
        ("my notes/** filter=git-crypt diff", "quoted"),
        ("!people/** filter=git-crypt", "begin with !"),
        ("{a,b}/** filter=git-crypt", "no braces"),
        ("people/** diff=git-crypt", "alone encrypts nothing"),
        ("people/** filter=Git-Crypt", "letter case"),
        ("* filter=git-crypt", "encrypts .gitattributes itself"),
        (&long, "longer than git reads"),
        ("a.md text\n\u{feff}people/** filter=git-crypt", "byte order mark"),
    ] {
        let told = rules::read(root, &root.join(".gitattributes"), line.as_bytes());
        assert!(told.iter().any(|it| it.what.contains(what)), "{line:?}: {told:#?}");
        assert!(told.iter().all(|it| it.verdict == Verdict::Fault && !it.cure.is_empty()));
    }
    for unread in [&b"\xff\xfep\0e\0"[..], b"\xfe\xff\0p", b"people/** filter=git-crypt\0\n"] {
        let told = rules::read(root, &root.join(".gitattributes"), unread);
        assert!(told.len() == 1 && told[0].what.contains("no UTF-8"), "{told:#?}");
    }
    let nested = root.join("people/.gitattributes");
    let macros = rules::read(root, &nested, b"[attr]private filter=git-crypt");
    assert!(macros[0].what.contains("macros count in the top folder only"), "{macros:#?}");
    for right in [
        "",
        "# people/ filter=git-crypt",
        "people/** filter=git-crypt diff=git-crypt",
        "wiki/people/** filter=git-crypt-work diff=git-crypt-work",
        "\"my notes/**\" filter=git-crypt diff=git-crypt",
        "*.md filter=git-crypt diff=git-crypt",
        "journal/** brain-class=confidential",
        "* filter=git-crypt diff=git-crypt\n.gitattributes !filter !diff",
        "\u{feff}people/** filter=git-crypt",
        "people/deep/* filter=git-crypt",
        "*.md text",
    ] {
        let told = rules::read(root, &root.join(".gitattributes"), right.as_bytes());
        assert_eq!(told, [], "{right:?}");
    }
}

fn check(vault: &Path, data: &Path, port: u16) -> (i32, Vec<Value>) {
    let output = Command::new(env!("CARGO_BIN_EXE_brain-mcp"))
        .args(["check", "--json", "--listen", &format!("127.0.0.1:{port}")])
        .args(["--vault".as_ref(), vault.as_os_str(), "--data-dir".as_ref(), data.as_os_str()])
        .output()
        .unwrap();
    let findings = serde_json::from_slice(&output.stdout);
    let findings = findings.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code().unwrap(), findings)
}

/// The command, beside a server and without one; its exit status tells whether there is a
/// fault.
#[test]
fn the_command_tells_by_its_status() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let data = tempfile::tempdir().unwrap();
    let (data, port) = (data.path().join("data"), Process::free_port());
    let mut server = Process::start(vault.root(), &data, port);
    let (code, findings) = check(vault.root(), &data, port);
    assert_eq!(code, 0, "{findings:#?}");
    let says = |findings: &[Value], text: &str| {
        findings.iter().any(|it| it["what"].as_str().unwrap().contains(text))
    };
    assert!(says(&findings, "leads to the server that runs on this data"), "{findings:#?}");
    assert!(says(&findings, "1 pages, 0 of them protected"), "{findings:#?}");
    server.kill();
    let (code, findings) = check(vault.root(), &data, port);
    assert_eq!(code, 1);
    assert!(says(&findings, "cannot be reached"), "{findings:#?}");
    let wrong = Command::new(env!("CARGO_BIN_EXE_brain-mcp"))
        .args(["check", "--vault", "/no/such/folder"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

/// People's notes that a rule was meant to protect and does not.
#[test]
fn unprotected_people_are_told() {
    let vault = VaultBuilder::plain(&[("wiki/people/ann.md", "text")]);
    let git = Command::new("git").args(["init", "-q"]).current_dir(vault.root()).status();
    assert!(git.unwrap().success());
    fs::write(vault.root().join(".gitattributes"), "wiki/people/ filter=git-crypt\n").unwrap();
    let data = tempfile::tempdir().unwrap();
    let (code, findings) = check(vault.root(), data.path(), Process::free_port());
    assert_eq!(code, 1);
    let told: Vec<&str> = findings
        .iter()
        .filter(|it| it["verdict"] == "fault")
        .map(|it| it["what"].as_str().unwrap())
        .collect();
    assert!(
        told.iter().any(|what| what.contains("1 pages under wiki/people/ are ordinary")),
        "{told:#?}"
    );
    assert!(told.iter().any(|what| what.contains("matches nothing in it")), "{told:#?}");
}

/// gitattributes.md section 7: a hidden page under an ordinary name too, names that nobody
/// knows, and rules that fit nothing.
#[test]
fn second_names_and_idle_rules_are_told() {
    let rules = "wiki/people/** filter=git-crypt\nWiki/diary/** filter=git-crypt\n\
        \"my notes/**\" filter=git-crypt\n\"my note/**\" filter=git-crypt\n\
        *.png filter=git-crypt\n# old/** filter=git-crypt\n";
    let vault = VaultBuilder::git(&[
        (".gitattributes", rules),
        ("wiki/people/ann.md", "text"),
        ("wiki/.gitattributes", "diary/** brain-class=confidential\ngone.md filter=git-crypt\n"),
        ("wiki/diary/day.md", "text"),
        ("my notes/a.md", "text"),
        ("a.png", "no picture"),
        ("single.md", "text"),
    ]);
    let data = tempfile::tempdir().unwrap();
    let hard_link = |from: &str, to: &Path| fs::hard_link(vault.root().join(from), to).unwrap();
    hard_link("wiki/people/ann.md", &vault.root().join("open.md"));
    hard_link("single.md", &data.path().join("other.md"));
    let (_, findings) = check(vault.root(), data.path(), Process::free_port());
    let told = |verdict: &str, part: &str| {
        let of = findings.iter().filter(|it| it["verdict"] == verdict);
        of.map(|it| it["what"].as_str().unwrap()).filter(|what| what.contains(part)).count()
    };
    assert_eq!(told("fault", "wiki/people/ann.md and open.md are one file"), 1, "{findings:#?}");
    assert_eq!(told("warning", "1 files of"), 1, "{findings:#?}");
    assert_eq!(told("warning", "such as single.md"), 1, "{findings:#?}");
    assert_eq!(told("warning", ".gitattributes, line 2: Wiki/diary/** fits no file"), 1);
    assert_eq!(told("warning", ".gitattributes, line 4: \"my note/**\" fits no file"), 1);
    assert_eq!(told("warning", "wiki/.gitattributes, line 2: gone.md fits no file"), 1);
    assert_eq!(told("warning", "fits no file"), 3, "{findings:#?}");
}

#[test]
fn findings_are_readable() {
    let finding = |verdict, what: &str, cure: &str| Finding {
        verdict,
        what: what.to_owned(),
        cure: cure.to_owned(),
    };
    let findings = [
        finding(Verdict::Fault, "it is \u{1b}[31mwrong", "mend it"),
        finding(Verdict::Fine, "all is well", ""),
    ];
    let mut out = Vec::new();
    write(&mut out, &findings, Paint::Plain).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        ["ok      all is well", "FAULT   it is \u{fffd}[31mwrong", "        → mend it"]
    );
}
