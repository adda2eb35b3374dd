use super::viewer;
use crate::access::permit::Viewer;
use crate::contract::scope::ScopeSet;
use crate::entropy::Entropy;
use crate::mcp::cursor::{Cursors, InvalidCursor, MOST_MARKS, Request};
use crate::resource_server::verify::VerifiedToken;
use crate::vault::answers::ListPlace;

const MARKS: [u64; 3] = [1, u64::MAX, 0xcbf2_9ce4_8422_2325];

fn request<'a>(viewer: &'a Viewer, arguments: &'a [&'a str]) -> Request<'a> {
    Request { viewer, method: "search_notes", vault: "", arguments }
}

#[test]
fn a_cursor_comes_back_as_it_went() {
    let cursors = Cursors::new(Entropy::seeded(1));
    let ann = viewer("ann");
    let request = request(&ann, &["heat", "", ""]);
    let cursor = cursors.after_marks(request, &MARKS).unwrap();
    assert_eq!(cursors.marks(request, &cursor), Ok(MARKS.to_vec()));
    assert_eq!(cursors.marks(request, ""), Ok(Vec::new()), "the beginning");
    let place = ListPlace { key: "Ä".to_owned(), path: "a/b.md".to_owned() };
    let cursor = cursors.after_place(request, &place).unwrap();
    assert_eq!(cursors.place(request, &cursor), Ok(Some(place)));
    assert_eq!(cursors.place(request, ""), Ok(None));
}

/// A cursor is good for the caller and the request that it was made for.
#[test]
fn a_cursor_of_anything_else_is_none() {
    let cursors = Cursors::new(Entropy::seeded(1));
    let ann = viewer("ann");
    let made_for = request(&ann, &["heat", "", ""]);
    let cursor = cursors.after_marks(made_for, &MARKS).unwrap();
    let bob = viewer("bob");
    let other_client = Viewer::of(&VerifiedToken::unsigned("ann", "client-2", ScopeSet::ALL));
    let rows = [
        Request { viewer: &bob, ..made_for },
        Request { viewer: &other_client, ..made_for },
        Request { method: "list_notes", ..made_for },
        Request { vault: "work", ..made_for },
        Request { arguments: &["heat", "house", ""], ..made_for },
        Request { arguments: &["heat ", "", ""], ..made_for },
        Request { arguments: &["", "heat", ""], ..made_for },
        Request { arguments: &["heat", ""], ..made_for },
    ];
    for other in rows {
        assert_eq!(cursors.marks(other, &cursor), Err(InvalidCursor), "{other:?}");
    }
    let after_restart = Cursors::new(Entropy::seeded(2));
    assert_eq!(after_restart.marks(made_for, &cursor), Err(InvalidCursor));
    assert_eq!(cursors.place(made_for, &cursor), Err(InvalidCursor), "marks are no place");
}

#[test]
fn a_cursor_that_was_tampered_with_is_none() {
    let cursors = Cursors::new(Entropy::seeded(1));
    let ann = viewer("ann");
    let request = request(&ann, &["heat"]);
    let cursor = cursors.after_marks(request, &MARKS).unwrap();
    for position in 0..cursor.len() {
        let mut bytes = cursor.clone().into_bytes();
        bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
        let tampered = String::from_utf8(bytes).unwrap();
        assert_eq!(cursors.marks(request, &tampered), Err(InvalidCursor), "{position}");
        assert_eq!(cursors.marks(request, &cursor[..position.max(1)]), Err(InvalidCursor));
    }
    for text in ["x", "\u{0}", "ü", &"A".repeat(100_000), "null"] {
        assert_eq!(cursors.marks(request, text), Err(InvalidCursor), "{text:.10}");
    }
}

#[test]
fn the_longest_cursor_of_a_search_has_less_than_four_kilobytes() {
    let cursors = Cursors::new(Entropy::seeded(1));
    let ann = viewer("ann");
    let request = request(&ann, &["heat"]);
    let cursor = cursors.after_marks(request, &[7; MOST_MARKS]).unwrap();
    assert!(cursor.len() < 4_000, "{}", cursor.len());
    assert_eq!(cursors.after_marks(request, &[7; MOST_MARKS + 1]), None);
}
