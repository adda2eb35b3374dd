//! The public addresses, asked as a client asks that has nothing but the URL.

use std::time::{Duration, Instant};

use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, ORIGIN, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use super::Finding;
use crate::clock::Clock;
use crate::contract::issuer::Issuer;
use crate::contract::resource::ResourceUri;

/// What clients should find.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The URL that they are given.
    pub resource: ResourceUri,
    /// Who signs the tokens.
    pub issuer: Issuer,
    /// Whether that is this program.
    pub is_ours: bool,
    /// The key that the server signs with which runs on this data, if one does.
    pub key: Option<String>,
}

/// The longest that clients wait (claude-ai-mcp#1065).
const PATIENCE: Duration = Duration::from_secs(10);

/// A clock that is further off makes tokens expire early or not be valid yet.
const MOST_SKEW: Duration = Duration::from_secs(60);

/// The halves of a slow answer are sent a second apart, and arrive about so.
const STREAMED: Duration = Duration::from_millis(400);

/// Someone else's web page.
const FOREIGN_ORIGIN: &str = "https://client.example";

/// How long all questions together may take, whatever is at the other end.
const ALL: Duration = Duration::from_secs(30);

/// The most that is read of an answer, as clients do.
const MOST_BYTES: usize = 256 * 1024;

/// The most that is repeated of what an answer says.
const MOST_WORDS: usize = 200;

/// An answer.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Asks all that a client asks, and says what is wrong.
pub async fn look(expected: &Expected, clock: &Clock) -> Vec<Finding> {
    let built = Client::builder().redirect(Policy::none()).timeout(PATIENCE).build();
    let client = match built {
        Ok(client) => Probe { client, until: Instant::now() + ALL },
        Err(error) => {
            return vec![Finding::fault(
                format!("nothing can be asked over https: {error}"),
                "see to the certificates of this system",
            )];
        }
    };
    let resource = expected.resource.as_str();
    let first = match client.ask(Method::POST, resource, &[]).await {
        Ok(answer) => answer,
        Err(finding) => return vec![finding],
    };
    let mut findings = vec![endpoint(expected, &first), skew(&first, clock)];
    if first.status == StatusCode::UNAUTHORIZED {
        findings.push(client.authorization(resource).await);
    }
    findings.push(client.resource_metadata(expected).await);
    findings.extend(client.streaming(expected.resource.origin()).await);
    if expected.is_ours {
        findings.extend(client.issuer(expected).await);
    }
    findings
}

/// What `/mcp` says to who has no token.
fn endpoint(expected: &Expected, answer: &Answer) -> Finding {
    let resource = expected.resource.as_str();
    let metadata = expected.resource.metadata_url();
    match answer.status {
        StatusCode::UNAUTHORIZED => {
            let challenge = answer.header(WWW_AUTHENTICATE.as_str());
            if challenge.contains(&format!("resource_metadata=\"{metadata}\"")) {
                Finding::fine(format!("{resource} asks for a token, and says where to get one"))
            } else if challenge.is_empty() {
                Finding::fault(
                    format!("{resource} asks for a token without a WWW-Authenticate header"),
                    "let the proxy pass it on: clients find the sign-in by it",
                )
            } else {
                Finding::fault(
                    format!(
                        "{resource} sends clients elsewhere to sign in: {}",
                        shortened(challenge)
                    ),
                    "the server there was told another `resource`, or is another server",
                )
            }
        }
        StatusCode::FORBIDDEN => Finding::fault(
            format!(
                "{resource} is refused: the server does not know the name that it is called by"
            ),
            "let the proxy pass on the Host header (nginx: `proxy_set_header Host $host`), and \
             give `resource` as people reach it",
        ),
        status if status.is_redirection() => Finding::fault(
            format!("{resource} leads to {}", shortened(answer.header("location"))),
            "clients do not follow: give `resource` as it is at the end, or let the proxy not \
             redirect",
        ),
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
            Finding::fault(
                format!("the proxy at {resource} does not reach the server ({})", answer.status),
                "start `brain-mcp serve`, and let the proxy forward to the address of `listen`",
            )
        }
        status if status.is_success() => Finding::fault(
            format!("{resource} answers without asking for a token ({status})"),
            "something else answers there; clients would take it for a server without sign-in",
        ),
        status => Finding::fault(
            format!("{resource} answers {status} instead of asking for a token"),
            "something else answers there, or the proxy does not forward /mcp as it is",
        ),
    }
}

/// Whether the clocks agree, by the Date header.
fn skew(answer: &Answer, clock: &Clock) -> Finding {
    let date = DateTimeParser::new().parse_timestamp(answer.header(DATE.as_str()));
    let Ok(date) = date else {
        return Finding::fine("the clock was not compared, for the answer has no date");
    };
    let theirs = u64::try_from(date.as_second()).unwrap_or_default();
    let apart = Duration::from_secs(clock.now().as_seconds().abs_diff(theirs));
    if apart <= MOST_SKEW {
        return Finding::fine("the clocks of this machine and of the public address agree");
    }
    Finding::fault(
        format!(
            "the clocks of this machine and of the public address differ by {} s",
            apart.as_secs()
        ),
        "set the clock (timedatectl set-ntp true): tokens expire early or are not valid yet",
    )
}

struct Probe {
    client: Client,
    until: Instant,
}

impl Probe {
    fn patience(&self) -> Duration {
        PATIENCE.min(self.until.saturating_duration_since(Instant::now()))
    }

    async fn ask(
        &self,
        method: Method,
        url: &str,
        headers: &[(reqwest::header::HeaderName, &str)],
    ) -> Result<Answer, Finding> {
        let mut request = self.client.request(method, url).timeout(self.patience());
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let mut response = request.send().await.map_err(|error| unreachable(url, &error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while body.len() <= MOST_BYTES {
            match response.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(Answer { status, headers, body }),
                Err(error) => return Err(unreachable(url, &error)),
            }
        }
        Err(Finding::fault(
            format!("{url} answers with more than {} KiB ({status})", MOST_BYTES / 1024),
            "something else answers there: no client reads so much of it",
        ))
    }

    /// Whether a token would arrive: one that is none is called invalid, but only if it is
    /// seen.
    async fn authorization(&self, resource: &str) -> Finding {
        let token = [(AUTHORIZATION, "Bearer not.a.token")];
        let answer = match self.ask(Method::POST, resource, &token).await {
            Ok(answer) => answer,
            Err(finding) => return finding,
        };
        if answer.header(WWW_AUTHENTICATE.as_str()).contains("error=\"invalid_token\"") {
            Finding::fine("the Authorization header arrives")
        } else {
            Finding::fault(
                "the Authorization header does not arrive at the server",
                "let the proxy pass it on: some drop it, or take it for a sign-in of their own",
            )
        }
    }

    /// Whether the two halves of a slow answer arrive apart, as they are sent.
    async fn streaming(&self, origin: &str) -> Option<Finding> {
        let url = format!("{origin}/health?stream");
        let mut response = self.client.get(&url).timeout(self.patience()).send().await.ok()?;
        if !response.headers().get(CONTENT_TYPE)?.as_bytes().starts_with(b"text/event-stream") {
            return Some(Finding::warning(
                format!("{url} is not this server's; whether answers are streamed was not seen"),
                "let the proxy forward /health too, or look at its buffering yourself",
            ));
        }
        let (mut first, mut last, mut bytes) = (None, Instant::now(), 0);
        while bytes < MOST_BYTES
            && let Ok(Some(chunk)) = response.chunk().await
        {
            (last, bytes) = (Instant::now(), bytes + chunk.len());
            first = first.or(Some(last));
        }
        Some(if last.duration_since(first?) >= STREAMED {
            Finding::fine("answers are streamed")
        } else {
            Finding::fault(
                "something in front of the server holds streamed answers back",
                "turn buffering off for it (nginx: `proxy_buffering off`): apps wait for notices \
                 that do not come",
            )
        })
    }

    async fn resource_metadata(&self, expected: &Expected) -> Finding {
        let url = expected.resource.metadata_url();
        let answer = match self.ask(Method::GET, &url, &[(ORIGIN, FOREIGN_ORIGIN)]).await {
            Ok(answer) => answer,
            Err(finding) => return finding,
        };
        let Some(document) = answer.json().filter(|_| answer.status == StatusCode::OK) else {
            return Finding::fault(
                format!("{url} is no JSON document ({})", answer.status),
                "let the proxy forward everything under /.well-known/ too",
            );
        };
        let (named, issuer) = (&document["resource"], &document["authorization_servers"][0]);
        if named != expected.resource.as_str() {
            return Finding::fault(
                format!("{url} says that the resource is {}", shortened(named)),
                format!("start the server with --resource {}", expected.resource),
            );
        }
        if issuer != expected.issuer.as_str() {
            return Finding::fault(
                format!(
                    "{url} says that {} signs people in, and not {}",
                    shortened(issuer),
                    expected.issuer
                ),
                "start the server with the same `issuer` as this check",
            );
        }
        if answer.header("access-control-allow-origin") != "*" {
            return no_cors(&url);
        }
        Finding::fine(format!("{url} is right"))
    }

    /// The issuer's own documents.
    async fn issuer(&self, expected: &Expected) -> Vec<Finding> {
        let issuer = expected.issuer.as_str();
        let url = format!("{issuer}/.well-known/oauth-authorization-server");
        let answer = match self.ask(Method::GET, &url, &[(ORIGIN, FOREIGN_ORIGIN)]).await {
            Ok(answer) => answer,
            Err(finding) => return vec![finding],
        };
        let Some(document) = answer.json().filter(|_| answer.status == StatusCode::OK) else {
            return vec![Finding::fault(
                format!("{url} is no JSON document ({})", answer.status),
                "let the proxy forward everything of the issuer's host to this server",
            )];
        };
        let mut findings = Vec::new();
        if document["issuer"] != issuer {
            findings.push(Finding::fault(
                format!("{url} says that the issuer is {}", shortened(&document["issuer"])),
                format!(
                    "clients compare it byte for byte: start the server with --issuer {issuer}"
                ),
            ));
        } else if answer.header("access-control-allow-origin") == "*" {
            findings.push(Finding::fine(format!("{url} is right")));
        } else {
            findings.push(no_cors(&url));
        }
        for path in ["/authorize", "/token", "/register"] {
            findings.extend(self.is_served(issuer, path).await);
        }
        findings.extend(self.key_set(expected).await);
        findings
    }

    /// Whether a path of the issuer leads to this server. Nothing is asked that it would
    /// act on.
    async fn is_served(&self, issuer: &str, path: &str) -> Option<Finding> {
        let url = format!("{issuer}{path}");
        let answer = match self.ask(Method::DELETE, &url, &[]).await {
            Ok(answer) => answer,
            Err(finding) => return Some(finding),
        };
        (answer.status != StatusCode::METHOD_NOT_ALLOWED).then(|| {
            Finding::fault(
                format!("{url} is not this server's ({})", answer.status),
                "let the proxy forward all paths of the issuer's host to this server",
            )
        })
    }

    async fn key_set(&self, expected: &Expected) -> Option<Finding> {
        let url = format!("{}/jwks", expected.issuer);
        let answer = match self.ask(Method::GET, &url, &[]).await {
            Ok(answer) => answer,
            Err(finding) => return Some(finding),
        };
        let keys = answer.json().and_then(|set| set["keys"].as_array().cloned());
        let Some(keys) = keys else {
            return Some(Finding::fault(
                format!("{url} is no key set ({})", answer.status),
                "let the proxy forward it to this server",
            ));
        };
        let key = expected.key.as_ref()?;
        Some(if keys.iter().any(|published| published["kid"] == key.as_str()) {
            Finding::fine("the public address leads to the server that runs on this data")
        } else {
            Finding::fault(
                format!("{url} has other keys than the server that runs on this data"),
                "the public address leads to another server, or something on the way keeps old \
                 answers for too long",
            )
        })
    }
}

/// Somebody else's words, as far as they help.
fn shortened(words: impl std::fmt::Display) -> String {
    let words = words.to_string();
    match words.char_indices().nth(MOST_WORDS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

fn no_cors(url: &str) -> Finding {
    Finding::fault(
        format!("{url} lacks `access-control-allow-origin: *`"),
        "let the proxy pass on the server's own CORS headers: clients that run in a browser need \
         them",
    )
}

/// Why there is no answer, by what it can be seen by.
fn unreachable(url: &str, error: &reqwest::Error) -> Finding {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    let words = innermost.to_string();
    let lower = words.to_lowercase();
    let cure = if error.is_timeout() {
        "nobody answers within 10 s: a firewall, or a router that does not lead back to your own \
         public address from inside; try from another network"
    } else if lower.contains("lookup") || lower.contains("dns") || lower.contains("resolve") {
        "the name has no address: set the DNS record, or wait until it has spread"
    } else if lower.contains("certificate") {
        "clients accept only a certificate of a public authority for exactly this name"
    } else if lower.contains("refused") {
        "nobody listens there: start `brain-mcp serve`, or the proxy in front of it"
    } else {
        "see to what it says"
    };
    Finding::fault(format!("{url} cannot be reached: {words}"), cure)
}
