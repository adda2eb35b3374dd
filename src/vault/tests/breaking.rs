//! A note that makes the program fail costs itself and nothing else.

use jiff::tz::TimeZone;

use super::{Folder, everything};
use crate::clock::Clock;
use crate::vault::answers::{Passages, SearchRequest, SkipReason};
use crate::vault::markdown::{Parsed, parse};
use crate::vault::{Settings, Vault};

/// Reads texts as the program does, but for one, at which it breaks: at once, or in the
/// midst of what follows.
fn fragile(text: &str, zone: &TimeZone) -> Parsed {
    assert!(!text.contains("breaks at once"), "as it would if there were a fault");
    let mut parsed = parse(text, zone);
    if text.contains("breaks later") {
        for span in &mut parsed.spans {
            span.bytes.end += text.len();
        }
    }
    parsed
}

/// L6, L12: one file's failure costs one file, and says so; once it is mended it is
/// found.
#[test]
fn a_note_that_breaks_the_program_costs_only_itself() {
    for others in [3, 200] {
        let folder = Folder::plain();
        for number in 0..others {
            folder.write(&format!("{number:03}.md"), format!("# Note\n\nhamster {number}\n"));
        }
        folder.write("001a.md", "# Bad\n\nhamster breaks at once\n");
        folder.write("002a.md", "# Bad\n\nhamster breaks later\n");
        let settings = Settings::of(folder.path());
        let vault = Vault::open_with(settings, Clock::system(), fragile).expect("a vault");
        let stats = || vault.stats(&everything()).expect("an answer");
        let found = |query: &str| {
            let (query, folder) = (query.to_owned(), String::new());
            let request = SearchRequest {
                query,
                folder,
                limit: 10,
                shown: Vec::new(),
                passages: Passages::All,
            };
            vault.search_notes(&everything(), &request).expect("an answer").total
        };
        let health = stats().health;
        assert_eq!((health.files, health.indexed), (others + 2, others));
        let broken =
            ["001a.md", "002a.md"].map(|path| (path.parse().unwrap(), SkipReason::Unparsable));
        assert_eq!(health.skipped, broken);
        assert_eq!(found("hamster"), others);
        assert_eq!(found("breaks"), 0);
        // The words of each note are its own.
        let last = (others - 1).to_string();
        assert_eq!(found(&format!("+hamster +{last}")), 1);
        // The same for a change to what is indexed, and for one that mends it.
        folder.write("000.md", "# Note\n\ngerbil breaks at once\n");
        assert_eq!((found("gerbil"), found("hamster")), (0, others - 1));
        assert_eq!(stats().health.skipped.len(), 3);
        folder.write("000.md", "# Note\n\ngerbil\n");
        assert_eq!((found("gerbil"), stats().health.skipped.len()), (1, 2));
    }
}
