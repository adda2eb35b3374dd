//! Prompts: tasks that people pick, with what the vault knows put in.
//!
//! What comes from notes stands behind a line that says so, one line an entry, and the
//! task says that it is data: a note that gives orders is a note that gives orders.

mod texts;

use rmcp::ErrorData;
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult, Prompt,
    PromptArgument, PromptMessage, Resource, Role,
};
use serde_json::Value;

use super::render::notes::{TITLE_CHARACTERS, line};
use super::render::shortened;
use super::service::McpServer;
use super::tools::search_notes::Search;
use super::tools::{NO_SUCH_PAGE, Refusal, UNAVAILABLE, backlinks, find_related_notes};
use super::toolset::{Toolset, Toolsets};
use super::uri::VaultUri;
use crate::access::permit::Viewer;
use crate::vault::answers::{NoteHit, NoteSummary, Passages};

/// So many notes are put into a prompt, and so many of them as links.
const NOTES: usize = 12;
const LINKS: usize = 5;
const TAGS: usize = 15;
const TOPIC_CHARACTERS: usize = 200;

/// What an argument of a prompt is, for those who complete it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// Words, a tag, the name of a note.
    Topic,
    /// The path of a note.
    Path,
    /// A number of days.
    Days,
}

/// The prompts: name, title, description, the argument with its description, and
/// whether it must be given.
const PROMPTS: [Definition; 4] = [
    Definition {
        name: "summarize_topic",
        title: "Summarize a topic",
        description: "What the notes say about a topic, with sources.",
        argument: ("topic", Argument::Topic, "Words, a tag, or the title of a note."),
        is_required: true,
    },
    Definition {
        name: "recent_activity",
        title: "Recent activity",
        description: "What has been written of late, and what is open.",
        argument: ("days", Argument::Days, "How far back, 7 if not given."),
        is_required: false,
    },
    Definition {
        name: "find_connections",
        title: "Find connections",
        description: "How a note hangs together with others, and which links are missing.",
        argument: ("note_path", Argument::Path, "The path of the note."),
        is_required: true,
    },
    Definition {
        name: "knowledge_gaps",
        title: "Knowledge gaps",
        description: "What the notes do not say about a topic.",
        argument: ("topic", Argument::Topic, "Words, a tag, or the title of a note."),
        is_required: true,
    },
];

struct Definition {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    argument: (&'static str, Argument, &'static str),
    is_required: bool,
}

impl Argument {
    /// The argument of a prompt.
    pub(super) fn of(prompt: &str, name: &str) -> Option<Self> {
        let prompt = PROMPTS.iter().find(|definition| definition.name == prompt)?;
        (prompt.argument.0 == name).then_some(prompt.argument.1)
    }
}

/// The catalogue.
pub(super) fn list() -> ListPromptsResult {
    let prompt = |definition: &Definition| {
        let (name, _, description) = definition.argument;
        let argument = PromptArgument::new(name)
            .with_description(description)
            .with_required(definition.is_required);
        Prompt::new(definition.name, Some(definition.description), Some(vec![argument]))
            .with_title(definition.title)
    };
    ListPromptsResult::with_all_items(PROMPTS.iter().map(prompt).collect())
}

/// The names of the tools that a prompt sends the model to.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolNames {
    search: &'static str,
    read: &'static str,
}

impl ToolNames {
    /// Of the tools that are listed.
    pub(super) const fn of(toolsets: Toolsets) -> Self {
        if toolsets.contains(Toolset::Notes) {
            Self { search: "search_notes", read: "read_note" }
        } else if toolsets.contains(Toolset::Pages) {
            Self { search: "search", read: "read_page" }
        } else {
            Self { search: "search", read: "fetch" }
        }
    }
}

impl McpServer {
    /// One prompt, filled in.
    pub(super) async fn prompt(
        &self,
        viewer: &Viewer,
        request: GetPromptRequestParams,
    ) -> Result<GetPromptResult, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let Some(definition) = PROMPTS.iter().find(|prompt| prompt.name == request.name) else {
            return Err(invalid("There is no such prompt."));
        };
        let value = text_argument(&arguments, definition.argument.0)?;
        if definition.is_required && value.is_empty() {
            return Err(invalid("An argument of the prompt is missing."));
        }
        let tools = ToolNames::of(self.toolsets);
        let filled = match definition.name {
            "summarize_topic" => self.summarize_topic(viewer, &value, tools).await,
            "recent_activity" => self.recent_activity(viewer, &value, tools).await,
            "find_connections" => self.find_connections(viewer, value, tools).await,
            _ => self.knowledge_gaps(viewer, &value, tools).await,
        };
        let Filled { text, links } = filled.map_err(|refusal| match refusal.as_str() {
            UNAVAILABLE => ErrorData::internal_error(UNAVAILABLE, None),
            NO_SUCH_PAGE => invalid(NO_SUCH_PAGE),
            reason => ErrorData::invalid_params(reason.to_owned(), None),
        })?;
        let mut messages = vec![PromptMessage::new_text(Role::User, text)];
        messages.extend(
            links
                .into_iter()
                .map(|link| PromptMessage::new(Role::User, ContentBlock::resource_link(link))),
        );
        Ok(GetPromptResult::new(messages).with_description(definition.description))
    }

    async fn summarize_topic(
        &self,
        viewer: &Viewer,
        topic: &str,
        tools: ToolNames,
    ) -> Result<Filled, Refusal> {
        let hits = self.notes_about(viewer, topic).await?;
        let topic = shortened(topic, TOPIC_CHARACTERS);
        Ok(Filled::of_hits(&texts::summarize_topic(&topic, tools), &hits))
    }

    async fn knowledge_gaps(
        &self,
        viewer: &Viewer,
        topic: &str,
        tools: ToolNames,
    ) -> Result<Filled, Refusal> {
        let hits = self.notes_about(viewer, topic).await?;
        let tags = self.ask(viewer, "", |vault, viewer| vault.tags(viewer, "")).await??;
        let tags: Vec<String> = tags.into_iter().take(TAGS).map(|tag| tag.tag).collect();
        let topic = shortened(topic, TOPIC_CHARACTERS);
        let mut filled = Filled::of_hits(&texts::knowledge_gaps(&topic, tools), &hits);
        if !tags.is_empty() {
            filled.text.push_str("\nThe most frequent tags: ");
            filled.text.push_str(&super::render::hashed(&tags));
        }
        Ok(filled)
    }

    async fn recent_activity(
        &self,
        viewer: &Viewer,
        days: &str,
        tools: ToolNames,
    ) -> Result<Filled, Refusal> {
        let days = days.parse::<f64>().ok().filter(|days| *days >= 1.0).map_or(7.0, f64::trunc);
        let days = days.min(3_650.0);
        let query = format!("after:{days}d");
        let (limit, passages) = (NOTES * 2, Passages::None);
        let search = Search { vault: "", query: &query, folder: "", limit, passages };
        let found = self.find_notes(viewer, &search, Vec::new()).await?;
        let notes: Vec<&NoteSummary> = found.hits.iter().map(|hit| &hit.note).collect();
        let lines = notes.iter().map(|note| line(note)).collect();
        let task = texts::recent_activity(&days.to_string(), found.total, tools);
        Ok(Filled::of(&task, lines, &notes))
    }

    async fn find_connections(
        &self,
        viewer: &Viewer,
        path: String,
        tools: ToolNames,
    ) -> Result<Filled, Refusal> {
        let answers = self.ask(viewer, "", move |vault, viewer| {
            let note = vault.open_note(viewer, &path)?;
            let links = vault.links(viewer, &path)?;
            Ok::<_, crate::vault::ReadError>((note, links, vault.related(viewer, &path, NOTES)?))
        });
        let (note, links, related) = answers.await??;
        let title = shortened(&note.summary.title, TITLE_CHARACTERS);
        let path = shortened(note.summary.path.as_str(), TOPIC_CHARACTERS);
        let task = texts::find_connections(&title, &path, tools);
        let data = vec![
            backlinks::LinksAnswer::of(&links, None).0.as_text(),
            find_related_notes::as_text(&related),
        ];
        let mut notes = vec![&note.summary];
        notes.extend(related.iter().map(|related| &related.note));
        Ok(Filled::of(&task, data, &notes))
    }

    async fn notes_about(&self, viewer: &Viewer, topic: &str) -> Result<Vec<NoteHit>, Refusal> {
        let (limit, passages) = (NOTES, Passages::All);
        let search = Search { vault: "", query: topic, folder: "", limit, passages };
        Ok(self.find_notes(viewer, &search, Vec::new()).await?.hits)
    }
}

/// A task with the data that it is about.
struct Filled {
    text: String,
    links: Vec<Resource>,
}

impl Filled {
    fn of(task: &str, lines: Vec<String>, notes: &[&NoteSummary]) -> Self {
        let data = if lines.is_empty() { "(no note)".to_owned() } else { lines.join("\n") };
        let text = format!("{task}\n\n{}\n{data}", texts::DATA);
        let link = |note: &&NoteSummary| {
            let uri = VaultUri::of_note("", note.path.as_str()).to_string();
            Resource::new(uri, shortened(&note.title, TITLE_CHARACTERS))
                .with_mime_type("text/markdown")
        };
        Self { text, links: notes.iter().take(LINKS).map(link).collect() }
    }

    fn of_hits(task: &str, hits: &[NoteHit]) -> Self {
        let line = |hit: &NoteHit| {
            let snippet = shortened(&hit.passage.text, TOPIC_CHARACTERS);
            format!("{}\n  {snippet}", line(&hit.note))
        };
        let notes: Vec<&NoteSummary> = hits.iter().map(|hit| &hit.note).collect();
        Self::of(task, hits.iter().map(line).collect(), &notes)
    }
}

/// An argument as text. The protocol has only texts here; a number is forgiven.
fn text_argument(arguments: &JsonObject, name: &str) -> Result<String, ErrorData> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.trim().to_owned()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => Err(invalid("An argument of the prompt is no text.")),
    }
}

fn invalid(reason: &'static str) -> ErrorData {
    ErrorData::invalid_params(reason, None)
}
