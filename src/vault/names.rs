//! File names that editors and sync tools make up: leftovers, which are no notes, and
//! conflict copies, which are notes that belong to another one.

use crate::access::path::VaultPath;

/// Names that `git mergetool` gives to the versions that it asks about.
pub(super) const MERGE_LEFTOVERS: [&str; 3] = ["_BASE_", "_LOCAL_", "_REMOTE_"];

/// How the lock file of an office program begins, `~$x.txt` for `x.txt`.
const OFFICE_LOCK: &str = "~$";

/// Whether a file whose name may end like a page is no page all the same.
///
/// Most droppings (`#x.md#`, `x.md~`, `4913`, `x.md.tmp`, `sedAb12Cd`, `x.md.part`) do
/// not end like a page, and others (`.#x.md`, `.x.md.swp`, `.goutputstream-1`,
/// `.x.md.icloud`) are hidden.
pub(super) fn is_leftover(name: &str) -> bool {
    name.starts_with(OFFICE_LOCK) || MERGE_LEFTOVERS.iter().any(|mark| name.contains(mark))
}

/// How a tool marks a conflict copy, between the stem of the original and the extension.
#[derive(Clone, Copy)]
enum Mark {
    /// ` (… words …)`, letter case aside.
    Parenthesis(&'static str),
    /// ` [words]`, letter case aside.
    Bracket(&'static str),
    /// Exactly this at the end.
    End(&'static str),
    /// This, followed by what the pattern says: `9` is a digit, `X` a digit or a capital
    /// letter, anything else itself.
    Pattern(&'static str, &'static str),
}

/// The tools, each with an example for `note.md`.
///
/// A bare number (`note 2.md` of iCloud, `note (1).md` of Google Drive) is an ordinary
/// name more often than not, and is left alone.
const MARKS: [Mark; 19] = [
    // Dropbox, `note (Ann's conflicted copy 2024-05-17).md`; Nextcloud, `note (conflicted
    // copy 2024-05-17 101112).md`; Obsidian Sync, `note (Conflicted copy phone
    // 202405171011).md`.
    Mark::Parenthesis("conflicted copy"),
    // Dropbox in other languages.
    Mark::Parenthesis("in konflikt stehende kopie"),
    Mark::Parenthesis("copie en conflit"),
    Mark::Parenthesis("copia en conflicto"),
    Mark::Parenthesis("copia in conflitto"),
    Mark::Parenthesis("c\u{f3}pia em conflito"),
    Mark::Parenthesis("conflicterende kopie"),
    // Dropbox, names that are one on another system.
    Mark::Parenthesis("case conflict"),
    Mark::Parenthesis("unicode encoding conflict"),
    // Nextcloud, the same: `note (case clash from ann).md`.
    Mark::Parenthesis("case clash from"),
    // Seafile, `note (SFConflict ann@example.org 2024-05-17-10-11-12).md`.
    Mark::Parenthesis("sfconflict"),
    // pCloud and Google Drive, `note [conflicted].md`.
    Mark::Bracket("conflicted"),
    Mark::Bracket("conflict"),
    // Resilio, `note.Conflict.md`.
    Mark::End(".Conflict"),
    // Syncthing, `note.sync-conflict-20240517-101112-ABCDEFG.md`.
    Mark::Pattern(".sync-conflict-", "99999999-999999-XXXXXXX"),
    // The same before devices were named.
    Mark::Pattern(".sync-conflict-", "99999999-999999"),
    // ownCloud, `note_conflict-20240517-101112.md`.
    Mark::Pattern("_conflict-", "99999999-999999"),
    // OneDrive, with a computer's name; only those that Windows makes up are certain:
    // `note-DESKTOP-1A2B3C4.md`.
    Mark::Pattern("-DESKTOP-", "XXXXXXX"),
    Mark::Pattern("-LAPTOP-", "XXXXXXXX"),
];

/// The path of the note that this one is a conflict copy of, going by its name (L54).
/// Whether there is such a note is another question.
pub(super) fn conflict_of(path: &VaultPath) -> Option<String> {
    let name = path.file_name();
    let copied = path.stem();
    let mut stem = copied;
    // A copy of a copy leads to the note itself.
    while let Some(shorter) = MARKS.iter().find_map(|mark| mark.strip(stem)) {
        stem = shorter;
    }
    let folder = path.as_str().strip_suffix(name)?;
    let extension = name.strip_prefix(copied)?;
    (stem != copied).then(|| format!("{folder}{stem}{extension}"))
}

impl Mark {
    /// What is before the mark, if that is something.
    fn strip(self, stem: &str) -> Option<&str> {
        let before = match self {
            Self::Parenthesis(words) => {
                let (before, inside) = stem.strip_suffix(')')?.rsplit_once(" (")?;
                inside.to_lowercase().contains(words).then_some(before)
            }
            Self::Bracket(words) => {
                let (before, inside) = stem.strip_suffix(']')?.rsplit_once(" [")?;
                (inside.to_lowercase() == words).then_some(before)
            }
            Self::End(mark) => stem.strip_suffix(mark),
            Self::Pattern(start, rest) => {
                let (before, end) = stem.rsplit_once(start)?;
                fits(end, rest).then_some(before)
            }
        };
        before.filter(|before| !before.is_empty())
    }
}

fn fits(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
            b'9' => byte.is_ascii_digit(),
            b'X' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            _ => byte == wanted,
        })
}

#[cfg(test)]
mod tests {
    use super::{conflict_of, is_leftover};

    #[track_caller]
    fn check(path: &str, original: Option<&str>) {
        let path = path.parse().expect("a path");
        assert_eq!(conflict_of(&path).as_deref(), original, "{path}");
    }

    /// L54: the copies that sync tools leave, and what they are copies of.
    #[test]
    fn conflict_copies_are_known_by_their_names() {
        for name in [
            "note (Ann's conflicted copy 2024-05-17)",
            "note (conflicted copy 2024-05-17 101112)",
            "note (Conflicted copy phone 202405171011)",
            "note (conflicted copy)",
            "note (In Konflikt stehende Kopie von Ann 2024-05-17)",
            "note (Case Conflict)",
            "note (case clash from ann)",
            "note (SFConflict ann@example.org 2024-05-17-10-11-12)",
            "note [Conflict]",
            "note [conflicted]",
            "note.Conflict",
            "note.sync-conflict-20240517-101112-ABCDEFG",
            "note.sync-conflict-20240517-101112",
            "note_conflict-20240517-101112",
            "note-DESKTOP-1A2B3C4",
            "note-LAPTOP-1A2B3C4D",
            "note.sync-conflict-20240517-101112-ABCDEFG (conflicted copy)",
        ] {
            check(&format!("{name}.md"), Some("note.md"));
            check(&format!("a b/{name}.markdown"), Some("a b/note.markdown"));
        }
    }

    /// L54: names that people give.
    #[test]
    fn ordinary_names_are_no_conflict_copies() {
        for name in [
            "note 2",
            "note (1)",
            "note copy",
            "conflict",
            "Conflict",
            "How to resolve a sync-conflict",
            "conflicted copy",
            "(conflicted copy)",
            "note (about conflicts)",
            "note [conflicts]",
            "merge_conflict-handling",
            "note.sync-conflict-2024",
            "note.sync-conflict-20240517-101112-abcdefg",
            "new-DESKTOP-computer",
            "DESKTOP-1A2B3C4",
        ] {
            check(&format!("{name}.md"), None);
        }
    }

    /// L55: of all droppings only these end like a page and are not hidden.
    #[test]
    fn leftovers_that_end_like_a_page_are_known() {
        for name in ["~$note.txt", "~$note.md", "note_BASE_12.md", "note_REMOTE_12.md"] {
            assert!(is_leftover(name), "{name}");
        }
        for name in ["note.md", "~note.md", "$note.md", "4913.md", "tmp.md", "note~.md"] {
            assert!(!is_leftover(name), "{name}");
        }
    }
}
