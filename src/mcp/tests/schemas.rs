use std::collections::BTreeSet;

use rmcp::model::Tool;
use serde_json::Value;

use super::open_vault;
use crate::entropy::Entropy;
use crate::mcp::service::McpServer;
use crate::mcp::toolset::{Toolset, Toolsets};
use crate::mcp::vaults::Vaults;

fn listed(sets: &[Toolset]) -> Vec<Tool> {
    let sets: Toolsets = sets.iter().copied().collect();
    McpServer::new(Vaults::single(open_vault()), sets, Entropy::seeded(1)).listed()
}

fn names(sets: &[Toolset]) -> Vec<String> {
    listed(sets).iter().map(|tool| tool.name.to_string()).collect()
}

#[test]
fn toolsets_choose_what_is_listed() {
    assert_eq!(names(&[Toolset::Pages]), ["read_page", "search"]);
    assert_eq!(names(&[Toolset::Openai]), ["fetch", "search"]);
    let notes = [
        "find_related_notes",
        "get_backlinks",
        "get_note_metadata",
        "list_notes",
        "list_tags",
        "read_note",
        "search_by_tag",
        "search_notes",
        "vault_stats",
    ];
    let found = names(&[Toolset::Notes]);
    for name in notes {
        assert!(found.iter().any(|found| found == name), "{name}");
    }
    let all: BTreeSet<String> = names(&Toolset::ALL).into_iter().collect();
    assert!(all.len() >= notes.len() + 3, "{all:?}");
    for set in Toolset::ALL {
        assert_eq!(set.as_str().parse(), Ok(set));
    }
}

/// Some clients refuse a whole server for one argument that they cannot read.
#[test]
fn every_tool_is_portable_and_explains_itself() {
    for tool in listed(&Toolset::ALL) {
        let Tool { name, title, description, input_schema, output_schema, annotations, .. } = tool;
        let description = description.unwrap_or_default();
        assert!(title.is_some_and(|title| !title.is_empty()), "{name}");
        assert!(description.contains("Example: {"), "{name}: {description}");
        assert!(description.len() <= 700, "{name}: {} bytes", description.len());
        let annotations = annotations.expect("annotations");
        if name != "write_inbox_note" {
            assert_eq!(annotations.read_only_hint, Some(true), "{name}");
        }
        assert_eq!(annotations.open_world_hint, Some(false), "{name}");
        let input = Value::Object(input_schema.as_ref().clone());
        assert_eq!(input["type"], "object", "{name}");
        assert_eq!(input["properties"]["vault"]["type"], "string", "{name}");
        let text = input.to_string();
        for unfit in ["null", "$ref", "$defs", "anyOf", "oneOf", "\"format\"", "$schema"] {
            assert!(!text.contains(unfit), "{name} has {unfit}: {text}");
        }
        for (argument, schema) in input["properties"].as_object().unwrap() {
            assert!(schema["type"].is_string(), "{name}.{argument}");
            assert!(schema["description"].is_string(), "{name}.{argument}");
        }
        let output = output_schema.expect("an output schema");
        assert_eq!(output["type"], "object", "{name}");
    }
}

/// All of it goes to the model with every conversation.
#[test]
fn the_catalogue_is_small_and_always_the_same() {
    let default = [Toolset::Pages, Toolset::Notes];
    let text = serde_json::to_string(&listed(&default)).unwrap();
    for tool in listed(&default) {
        let input = serde_json::to_string(&tool.input_schema).unwrap().len();
        let output = serde_json::to_string(&tool.output_schema).unwrap().len();
        println!("{}: {input} in, {output} out", tool.name);
    }
    assert!(text.len() < 19_000, "{} bytes", text.len());
    let without_output = |tool: Tool| (tool.name, tool.description, tool.input_schema);
    let for_models: Vec<_> = listed(&default).into_iter().map(without_output).collect();
    let for_models = serde_json::to_string(&for_models).unwrap();
    assert!(for_models.len() < 9_500, "{} bytes", for_models.len());
    println!("tools/list: {} bytes, {} without output schemas", text.len(), for_models.len());
    assert_eq!(serde_json::to_string(&listed(&default)).unwrap(), text);
}
