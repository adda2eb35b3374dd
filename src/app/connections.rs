//! Accepts connections and serves them, each only as long as its client keeps going.
//!
//! A client that sends half a request, or takes no answer, costs a connection and
//! nothing else, but there are not endlessly many of those. So every step that is the
//! client's has an end; the body has its own, in `layers`.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::connect_info::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};
use tower::ServiceExt as _;

/// How many clients are served at once. Each takes a file descriptor, and git and the
/// store need some too: a process often gets 1,024.
pub(super) const MAX_CONNECTIONS: usize = 512;

/// How patient the server is with the client of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For the whole head of the next request. Longer than proxies keep an unused
    /// connection (nginx: 60 s), or they would send requests into closed ones.
    pub(super) head: Duration,
    /// For the next byte of an answer to be taken.
    pub(super) write: Duration,
    /// For running requests to end once the server stops.
    pub(super) farewell: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(75),
            write: Duration::from_secs(60),
            farewell: Duration::from_secs(2),
        }
    }
}

/// Serves `most` clients at a time until `stop` completes, then until the running requests have ended or been
/// cut. When it returns, no connection holds on to the routes any more.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    most: usize,
    patience: Patience,
    stop: impl Future<Output = ()>,
) {
    let seats = Arc::new(Semaphore::new(most));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, peer, seat) = tokio::select! {
            accepted = accept(&listener, &seats) => accepted,
            () = &mut stop => break,
        };
        // Those that have ended.
        while connections.try_join_next().is_some() {}
        let routes = routes.clone().map_request(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        });
        let stream = TokioIo::new(Impatient { stream, patience: patience.write, waiting: None });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience.head)
            .serve_connection(stream, TowerToHyperService::new(routes));
        let connection = graceful.watch(connection);
        connections.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%peer, %error, "a connection broke");
            }
            drop(seat);
        });
    }
    drop(listener);
    if timeout(patience.farewell, graceful.shutdown()).await.is_err() {
        tracing::debug!("some connections are cut");
    }
    connections.shutdown().await;
}

/// The next connection, once there is room for it.
async fn accept(
    listener: &TcpListener,
    seats: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let seat = Arc::clone(seats).acquire_owned().await.expect("it is never closed");
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, seat),
            // Either the client is gone already, or there are no descriptors left,
            // and then the next try would fail at once too.
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A stream that breaks when the other side takes nothing for too long.
struct Impatient {
    stream: TcpStream,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Impatient {
    /// Passes on what a write said; an error if it has been waiting for too long.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, shut)
    }
}

#[cfg(test)]
mod tests;
