use std::sync::Arc;

use rmcp::model::SubscriptionFilter;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;

use crate::access::class::PageClass;
use crate::access::permit::Viewer;
use crate::contract::scope::{Scope, ScopeSet};
use crate::mcp::subscriptions::{Backlog, Listener, MOST, News, Shared, Wanted, relay};
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

/// What is told, in this order.
fn notice(list_changed: bool, updated: &[&str]) -> Vec<News> {
    let list = list_changed.then_some(News::ListChanged);
    list.into_iter().chain(updated.iter().map(|uri| News::Updated((*uri).to_owned()))).collect()
}

/// What a batch of changes in a vault means for a viewer.
fn told(wanted: &Wanted, vault: &str, batch: &[Change], viewer: &Viewer) -> Vec<News> {
    let mut backlog = Backlog::default();
    wanted.note(vault, batch, &mut backlog);
    let told = std::iter::from_fn(|| backlog.next(viewer, wanted)).collect();
    assert!(backlog.is_empty());
    told
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
        assert_eq!(told(&wanted, "", &batch, &reader), for_reader, "{batch:?}");
        let for_friend = for_friend.unwrap_or(for_reader);
        assert_eq!(told(&wanted, "", &batch, &friend), for_friend, "{batch:?}");
        assert_eq!(told(&wanted, "", &batch, &Viewer::of(&token(&[]))), notice(false, &[]));
    }
}

#[test]
fn another_vault_is_another_vault() {
    let reader = Viewer::of(&token(&[Scope::Read]));
    let named = "vault://notes/a.md?vault=work";
    let wanted = wanted(&[PLAIN, named]);
    let batch = [change("a.md", None, Some(PageClass::Ordinary))];
    assert_eq!(told(&wanted, "work", &batch, &reader), notice(false, &[named]));
    assert_eq!(told(&wanted, "", &batch, &reader), notice(true, &[PLAIN]));
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
    assert_eq!(told(&wanted, "", &batch, &reader), notice(true, &["vault://recent"]));
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
    changes: UnboundedSender<Arc<[Change]>>,
    tokens: watch::Sender<VerifiedToken>,
    /// One word fits; until it is taken, the listener is one that does not read.
    told: mpsc::Receiver<News>,
}

impl Scene {
    fn new(scopes: &[Scope]) -> Self {
        let (changes, receiver) = mpsc::unbounded_channel();
        let (tokens, standing) = Standing::for_tests(token(scopes));
        let (sender, told) = mpsc::channel(1);
        let wanted = Shared::new(wanted(&[PLAIN, PEOPLE]));
        tokio::spawn(relay(String::new(), receiver, standing, wanted, Listener::Test(sender)));
        Self { changes, tokens, told }
    }

    /// Changes a page and lets everybody take note.
    async fn change(&self, path: &str, class: PageClass) {
        self.changes.send(vec![change(path, Some(class), Some(class))].into()).unwrap();
        turns().await;
    }

    /// All that the listener is told.
    async fn told(&mut self) -> Vec<News> {
        let mut all = Vec::new();
        turns().await;
        while let Ok(news) = self.told.try_recv() {
            all.push(news);
            turns().await;
        }
        all
    }
}

/// The listener has nothing to wait for: if it wants to do something, it does so in
/// these turns.
async fn turns() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_listener_hears_of_visible_changes_only() {
    let mut scene = Scene::new(&[Scope::Read]);
    scene.change("wiki/people/ann.md", PageClass::People).await;
    assert_eq!(scene.told().await, []);
    scene.change("a.md", PageClass::Ordinary).await;
    assert_eq!(scene.told().await, notice(false, &[PLAIN]));
}

/// A session stands on its latest token: what that has lost is not told any more, and
/// without one nothing is, until there is one again.
#[tokio::test]
async fn a_session_hears_what_its_latest_token_may_see() {
    let mut scene = Scene::new(&[Scope::Read, Scope::People]);
    scene.change("wiki/people/ann.md", PageClass::People).await;
    assert_eq!(scene.told().await, notice(false, &[PEOPLE]));
    scene.tokens.send_replace(token(&[Scope::Read]));
    scene.change("wiki/people/ann.md", PageClass::People).await;
    assert_eq!(scene.told().await, []);
    scene.tokens.send_replace(VerifiedToken::expired());
    scene.change("a.md", PageClass::Ordinary).await;
    assert_eq!(scene.told().await, []);
    scene.tokens.send_replace(token(&[Scope::Read]));
    assert_eq!(scene.told().await, notice(false, &[PLAIN]));
    scene.change("a.md", PageClass::Ordinary).await;
    assert_eq!(scene.told().await, notice(false, &[PLAIN]));
}

/// Design section 5: what changes while no token stands shows no more than it would with
/// one.
#[tokio::test]
async fn a_token_that_comes_back_is_told_of_nothing_hidden() {
    let mut scene = Scene::new(&[Scope::Read]);
    scene.tokens.send_replace(VerifiedToken::expired());
    scene.change("wiki/people/ann.md", PageClass::People).await;
    assert_eq!(scene.told().await, []);
    scene.tokens.send_replace(token(&[Scope::Read]));
    assert_eq!(scene.told().await, []);
}

/// Design section 5: to a listener that does not read, whatever goes on with hidden pages
/// makes no difference, and of visible ones nothing is lost and nothing piles up.
#[tokio::test]
async fn a_listener_that_does_not_read_learns_nothing_of_hidden_changes() {
    let mut told = Vec::new();
    for hidden in [0, 1, 500] {
        let mut scene = Scene::new(&[Scope::Read]);
        for _ in 0..100 {
            scene.change("a.md", PageClass::Ordinary).await;
        }
        for _ in 0..hidden {
            scene.change("wiki/people/ann.md", PageClass::People).await;
        }
        told.push(scene.told().await);
    }
    // One that was on its way, one behind it, and one for all that came later.
    assert_eq!(told[0], notice(false, &[PLAIN, PLAIN, PLAIN]));
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
}

/// What waits for a listener is judged when it is told, not when it happened.
#[tokio::test]
async fn what_waits_is_judged_by_the_token_of_then() {
    let mut scene = Scene::new(&[Scope::Read, Scope::People]);
    for _ in 0..2 {
        scene.change("a.md", PageClass::Ordinary).await;
    }
    scene.change("wiki/people/ann.md", PageClass::People).await;
    scene.tokens.send_replace(token(&[Scope::Read]));
    assert_eq!(scene.told().await, notice(false, &[PLAIN, PLAIN]));
}

#[tokio::test]
async fn a_vault_that_is_gone_ends_the_listening() {
    let Scene { changes, mut told, tokens } = Scene::new(&[Scope::Read]);
    drop(changes);
    assert_eq!(told.recv().await, None);
    drop(tokens);
}
