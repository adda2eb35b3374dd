//! `GET /metrics`: what the operator's Prometheus reads, on a listener of its own.
//!
//! It tells how many pages are hidden and how many people come, so it is no part of the
//! server that clients reach: another address, loopback only, and off unless asked for.

use std::fs;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::layers;
use super::requests::Requests;
use crate::authorization_server::AuthorizationServer;
use crate::clock::UnixTime;
use crate::metrics::{Exposition, Kind};
use crate::resource_server::ResourceServer;
use crate::resource_server::host_origin::AllowedSites;
use crate::vault::Vault;
use crate::vault::figures::Figures;

/// All who have something to tell. Cheap to clone.
#[derive(Clone)]
pub(super) struct Panel {
    pub(super) started_at: UnixTime,
    pub(super) requests: Arc<Requests>,
    pub(super) resource_server: ResourceServer,
    /// Absent if the issuer is a foreign one.
    pub(super) authorization_server: Option<AuthorizationServer>,
    pub(super) vaults: Vec<Vault>,
}

/// The routes of the listener. A page of the internet whose name leads here (DNS
/// rebinding) is refused by its `Host`.
pub(super) fn router(panel: Panel) -> Router {
    let routes = Router::new().route("/metrics", get(show)).with_state(panel);
    layers::hardened(routes, Arc::new(AllowedSites::loopback()))
}

async fn show(State(panel): State<Panel>) -> Response {
    let text = tokio::task::spawn_blocking(move || panel.text()).await;
    match text {
        Ok(text) => {
            let headers = [(CONTENT_TYPE, Exposition::MEDIA_TYPE), (CACHE_CONTROL, "no-store")];
            (headers, text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "the metrics could not be told");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

impl Panel {
    /// Blocks: it counts what is in the store.
    fn text(&self) -> String {
        let mut page = Exposition::default();
        tell_process(&mut page, self.started_at);
        self.requests.tell_figures(&mut page);
        self.resource_server.tell_figures(&mut page);
        if let Some(server) = &self.authorization_server {
            server.tell_figures(&mut page);
        }
        tell_vaults(&mut page, &self.vaults);
        page.into_text()
    }
}

fn tell_process(page: &mut Exposition, started_at: UnixTime) {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    page.family(Kind::Gauge, "brain_mcp_build_info", "What runs.", [(version, 1)]);
    page.number(
        Kind::Gauge,
        "process_start_time_seconds",
        "When it was started, in seconds since 1970.",
        started_at,
    );
    if let Some(bytes) = resident_bytes() {
        let help = "Memory that the process takes.";
        page.number(Kind::Gauge, "process_resident_memory_bytes", help, bytes);
    }
}

/// What Linux says; nothing elsewhere.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel about this process")]
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// All vaults together: their names are texts of the configuration.
#[expect(clippy::cast_precision_loss, reason = "a lag is told to the millisecond")]
fn tell_vaults(page: &mut Exposition, vaults: &[Vault]) {
    let all = vaults.iter().map(Vault::figures).fold(Figures::default(), Figures::and);
    let Figures { pages, skipped, index_bytes, last_change, failures, unavailable } = all;
    let classes = Figures::CLASSES.map(|class| [("class", class.as_str())]);
    let help = "Pages by class.";
    page.family(Kind::Gauge, "brain_mcp_pages", help, classes.into_iter().zip(pages));
    let help = "Pages that are not in the index because they are no text, locked or too large.";
    page.number(Kind::Gauge, "brain_mcp_pages_skipped", help, skipped);
    let help = "Memory that the index takes, about.";
    page.number(Kind::Gauge, "brain_mcp_index_bytes", help, index_bytes);
    if let Some((at, lag)) = last_change {
        let help = "When a change was last taken into the index, in seconds since 1970.";
        let name = "brain_mcp_index_last_change_timestamp_seconds";
        page.number(Kind::Gauge, name, help, at.as_second());
        if let Some(milliseconds) = lag {
            let help = "How long after it was made that change was taken in.";
            let seconds = milliseconds as f64 / 1e3;
            page.number(Kind::Gauge, "brain_mcp_index_lag_seconds", help, seconds);
        }
    }
    let help = "How often a vault could not be judged: git failed, or the folder was gone.";
    page.number(Kind::Counter, "brain_mcp_vault_failures_total", help, failures);
    let help = "Vaults that cannot answer at the moment.";
    page.number(Kind::Gauge, "brain_mcp_vaults_unavailable", help, unavailable);
}
