//! The tool `vault_stats`.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_tags::{TagEntry, fitting};
use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::text;
use crate::mcp::render::hits::SEMANTIC;
use crate::mcp::render::{count, hashed, moment, shortened, single_line};
use crate::mcp::service::McpServer;
use crate::vault::Vault;
use crate::vault::answers::{IndexHealth, VaultStats, Watching};

/// So many of each list in one answer.
const MOST: usize = 30;
const TAGS: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StatsArguments {
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct StatsAnswer {
    /// Without the inbox.
    notes: usize,
    inbox_notes: usize,
    /// Without the inbox.
    bytes: u64,
    /// Notes by top-level folder, most first; without a name the vault itself.
    folders: Vec<FolderEntry>,
    /// How many folders there are in all.
    total_folders: usize,
    top_tags: Vec<TagEntry>,
    /// Different tags.
    tags: usize,
    /// Links between notes.
    links: usize,
    /// Links that lead to no note.
    broken_links: usize,
    /// Notes without links.
    orphans: usize,
    invalid_frontmatter: usize,
    /// The semantic index.
    semantic: &'static str,
    index: HealthEntry,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FolderEntry {
    folder: String,
    notes: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HealthEntry {
    /// Files that are notes by their names.
    files: usize,
    /// Those that can be searched.
    indexed: usize,
    /// Those that cannot: the first of them.
    skipped: Vec<SkippedEntry>,
    /// How many there are in all.
    total_skipped: usize,
    /// Copies that a sync tool has left: the first of them.
    conflict_copies: Vec<ConflictEntry>,
    /// How many there are in all.
    total_conflict_copies: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    last_change: String,
    /// How long the last change took to be seen, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    lag_ms: Option<u64>,
    /// events, or why not.
    watching: String,
    /// Of dates without one.
    time_zone: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SkippedEntry {
    path: String,
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ConflictEntry {
    copy: String,
    original: String,
}

#[tool_router(router = vault_stats_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "vault_stats",
        title = "About the vault",
        description = "Returns how many notes there are, by folder, with the top tags, links, \
            orphans, and which files cannot be searched and why. Use it to get to know a vault, \
            or when something is not found. Example: {}",
        output_schema = schema_for_output::<StatsAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn vault_stats(
        &self,
        viewer: Viewer,
        Parameters(StatsArguments { vault }): Parameters<StatsArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let stats = self.ask(&viewer, &vault, Vault::stats).await??;
        let structure = StatsAnswer::of(&stats);
        let text = as_text(&stats);
        Ok(answer(&structure, text))
    }
}

impl StatsAnswer {
    pub(in crate::mcp) fn of(stats: &VaultStats) -> Self {
        let folder = |(folder, notes): &(String, usize)| FolderEntry {
            folder: shortened(folder, 200),
            notes: *notes,
        };
        Self {
            notes: stats.notes,
            inbox_notes: stats.inbox_notes,
            bytes: stats.bytes,
            folders: stats.folders.iter().take(MOST).map(folder).collect(),
            total_folders: stats.folders.len(),
            top_tags: fitting(&stats.top_tags[..stats.top_tags.len().min(TAGS)]),
            tags: stats.tags,
            links: stats.links.0,
            broken_links: stats.links.1,
            orphans: stats.orphans,
            invalid_frontmatter: stats.invalid_frontmatter,
            semantic: SEMANTIC,
            index: HealthEntry::of(&stats.health),
        }
    }
}

impl HealthEntry {
    fn of(health: &IndexHealth) -> Self {
        let IndexHealth { skipped, conflict_copies, .. } = health;
        let skip = skipped.iter().take(MOST).map(|(path, reason)| SkippedEntry {
            path: path.to_string(),
            reason: shortened(&reason.to_string(), 200),
        });
        let conflict = conflict_copies.iter().take(MOST).map(|(copy, original)| ConflictEntry {
            copy: copy.to_string(),
            original: original.to_string(),
        });
        Self {
            files: health.files,
            indexed: health.indexed,
            skipped: skip.collect(),
            total_skipped: skipped.len(),
            conflict_copies: conflict.collect(),
            total_conflict_copies: conflict_copies.len(),
            last_change: health.last_change.map(moment).unwrap_or_default(),
            lag_ms: health.lag_milliseconds,
            watching: match &health.watching {
                None => "none".to_owned(),
                Some(Watching::Events) => "events".to_owned(),
                Some(Watching::Polling(reason)) => format!("polling: {}", shortened(reason, 200)),
            },
            time_zone: health.time_zone.clone(),
        }
    }
}

pub(in crate::mcp) fn as_text(stats: &VaultStats) -> String {
    let mut text = format!(
        "{}, {} in the inbox; {}, {} of them broken; {}.",
        count(stats.notes, "note", "notes"),
        stats.inbox_notes,
        count(stats.links.0 + stats.links.1, "link", "links"),
        stats.links.1,
        count(stats.orphans, "note without links", "notes without links"),
    );
    for (folder, notes) in stats.folders.iter().take(MOST) {
        let folder = if folder.is_empty() { "(no folder)" } else { folder };
        let _ = write!(text, "\n- {}: {notes}", shortened(folder, 200));
    }
    let tags = stats.top_tags.iter().take(TAGS).map(|tag| &tag.tag);
    let _ = write!(text, "\n{}: {}", count(stats.tags, "tag", "tags"), hashed(tags));
    let health = &stats.health;
    let _ = write!(text, "\nIndexed {} of {} files.", health.indexed, health.files);
    for (path, reason) in health.skipped.iter().take(MOST) {
        let _ = write!(text, "\n- not {}: {reason}", single_line(path.as_str()));
    }
    if let Some(Watching::Polling(reason)) = &health.watching {
        let _ = write!(text, "\nChanges are found by polling: {}", shortened(reason, 200));
    }
    text
}
