//! A survey that uses again what it knows finds the same as one that starts from nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{Folder, RULES};
use crate::access::path::VaultPath;
use crate::vault::evidence::CIPHERTEXT_MARK;
use crate::vault::files::Root;
use crate::vault::survey::{Survey, SurveyedPage, Surveyor};

/// Longer than stamps take to be believed.
const SETTLING: Duration = Duration::from_millis(130);

fn surveyor(folder: &Folder) -> Surveyor {
    Surveyor::new(Arc::new(Root::open(folder.path()).expect("a folder")))
}

fn page<'a>(survey: &'a Survey, path: &str) -> &'a SurveyedPage {
    survey.pages.get(&path.parse::<VaultPath>().expect("a path")).expect("a page")
}

/// What was known of a page before is used again after changes that do not concern it,
/// and no longer after those that might.
#[test]
fn git_is_asked_about_what_is_not_known() {
    let folder = Folder::repository();
    thread::sleep(SETTLING);
    let mut surveyor = surveyor(&folder);
    let mut survey = || surveyor.survey().expect("a survey");
    let is_kept = |before: &Survey, after: &Survey| {
        Arc::ptr_eq(&page(before, "closed/b.md").ruling, &page(after, "closed/b.md").ruling)
    };
    let first = survey();
    assert!(Arc::ptr_eq(&first.pages, &survey().pages), "nothing has changed");
    let harmless: [&dyn Fn(); 5] = [
        &|| folder.write("closed/new.md", "text"),
        &|| folder.write("closed/folder/new.md", "text"),
        &|| fs::rename(folder.at("open/a.md"), folder.at("open/b.md")).expect("a name"),
        &|| folder.remove("closed/new.md"),
        &|| folder.commit(),
    ];
    let mut before = first;
    for (number, change) in harmless.iter().enumerate() {
        change();
        thread::sleep(SETTLING);
        let after = survey();
        assert!(is_kept(&before, &after), "{number}");
        before = after;
    }
    let nested = "*.md filter=git-crypt\n";
    let harmful: [&dyn Fn(); 7] = [
        &|| folder.write(".gitattributes", format!("{RULES}# more\n")),
        &|| folder.write("open/.gitattributes", nested),
        &|| folder.write("new/folder/.gitattributes", nested),
        &|| folder.write(".git/info/attributes", "# a comment\n"),
        &|| folder.remove(".git/info/attributes"),
        &|| drop(folder.git(&["config", "core.ignorecase", "true"])),
        // Then git reads the index.
        &|| {
            folder.commit();
            folder.remove("open/.gitattributes");
        },
    ];
    for (number, change) in harmful.iter().enumerate() {
        change();
        thread::sleep(SETTLING);
        let after = survey();
        assert!(!is_kept(&before, &after), "{number}");
        before = after;
    }
    assert!(!is_kept(&before, &survey()), "nothing is kept while the index has rules");
}

/// A rule that comes and goes while git is asked is no part of what is kept: folders
/// with young stamps are asked about again.
#[test]
fn answers_about_a_folder_in_motion_are_not_kept() {
    let folder = Folder::repository();
    thread::sleep(SETTLING);
    let mut surveyor = surveyor(&folder);
    surveyor.survey().expect("a survey");
    folder.write("open/new.md", "text");
    let young = surveyor.survey().expect("a survey");
    thread::sleep(SETTLING);
    let old = surveyor.survey().expect("a survey");
    let ruling = |survey: &Survey, path: &str| Arc::clone(&page(survey, path).ruling);
    assert!(!Arc::ptr_eq(&ruling(&young, "open/new.md"), &ruling(&old, "open/new.md")));
    // What was known before is still known.
    assert!(Arc::ptr_eq(&ruling(&young, "open/a.md"), &ruling(&old, "open/a.md")));
    assert!(Arc::ptr_eq(&ruling(&old, "open/new.md"), &{
        let last = surveyor.survey().expect("a survey");
        ruling(&last, "open/new.md")
    }));
}

/// Small numbers that look random; the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn choose<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.throw(among.len())]
    }
}

const FOLDERS: [&str; 7] =
    ["", "open/", "open/deep/", "closed/", "wiki/people/", "caf\u{e9}/", "new/"];
const NAMES: [&str; 7] =
    ["a.md", "b.md", "c.private.md", ".d.private.md", "e.txt", "r\u{e9}.md", "re\u{301}.md"];
const RULE_TEXTS: [&str; 7] = [
    RULES,
    "*.md filter=git-crypt\n",
    "a.* brain-class=people\n",
    "r\u{e9}.md filter=git-crypt\n",
    "",
    "A.MD filter=git-crypt\n",
    // Dropped, with a complaint.
    "*.md filter=git-crypt a@b\n",
];

fn change(folder: &Folder, dice: &mut Dice) {
    let file = format!("{}{}", dice.choose(&FOLDERS), dice.choose(&NAMES));
    let other = format!("{}{}", dice.choose(&FOLDERS), dice.choose(&NAMES));
    let rules = format!("{}.gitattributes", dice.choose(&FOLDERS));
    match dice.throw(20) {
        0..=3 => folder.write(&file, "text"),
        4 => folder.write(&file, [CIPHERTEXT_MARK, b"nonce-nonce-text"].concat()),
        5 => drop(fs::remove_file(folder.at(&file))),
        6 | 7 if folder.at(&other).parent().is_some_and(std::path::Path::exists) => {
            drop(fs::rename(folder.at(&file), folder.at(&other)));
        }
        8 => drop(fs::hard_link(folder.at(&file), folder.at(&other))),
        9 => {
            let (one, two) = (dice.choose(&FOLDERS[1..]), dice.choose(&FOLDERS[1..]));
            drop(fs::rename(folder.at(one), folder.at(two)));
        }
        10 | 11 => folder.write(&rules, dice.choose(&RULE_TEXTS)),
        12 => drop(fs::remove_file(folder.at(&rules))),
        13 => drop(folder.git(&["add", "--all"])),
        14 => folder.commit(),
        15 => folder.write(".git/info/attributes", dice.choose(&RULE_TEXTS)),
        16 => {
            let key = dice.choose(&["core.ignorecase", "core.precomposeunicode"]);
            folder.git(&["config", key, dice.choose(&["true", "false"])]);
        }
        17 => drop(folder.git(&["rm", "--quiet", "--cached", "--ignore-unmatch", "--", &rules])),
        18 => {
            let mode = fs::Permissions::from_mode(0o700);
            drop(fs::set_permissions(folder.at(dice.choose(&FOLDERS)), mode));
        }
        _ => drop(fs::remove_dir_all(folder.at(dice.choose(&FOLDERS[3..])))),
    }
}

/// Random edits of files, folders, rules, settings, index and commits.
#[test]
fn an_incremental_survey_is_one_from_nothing() {
    for seed in 1..=3 {
        let folder = Folder::repository();
        let mut dice = Dice(seed);
        let mut incremental = surveyor(&folder);
        for step in 0..60 {
            for _ in 0..=dice.throw(2) {
                change(&folder, &mut dice);
            }
            if dice.throw(2) == 0 {
                thread::sleep(SETTLING);
            }
            let known = incremental.survey();
            let anew = surveyor(&folder).survey();
            match (known, anew) {
                (Ok(known), Ok(anew)) => {
                    assert_eq!(known.pages, anew.pages, "seed {seed}, step {step}");
                    assert_eq!(known.private_dot_files, anew.private_dot_files);
                    assert_eq!(known.oddities, anew.oddities, "seed {seed}, step {step}");
                    assert_eq!(known.doubts, anew.doubts, "seed {seed}, step {step}");
                    assert_eq!(known.stability, anew.stability);
                }
                (known, anew) => {
                    let words = |it: Result<Survey, _>| it.err().map(|it| format!("{it}"));
                    assert_eq!(words(known), words(anew), "seed {seed}, step {step}");
                }
            }
        }
    }
}
