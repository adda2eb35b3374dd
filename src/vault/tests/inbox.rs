//! What may be written into a vault, where, and what is told about it.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;

use super::{Folder, everything, viewer};
use crate::access::class::PageClass;
use crate::access::permit::Viewer;
use crate::clock::{Clock, UnixTime};
use crate::contract::scope::Scope;
use crate::vault::answers::{Change, Passages, SearchRequest};
use crate::vault::inbox::{Deed, NoteToWrite, WriteError, WriteMode, WrittenNote};
use crate::vault::{Settings, Unavailable, Vault};

type Outcome = Result<WrittenNote, WriteError>;

impl Folder {
    fn with_inbox(&self) -> Vault {
        let (clock, _) = Clock::manual(UnixTime::from_seconds(1_000_000));
        let settings = Settings { inbox: Some("inbox".to_owned()), ..Settings::of(self.path()) };
        Vault::open(settings, clock).expect("a vault that opens")
    }

    #[expect(clippy::disallowed_methods, reason = "the test looks at what was written")]
    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Everything in the inbox, sorted.
    fn inbox(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at("inbox")).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn by_title(title: &str, content: &str) -> NoteToWrite {
    let (title, content) = (title.to_owned(), content.to_owned());
    NoteToWrite { title, path: String::new(), content, mode: WriteMode::Create }
}

fn by_path(path: &str, content: &str, mode: WriteMode) -> NoteToWrite {
    let (path, content) = (path.to_owned(), content.to_owned());
    NoteToWrite { title: String::new(), path, content, mode }
}

fn writer() -> Viewer {
    viewer(&[Scope::Read, Scope::Write])
}

fn create(vault: &Vault, path: &str) -> Outcome {
    vault.write_note(&writer(), &by_path(path, "new", WriteMode::Create))
}

fn append(vault: &Vault, path: &str, content: &str) -> Outcome {
    vault.write_note(&writer(), &by_path(path, content, WriteMode::Append))
}

#[track_caller]
fn path_of(outcome: Outcome) -> String {
    outcome.expect("a note").path.as_str().to_owned()
}

/// Issue, Build 7: a note is there whole, and can be read at once.
#[test]
fn a_new_note_can_be_read_at_once() {
    let folder = Folder::repository();
    let vault = folder.with_inbox();
    let written = vault.write_note(&writer(), &by_title("Heat pump", "Two *offers*.")).unwrap();
    assert_eq!(written.path.as_str(), "inbox/Heat pump.md");
    assert_eq!((written.deed, written.bytes_written, written.size), (Deed::Created, 14, 14));
    assert!(written.is_readable);
    let page = vault.read_page(&writer(), "inbox/Heat pump.md").expect("a page");
    assert_eq!((&*page.text, &*page.title), ("Two *offers*.\n", "Heat pump"));
    assert_eq!(folder.inbox(), ["Heat pump.md"]);
    // Inbox notes are staging data, and searched only by who names the inbox.
    assert_eq!(found(&vault, "offers", ""), [""; 0]);
    assert_eq!(found(&vault, "offers", "inbox"), ["inbox/Heat pump.md"]);
}

/// Who listens for changes is told of a note that was written, also where the disk
/// tells nothing and nobody asks.
#[test]
fn a_written_note_is_in_the_index_at_once() {
    let folder = Folder::repository();
    let vault = folder.with_inbox();
    vault.build_index(&|_, _| ()).expect("an index");
    let mut changes = vault.changes();
    path_of(create(&vault, "inbox/log.md"));
    path_of(append(&vault, "inbox/log.md", "more"));
    for before in [None, Some(PageClass::Ordinary)] {
        let batch = changes.try_recv().expect("a batch");
        let after = Some(PageClass::Ordinary);
        assert_eq!(*batch, [Change { path: "inbox/log.md".parse().unwrap(), before, after }]);
    }
    assert_eq!(found(&vault, "more", "inbox"), ["inbox/log.md"]);
}

fn found(vault: &Vault, query: &str, folder: &str) -> Vec<String> {
    let (query, folder) = (query.to_owned(), folder.to_owned());
    let request =
        SearchRequest { query, folder, limit: 10, shown: Vec::new(), passages: Passages::All };
    let found = vault.search_notes(&writer(), &request).expect("an answer");
    found.hits.iter().map(|hit| hit.note.path.to_string()).collect()
}

/// L44: a title that is taken gets a number, whatever the letter case or Unicode form;
/// L53: the stub of a cloud drive takes its name.
#[test]
fn a_taken_title_gets_a_number() {
    let folder = Folder::plain();
    folder.write("inbox/IDEA.md", "old");
    folder.write("inbox/cafe\u{301}.md", "old");
    folder.write("inbox/.Evicted.md.icloud", "stub");
    folder.write("inbox/Folder.md/x.md", "old");
    symlink("/etc/hostname", folder.at("inbox/Link.md")).expect("a link");
    let vault = folder.with_inbox();
    let name = |title| path_of(vault.write_note(&writer(), &by_title(title, "new")));
    assert_eq!(name("Idea"), "inbox/Idea 2.md");
    assert_eq!(name("Idea"), "inbox/Idea 3.md");
    assert_eq!(name("Caf\u{e9}"), "inbox/Caf\u{e9} 2.md");
    assert_eq!(name("evicted"), "inbox/evicted 2.md");
    assert_eq!(name("Folder"), "inbox/Folder 2.md");
    assert_eq!(name("Link"), "inbox/Link 2.md");
    assert_eq!(folder.text("inbox/IDEA.md"), "old");
    // A title that the name does not say is in the text.
    assert_eq!(folder.text("inbox/Idea 3.md"), "# Idea\n\nnew\n");
}

/// A path that is taken is refused, in the same words whatever is there.
#[test]
fn a_taken_path_is_refused_and_stays() {
    let folder = Folder::repository();
    folder.write("inbox/a.md", "old");
    folder.write("inbox/.gone.md.icloud", "stub");
    folder.write("inbox/folder.md/x.md", "old");
    fs::hard_link(folder.at("wiki/people/ann.md"), folder.at("inbox/hard.md")).expect("a link");
    symlink("../wiki/people/ann.md", folder.at("inbox/link.md")).expect("a link");
    symlink("nowhere", folder.at("inbox/dangling.md")).expect("a link");
    assert!(Command::new("mkfifo").arg(folder.at("inbox/fifo.md")).status().unwrap().success());
    let vault = folder.with_inbox();
    let people = folder.text("wiki/people/ann.md");
    for name in ["a", "A", "gone", "Gone", "folder", "hard", "link", "dangling", "fifo"] {
        let path = format!("inbox/{name}.md");
        // As a place is answered that has the class of what is linked.
        let expected = if name == "hard" { WriteError::NotOpen } else { WriteError::Taken };
        assert_eq!(create(&vault, &path), Err(expected.clone()), "{path}");
        if name != "a" {
            assert_eq!(append(&vault, &path, "new"), Err(expected), "{path}");
        }
    }
    assert_eq!(folder.text("inbox/a.md"), "old");
    assert_eq!(folder.text("wiki/people/ann.md"), people);
    assert!(!folder.at("inbox/nowhere").exists());
}

/// L46: one answer for every path that is not in the inbox, whether or not there is
/// something.
#[test]
fn every_path_outside_gets_one_answer() {
    let folder = Folder::repository();
    folder.write("inbox/a.md", "old");
    folder.write("inboxes/a.md", "old");
    let vault = folder.with_inbox();
    for path in [
        "open/a.md",
        "open/missing.md",
        "wiki/people/ann.md",
        "closed/b.md",
        "c.private.md",
        "missing.private.md",
        "inbox.md",
        "inboxes/a.md",
        "Inbox/a.md",
        "../a.md",
        "inbox/../open/a.md",
        "inbox/../open/missing.md",
        "inbox/./a.md",
        "inbox//a.md",
        "/inbox/a.md",
        "inbox/a.md\0",
        "inbox/%2e%2e/open/a.md",
        "inbox/%2E%2E%2Fopen/a.md",
        "inbox/..%5c..%5cx.md",
        "inbox\\a.md",
        "inbox/..\\..\\x.md",
        "inbox/.gitattributes",
        "inbox/.git/config.md",
        "inbox/.hidden.md",
        ".gitattributes",
        "/etc/passwd",
        "inbox/",
        "inbox",
        "inbox/1/2/3/4/5/6/7/8/9/a.md",
        "file:///inbox/a.md",
    ] {
        for mode in [WriteMode::Create, WriteMode::Append] {
            let outcome = vault.write_note(&writer(), &by_path(path, "new", mode));
            assert_eq!(outcome, Err(WriteError::Outside), "{path:?}");
        }
    }
    assert_eq!(folder.inbox(), ["a.md"]);
    assert_eq!(folder.git(&["status", "--porcelain"]), "?? inbox/\n?? inboxes/");
}

/// L46: names that other systems take for something else are made harmless.
#[test]
fn names_are_made_safe() {
    let folder = Folder::plain();
    let vault = folder.with_inbox();
    for (path, name) in [
        ("inbox/con.md", "inbox/con-.md"),
        ("inbox/a:b?.md", "inbox/a-b-.md"),
        ("inbox/2026: ideas./x ", "inbox/2026- ideas/x.md"),
        ("inbox/notes", "inbox/notes.md"),
        ("inbox/重/é.txt", "inbox/重/é.txt"),
        ("inbox/x_LOCAL_1.md", "inbox/x-LOCAL-1.md"),
    ] {
        assert_eq!(path_of(create(&vault, path)), name);
        assert!(vault.read_page(&writer(), name).is_ok(), "{name}");
    }
    // L44, L45: 200 bytes, and the name on the way to it does not grow with it.
    let long = path_of(create(&vault, &format!("inbox/{}.md", "重".repeat(300))));
    assert_eq!(long.len(), "inbox/".len() + 66 * 3);
}

/// Nothing that a client does leaves the inbox through a link, a file in the way, or
/// another repository.
#[test]
fn nothing_on_the_way_is_followed() {
    let folder = Folder::repository();
    let outside = Folder::plain();
    folder.write("inbox/file", "old");
    folder.write("inbox/Case/x.md", "old");
    folder.write("inbox/nested/.git/HEAD", "x");
    symlink(outside.path(), folder.at("inbox/out")).expect("a link");
    symlink("../open", folder.at("inbox/in")).expect("a link");
    let vault = folder.with_inbox();
    for way in ["out", "in", "file", "nested", "case", "page.md", "x.private"] {
        let expected = if way == "x.private" { WriteError::Secret } else { WriteError::InTheWay };
        assert_eq!(create(&vault, &format!("inbox/{way}/new.md")), Err(expected), "{way}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert!(!folder.at("open/new.md").exists());
    // The inbox itself may be a link.
    fs::rename(folder.at("inbox"), folder.at("moved")).expect("a rename");
    symlink(outside.path(), folder.at("inbox")).expect("a link");
    assert_eq!(create(&vault, "inbox/a.md"), Err(WriteError::InTheWay));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// gitattributes.md section 6.1, row 36: a secret name is refused in one text.
#[test]
fn a_secret_name_is_refused() {
    let folder = Folder::repository();
    folder.write("inbox/there.private.md", "secret");
    folder.write("inbox/.gitattributes", "hush*.md brain-class=secret\n");
    folder.write("inbox/hush1.md", "secret");
    let vault = folder.with_inbox();
    for name in ["there.private", "missing.private", "x.private 2", "hush1", "hush2"] {
        let path = format!("inbox/{name}.md");
        assert_eq!(create(&vault, &path), Err(WriteError::Secret), "{path}");
        assert_eq!(append(&vault, &path, "x"), Err(WriteError::Secret), "{path}");
        let titled = vault.write_note(&writer(), &by_title(name, "new"));
        assert_eq!(titled, Err(WriteError::Secret), "{name}");
    }
    assert_eq!(folder.text("inbox/there.private.md"), "secret");
}

/// Only `wiki:write` writes, and only where there is an inbox.
#[test]
fn writing_needs_leave_and_an_inbox() {
    let folder = Folder::repository();
    let vault = folder.with_inbox();
    for scopes in [&[][..], &[Scope::Read], &[Scope::Read, Scope::Confidential, Scope::People]] {
        for note in [by_title("a", "new"), by_path("open/a.md", "new", WriteMode::Create)] {
            let outcome = vault.write_note(&viewer(scopes), &note);
            assert_eq!(outcome, Err(WriteError::NotGranted));
        }
    }
    let without = folder.open();
    for note in [by_title("a", "new"), by_path("inbox/a.md", "new", WriteMode::Create)] {
        assert_eq!(without.vault.write_note(&everything(), &note), Err(WriteError::NoInbox));
    }
    assert!(!folder.at("inbox").exists());
}

/// gitattributes.md section 2: while the filter is not configured, git would store
/// the note as plain text.
#[test]
fn nothing_is_written_that_git_would_not_encrypt() {
    let folder = Folder::repository();
    folder.write("inbox/.gitattributes", "* filter=git-crypt-work\n");
    folder.write("inbox/old.md", "old\n");
    let vault = folder.with_inbox();
    let notes = [
        by_title("titled", "new"),
        by_path("inbox/a.md", "new", WriteMode::Create),
        by_path("inbox/old.md", "new", WriteMode::Append),
    ];
    for note in &notes {
        assert_eq!(vault.write_note(&everything(), note), Err(WriteError::NotEncrypted));
    }
    // A key of another name does not help, nor does an empty program.
    folder.git(&["config", "filter.git-crypt.clean", "git-crypt clean"]);
    folder.git(&["config", "filter.git-crypt-work.clean", ""]);
    assert_eq!(vault.write_note(&everything(), &notes[0]), Err(WriteError::NotEncrypted));
    assert_eq!(folder.inbox(), [".gitattributes", "old.md"]);
    folder.git(&["config", "filter.git-crypt-work.clean", "git-crypt clean --key-name=work"]);
    for note in &notes {
        let written = vault.write_note(&everything(), note);
        assert!(written.is_ok_and(|written| written.is_readable), "{note:?}");
    }
}

/// A client that does not see a class can leave notes there, and learns nothing of
/// what is there already.
#[test]
fn a_closed_inbox_takes_notes_and_tells_nothing() {
    let folder = Folder::repository();
    folder.write("inbox/.gitattributes", "* brain-class=confidential\n");
    folder.write("inbox/there.md", "canary");
    let vault = folder.with_inbox();
    for writer in [writer(), viewer(&[Scope::Write]), viewer(&[Scope::Write, Scope::People])] {
        for mode in [WriteMode::Create, WriteMode::Append] {
            for path in ["inbox/there.md", "inbox/missing.md", "inbox/THERE.md"] {
                let outcome = vault.write_note(&writer, &by_path(path, "new", mode));
                assert_eq!(outcome, Err(WriteError::NotOpen), "{path}");
            }
        }
        for title in ["there", "missing"] {
            let written = vault.write_note(&writer, &by_title(title, "new")).expect("a note");
            assert!(!written.is_readable);
            let name = written.path.stem().to_owned();
            let mark = name.strip_prefix(&format!("{title} ")).expect("the title and a mark");
            assert!(mark.len() == 8 && mark.bytes().all(|it| it.is_ascii_hexdigit()), "{mark}");
        }
    }
    assert_eq!(folder.text("inbox/there.md"), "canary");
    // The same words from a client that holds only `wiki:write`, in an open inbox.
    folder.remove("inbox/.gitattributes");
    let outcome =
        vault.write_note(&viewer(&[Scope::Write]), &by_path("inbox/x.md", "x", WriteMode::Create));
    assert_eq!(outcome, Err(WriteError::NotOpen));
}

/// What a writer is told is the same whether or not there are hidden pages and folders,
/// in whatever letter case they are asked for.
#[test]
fn hidden_notes_and_folders_do_not_show_in_what_is_refused() {
    let folders = [true, false].map(|has_secrets| {
        let folder = Folder::repository();
        folder.git(&["config", "filter.git-crypt.clean", "git-crypt clean"]);
        let rules = "*-salary.md filter=git-crypt\nlocked/** filter=git-crypt\n";
        folder.write("inbox/.gitattributes", rules);
        folder.write("inbox/a.md", "open");
        if has_secrets {
            for path in ["anna-salary.md", "zoe-salary.md", "locked/b.md", "bob-salary.md/b.md"] {
                folder.write(&format!("inbox/{path}"), "canary");
            }
            folder.write("inbox/sub/eve-salary.md", "canary");
            folder.write("inbox/.Ida-salary.md.icloud", "stub");
            symlink("../open", folder.at("inbox/link")).expect("a link");
        }
        folder
    });
    let vaults = folders.each_ref().map(Folder::with_inbox);
    let mut rows = vec![(writer(), by_title("Zoe-Salary", "new"))];
    let mut by_paths = |viewer: &dyn Fn() -> Viewer, paths: &[&str]| {
        for path in paths {
            for mode in [WriteMode::Create, WriteMode::Append] {
                rows.push((viewer(), by_path(&format!("inbox/{path}"), "new", mode)));
            }
        }
    };
    by_paths(
        &writer,
        &[
            "Anna-Salary.md",
            "anna-salary.md",
            "IDA-salary.md",
            "Ida-Salary.md",
            "LOCKED/b.md",
            "locked/b.md",
            "SUB/n.md",
            "sub/n.md",
            "Bob-Salary.md/n.md",
            "bob-salary.md/n.md",
        ],
    );
    let blind: &dyn Fn() -> Viewer = &|| viewer(&[Scope::Write]);
    by_paths(
        blind,
        &["a.md", "SUB/n.md", "sub/n.md", "LOCKED/b.md", "link/x.md", "bob-salary.md/n.md"],
    );
    for (viewer, note) in &rows {
        let [with, without] = vaults.each_ref().map(|vault| vault.write_note(viewer, note));
        assert_eq!(with, without, "{note:?}");
    }
    for vault in &vaults {
        let outcome = vault.write_note(&blind(), &by_path("inbox/A/x.md", "x", WriteMode::Create));
        assert_eq!(outcome, Err(WriteError::NotOpen));
    }
    assert_eq!(folders[0].text("inbox/anna-salary.md"), "canary");
    assert_eq!(folders[0].text("inbox/locked/b.md"), "canary");
}

/// While nobody can say what is to be encrypted, nothing is written.
#[test]
fn rules_in_doubt_stop_writing() {
    let folder = Folder::repository();
    folder.write("inbox/a.md", "old");
    let vault = folder.with_inbox();
    let doubtful = format!("{}*.md a@b\n", super::RULES);
    folder.write(".gitattributes", doubtful);
    assert_eq!(create(&vault, "inbox/b.md"), Err(WriteError::Unavailable(Unavailable)));
    assert_eq!(append(&vault, "inbox/a.md", "x"), Err(WriteError::Unavailable(Unavailable)));
    folder.write(".gitattributes", super::RULES);
    assert!(create(&vault, "inbox/b.md").is_ok());
}

/// L2, L3, Build 7: appending keeps line ends, byte order mark, permissions, and every
/// byte that was there.
#[test]
fn appending_keeps_the_note() {
    let folder = Folder::repository();
    folder.write("inbox/log.md", "\u{feff}---\r\ntags: [a\r\n---\r\none\r\ntwo\r\nthree\r\n");
    let permissions = fs::Permissions::from_mode(0o640);
    fs::set_permissions(folder.at("inbox/log.md"), permissions).expect("it is ours");
    let vault = folder.with_inbox();
    let before = vault.read_page(&writer(), "inbox/log.md").expect("a page").text;
    let written = append(&vault, "inbox/log.md", "four\nfive").expect("a note");
    assert_eq!((written.deed, written.bytes_written), (Deed::Appended, 12));
    let text = folder.text("inbox/log.md");
    assert_eq!(text, format!("\u{feff}{before}four\r\nfive\r\n"));
    assert_eq!(written.size, text.len() as u64);
    let metadata = fs::metadata(folder.at("inbox/log.md")).expect("it is there");
    assert_eq!(metadata.mode() & 0o7777, 0o640);
    let page = vault.read_page(&writer(), "inbox/log.md").expect("a page");
    assert!(page.text.ends_with("five\r\n"));
    // The name on the disk stays as it is spelt there.
    folder.write("inbox/cafe\u{301}.md", "old");
    assert_eq!(path_of(append(&vault, "inbox/caf\u{e9}.md", "new")), "inbox/caf\u{e9}.md");
    assert_eq!(folder.text("inbox/cafe\u{301}.md"), "old\nnew\n");
    folder.write("inbox/odd: name?.md", "old");
    assert!(append(&vault, "inbox/odd: name?.md", "new").is_ok());
    assert_eq!(folder.inbox(), ["cafe\u{301}.md", "log.md", "odd: name?.md"]);
}

/// A note that is not there is made, as a shell's `>>` does; one that is no text, locked,
/// or has another name is left alone.
#[test]
fn appending_makes_a_note_and_leaves_others_alone() {
    let folder = Folder::repository();
    let vault = folder.with_inbox();
    let written = append(&vault, "inbox/new/log.md", "one").expect("a note");
    assert_eq!(written.deed, Deed::Created);
    append(&vault, "inbox/new/log.md", "two").expect("a note");
    assert_eq!(folder.text("inbox/new/log.md"), "one\ntwo\n");
    let titled = NoteToWrite { mode: WriteMode::Append, ..by_title("Log", "one") };
    for _ in 0..2 {
        assert_eq!(path_of(vault.write_note(&writer(), &titled)), "inbox/Log.md");
    }
    assert_eq!(folder.text("inbox/Log.md"), "one\none\n");
    folder.write("inbox/latin.md", b"caf\xe9");
    folder.write("inbox/utf16.md", b"\xff\xfea\0");
    folder.write("inbox/binary.md", b"a\0b");
    folder.write("inbox/locked.md", b"\0GITCRYPT\0 and more");
    folder.write("inbox/twice.md", "old");
    fs::hard_link(folder.at("inbox/twice.md"), folder.at("open/twice.md")).expect("a link");
    let outcome = |name: &str| append(&vault, &format!("inbox/{name}.md"), "new");
    for name in ["latin", "utf16", "binary"] {
        assert_eq!(outcome(name), Err(WriteError::NotText), "{name}");
    }
    assert_eq!(outcome("locked"), Err(WriteError::Taken));
    assert!(matches!(outcome("twice"), Err(WriteError::NotPermitted(_))));
    let locked = by_path("inbox/locked.md", "new", WriteMode::Append);
    assert_eq!(vault.write_note(&everything(), &locked), Err(WriteError::Locked));
    assert_eq!(folder.text("inbox/twice.md"), "old");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let vault_folder = Folder::plain();
    let vault = vault_folder.with_inbox();
    let outcome = |note: NoteToWrite| vault.write_note(&writer(), &note);
    assert_eq!(outcome(by_title("a", "")), Err(WriteError::Empty));
    assert_eq!(outcome(by_title("a", " \n\t")), Err(WriteError::Empty));
    assert_eq!(outcome(by_title("a", "a\0b")), Err(WriteError::NotText));
    assert_eq!(outcome(by_title(" ", "text")), Err(WriteError::Nameless));
    let huge = "a".repeat(17 * 1024 * 1024);
    assert_eq!(outcome(by_title("a", &huge)), Err(WriteError::TooLarge));
    vault_folder.write("inbox/big.md", "a".repeat(16 * 1024 * 1024));
    assert_eq!(append(&vault, "inbox/big.md", "b"), Err(WriteError::TooLarge));
    assert_eq!(vault_folder.inbox(), ["big.md"]);
}

/// What a killed server has left goes with the next write; what others have left stays.
#[test]
fn leftovers_of_a_killed_server_go() {
    let folder = Folder::plain();
    folder.write("inbox/.brain-mcp-0000123400000007.tmp", "half a note");
    for name in [".brain-mcp-x.tmp", ".other.tmp", "x.tmp"] {
        folder.write(&format!("inbox/{name}"), "somebody else's");
    }
    let vault = folder.with_inbox();
    create(&vault, "inbox/a.md").expect("a note");
    assert_eq!(folder.inbox(), [".brain-mcp-x.tmp", ".other.tmp", "a.md", "x.tmp"]);
}

/// L56, L65: two servers and many clients write at once, and nothing is lost.
#[test]
fn writers_at_once_lose_nothing() {
    const WRITERS: usize = 6;
    const NOTES: usize = 5;
    let folder = Folder::plain();
    let vaults = [folder.with_inbox(), folder.with_inbox()];
    std::thread::scope(|scope| {
        for number in 0..WRITERS {
            let vault = &vaults[number % 2];
            scope.spawn(move || {
                for turn in 0..NOTES {
                    let line = format!("{number}.{turn}");
                    append(vault, "inbox/log.md", &line).expect("appended");
                    vault.write_note(&writer(), &by_title("Same", &line)).expect("created");
                }
            });
        }
    });
    let log = folder.text("inbox/log.md");
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> =
        (0..WRITERS).flat_map(|it| (0..NOTES).map(move |turn| format!("{it}.{turn}"))).collect();
    expected.sort();
    assert_eq!(lines, expected);
    assert_eq!(folder.inbox().len(), WRITERS * NOTES + 1);
}
