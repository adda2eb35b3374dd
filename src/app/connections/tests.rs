use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Patience, serve};

const SHORT: Duration = Duration::from_millis(200);
/// Longer than the short patience, and shorter than a test may hang.
const AT_MOST: Duration = Duration::from_secs(20);

/// A server with little patience; a connection to it, and how to stop it.
async fn connect(routes: Router) -> (TcpStream, oneshot::Sender<()>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let patience = Patience { head: SHORT, write: SHORT, farewell: SHORT };
    let serving = serve(listener, routes, 8, patience, async { drop(stopped.await) });
    let serving = tokio::spawn(serving);
    (TcpStream::connect(address).await.unwrap(), stop, serving)
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = timeout(AT_MOST, stream.read_to_end(&mut text)).await.expect("it is closed");
    // A reset is an end too.
    drop(read);
    String::from_utf8(text).unwrap()
}

fn hello() -> Router {
    Router::new().route("/", get(async || "hello"))
}

#[tokio::test]
async fn a_head_that_never_ends_is_cut() {
    for start in ["", "GET / HTTP/1.1\r\nhost: localhost\r\n"] {
        let (mut stream, _stop, _serving) = connect(hello()).await;
        stream.write_all(start.as_bytes()).await.unwrap();
        assert!(!rest(&mut stream).await.contains("hello"), "{start:?}");
    }
}

#[tokio::test]
async fn an_answered_client_may_ask_again_and_is_cut_when_it_does_not() {
    let (mut stream, _stop, _serving) = connect(hello()).await;
    let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(request).await.unwrap();
    stream.write_all(request).await.unwrap();
    assert_eq!(rest(&mut stream).await.matches("hello").count(), 2);
}

/// The answer is larger than what lies in the buffers of both sides.
#[tokio::test]
async fn a_client_that_takes_nothing_is_cut() {
    const LENGTH: usize = 64 << 20;
    let large = Router::new().route("/", get(async || "x".repeat(LENGTH)));
    let (mut stream, _stop, _serving) = connect(large).await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    tokio::time::sleep(SHORT * 5).await;
    assert!(rest(&mut stream).await.len() < LENGTH);
}

#[tokio::test]
async fn stopping_ends_idle_connections_and_dropping_cuts_busy_ones() {
    let (mut idle, stop, serving) = connect(hello()).await;
    idle.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut start = [0; 8];
    idle.read_exact(&mut start).await.unwrap();
    stop.send(()).unwrap();
    timeout(AT_MOST, serving).await.expect("it ends").unwrap();

    let endless = Router::new().route("/", get(std::future::pending::<String>));
    let (mut busy, stop, serving) = connect(endless).await;
    busy.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    tokio::time::sleep(SHORT).await;
    stop.send(()).unwrap();
    tokio::time::sleep(SHORT).await;
    assert!(!serving.is_finished(), "it waits for the request");
    serving.abort();
    assert_eq!(rest(&mut busy).await, "");
}
