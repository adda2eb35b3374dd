//! A web of loopback addresses whose servers misbehave on request, for tests: 127.0.0.2
//! plays the public internet, every other address is what must not be reached.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use reqwest::Certificate;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::Web;

pub(crate) const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
pub(crate) const PRIVATE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What a server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
}

/// Servers, names and counts of one test.
#[derive(Clone)]
pub(crate) struct HostileWeb(Arc<Inner>);

struct Inner {
    certificate: Certificate,
    port: u16,
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    answers: Mutex<HashMap<String, Vec<Step>>>,
    requests: Mutex<Vec<String>>,
    connections_to_private: AtomicUsize,
    look_ups: AtomicUsize,
}

impl HostileWeb {
    /// Starts a server on the public and one on the private address, on one port.
    pub(crate) async fn start(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names.clone()).unwrap().self_signed(&key).unwrap();
        let private_key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let tls = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private_key)
            .unwrap();
        let (public, private) = two_listeners().await;
        let web = Self(Arc::new(Inner {
            certificate: Certificate::from_der(certificate.der()).unwrap(),
            port: public.local_addr().unwrap().port(),
            names: Mutex::new(names.into_iter().map(|name| (name, vec![vec![PUBLIC]])).collect()),
            answers: Mutex::default(),
            requests: Mutex::default(),
            connections_to_private: AtomicUsize::new(0),
            look_ups: AtomicUsize::new(0),
        }));
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let listening = web.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = public.accept().await {
                tokio::spawn(listening.clone().serve(acceptor.clone(), stream));
            }
        });
        let watching = web.clone();
        tokio::spawn(async move {
            while private.accept().await.is_ok() {
                watching.0.connections_to_private.fetch_add(1, Ordering::SeqCst);
            }
        });
        web
    }

    /// This web, for an authorization server.
    pub(crate) fn web(&self) -> Web {
        let roots = vec![self.0.certificate.clone()];
        let resolver = Arc::new(Names(self.clone()));
        Web::new(resolver, Arc::new(|_: &str, address| address == PUBLIC), Some(roots)).unwrap()
    }

    /// What each look-up of a name says; the last one goes on for ever.
    pub(crate) fn resolve(&self, host: &str, answers: &[&[IpAddr]]) {
        let answers = answers.iter().map(|answer| answer.to_vec()).collect();
        self.0.names.lock().unwrap().insert(host.to_owned(), answers);
    }

    /// What the server does for a path.
    pub(crate) fn on(&self, path: &str, steps: Vec<Step>) {
        self.0.answers.lock().unwrap().insert(path.to_owned(), steps);
    }

    /// A document in good order.
    pub(crate) fn publish(&self, path: &str, document: &str, headers: &str) {
        self.on(path, vec![Step::Send(answer("200 OK", headers, document))]);
    }

    /// The heads of the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.0.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections_to_private(&self) -> usize {
        self.0.connections_to_private.load(Ordering::SeqCst)
    }

    pub(crate) fn look_ups(&self) -> usize {
        self.0.look_ups.load(Ordering::SeqCst)
    }

    async fn serve(self, acceptor: TlsAcceptor, stream: TcpStream) -> io::Result<()> {
        let mut stream = acceptor.accept(stream).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        self.0.requests.lock().unwrap().push(head);
        let steps = self.0.answers.lock().unwrap().get(&path).cloned();
        let missing = || vec![Step::Send(answer("404 Not Found", "", "{}"))];
        for step in steps.unwrap_or_else(missing) {
            match step {
                Step::Send(bytes) => {
                    stream.write_all(&bytes).await?;
                    stream.flush().await?;
                }
                Step::Wait(span) => tokio::time::sleep(span).await,
            }
        }
        stream.shutdown().await
    }
}

/// A whole answer.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Listeners on both addresses with the same port.
async fn two_listeners() -> (TcpListener, TcpListener) {
    for _ in 0..100 {
        let public = TcpListener::bind(SocketAddr::new(PUBLIC, 0)).await.unwrap();
        let port = public.local_addr().unwrap().port();
        if let Ok(private) = TcpListener::bind(SocketAddr::new(PRIVATE, port)).await {
            return (public, private);
        }
    }
    panic!("no port is free on both addresses")
}

struct Names(HostileWeb);

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        self.0.0.look_ups.fetch_add(1, Ordering::SeqCst);
        let mut names = self.0.0.names.lock().unwrap();
        let addresses = match names.get_mut(name.as_str()) {
            None => Vec::new(),
            Some(answers) if answers.len() > 1 => answers.remove(0),
            Some(answers) => answers[0].clone(),
        };
        // Without a port in the URL, the one from here counts.
        let port = self.0.0.port;
        let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, port));
        let addresses: Addrs = Box::new(addresses.collect::<Vec<_>>().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}
