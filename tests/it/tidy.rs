//! House rules that a compiler does not check.

#![expect(clippy::disallowed_methods, reason = "source files are no pages")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which top-level modules a module may name (design section 12). This table is the
/// architecture; a new arrow is a decision and belongs in the same commit as its
/// reason.
const MAY_USE: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("clock", &[]),
    ("entropy", &[]),
    ("search", &[]),
    ("freshness", &[]),
    // The vault notes them, the account page shows them.
    ("refusals", &["clock"]),
    ("jose", &[]),
    // Both servers limit how often they are asked; who asks is found out before them.
    ("rates", &["clock"]),
    // For tests only.
    ("trials", &[]),
    ("peer", &[]),
    // A leaf of numbers: each part counts its own, the application tells all.
    ("metrics", &[]),
    (
        "authorization_server",
        &[
            "contract",
            "clock",
            "entropy",
            "freshness",
            "jose",
            "metrics",
            "peer",
            "rates",
            "refusals",
        ],
    ),
    ("resource_server", &["contract", "clock", "freshness", "jose", "metrics", "peer", "rates"]),
    ("access", &["contract", "resource_server"]),
    ("vault", &["access", "search", "clock", "refusals"]),
    // Entropy: cursors are sealed with a key of the process.
    ("mcp", &["vault", "access", "resource_server", "entropy"]),
    // Each part's settings, and what they are made of: an inbox is one of `access`,
    // a language one of `vault`.
    ("configuration", &["authorization_server", "contract", "mcp", "access", "rates", "vault"]),
    ("telemetry", &["configuration"]),
    // The owner names scopes at the terminal, to see what a client with them sees. A
    // command that opens the store itself brings the randomness that the server would.
    (
        "admin",
        &[
            "authorization_server",
            "access",
            "vault",
            "configuration",
            "clock",
            "contract",
            "entropy",
        ],
    ),
];

/// Crates that a module must not name, because what they do is another part's.
const MUST_NOT_NAME: &[(&str, &[&str])] = &[
    ("contract", &["axum", "sled", "tokio", "std::fs"]),
    ("access", &["axum", "sled", "tokio", "std::fs", "async fn"]),
    ("search", &["axum", "sled", "tokio", "std::fs", "async fn"]),
    ("resource_server", &["sled"]),
    ("vault", &["axum", "rmcp", "sled"]),
    (
        "mcp",
        &["std::fs", "tokio::fs", "sled", "cap_std", "ClassifiedPath", "ReadPermit", "WritePermit"],
    ),
    ("admin", &["axum"]),
];

/// The longest that a source file may be: two ideas live in a longer one.
const MOST_LINES: usize = 400;

#[test]
fn modules_only_look_where_they_may() {
    for (module, allowed) in MAY_USE {
        // A test makes what it needs with whatever makes it.
        let is_product = |(path, _): &(String, String)| !is_test(path);
        let allowed: BTreeSet<&str> = allowed.iter().copied().chain([*module]).collect();
        for (path, text) in files_of(module).into_iter().filter(is_product) {
            // Prose may point anywhere; only code makes an arrow.
            for line in code_lines(&text) {
                assert!(!line.contains("super::super"), "{path}: write `crate::` instead");
                assert!(
                    !line.contains("crate::{"),
                    "{path}: one `use` an item, so that arrows show"
                );
                for target in line.split("crate::").skip(1) {
                    let end = target.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let target = &target[..end.unwrap_or(target.len())];
                    assert!(allowed.contains(target), "{path}: `{module}` may not use `{target}`");
                }
            }
        }
    }
}

/// Every folder and file of `src` is in the table, so that a new part is a decision.
#[test]
fn every_module_has_its_arrows() {
    let known: BTreeSet<&str> = MAY_USE.iter().map(|(module, _)| *module).collect();
    for entry in fs::read_dir("src").expect("src") {
        let name = entry.expect("an entry").file_name().into_string().expect("a text");
        let module = name.trim_end_matches(".rs");
        let is_root = ["app", "lib", "main"].contains(&module);
        assert!(is_root || known.contains(module), "src/{name} is not in the table of arrows");
    }
}

#[test]
fn modules_do_not_name_what_is_another_parts_business() {
    for (module, forbidden) in MUST_NOT_NAME {
        // A test makes what it needs with whatever makes it.
        for (path, text) in files_of(module).into_iter().filter(|(path, _)| !is_test(path)) {
            for line in code_lines(&text) {
                for word in *forbidden {
                    assert!(
                        !line.contains(word),
                        "{path}: `{module}` may not name `{word}`: {line}"
                    );
                }
            }
        }
    }
}

/// A [`ClassifiedPath`](brain_mcp::access::class::ClassifiedPath) is evidence; only
/// the vault, which has asked git, may state one.
#[test]
fn only_the_vault_states_classes() {
    for (path, text) in rust_files(Path::new("src")) {
        let may = path.starts_with("src/vault/") || path.starts_with("src/access/");
        assert!(may || !text.contains("ClassifiedPath::judged"), "{path} states a class");
    }
}

/// What changes a folder or a file, in std, cap-std and rustix.
const CHANGES: [&str; 19] = [
    "create_new",
    "File::create",
    ".append(true",
    ".truncate(true",
    ".write(true",
    "::write(",
    ".write_all(",
    "create_dir",
    "remove_file",
    "remove_dir",
    "rename(",
    "renameat",
    "hard_link",
    ".symlink(",
    "set_permissions",
    "set_len",
    "set_times",
    "fchown",
    "::copy(",
];

/// The vault is the owner's: one file of ours changes it.
#[test]
fn only_the_inbox_writes() {
    for (path, text) in files_of("vault").into_iter().filter(|(path, _)| !is_test(path)) {
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        // Words of git's and of inotify's that only sound like it.
        let harmless =
            |line: &str| ["\"--no-renames\"", "remove_watch("].iter().any(|it| line.contains(it));
        let changes =
            |line: &&str| !harmless(line) && CHANGES.iter().any(|change| line.contains(change));
        let found: Vec<&str> = code_lines(product).filter(changes).map(str::trim).collect();
        match &*path {
            "src/vault/inbox/disk.rs" => assert!(!found.is_empty()),
            // Folders for a note, which go again if there is none.
            "src/vault/inbox/place.rs" => {
                let is_folder =
                    |line: &&str| line.contains("create_dir(") || line.contains("remove_dir(");
                assert!(found.iter().all(is_folder), "{found:?}");
            }
            // What goes to git, and what git's output is read with.
            "src/vault/git.rs" => {
                assert_eq!(found, ["thread::spawn(move || stdin.write_all(&input));"]);
            }
            "src/vault/evidence.rs" => assert!(found.iter().all(|line| line.contains("sink"))),
            _ => assert_eq!(found, [""; 0], "{path} changes something"),
        }
    }
}

/// Nobody is the owner without a token, but who sits at the terminal.
#[test]
fn only_commands_look_without_a_token() {
    for (path, text) in rust_files(Path::new("src")) {
        let may = path.starts_with("src/admin/") || path.starts_with("src/access/");
        assert!(may || !text.contains("at_the_terminal"), "{path} looks without a token");
    }
}

#[test]
fn every_file_says_what_it_is_for_and_has_one_idea() {
    for folder in ["src", "tests/it"] {
        for (path, text) in rust_files(Path::new(folder)) {
            let is_test = is_test(&path);
            assert!(
                is_test || text.starts_with("//! "),
                "{path}: the first line says what it is for"
            );
            let lines = text.lines().count();
            let most = if is_test { 2 * MOST_LINES } else { MOST_LINES };
            assert!(lines <= most, "{path} has {lines} lines");
        }
    }
}

/// `|safe` would let a client's name be markup.
#[test]
fn templates_escape_everything() {
    for entry in fs::read_dir("templates").expect("templates") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a template");
        assert!(!text.contains("|safe") && !text.contains("| safe"), "{}", path.display());
        // The one script, from its file, where passkeys are offered (checklist #148).
        let name = path.file_name().unwrap_or_default();
        let may = name == "sign_in.html" || name == "passkeys.html";
        let script = "<script src=\"/assets/passkey.js\" defer></script>";
        let scripts = text.matches("<script").count();
        assert_eq!(scripts, text.matches(script).count(), "{}: its own script", path.display());
        assert_eq!(scripts, usize::from(may), "{}: a page with a script", path.display());
    }
}

fn is_test(path: &str) -> bool {
    path.contains("/tests") || path.contains("_tests/") || path.starts_with("tests/")
}

fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn files_of(module: &str) -> Vec<(String, String)> {
    let file = PathBuf::from(format!("src/{module}.rs"));
    if file.exists() {
        return vec![(path_text(&file), fs::read_to_string(&file).expect("a source file"))];
    }
    let files = rust_files(&Path::new("src").join(module));
    assert!(!files.is_empty(), "there is no module `{module}`");
    files
}

pub(crate) fn rust_files(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push((path_text(&path), fs::read_to_string(&path).expect("a source file")));
        }
    }
    files
}

fn path_text(path: &Path) -> String {
    path.to_str().expect("a text").replace('\\', "/")
}
