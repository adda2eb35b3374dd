use std::sync::Arc;

use rmcp::model::SubscriptionFilter;
use tokio::sync::broadcast::{self, Sender};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;

use crate::access::class::PageClass;
use crate::access::permit::Viewer;
use crate::contract::scope::{Scope, ScopeSet};
use crate::mcp::subscriptions::{Listener, MOST, Notice, Shared, Wanted, relay};
use crate::resource_server::standing::Standing;
use crate::resource_server::verify::VerifiedToken;
use crate::vault::answers::Change;

const PLAIN: &str = "vault://notes/a.md";
const PEOPLE: &str = "vault://notes/wiki%2Fpeople%2Fann.md";

fn token(scopes: &[Scope]) -> VerifiedToken {
    VerifiedToken::unsigned("owner", "client", scopes.iter().copied().collect::<ScopeSet>())
}

fn change(path: &str, before: Option<PageClass>, after: Option<PageClass>) -> Change {
    Change { path: path.parse().unwrap(), before, after }
}

fn wanted(uris: &[&str]) -> Wanted {
    let mut wanted = Wanted::default();
    for uri in uris {
        wanted.add(uri).unwrap();
    }
    wanted
}

fn notice(list_changed: bool, updated: &[&str]) -> Notice {
    Notice { list_changed, updated: updated.iter().map(|uri| (*uri).to_owned()).collect() }
}

/// Design section 5: notices come from pages that the caller may see, and from nothing
/// else.
#[test]
fn changes_are_told_to_those_who_may_see_the_page() {
    use PageClass::{Ordinary, People, Secret};
    let wanted = wanted(&[PLAIN, PEOPLE, "vault://tags", "vault://notes/missing.md"]);
    let reader = Viewer::of(&token(&[Scope::Read]));
    let friend = Viewer::of(&token(&[Scope::Read, Scope::People]));
    let ann = |before, after| change("wiki/people/ann.md", before, after);
    let tags = "vault://tags";
    let rows = [
        (change("a.md", Some(Ordinary), Some(Ordinary)), notice(false, &[PLAIN, tags]), None),
        (change("b.md", None, Some(Ordinary)), notice(true, &[tags]), None),
        (change("a.md", Some(Ordinary), None), notice(true, &[PLAIN, tags]), None),
        (ann(Some(People), Some(People)), notice(false, &[]), Some(notice(false, &[PEOPLE, tags]))),
        (ann(None, Some(People)), notice(false, &[]), Some(notice(true, &[PEOPLE, tags]))),
        // It was visible until now: to the reader it is gone.
        (
            ann(Some(Ordinary), Some(People)),
            notice(true, &[PEOPLE, tags]),
            Some(notice(false, &[PEOPLE, tags])),
        ),
        (change("x.md", Some(Secret), Some(Secret)), notice(false, &[]), None),
        (change("a.md", Some(Secret), Some(Ordinary)), notice(true, &[PLAIN, tags]), None),
    ];
    for (change, for_reader, for_friend) in rows {
        let batch = [change];
        assert_eq!(wanted.notice("", &batch, &reader), for_reader, "{batch:?}");
        let for_friend = for_friend.unwrap_or(for_reader);
        assert_eq!(wanted.notice("", &batch, &friend), for_friend, "{batch:?}");
        assert_eq!(wanted.notice("", &batch, &Viewer::of(&token(&[]))), notice(false, &[]));
    }
}

#[test]
fn another_vault_is_another_vault() {
    let reader = Viewer::of(&token(&[Scope::Read]));
    let named = "vault://notes/a.md?vault=work";
    let wanted = wanted(&[PLAIN, named]);
    let batch = [change("a.md", None, Some(PageClass::Ordinary))];
    assert_eq!(wanted.notice("work", &batch, &reader), notice(false, &[named]));
    assert_eq!(wanted.notice("", &batch, &reader), notice(true, &[PLAIN]));
}

/// Whether a page exists is not told by subscribing to it: what can never be one is
/// accepted as well, and never heard of.
#[test]
fn subscribing_tells_nothing() {
    let mut wanted = Wanted::default();
    for uri in [
        PLAIN,
        PEOPLE,
        "vault://notes/..",
        "vault://notes/x.private.md",
        "vault://recent",
        "file:///x",
    ] {
        assert!(wanted.add(uri).is_ok(), "{uri}");
    }
    assert!(wanted.add(&"x".repeat(100_000)).is_err());
    wanted.remove(PLAIN);
    let batch = [change("a.md", None, Some(PageClass::Ordinary))];
    let reader = Viewer::of(&token(&[Scope::Read]));
    assert_eq!(wanted.notice("", &batch, &reader), notice(true, &["vault://recent"]));
    let everything = notice(true, &[PEOPLE, "vault://notes/x.private.md", "vault://recent"]);
    assert_eq!(wanted.everything("").updated.len(), 3);
    assert!(everything.updated.iter().all(|uri| wanted.everything("").updated.contains(uri)));
}

#[test]
fn subscriptions_have_a_cap() {
    let mut wanted = Wanted::default();
    for number in 0..MOST {
        wanted.add(&format!("vault://notes/{number}.md")).unwrap();
    }
    assert!(wanted.add("vault://notes/0.md").is_ok(), "it is there already");
    assert!(wanted.add(PLAIN).is_err());
    let uris = (0..2 * MOST).map(|number| format!("vault://notes/{number}.md"));
    let requested = SubscriptionFilter::builder()
        .tools_list_changed()
        .resources_list_changed()
        .resource_subscription("https://example.org/")
        .build();
    let accepted = Wanted::accepted(&requested);
    assert_eq!(accepted, SubscriptionFilter::builder().resources_list_changed().build());
    let requested = SubscriptionFilter::builder().resource_subscriptions(uris).build();
    let accepted = Wanted::accepted(&requested).resource_subscriptions;
    assert_eq!(accepted.map(|uris| uris.len()), Some(MOST));
}

/// A listener with its vault and its tokens in the hands of the test.
struct Scene {
    changes: Sender<Arc<[Change]>>,
    tokens: watch::Sender<VerifiedToken>,
    told: UnboundedReceiver<Notice>,
}

impl Scene {
    fn new(scopes: &[Scope], capacity: usize) -> Self {
        let (changes, receiver) = broadcast::channel(capacity);
        let (tokens, standing) = Standing::for_tests(token(scopes));
        let (sender, told) = unbounded_channel();
        let wanted = Shared::new(wanted(&[PLAIN, PEOPLE]));
        tokio::spawn(relay(String::new(), receiver, standing, wanted, Listener::Test(sender)));
        Self { changes, tokens, told }
    }

    fn change(&self, path: &str, class: PageClass) {
        self.changes.send(vec![change(path, Some(class), Some(class))].into()).unwrap();
    }

    async fn told(&mut self) -> Option<Notice> {
        // The listener has nothing to wait for: if it wants to say something, it does so
        // in these turns.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.told.try_recv().ok()
    }
}

#[tokio::test]
async fn a_listener_hears_of_visible_changes_only() {
    let mut scene = Scene::new(&[Scope::Read], 16);
    scene.change("wiki/people/ann.md", PageClass::People);
    assert_eq!(scene.told().await, None);
    scene.change("a.md", PageClass::Ordinary);
    assert_eq!(scene.told().await, Some(notice(false, &[PLAIN])));
}

/// A session stands on its latest token: what that has lost is not told any more, and
/// without one nothing is.
#[tokio::test]
async fn a_session_hears_what_its_latest_token_may_see() {
    let mut scene = Scene::new(&[Scope::Read, Scope::People], 16);
    scene.change("wiki/people/ann.md", PageClass::People);
    assert_eq!(scene.told().await, Some(notice(false, &[PEOPLE])));
    scene.tokens.send_replace(token(&[Scope::Read]));
    scene.change("wiki/people/ann.md", PageClass::People);
    assert_eq!(scene.told().await, None);
    scene.tokens.send_replace(VerifiedToken::expired());
    scene.change("a.md", PageClass::Ordinary);
    assert_eq!(scene.told().await, None);
    // It has missed something, and that is all that it is told.
    scene.tokens.send_replace(token(&[Scope::Read]));
    assert_eq!(scene.told().await, Some(notice(true, &[PLAIN, PEOPLE])));
    scene.change("a.md", PageClass::Ordinary);
    assert_eq!(scene.told().await, Some(notice(false, &[PLAIN])));
}

#[tokio::test]
async fn a_slow_listener_is_told_that_it_has_missed_something() {
    let mut scene = Scene::new(&[Scope::Read], 2);
    for _ in 0..5 {
        scene.change("b.md", PageClass::Ordinary);
    }
    assert_eq!(scene.told().await, Some(notice(true, &[PLAIN, PEOPLE])));
}

#[tokio::test]
async fn a_vault_that_is_gone_ends_the_listening() {
    let Scene { changes, mut told, tokens } = Scene::new(&[Scope::Read], 2);
    drop(changes);
    assert_eq!(told.recv().await, None);
    drop(tokens);
}
