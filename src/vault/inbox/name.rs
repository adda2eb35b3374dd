//! File names that every system takes, as close as may be to what was asked for.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::access::path::VaultPath;
use crate::vault::names::MERGE_LEFTOVERS;

/// The longest name in bytes (L44). Most disks take 255; sync tools add to it.
pub(super) const LONGEST: usize = 200;

/// What stands for everything that a name may not hold.
const SUBSTITUTE: char = '-';

/// Names that are devices on Windows, whatever follows behind a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Devices of which there are several: one digit follows.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// The name of a note, which may have to give way to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoteName {
    stem: String,
    extension: String,
}

impl NoteName {
    /// The name for a title.
    pub(super) fn of_title(title: &str) -> Self {
        let words: Vec<&str> = title.split_whitespace().collect();
        let title = words.join(" ");
        // Who writes `Plan.md` for a title means the file.
        let without = title.len().checked_sub(3).and_then(|at| title.split_at_checked(at));
        let stem = match without {
            Some((stem, end)) if end.eq_ignore_ascii_case(".md") => stem,
            _ => &title,
        };
        Self { stem: safe(stem), extension: ".md".to_owned() }
    }

    /// The name for the last segment of a path.
    pub(super) fn of_segment(segment: &str) -> Self {
        let dot = if VaultPath::is_page_name(segment) { segment.rfind('.') } else { None };
        let (stem, extension) = dot.map_or((segment, ".md"), |dot| segment.split_at(dot));
        Self { stem: safe(stem), extension: extension.to_owned() }
    }

    /// The name itself.
    pub(super) fn plain(&self) -> String {
        self.with_end("")
    }

    /// The name with a number behind it; the first has none.
    pub(super) fn numbered(&self, number: usize) -> String {
        if number < 2 { self.plain() } else { self.with_end(&format!(" {number}")) }
    }

    /// The name with a mark behind it.
    pub(super) fn marked(&self, mark: &str) -> String {
        self.with_end(&format!(" {mark}"))
    }

    fn with_end(&self, end: &str) -> String {
        let room = LONGEST - self.extension.len() - end.len();
        format!("{}{end}{}", cut(&self.stem, room), self.extension)
    }
}

/// The name for a folder on the way.
pub(super) fn folder_name(segment: &str) -> String {
    cut(&safe(segment), LONGEST).to_owned()
}

/// Replaces what some system refuses, or what would keep the note from being served.
fn safe(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for character in text.nfc() {
        if !is_refused(character) {
            name.push(character);
        } else if !name.ends_with(SUBSTITUTE) {
            name.push(SUBSTITUTE);
        }
    }
    for mark in MERGE_LEFTOVERS {
        name = name.replace(mark, &mark.replace('_', "-"));
    }
    // In front, a dot hides a file and `~` marks an editor's leftovers; at the end,
    // Windows drops dots and blanks.
    let name = name.trim_start_matches(['.', ' ', '~']).trim_end_matches(['.', ' ']);
    let base = name.split('.').next().unwrap_or_default().trim_end();
    if name.is_empty() {
        "Untitled".to_owned()
    } else if is_device(base) {
        format!("{base}{SUBSTITUTE}{}", &name[base.len()..])
    } else {
        name.to_owned()
    }
}

fn is_refused(character: char) -> bool {
    matches!(character, '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*')
        || character.is_control()
        // They end a line, or make a name look like another.
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_device(base: &str) -> bool {
    let base = base.to_lowercase();
    let is_digit =
        |rest: &str| matches!(rest, "¹" | "²" | "³") || matches!(rest.as_bytes(), [b'0'..=b'9']);
    DEVICES.contains(&&*base)
        || NUMBERED_DEVICES.iter().any(|device| base.strip_prefix(device).is_some_and(is_digit))
}

/// The beginning of a text, at most so many bytes, not cut within what is seen as one
/// character.
fn cut(text: &str, room: usize) -> &str {
    let joins = |character: char| {
        is_combining_mark(character)
            || matches!(character, '\u{200d}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
    };
    let is_within = |end: usize| {
        end < text.len() && (text[end..].starts_with(joins) || text[..end].ends_with('\u{200d}'))
    };
    let mut ends = (1..=room.min(text.len())).rev().filter(|end| text.is_char_boundary(*end));
    let longest = ends.clone().next().unwrap_or(0);
    // One that is too long by itself is cut all the same.
    let end = ends.find(|end| !is_within(*end)).unwrap_or(longest);
    text[..end].trim_end_matches(['.', ' '])
}

/// The names in a folder that a new one must differ from.
#[derive(Debug, Default)]
pub(super) struct TakenNames {
    /// Composed → as the disk spells it.
    exact: HashMap<String, String>,
    /// Without letter case → all that are one elsewhere.
    folded: HashMap<String, Vec<Variant>>,
}

/// A name that is another one on systems where letter case does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// As the disk spells it.
    There(String),
    /// A cloud drive leaves `.name.icloud` where it has taken `name` away (L53).
    Evicted(String),
}

impl TakenNames {
    /// Adds a name of the disk.
    pub(super) fn add(&mut self, disk: &str) {
        // Of two spellings the first in byte order is the one that is served.
        let place = self.exact.entry(disk.nfc().collect()).or_insert_with(|| disk.to_owned());
        if disk < &**place {
            disk.clone_into(place);
        }
        let evicted = disk.strip_prefix('.').and_then(|name| name.strip_suffix(".icloud"));
        let evicted = evicted.map(|name| (name, Variant::Evicted(name.to_owned())));
        for (name, variant) in evicted.into_iter().chain([(disk, Variant::There(disk.to_owned()))])
        {
            self.folded.entry(folded(name)).or_default().push(variant);
        }
    }

    /// As the disk spells this very name.
    pub(super) fn spelling(&self, name: &str) -> Option<&str> {
        self.exact.get(name).map(|disk| &**disk)
    }

    /// The names that are this one on other systems, where letter case and Unicode form
    /// do not count; without the very name.
    pub(super) fn variants(&self, name: &str) -> impl Iterator<Item = &Variant> {
        let exact = self.spelling(name);
        let variants = self.folded.get(&folded(name)).into_iter().flatten();
        variants.filter(move |variant| match variant {
            Variant::There(disk) => exact != Some(disk),
            Variant::Evicted(_) => true,
        })
    }
}

fn folded(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, NoteName, TakenNames, Variant, folder_name};
    use crate::access::path::VaultPath;

    #[track_caller]
    fn title(title: &str, name: &str) {
        assert_eq!(NoteName::of_title(title).plain(), name);
    }

    /// L44: names keep Unicode.
    #[test]
    fn a_title_stays_what_it_is() {
        title("Kaffee – Röstung & Mühle", "Kaffee – Röstung & Mühle.md");
        title("重跑 gen-itgc 后", "重跑 gen-itgc 后.md");
        title("Заметка №1", "Заметка №1.md");
        title("🐘", "🐘.md");
        title("C# and F#, 50 %", "C# and F#, 50 %.md");
        title("Plan.md", "Plan.md");
        title("Plan.MD", "Plan.md");
        title("v1.2", "v1.2.md");
        title(".md", "Untitled.md");
    }

    /// L46: what Windows, macOS or a sync tool refuses is replaced.
    #[test]
    fn what_other_systems_refuse_is_replaced() {
        title("AC/DC: \"Who made who?\" <1986>|*", "AC-DC- -Who made who- -1986-.md");
        title("a\\..\\b", "a-..-b.md");
        title("..\u{2f}..\u{2f}etc", "-..-etc.md");
        title("line\nbreak\tand \0 nul", "line break and - nul.md");
        title("\u{202e}dm.exe", "-dm.exe.md");
        title("  .hidden. . ", "hidden.md");
        title("Wait...", "Wait.md");
        title("~$draft", "$draft.md");
        title("", "Untitled.md");
        title(" ... ", "Untitled.md");
        title("notes_BASE_12", "notes-BASE-12.md");
        for device in ["CON", "nul", "Aux", "COM1", "lpt9", "com¹", "CONOUT$"] {
            title(device, &format!("{device}-.md"));
        }
        title("con.txt", "con-.txt.md");
        title("Nul .x", "Nul- .x.md");
        title("console", "console.md");
        title("com10", "com10.md");
        assert_eq!(folder_name("aux"), "aux-");
        assert_eq!(folder_name("2026: plans."), "2026- plans");
    }

    /// L44: at most 200 bytes, the ending and a number included.
    #[test]
    fn a_long_title_is_cut_between_characters() {
        for text in ["é", "重", "🐘", "a", "👩‍👩‍👧‍👦", "x\u{323}\u{307}"] {
            let name = NoteName::of_title(&text.repeat(250));
            for cut in [name.plain(), name.numbered(2), name.numbered(1000), name.marked("0f")] {
                assert!(cut.len() <= LONGEST && cut.len() > LONGEST - 30, "{cut}");
                assert!(VaultPath::is_page_name(&cut), "{cut}");
            }
        }
        let family = NoteName::of_title(&"👩‍👩‍👧‍👦".repeat(20)).plain();
        assert!(family.ends_with("👦.md"), "{family}");
        let long = NoteName::of_title(&format!("{} end", "a".repeat(196)));
        assert_eq!(long.plain(), format!("{}.md", "a".repeat(196)));
        assert_eq!(NoteName::of_title("Idea").numbered(3), "Idea 3.md");
        assert_eq!(folder_name(&"é".repeat(200)).len(), LONGEST);
    }

    #[test]
    fn the_last_segment_of_a_path_keeps_its_ending() {
        for (segment, name) in [
            ("a.md", "a.md"),
            ("a.TXT", "a.TXT"),
            ("a.markdown", "a.markdown"),
            ("a", "a.md"),
            ("v1.2", "v1.2.md"),
            ("x.png", "x.png.md"),
            ("nul.md", "nul-.md"),
        ] {
            assert_eq!(NoteName::of_segment(segment).plain(), name, "{segment}");
        }
    }

    /// L44, L53: letter case, Unicode form and a cloud drive's stub count.
    #[test]
    fn names_that_are_one_elsewhere_are_taken() {
        let mut taken = TakenNames::default();
        for name in
            ["Cafe\u{301}.md", "STRASSE.md", ".Gone.md.icloud", "re\u{301}.md", "r\u{e9}.md"]
        {
            taken.add(name);
        }
        let variants = |name: &str| taken.variants(name).cloned().collect::<Vec<_>>();
        for name in ["CAF\u{c9}.md", "caf\u{e9}.MD", "strasse.md"] {
            assert_eq!(variants(name).len(), 1, "{name}");
        }
        for name in ["gone.md", "Gone.md"] {
            assert_eq!(variants(name), [Variant::Evicted("Gone.md".to_owned())], "{name}");
        }
        for name in ["cafe.md", "gone", "stra\u{df}e.md", "icloud", "STRASSE.md"] {
            assert_eq!(variants(name), [], "{name}");
        }
        assert_eq!(taken.spelling("Caf\u{e9}.md"), Some("Cafe\u{301}.md"));
        assert_eq!(taken.spelling("caf\u{e9}.md"), None);
        assert_eq!(taken.spelling("r\u{e9}.md"), Some("re\u{301}.md"));
    }
}
