//! `GET /metrics`: that Prometheus can read it, that it says what happened, and that
//! nobody else gets at it or makes it grow.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, StatusCode};
use brain_mcp::app::Server;
use brain_mcp::authorization_server::RequestLimits;
use brain_mcp::configuration::Configuration;
use serde_json::json;

use crate::support::routes::ROUTES;
use crate::support::{Browser, McpClient, OAuthClient, Reply, Site, TestApp, Tokens, VaultBuilder};

/// The values of a page by their series, as `name{label="value"}`.
#[derive(Debug)]
struct Series(BTreeMap<String, f64>);

impl Series {
    /// Reads a page as strictly as the format is written down: each family once, with its
    /// help and type before all of its lines; each series once; buckets that add up.
    #[track_caller]
    fn parse(text: &str) -> Self {
        let mut series = BTreeMap::new();
        let mut families = BTreeSet::new();
        let (mut family, mut kind) = ("", "");
        assert!(text.ends_with('\n'), "the last line ends too");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(head) = line.strip_prefix("# HELP ") {
                let (name, help) = head.split_once(' ').expect("a help");
                assert!(families.insert(name), "{name} is there twice");
                assert!(!help.is_empty() && !help.contains('\\'), "{line}");
                let next = lines.next().and_then(|next| next.strip_prefix("# TYPE "));
                let (typed, its_kind) = next.and_then(|it| it.split_once(' ')).expect("a type");
                assert_eq!(typed, name, "the type of another family");
                assert!(["counter", "gauge", "histogram"].contains(&its_kind), "{its_kind}");
                assert_eq!(its_kind == "counter", name.ends_with("_total"), "{name}");
                (family, kind) = (name, its_kind);
                continue;
            }
            let (key, value) = line.rsplit_once(' ').expect("a value");
            let (name, labels) = key.split_once('{').unwrap_or((key, "}"));
            let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{line} in {family}"));
            let suffixes: &[&str] =
                if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(suffixes.contains(&suffix), "{line}");
            let is_name = |text: &str| {
                text.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !text.is_empty()
            };
            assert!(is_name(name), "{line}");
            let labels = labels.strip_suffix('}').expect("a closed brace");
            for label in labels.split(',').filter(|label| !label.is_empty()) {
                let (label, text) = label.split_once('=').expect("a label");
                let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                let text = text.unwrap_or_else(|| panic!("{line}"));
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.+".contains(c);
                assert!(is_name(label) && text.chars().all(is_plain), "{line}");
            }
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(value.is_finite() && value >= 0.0, "{line}");
            assert!(series.insert(key.to_owned(), value).is_none(), "{key} is there twice");
        }
        let series = Self(series);
        series.check_histogram("brain_mcp_request_duration_seconds");
        series
    }

    #[track_caller]
    fn check_histogram(&self, name: &str) {
        let mut buckets: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for (key, value) in &self.0 {
            let Some(labels) = key.strip_prefix(&format!("{name}_bucket{{")) else { continue };
            let (labels, bound) = labels.split_once(",le=\"").expect("a bound, last");
            let bound = bound.trim_end_matches("\"}").replace("+Inf", "inf");
            buckets.entry(labels).or_default().push((bound.parse().expect("a number"), *value));
        }
        assert!(!buckets.is_empty());
        for (labels, mut buckets) in buckets {
            buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(buckets.is_sorted_by(|one, other| one.1 <= other.1), "{labels} {buckets:?}");
            let (bound, all) = buckets[buckets.len() - 1];
            let is_all = (all - self.of(&format!("{name}_count{{{labels}}}"))).abs() < 0.5;
            assert!(bound.is_infinite() && is_all, "{labels}");
            assert!(self.0.contains_key(&format!("{name}_sum{{{labels}}}")), "{labels}");
        }
    }

    #[track_caller]
    fn of(&self, key: &str) -> f64 {
        *self.0.get(key).unwrap_or_else(|| panic!("there is no {key}"))
    }

    /// A number that is counted in ones.
    #[track_caller]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was counted")]
    fn count(&self, key: &str) -> u64 {
        self.of(key) as u64
    }

    #[track_caller]
    fn events(&self, event: &str) -> u64 {
        self.count(&format!("brain_mcp_oauth_events_total{{event=\"{event}\"}}"))
    }

    #[track_caller]
    fn requests(&self, endpoint: &str, status: &str) -> u64 {
        let labels = format!("endpoint=\"{endpoint}\",status=\"{status}\"");
        self.count(&format!("brain_mcp_requests_total{{{labels}}}"))
    }

    fn names(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

async fn scrape(site: &Site) -> Series {
    let reply = site.get("/metrics").await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(reply.header("cache-control"), "no-store");
    Series::parse(&reply.body)
}

async fn ask(site: &Site, method: Method, path: &str, host: &str) -> Reply {
    let request = Request::builder().method(method).uri(path).header("host", host);
    site.send(request.body(Body::empty()).unwrap()).await
}

/// Design section 4: what an operator wants to know of a whole dance is there.
#[tokio::test]
async fn a_whole_dance_shows() {
    let vault = VaultBuilder::git(&[
        (".gitattributes", "work/** filter=git-crypt\nwiki/people/** filter=git-crypt\n"),
        ("a.md", "tulips"),
        ("b.md", "roses"),
        ("work/plan.md", "a plan"),
        ("wiki/people/bob.md", "Bob"),
        ("diary.private.md", "mine"),
        ("picture.md", "\0\0\0\0"),
    ]);
    let app = TestApp::serving(vault.root()).await;
    let before = scrape(&app.metrics).await;
    assert_eq!(before.events("connected"), 0, "a series begins with nothing");

    let client = OAuthClient::registered(&app, "one").await;
    let mut browser = Browser::signed_in(&app).await;
    let code = client.consent(&app, &mut browser, &["wiki:read"]).await;
    let first = Tokens::of(&client.exchange(&app, &code).await.json());
    let second = Tokens::of(&client.refresh(&app, &first.refresh).await.json());
    let mcp = McpClient::with_token(&second.access);
    assert_eq!(mcp.search(&app, "tulips").await, ["a.md"]);
    let shown = scrape(&app.metrics).await;
    for event in ["registered", "signed_in", "allowed", "connected", "refreshed"] {
        assert_eq!(shown.events(event), 1, "{event}");
    }
    assert_eq!(shown.requests("token", "2xx"), 2);
    assert!(shown.requests("mcp", "2xx") >= 1);
    assert_eq!(shown.count("brain_mcp_grants"), 1);
    assert_eq!(shown.count("brain_mcp_clients"), 1);
    assert_eq!(shown.count("brain_mcp_browser_sessions"), 1);
    assert_eq!(shown.count("brain_mcp_open_streams"), 0);
    for (class, pages) in [("ordinary", 3), ("confidential", 1), ("people", 1), ("secret", 1)] {
        assert_eq!(shown.count(&format!("brain_mcp_pages{{class=\"{class}\"}}")), pages, "{class}");
    }
    assert_eq!(shown.count("brain_mcp_pages_skipped"), 1);
    assert!(shown.count("brain_mcp_index_bytes") > 0);
    assert!(shown.count("process_resident_memory_bytes") > 1 << 20);
    assert!(shown.count("process_start_time_seconds") > 1_700_000_000);
    let version = format!("brain_mcp_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(shown.count(&version), 1);
    assert_eq!(shown.count("brain_mcp_vault_failures_total"), 0);

    // What goes wrong.
    app.clock.advance(std::time::Duration::from_secs(61));
    assert_eq!(client.refresh(&app, &first.refresh).await.status, 400, "used again");
    assert_eq!(client.refresh(&app, "nonsense").await.status, 400);
    assert_eq!(mcp.tool(&app, "list_tags", json!({})).await.status, 401, "revoked by that");
    let other = OAuthClient::registered(&app, "two").await;
    let tokens = other.tokens(&app, &["wiki:read"]).await;
    assert_eq!(other.revoke(&app, &tokens.refresh).await.status, 200);
    let third = OAuthClient::registered(&app, "three").await;
    let code = third.consent(&app, &mut browser, &["wiki:read"]).await;
    assert_eq!(third.exchange(&app, &code).await.status, 200);
    assert_eq!(third.exchange(&app, &code).await.status, 400, "replayed");
    let mut stranger = Browser::default();
    let page = stranger.open(&app, "/login").await;
    page.submit_with(&mut stranger, &app, "Sign in", |form| form.fill("password", "wrong")).await;
    let shown = scrape(&app.metrics).await;
    for (event, times) in [
        ("token_reused", 1),
        ("refresh_refused", 2),
        ("code_replayed", 1),
        ("revoked", 1),
        ("sign_in_failed", 1),
        ("connected", 3),
        ("signed_in", 2),
    ] {
        assert_eq!(shown.events(event), times, "{event}");
    }
    assert_eq!(shown.count("brain_mcp_grants"), 0);
    assert_eq!(shown.count("brain_mcp_mcp_refused_total{reason=\"invalid_token\"}"), 1);
    assert_eq!(shown.requests("token", "4xx"), 3);
}

/// Design section 4: a listener of its own. Whoever reaches the main one finds nothing.
#[tokio::test]
async fn nobody_else_gets_at_them() {
    let vault = VaultBuilder::plain(&[("a.md", "tulips")]);
    let app = TestApp::serving(vault.root()).await;
    let (there, nowhere) = (app.get("/metrics").await, app.get("/no-such-path").await);
    assert_eq!((there.status, &there.body), (StatusCode::NOT_FOUND, &nowhere.body));
    assert_eq!(there.headers, nowhere.headers);
    for (path, _) in ROUTES {
        let reply = app.metrics.get(path).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path} is not there");
    }
    // A page of the internet whose name leads here.
    for host in ["attacker.example", "attacker.example:9464", "127.0.0.1.attacker.example", ""] {
        let reply = ask(&app.metrics, Method::GET, "/metrics", host).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{host}");
        assert!(!reply.body.contains("brain_mcp"), "{host}");
    }
    for host in ["localhost:9464", "127.0.0.1:1", "[::1]:9464"] {
        assert_eq!(ask(&app.metrics, Method::GET, "/metrics", host).await.status, 200, "{host}");
    }
    let head = ask(&app.metrics, Method::HEAD, "/metrics", "localhost").await;
    assert_eq!((head.status.as_u16(), &*head.body), (200, ""));
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let reply = ask(&app.metrics, method, "/metrics", "localhost").await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(reply.header("allow"), "GET,HEAD");
    }
}

/// Each path of ours is an endpoint, so that none hides among what strangers try.
#[tokio::test]
async fn every_route_has_its_name() {
    let vault = VaultBuilder::plain(&[("a.md", "tulips")]);
    let app = TestApp::serving(vault.root()).await;
    for (path, _) in ROUTES {
        app.get(path).await;
    }
    let shown = scrape(&app.metrics).await;
    for status in ["1xx", "2xx", "3xx", "4xx", "5xx"] {
        assert_eq!(shown.requests("other", status), 0);
    }
}

/// Whatever a stranger sends, there are as many series as before.
#[tokio::test]
async fn nobody_makes_them_grow() {
    let vault = VaultBuilder::plain(&[("a.md", "tulips")]);
    let by_default = |configuration: &mut Configuration| {
        configuration.request_limits = RequestLimits::default();
    };
    let app = TestApp::with(vault.root(), by_default).await;
    let before = scrape(&app.metrics).await;
    let stranger = |mut request: Request<Body>| {
        let address = SocketAddr::from(([192, 0, 2, 9], 40_000));
        request.extensions_mut().insert(ConnectInfo(address));
        app.send(request)
    };
    for number in 0..1_000 {
        let method = Method::from_bytes(format!("M{number}").as_bytes()).unwrap();
        let path = format!("/p{number}?q{number}=brain_mcp_{number}");
        ask(&app, method, &path, "127.0.0.1:8090").await;
        let request = Request::post("/mcp?brain_mcp")
            .header("authorization", format!("Bearer t{number}"))
            .header("user-agent", format!("agent-{number}"));
        stranger(request.body(Body::empty()).unwrap()).await;
        let request = Request::post("/token")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Body::from(format!(
                "grant_type=refresh_token&client_id=c{number}%22%7D&refresh_token=t{number}"
            )));
        stranger(request.unwrap()).await;
        if number % 10 == 0 {
            app.get(&format!("/authorize?client_id=https://c{number}.invalid/a")).await;
            let metadata = json!({
                "client_name": format!("name-{number}"),
                "redirect_uris": ["https://app.example/callback"],
            });
            stranger(Request::post("/register").body(Body::from(metadata.to_string())).unwrap())
                .await;
        }
    }
    let after = scrape(&app.metrics).await;
    assert_eq!(before.names(), after.names());
    assert_eq!(after.requests("other", "4xx"), 1_000);
    assert_eq!(after.requests("mcp", "4xx"), 1_000);
    assert!(after.count("brain_mcp_oauth_limited_total{limit=\"token\"}") > 0);
    assert!(after.count("brain_mcp_oauth_limited_total{limit=\"register\"}") > 0);
}

/// The real listener, beside the real server, until both are stopped.
#[tokio::test]
async fn the_listener_is_off_unless_asked_for() {
    let vault = VaultBuilder::plain(&[("a.md", "tulips")]);
    let data = tempfile::tempdir().unwrap();
    let configuration = Configuration::for_vault(vault.root(), data.path().join("data"));
    let quiet = Server::start(configuration.clone()).await.expect("it starts");
    assert_eq!(quiet.metrics_address(), None);
    quiet.stop().await;
    let metrics_listen = Some("127.0.0.1:0".parse().unwrap());
    let asked = Configuration { metrics_listen, ..configuration };
    let server = Server::start(asked.clone()).await.expect("it starts");
    let address = server.metrics_address().expect("a listener");
    assert_ne!(address.port(), server.address().port());
    let site = Site::behind_socket(&format!("http://{address}"));
    scrape(&site).await;
    let taken = Configuration {
        metrics_listen: Some(address.to_string().parse().unwrap()),
        data_dir: data.path().join("other"),
        ..asked
    };
    let refused = Server::start(taken).await.err().expect("the address is taken").to_string();
    assert!(refused.contains("--metrics-listen"), "{refused}");
    server.stop().await;
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    assert!(site.try_send(request).await.is_none(), "it no longer listens");
}
