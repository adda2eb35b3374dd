use super::class::{ClassifiedPath, GitAttributes, NameCase, PageClass, class_in_doubt, judge};
use super::inbox::Inbox;
use super::path::VaultPath;
use super::permit::{NotWritable, Viewer};
use super::policy::{accepts, opens};
use crate::contract::scope::{Scope, ScopeSet};

/// The policy, for people. A change of policy is a change of this picture.
#[test]
fn the_policy_is_this_table() {
    let row = |scope: Scope| {
        let cells = PageClass::ALL.map(|class| if opens(scope, class) { "yes" } else { " - " });
        format!("{:<18} {}", scope.as_str(), cells.join("  "))
    };
    assert_eq!(
        Scope::ALL.map(row),
        [
            //                  ordinary, confidential, people, secret
            "wiki:read          yes   -    -    - ",
            "wiki:confidential   -   yes   -    - ",
            "wiki:people         -    -   yes   - ",
            "wiki:write          -    -    -    - ",
        ]
    );
}

/// The same for writing into the inbox.
#[test]
fn the_policy_of_writing_is_this_table() {
    let row = |scope: Scope| {
        let cells = PageClass::ALL.map(|class| if accepts(scope, class) { "yes" } else { " - " });
        format!("{:<18} {}", scope.as_str(), cells.join("  "))
    };
    assert_eq!(
        Scope::ALL.map(row),
        [
            //                  ordinary, confidential, people, secret
            "wiki:read           -    -    -    - ",
            "wiki:confidential   -    -    -    - ",
            "wiki:people         -    -    -    - ",
            "wiki:write         yes  yes  yes   - ",
        ]
    );
}

/// Leave to write is for one path below the inbox, and for who holds `wiki:write`.
#[test]
fn only_the_inbox_is_writable() {
    let inbox: Inbox = "cafe\u{301}/new/".parse().expect("an inbox");
    assert_eq!(inbox.as_str(), "caf\u{e9}/new");
    let permit = |scopes: ScopeSet, path: &str, class| {
        let note = ClassifiedPath::judged(path.parse().expect("a path"), class);
        let permit = Viewer::for_tests(scopes).permit_write(&inbox, note);
        permit.map(|permit| permit.into_path().to_string())
    };
    let write: ScopeSet = [Scope::Write].into_iter().collect();
    for path in ["caf\u{e9}/new/a.md", "cafe\u{301}/new/a.md", "caf\u{e9}/new/b/a.md"] {
        assert!(permit(write, path, PageClass::Ordinary).is_ok(), "{path}");
        assert_eq!(permit(ScopeSet::READING, path, PageClass::Ordinary), Err(NotWritable));
        assert_eq!(permit(ScopeSet::NONE, path, PageClass::Ordinary), Err(NotWritable));
        assert_eq!(permit(ScopeSet::ALL, path, PageClass::Secret), Err(NotWritable));
    }
    for path in
        ["a.md", "caf\u{e9}/a.md", "caf\u{e9}/new.md", "caf\u{e9}/newer/a.md", "CAF\u{e9}/new/a.md"]
    {
        assert_eq!(permit(ScopeSet::ALL, path, PageClass::Ordinary), Err(NotWritable), "{path}");
    }
}

#[test]
fn an_inbox_is_a_folder_inside_the_vault() {
    for text in ["", "/", ".", "..", "../x", "/srv/x", "a//b", "a/../b", ".git", "a/.b", "a\\b"] {
        assert!(text.parse::<Inbox>().is_err(), "{text:?}");
    }
    // What lies there would never be served.
    assert!("x.private".parse::<Inbox>().is_err());
    assert_eq!("a/b".parse::<Inbox>().expect("an inbox").segments().count(), 2);
}

#[track_caller]
fn check(path: &str, filter: &str, brain_class: &str, class: PageClass) {
    let attributes =
        GitAttributes { filter: filter.to_owned(), brain_class: brain_class.to_owned() };
    assert_eq!(judge(path, &attributes, NameCase::Exact).class, class, "{path}");
}

#[test]
fn encryption_and_place_decide() {
    check("a.md", "", "", PageClass::Ordinary);
    check("a.md", "git-crypt", "", PageClass::Confidential);
    check("a.md", "git-crypt-work", "", PageClass::Confidential);
    check("wiki/people/ann.md", "git-crypt", "", PageClass::People);
    check("wiki/people/ann.md", "", "", PageClass::Ordinary);
    check("wiki/people-archive/ann.md", "git-crypt", "", PageClass::Confidential);
    check("Wiki/People/ann.md", "git-crypt", "", PageClass::Confidential);
    // git compares driver names with case, so this encrypts nothing.
    check("a.md", "Git-Crypt", "", PageClass::Ordinary);
    check("a.md", "git-cryptx", "", PageClass::Ordinary);
}

#[test]
fn ignorecase_folds_the_people_folder_as_git_would() {
    let attributes = GitAttributes { filter: "git-crypt".to_owned(), brain_class: String::new() };
    let ruling = judge("Wiki/People/ann.md", &attributes, NameCase::Folded);
    assert_eq!(ruling.class, PageClass::People);
}

#[test]
fn brain_class_raises_and_never_lowers() {
    check("a.md", "", "confidential", PageClass::Confidential);
    check("a.md", "", "people", PageClass::People);
    check("a.md", "git-crypt", "secret", PageClass::Secret);
    check("wiki/people/a.md", "git-crypt", "confidential", PageClass::People);
    check("a.md", "git-crypt", "ordinary", PageClass::Confidential);
    check("a.md", "", "no such class", PageClass::Confidential);
}

/// gitattributes.md section 6.1, rows 30 and 31.
#[test]
fn a_private_name_is_secret_in_every_form_that_sync_tools_make_of_it() {
    for path in [
        "salary.private.md",
        "Salary.PRIVATE.Md",
        "x.private.markdown",
        "x.private.txt",
        "x.private 2.md",
        "x.private copy.md",
        "x.private.sync-conflict-20260101.md",
        "x.private (conflicted copy).md",
        "x.private.md/inside.md",
        "x.private/inside.md",
    ] {
        check(path, "", "", PageClass::Secret);
    }
    for path in ["private.md", "xprivate.md", "x.privateer.md", "private/a.md", "x.privat.md"] {
        check(path, "", "", PageClass::Ordinary);
    }
}

#[test]
fn doubt_is_never_ordinary() {
    assert_eq!(class_in_doubt("a.md"), PageClass::Confidential);
    assert_eq!(class_in_doubt("WIKI/people/a.md"), PageClass::People);
}

/// gitattributes.md section 6.1, row 27: spellings that try to leave the vault are
/// no paths at all.
#[test]
fn a_path_cannot_point_outside_or_at_hidden_files() {
    for text in [
        "",
        "/etc/passwd.md",
        "../a.md",
        "a/../b.md",
        "./a.md",
        "a//b.md",
        "a/./b.md",
        ".git/config.md",
        "a/.obsidian/x.md",
        ".hidden.md",
        "a.md\0",
        "a\0.md",
        "a.md/",
        "a.png",
        "file:///a.md",
        "a",
    ] {
        assert!(text.parse::<VaultPath>().is_err(), "{text:?}");
    }
    assert!(format!("{}.md", "a".repeat(VaultPath::MAX_BYTES)).parse::<VaultPath>().is_err());
}

#[test]
fn a_path_is_kept_in_normalization_form_c() {
    let decomposed: VaultPath = "cafe\u{301}.md".parse().expect("a page name");
    assert_eq!(decomposed.as_str(), "caf\u{e9}.md");
    assert_eq!(decomposed.stem(), "caf\u{e9}");
}
