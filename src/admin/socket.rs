//! The socket by which commands reach the running server.
//!
//! It is in the data directory, and only processes of the user who runs the server get
//! in, and of root, who needs no door: the file's mode says so, and each connection is
//! asked whose it is.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::desk;
use super::protocol::{LONGEST_REQUEST, Reply, Request, SOCKET};
use crate::authorization_server::AuthorizationServer;

/// A service of a user that exists only while it runs has nobody else to ask it.
const ROOT: u32 = 0;
/// How many commands are worked on at a time. The next ones wait.
const AT_ONCE: usize = 8;
/// How many may be connected. Who says nothing takes up one of these, and none of those.
const CONNECTED: usize = 64;
/// How long a command may take to say what it wants: it knows that before it connects.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it may take to read the answer.
const SENDING: Duration = Duration::from_secs(60);

/// The open socket; gone when the value is.
#[derive(Debug)]
pub struct AdminSocket {
    path: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl AdminSocket {
    /// Opens the socket in the server's data directory, which the server has to itself: a
    /// socket that is there already is left over from one that was killed.
    ///
    /// # Errors
    ///
    /// What the system says, above all if the path is too long for a socket.
    pub fn open(server: AuthorizationServer) -> io::Result<Self> {
        let path = server.data_dir().join(SOCKET);
        let listener = listen(&path)?;
        let own_user = fs::metadata(&path)?.uid();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let mut running = JoinSet::new();
            tokio::select! {
                () = serve(listener, own_user, server, &mut running) => {}
                _ = stopped => {}
            }
            running.shutdown().await;
        });
        Ok(Self { path, stop: Some(stop), serving })
    }

    /// Returns when nobody is served any more; who is in the middle is cut off.
    pub async fn close(mut self) {
        // A dropped sender stops it as well.
        drop(self.stop.take());
        let _ = (&mut self.serving).await;
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        self.serving.abort();
        // If it stays, the next start replaces it.
        let _ = fs::remove_file(&self.path);
    }
}

/// A listener under this name, for this user only from the first moment on.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let unfinished = path.with_extension("new");
    for old in [path, &unfinished] {
        match fs::remove_file(old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let listener = UnixListener::bind(&unfinished)?;
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600))?;
    fs::rename(&unfinished, path)?;
    Ok(listener)
}

async fn serve(
    listener: UnixListener,
    own_user: u32,
    server: AuthorizationServer,
    running: &mut JoinSet<()>,
) {
    let (seats, places) = (Arc::new(Semaphore::new(CONNECTED)), Arc::new(Semaphore::new(AT_ONCE)));
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return };
        while running.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) if is_of(&stream, own_user) => {
                let (server, places) = (server.clone(), Arc::clone(&places));
                running.spawn(async move {
                    let _seat = seat;
                    if let Err(error) = converse(stream, &server, &places).await {
                        tracing::info!(%error, "a command at the socket broke off");
                    }
                });
            }
            Ok(_) => tracing::warn!("somebody else's process was at the admin socket"),
            Err(error) => {
                tracing::warn!(%error, "the admin socket");
                // No file handles left, for example: not a reason to spin.
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

fn is_of(stream: &UnixStream, own_user: u32) -> bool {
    stream.peer_cred().is_ok_and(|peer| [own_user, ROOT].contains(&peer.uid()))
}

async fn converse(
    stream: UnixStream,
    server: &AuthorizationServer,
    places: &Semaphore,
) -> io::Result<()> {
    let (reading, mut writing) = stream.into_split();
    let refused = |reason| (Reply::Refused(reason), Vec::new());
    let (reply, rest) = match timeout(PATIENCE, read(reading)).await {
        Ok(Ok(request)) => {
            let _place = places.acquire().await.map_err(io::Error::other)?;
            desk::answer(server, request).await
        }
        Ok(Err(fault)) => refused(fault),
        Err(_too_long) => refused("the request did not arrive in time".to_owned()),
    };
    let mut line = serde_json::to_vec(&reply)?;
    line.push(b'\n');
    line.extend_from_slice(&rest);
    timeout(SENDING, writing.write_all(&line)).await?
}

async fn read(stream: OwnedReadHalf) -> Result<Request, String> {
    let mut line = Vec::new();
    let mut bounded = BufReader::new(stream.take(LONGEST_REQUEST));
    bounded.read_until(b'\n', &mut line).await.map_err(|error| error.to_string())?;
    if line.last() != Some(&b'\n') {
        return Err("the request is not one line, or too long".to_owned());
    }
    serde_json::from_slice(&line).map_err(|error| {
        format!("the request is not understood, is it of another version? {error}")
    })
}
