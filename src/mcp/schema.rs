//! Schemas of tools, as short as they can be: every client sends all of them to its
//! model with every conversation.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

/// Leaves out what a generator writes and no reader needs.
pub(super) fn tidy(tool: &mut Tool) {
    tool.input_schema = tidied(&tool.input_schema, Side::Input);
    let output = tool.output_schema.as_ref();
    tool.output_schema = output.map(|schema| tidied(schema, Side::Output));
}

/// Arguments must be explained. Answers explain themselves: their text says it again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

fn tidied(schema: &Arc<JsonObject>, side: Side) -> Arc<JsonObject> {
    let mut schema = schema.as_ref().clone();
    schema.remove("$schema");
    tidy_object(&mut schema, side);
    Arc::new(schema)
}

fn tidy_value(value: &mut Value, side: Side) {
    match value {
        Value::Object(object) => tidy_object(object, side),
        Value::Array(values) => values.iter_mut().for_each(|value| tidy_value(value, side)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn tidy_object(schema: &mut JsonObject, side: Side) {
    let is_text = |schema: &JsonObject, key| schema.get(key).is_some_and(Value::is_string);
    // In a map of properties every key is a name, with a schema and no text behind it.
    if side == Side::Output && is_text(schema, "description") {
        schema.remove("description");
    }
    if is_text(schema, "type") {
        schema.remove("format");
        let is_nothing =
            |value: &Value| *value == "" || *value == 0 || *value == Value::Array(vec![]);
        if schema.get("default").is_some_and(is_nothing) {
            schema.remove("default");
        }
        if schema.get("minimum").is_some_and(|least| *least == 0) {
            schema.remove("minimum");
        }
    }
    schema.values_mut().for_each(|value| tidy_value(value, side));
}
