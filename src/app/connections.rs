//! Connections that end with the server.
//!
//! The HTTP library serves each connection in a task of its own and forgets it. One
//! whose client keeps it open would outlive the server, and hold the store with it. So
//! every connection here can be cut from the outside.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

/// Accepts connections that [`Scissors`] can cut.
pub(super) struct CuttableListener {
    listener: TcpListener,
    cut: watch::Receiver<()>,
    open: mpsc::Sender<()>,
}

/// Ends all connections of one listener.
pub(super) struct Scissors {
    cut: watch::Sender<()>,
    open: mpsc::Receiver<()>,
}

/// One connection.
pub(super) struct CuttableStream {
    stream: TcpStream,
    /// Ready when the connection is cut; `None` since then.
    cut: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Held, so that it can be seen when the last one is gone.
    _open: mpsc::Sender<()>,
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) SocketAddr);

/// A listener, and what ends its connections.
pub(super) fn cuttable(listener: TcpListener) -> (CuttableListener, Scissors) {
    let (cutter, cut) = watch::channel(());
    let (opened, open) = mpsc::channel(1);
    (CuttableListener { listener, cut, open: opened }, Scissors { cut: cutter, open })
}

impl Scissors {
    /// Cuts every connection, and returns when all are gone. The listener must have
    /// been dropped.
    pub(super) async fn cut(mut self) {
        drop(self.cut);
        // Nothing is ever sent: it ends with the last sender.
        let _ = self.open.recv().await;
    }
}

impl Listener for CuttableListener {
    type Io = CuttableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (CuttableStream, SocketAddr) {
        // Named in full: it retries errors, which the method of the same name does not.
        let (stream, peer) = <TcpListener as Listener>::accept(&mut self.listener).await;
        let mut cut = self.cut.clone();
        // Nothing is ever sent here either: the sender goes, and that is the news.
        let cut = Box::pin(async move { while cut.changed().await.is_ok() {} });
        (CuttableStream { stream, cut: Some(cut), _open: self.open.clone() }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, CuttableListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, CuttableListener>) -> Self {
        Self(*stream.remote_addr())
    }
}

impl CuttableStream {
    /// The connection, unless it is cut. Whoever asks is woken when it will be.
    fn uncut(&mut self, context: &mut Context<'_>) -> io::Result<Pin<&mut TcpStream>> {
        if self.cut.as_mut().is_some_and(|cut| cut.as_mut().poll(context).is_ready()) {
            self.cut = None;
        }
        if self.cut.is_some() {
            Ok(Pin::new(&mut self.stream))
        } else {
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }
}

impl AsyncRead for CuttableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.uncut(context)?.poll_read(context, buffer)
    }
}

impl AsyncWrite for CuttableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.uncut(context)?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.uncut(context)?.poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.uncut(context)?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.uncut(context)?.poll_shutdown(context)
    }
}
