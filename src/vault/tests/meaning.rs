//! Which page a text means that is no exact path.

use super::{Folder, HIDDEN, everything, viewer};
use crate::contract::scope::Scope;

/// What people and agents write for a path.
#[test]
fn a_page_is_found_without_its_ending_with_an_anchor_and_from_the_root() {
    let folder = Folder::plain();
    folder.write("plans/heat.md", "warm");
    folder.write("plans/c# notes.md", "sharp");
    let vault = folder.open();
    let forms = ["plans/heat", "/plans/heat.md", "./plans/heat.md", "plans/heat.md#offers"];
    for form in forms.into_iter().chain(["plans/heat#offers", " plans/heat.md "]) {
        let page = vault.read(form).expect(form);
        assert_eq!((page.path.as_str(), page.text.as_str()), ("plans/heat.md", "warm"), "{form}");
    }
    assert_eq!(vault.read("plans/c# notes.md").expect("exact").text, "sharp");
    for none in ["", "/", "#", "plans", "plans/", "../heat", "plans/.heat", "heat"] {
        assert_eq!(vault.read(none), Err(HIDDEN), "{none:?}");
    }
}

/// A page that may not be seen does not stand in the way of another that the text may
/// mean: what comes back is what would come back if it were not there.
#[test]
fn a_hidden_page_is_no_obstacle() {
    let folder = Folder::repository();
    folder.write("open/a.md", "open");
    folder.write(".gitattributes", "open/a.md?x.md filter=git-crypt\nclosed/** filter=git-crypt\n");
    let without = folder.open().vault.read_page(&viewer(&[Scope::Read]), "open/a.md#x.md");
    folder.write("open/a.md#x.md", "closed");
    let vault = folder.open();
    let with = vault.vault.read_page(&viewer(&[Scope::Read]), "open/a.md#x.md");
    assert_eq!(with, without);
    assert_eq!(with.expect("the open one").text, "open");
    let everything = vault.vault.read_page(&everything(), "open/a.md#x.md");
    assert_eq!(everything.expect("the exact one").text, "closed");
    folder.write("closed/b.md", "closed");
    for form in ["closed/b", "closed/b.md", "/closed/b.md#x", "closed/none"] {
        assert_eq!(vault.vault.read_page(&viewer(&[Scope::Read]), form), Err(HIDDEN), "{form}");
    }
}
