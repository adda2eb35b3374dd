//! Finds the forms of a page in its HTML, as a headless client does.

use std::collections::BTreeMap;

/// A form with what it would send.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// Where it goes; empty means the page itself.
    pub action: String,
    /// Names and values, in order; tick boxes only while ticked.
    pub fields: Vec<(String, String)>,
    /// Tick boxes: name and value, and whether they were ticked.
    pub boxes: Vec<(String, String, bool)>,
    /// Buttons: label, name, value.
    pub buttons: Vec<(String, String, String)>,
}

impl Form {
    /// Every form of a page.
    pub fn all(html: &str) -> Vec<Self> {
        html.split("<form").skip(1).map(Self::parse).collect()
    }

    fn parse(after_tag: &str) -> Self {
        let (start, rest) = after_tag.split_once('>').expect("a whole tag");
        let body = rest.split("</form>").next().expect("a body");
        let mut form = Self { action: attribute(start, "action"), ..Self::default() };
        for tag in body.split('<').skip(1) {
            let (inside, text) = tag.split_once('>').unwrap_or((tag, ""));
            let (name, value) = (attribute(inside, "name"), attribute(inside, "value"));
            if inside.starts_with("input") {
                match &*attribute(inside, "type") {
                    "checkbox" => {
                        let ticked = attributes(inside).contains_key("checked");
                        form.boxes.push((name, value, ticked));
                    }
                    "submit" => form.buttons.push((value.clone(), name, value)),
                    _ => form.fields.push((name, value)),
                }
            } else if inside.starts_with("button") {
                form.buttons.push((text.trim().to_owned(), name, value));
            } else if inside.starts_with("select") {
                form.fields.push((name, String::new()));
            } else if inside.starts_with("option") {
                let first = form.fields.last().is_some_and(|(_, value)| value.is_empty());
                if first || attributes(inside).contains_key("selected") {
                    form.fields.last_mut().expect("a select").1 = value;
                }
            }
        }
        form
    }

    /// Fills a field in.
    #[track_caller]
    pub fn fill(mut self, name: &str, value: &str) -> Self {
        let field = self.fields.iter_mut().find(|(field, _)| field == name);
        value.clone_into(&mut field.unwrap_or_else(|| panic!("no field {name}")).1);
        self
    }

    /// Ticks exactly the boxes with these values.
    #[track_caller]
    pub fn tick_exactly(mut self, values: &[&str]) -> Self {
        for wanted in values {
            let known = self.boxes.iter().any(|(_, value, _)| value == wanted);
            assert!(known, "no box {wanted} among {:?}", self.boxes);
        }
        for (_, value, ticked) in &mut self.boxes {
            *ticked = values.contains(&&**value);
        }
        self
    }

    /// The body that pressing a button sends.
    #[track_caller]
    pub fn pressed(&self, label: &str) -> String {
        let button = self.buttons.iter().find(|(text, _, _)| text == label);
        let (_, name, value) =
            button.unwrap_or_else(|| panic!("no button {label} among {:?}", self.buttons));
        let boxes = self.boxes.iter().filter(|(_, _, ticked)| *ticked);
        let boxes = boxes.map(|(name, value, _)| (name.clone(), value.clone()));
        let button = (!name.is_empty()).then(|| (name.clone(), value.clone()));
        url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(self.fields.iter().cloned().chain(boxes).chain(button))
            .finish()
    }
}

fn attribute(tag: &str, name: &str) -> String {
    attributes(tag).remove(name).unwrap_or_default()
}

fn attributes(tag: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = tag.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let (inside, after) = quoted.split_once('"').expect("a closing quote");
            value = unescape(inside);
            rest = after;
        }
        rest = rest.trim_start().trim_start_matches('/');
        found.insert(name, value);
    }
    found
}

fn unescape(text: &str) -> String {
    [("&#38;", "&"), ("&amp;", "&"), ("&#60;", "<"), ("&lt;", "<"), ("&#62;", ">"), ("&gt;", ">")]
        .into_iter()
        .chain([("&#34;", "\""), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'")])
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
