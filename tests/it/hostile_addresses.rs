//! `brain-mcp check` at addresses where something answers that means harm, or nothing
//! sensible: it ends, soon and with a plain message.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use brain_mcp::admin::doctor::public::{Expected, look};
use brain_mcp::admin::doctor::{Finding, Verdict};
use brain_mcp::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// How long all questions may take together, with room for a busy machine.
const SOON: Duration = Duration::from_secs(45);

/// What is read of one answer, and what may have gone into buffers on the way.
const LITTLE: usize = 32 << 20;

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    /// It says nothing.
    Silence,
    /// It closes the connection at once.
    Slammed,
    /// A header, a byte a time.
    DrippingHead,
    /// A body, a byte a time.
    DrippingBody,
    /// The right answer first, and then bodies that drip.
    DrippingLater,
    /// A body without an end.
    Endless,
    /// A body without an end where answers are streamed.
    EndlessStream,
    /// A header of a megabyte.
    HugeHeader,
    /// Ten thousand headers.
    ManyHeaders,
    /// A redirect to itself.
    Circle,
    /// A redirect to a very long place.
    FarAway,
    /// Bytes that are no text, in headers and body.
    NoText,
    /// JSON as deep as it is long.
    DeepJson,
    /// An issuer with a very long name, in colours.
    LongNames,
    /// Ten thousand keys.
    ManyKeys,
}

const ALL: [(Harm, &str); 15] = [
    (Harm::Silence, "cannot be reached"),
    (Harm::Slammed, "cannot be reached"),
    (Harm::DrippingHead, "cannot be reached"),
    (Harm::DrippingBody, "cannot be reached"),
    (Harm::DrippingLater, "cannot be reached"),
    (Harm::Endless, "answers with more than 256 KiB"),
    (Harm::EndlessStream, "holds streamed answers back"),
    (Harm::HugeHeader, "cannot be reached"),
    (Harm::ManyHeaders, "cannot be reached"),
    (Harm::Circle, "leads to /mcp"),
    (Harm::FarAway, "leads to https://xxx"),
    (Harm::NoText, "without a WWW-Authenticate header"),
    (Harm::DeepJson, "is no JSON document"),
    (Harm::LongNames, "says that the issuer is"),
    (Harm::ManyKeys, "/jwks answers with more than 256 KiB"),
];

/// Issue 4 "Administration": in bounded time and memory, whatever answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_answers_the_check_ends_with_a_plain_message() {
    let running: Vec<_> = ALL
        .into_iter()
        .map(|(harm, expected)| {
            (harm, expected, tokio::spawn(async move { (seen(harm).await, harm) }))
        })
        .collect();
    for (harm, expected, seen) in running {
        let ((findings, took, sent), _) = seen.await.unwrap();
        assert!(took < SOON, "{harm:?} took {took:?}");
        assert!(sent < LITTLE, "{harm:?} sent {sent} bytes");
        let is_told = |it: &Finding| {
            it.verdict == Verdict::Fault && it.what.contains(expected) && !it.cure.is_empty()
        };
        assert!(findings.iter().any(is_told), "{harm:?}: {findings:#?}");
        let longest = findings.iter().map(|it| it.what.len()).max();
        assert!(longest < Some(600), "{harm:?}: {findings:#?}");
    }
}

/// What `check` says, how long it takes, and how many bytes it was sent.
async fn seen(harm: Harm) -> (Vec<Finding>, Duration, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let sent = Arc::new(AtomicUsize::new(0));
    let serving = tokio::spawn({
        let (sent, origin) = (Arc::clone(&sent), origin.clone());
        async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let wire = Wire { stream, sent: Arc::clone(&sent) };
                let origin = origin.clone();
                // It ends when the other side has had enough.
                tokio::spawn(async move {
                    let _broken = wire.answer(harm, &origin).await;
                });
            }
        }
    });
    let expected = Expected {
        resource: format!("{origin}/mcp").parse().unwrap(),
        issuer: origin.parse().unwrap(),
        is_ours: true,
        key: None,
    };
    let begun = Instant::now();
    let findings = look(&expected, &Clock::system()).await;
    let took = begun.elapsed();
    serving.abort();
    (findings, took, sent.load(Ordering::SeqCst))
}

/// A connection that counts what goes out.
struct Wire {
    stream: TcpStream,
    sent: Arc<AtomicUsize>,
}

impl Wire {
    async fn answer(mut self, harm: Harm, origin: &str) -> std::io::Result<()> {
        let mut head = vec![0; 64 * 1024];
        let length = self.stream.read(&mut head).await?;
        let head = String::from_utf8_lossy(&head[..length]).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let challenge = format!(
            "WWW-Authenticate: Bearer error=\"invalid_token\", resource_metadata=\
             \"{origin}/.well-known/oauth-protected-resource/mcp\"\r\n"
        );
        let is_first = path == "/mcp" && !head.to_lowercase().contains("authorization");
        match harm {
            Harm::Silence => self.wait().await,
            Harm::Slammed => Ok(()),
            Harm::DrippingHead => {
                self.send(b"HTTP/1.1 401 Unauthorized\r\nX-Slow: ").await?;
                self.drip().await
            }
            Harm::DrippingLater if is_first => self.plain("401 Unauthorized", &challenge, "").await,
            Harm::DrippingBody | Harm::DrippingLater => {
                self.send(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 99999\r\n\r\n").await?;
                self.drip().await
            }
            Harm::Endless => self.flood("text/html").await,
            Harm::EndlessStream if path == "/health?stream" => {
                self.flood("text/event-stream").await
            }
            Harm::HugeHeader => {
                let header = format!("X-Huge: {}\r\n", "x".repeat(1 << 20));
                self.plain("401 Unauthorized", &header, "").await
            }
            Harm::ManyHeaders => {
                self.plain("401 Unauthorized", &"X-Many: x\r\n".repeat(10_000), "").await
            }
            Harm::Circle => self.plain("302 Found", "Location: /mcp\r\n", "").await,
            Harm::FarAway => {
                let place = format!("Location: https://{}/\r\n", "x".repeat(60_000));
                self.plain("302 Found", &place, "").await
            }
            Harm::NoText => {
                self.send(b"HTTP/1.1 401 \xff\xfe\r\nWWW-Authenticate: \xff\xfe\xfd\r\n").await?;
                self.send(b"Content-Length: 4\r\nDate: \xff\r\n\r\n\xff\xfe\0\x1b").await
            }
            Harm::DeepJson if path.contains("well-known") => {
                self.plain("200 OK", "", &"[".repeat(200_000)).await
            }
            _ => {
                let issuer = match harm {
                    Harm::LongNames => format!("\\u001b[31m{}", "x".repeat(200_000)),
                    _ => origin.to_owned(),
                };
                let cors = "Access-Control-Allow-Origin: *\r\n";
                let keys = r#"{"kty":"EC","kid":"x","crv":"P-256","x":"AA","y":"AA"},"#;
                match path.as_str() {
                    "/mcp" => self.plain("401 Unauthorized", &challenge, "").await,
                    "/jwks" => {
                        let keys = keys.repeat(10_000);
                        let set = format!("{{\"keys\":[{}]}}", keys.trim_end_matches(','));
                        self.plain("200 OK", "", &set).await
                    }
                    path if path.contains("oauth-protected-resource") => {
                        let document = format!(
                            "{{\"resource\":\"{origin}/mcp\",\"authorization_servers\":[\"{origin}\"]}}"
                        );
                        self.plain("200 OK", cors, &document).await
                    }
                    path if path.contains("well-known") => {
                        self.plain("200 OK", cors, &format!("{{\"issuer\":\"{issuer}\"}}")).await
                    }
                    _ => self.plain("405 Method Not Allowed", "", "").await,
                }
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.sent.fetch_add(bytes.len(), Ordering::SeqCst);
        Ok(())
    }

    async fn plain(&mut self, status: &str, headers: &str, body: &str) -> std::io::Result<()> {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        self.send(head.as_bytes()).await?;
        self.send(body.as_bytes()).await
    }

    async fn wait(&mut self) -> std::io::Result<()> {
        let mut rest = [0; 1];
        while self.stream.read(&mut rest).await? > 0 {}
        Ok(())
    }

    async fn drip(&mut self) -> std::io::Result<()> {
        loop {
            self.send(b"x").await?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn flood(&mut self, kind: &str) -> std::io::Result<()> {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        self.send(head.as_bytes()).await?;
        let chunk = format!("{:x}\r\n{}\r\n", 64 << 10, "x".repeat(64 << 10));
        loop {
            self.send(chunk.as_bytes()).await?;
        }
    }
}
