//! A process that dies between two bytes that it writes.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::model::{How, Model, Step};
use super::{Ground, Known};
use crate::authorization_server::testing::copy_files;

/// The files below a folder, with their sizes and when they were written.
pub(super) fn sizes(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        if about.is_dir() {
            found.extend(sizes(&entry.path()));
        } else {
            found.push((entry.path(), about.len(), about.modified().unwrap()));
        }
    }
    found.sort();
    found
}

/// Puts saved files in the place of a data directory.
pub(super) fn put(saved: &TempDir, data: &Path) {
    fs::remove_dir_all(data).unwrap();
    copy_files(saved.path(), data);
}

#[expect(clippy::disallowed_methods, reason = "the files of the test itself")]
fn read(folder: &TempDir) -> Vec<u8> {
    fs::read(folder.path().join("database/db")).unwrap()
}

/// Takes back of what was written to the log between two moments all but the first
/// `kept` bytes. Answers how many those are in all.
fn cut(before: &TempDir, after: &TempDir, kept: usize) -> usize {
    let (old, mut new) = (read(before), read(after));
    let is_new = |at: usize, new: &[u8]| old.get(at) != Some(&new[at]);
    let changed: Vec<usize> = (0..new.len()).filter(|at| is_new(*at, &new)).collect();
    for at in changed.iter().skip(kept) {
        if let Some(byte) = old.get(*at) {
            new[*at] = *byte;
        } else {
            new.truncate(*at);
            break;
        }
    }
    fs::write(after.path().join("database/db"), new).unwrap();
    changed.len()
}

/// Design section 10; Checklist 65: a crash at any byte of what a request writes leaves the
/// state before it or the state after it, and nothing that was answered earlier is lost. The
/// client, which has no answer, goes on as it must from either.
#[tokio::test]
async fn a_crash_between_two_writes_is_before_or_after() {
    let exchange = Step::Exchange { code: 0, how: How::Right };
    let refresh = |generation| Step::Refresh { grant: 0, generation, how: How::Right };
    let revoke = Step::Revoke { grant: 0, access: None, how: How::Right };
    // What was done before, what the crash interrupts, and what is tried afterwards.
    let rows: [(&[Step], Step, &[Step]); 4] = [
        (&[], exchange, &[exchange, exchange]),
        (&[exchange], refresh(0), &[refresh(0), Step::Wait(61), refresh(0)]),
        (&[exchange, refresh(0)], revoke, &[refresh(1), revoke, refresh(1)]),
        // A replay ends the grant.
        (&[exchange], exchange, &[refresh(0), exchange, refresh(0)]),
    ];
    let (mut befores, mut afters) = (0, 0);
    let mut ground = Ground::new(99).await;
    for round in 0..60 {
        let (earlier, crashed, later) = rows[round % rows.len()];
        ground.register_both().await;
        let mut known = Known::default();
        let mut model = Model::new(ground.now());
        let approval = [Step::Ask, Step::Allow { people: false, days: 30 }];
        for step in approval.iter().chain(earlier) {
            assert_eq!(ground.take(*step, &mut known).await, model.step(*step), "{step:?}");
        }
        let files_before = ground.files();
        // What is learnt of it is forgotten, since the answer is lost.
        ground.take(crashed, &mut known.clone()).await;
        let files = ground.files();
        let written = cut(&files_before, &files, usize::MAX);
        assert!(written > 0, "{crashed:?} wrote nothing");
        // sled checks what it reads back, so a change is there when its last byte is.
        let kept = match round / rows.len() % 3 {
            0 => written,
            1 => written - 1 - ground.below(8.min(written)),
            _ => ground.below(written),
        };
        cut(&files_before, &files, kept);
        ground = ground.restart(|data| put(&files, data));

        let mut before = model.after_kill();
        model.step(crashed);
        let mut after = model.after_kill();
        for step in later {
            let outcome = ground.take(*step, &mut known).await;
            before.retain_mut(|model| model.step(*step) == outcome);
            after.retain_mut(|model| model.step(*step) == outcome);
            let is_either = !before.is_empty() || !after.is_empty();
            assert!(is_either, "round {round}: {crashed:?}, then {step:?} gave {outcome:?}");
        }
        befores += usize::from(after.is_empty());
        afters += usize::from(before.is_empty());
    }
    assert!(befores > 0 && afters > 0, "{befores} {afters}");
}
