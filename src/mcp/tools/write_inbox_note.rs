//! The tool `write_inbox_note`.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{answer, off_thread, refusal, unavailable};
use crate::access::permit::Viewer;
use crate::mcp::lenient::text;
use crate::mcp::service::McpServer;
use crate::mcp::uri::VaultUri;
use crate::vault::inbox::{Deed, NoteToWrite, WriteError, WriteMode, WrittenNote};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WriteArguments {
    /// What the note is called. The file is named after it, with a number if there is
    /// one of that name. Give this or a path.
    #[serde(default, deserialize_with = "text")]
    title: String,
    /// The path of the note in the inbox, such as inbox/2026/log.md.
    #[serde(default, deserialize_with = "text")]
    path: String,
    /// The text, in Markdown.
    content: String,
    /// create makes a new note and never changes one; append puts the text behind a
    /// note, or makes it if there is none.
    #[serde(default)]
    mode: Mode,
    /// The vault to write into. Leave it out for the default one.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Mode {
    #[default]
    Create,
    Append,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WriteAnswer {
    /// Where the note is.
    path: String,
    /// created or appended.
    action: &'static str,
    /// How many bytes were added.
    bytes_written: u64,
    /// How many bytes the note has now.
    size: u64,
    /// Changes whenever the text does.
    etag: String,
    /// Whether this client can read the note.
    readable: bool,
}

#[tool_router(router = write_inbox_note_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "write_inbox_note",
        title = "Write a note into the inbox",
        description = "Writes a note into the inbox of the user's vault, where new notes wait to \
            be filed. Use it to keep something for the user: an idea, a summary, an entry of a \
            log. It cannot change or delete what is there, nor write elsewhere. \
            Example: {\"title\": \"Heat pump offers\", \"content\": \"Two offers came in: …\"}. \
            To add to a log: {\"path\": \"inbox/log.md\", \"mode\": \"append\", \
            \"content\": \"- 14:00 called the plumber\"}",
        output_schema = schema_for_output::<WriteAnswer>(),
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn write_inbox_note(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<WriteArguments>,
    ) -> CallToolResult {
        let WriteArguments { title, path, content, mode, vault } = arguments;
        let name = vault;
        let vault = match self.vaults.find(&viewer, &name) {
            Ok(vault) => vault.clone(),
            Err(error) => return refusal(error),
        };
        let mode = match mode {
            Mode::Create => WriteMode::Create,
            Mode::Append => WriteMode::Append,
        };
        let note = NoteToWrite { title, path, content, mode };
        match off_thread(move || vault.write_note(&viewer, &note)).await {
            Ok(written) => written_answer(written, &name),
            Err(WriteError::Unavailable(_)) => unavailable(),
            Err(error) => refusal(reason(&error)),
        }
    }
}

fn written_answer(written: WrittenNote, vault: &str) -> CallToolResult {
    let WrittenNote { path, deed, bytes_written, size, etag, is_readable } = written;
    let (action, words) = match deed {
        Deed::Created => ("created", "Created"),
        Deed::Appended => ("appended", "Appended to"),
    };
    let again = if is_readable { "" } else { " This client cannot read it." };
    let text = format!("{words} {path} ({bytes_written} bytes).{again}");
    let uri = VaultUri::of_note(vault, path.as_str()).to_string();
    let name = path.file_name().to_owned();
    let path = path.to_string();
    let structure = WriteAnswer { path, action, bytes_written, size, etag, readable: is_readable };
    let mut result = answer(&structure, text);
    if is_readable {
        let link = Resource::new(uri, name).with_mime_type("text/markdown").with_size(size);
        result.content.push(ContentBlock::resource_link(link));
    }
    result
}

/// What the model should read. Nothing of the request and nothing of the disk.
const fn reason(error: &WriteError) -> &'static str {
    match error {
        WriteError::NotGranted => "The user has not allowed this client to write (wiki:write).",
        WriteError::NoInbox => {
            "This vault has no inbox, so nothing can be written. Its owner can name a folder for \
             that with the setting inbox."
        }
        WriteError::Empty => "The content is empty. Give the text of the note.",
        WriteError::NotText => {
            "Only text can be written, and only behind a note that is text in UTF-8."
        }
        WriteError::Nameless => "Give the title of the note, or its path in the inbox.",
        WriteError::Outside => {
            "Notes can be written into the inbox only: give a path that begins with the inbox, \
             such as inbox/log.md, without hidden or special parts; or give a title."
        }
        WriteError::Secret => {
            "Notes with such a name are private to the user and never served. Choose another name."
        }
        WriteError::NotOpen => {
            "Notes at that place are not open to this client, so it cannot name one there. It can \
             leave a note for the user: give a title and no path."
        }
        WriteError::Taken => {
            "That name is taken, perhaps in other letter case. Nothing was changed. Choose another, \
             or give a title and no path; to add to a note that you have read, use mode append."
        }
        WriteError::InTheWay => {
            "Something on the way is no folder that notes can go into. Choose another path."
        }
        WriteError::NotEncrypted => {
            "Notes at that place are to be encrypted, and git-crypt is not unlocked on the machine \
             that serves them, so nothing was written. The owner can unlock it there."
        }
        WriteError::Locked => {
            "The note is encrypted, and locked on the machine that serves it. Its owner can unlock \
             it there with git-crypt."
        }
        WriteError::TooLarge => "The note would be too large to be read again.",
        WriteError::Full(_) => "The disk is full. Nothing was written.",
        WriteError::NotPermitted(_) => {
            "The server's account may not write there. Nothing was written. The owner can let it \
             write into the inbox, or into that note."
        }
        WriteError::Busy => "The vault is being changed by others. Try again.",
        WriteError::Failed(_) => {
            "The disk refused. Look whether the note is there before you try again."
        }
        WriteError::Unavailable(_) => "The vault is temporarily unavailable. Try again later.",
    }
}
