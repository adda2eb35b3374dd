//! Completion of arguments while somebody types.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::prompts::Argument;
use super::resources::{TEMPLATE, fault};
use super::service::McpServer;
use super::tools::Refusal;
use crate::access::permit::Viewer;

/// Periods that people ask for.
const DAYS: [&str; 6] = ["1", "3", "7", "14", "30", "90"];

impl McpServer {
    /// What an argument could go on to. What nothing is known of has no completions:
    /// people type on.
    pub(super) async fn completion(
        &self,
        viewer: &Viewer,
        request: CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        let (name, typed) = (&*request.argument.name, request.argument.value);
        let argument = match &request.r#ref {
            Reference::Resource(template) if template.uri == TEMPLATE && name == "path" => {
                Some(Argument::Path)
            }
            Reference::Prompt(prompt) => Argument::of(&prompt.name, name),
            _ => None,
        };
        let values = match argument {
            None => Vec::new(),
            Some(Argument::Days) => {
                let begins = |days: &&str| days.starts_with(typed.trim());
                DAYS.into_iter().filter(begins).map(str::to_owned).collect()
            }
            Some(Argument::Path) => self.paths(viewer, typed).await.map_err(|why| fault(&why))?,
            Some(Argument::Topic) => self.topics(viewer, typed).await.map_err(|why| fault(&why))?,
        };
        Ok(CompleteResult::new(info(values)))
    }

    /// Paths that begin so, or whose file name or title does.
    async fn paths(&self, viewer: &Viewer, typed: String) -> Result<Vec<String>, Refusal> {
        let most = CompletionInfo::MAX_VALUES + 1;
        let paths =
            self.ask(viewer, "", move |vault, viewer| vault.complete_path(viewer, &typed, most));
        Ok(paths.await??.iter().map(ToString::to_string).collect())
    }

    /// Tags that begin so, then names of notes.
    async fn topics(&self, viewer: &Viewer, typed: String) -> Result<Vec<String>, Refusal> {
        let most = CompletionInfo::MAX_VALUES + 1;
        let answers = self.ask(viewer, "", move |vault, viewer| {
            let prefix = typed.trim_start_matches('#');
            let tags = vault.tags(viewer, prefix)?;
            Ok::<_, crate::vault::Unavailable>((tags, vault.complete_path(viewer, &typed, most)?))
        });
        let (tags, paths) = answers.await??;
        let mut topics: Vec<String> = Vec::new();
        let names = paths.iter().map(|path| path.stem().to_owned());
        for topic in tags.into_iter().map(|tag| tag.tag).chain(names) {
            if topics.len() < most && !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        Ok(topics)
    }
}

fn info(mut values: Vec<String>) -> CompletionInfo {
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.values = values;
    info.has_more = Some(has_more);
    info
}
