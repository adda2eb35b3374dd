use std::time::Duration;

use super::{
    MAX_FOR_ONE_ADDRESS, MAX_FOR_ONE_BROWSER, MAX_RENDERINGS, MAX_WAITING, NotTaken, Owner,
};
use super::{PendingAuthorizations, PendingName};
use crate::authorization_server::client::{ClientAuthentication, ClientId, RegisteredClient};
use crate::authorization_server::client_rules::ClientRules;
use crate::authorization_server::redirect_uri::RedirectUri;
use crate::authorization_server::request::{AuthorizeQuery, Judgement};
use crate::authorization_server::session::{BrowserCookie, SessionKey};
use crate::clock::{Clock, ManualClock, UnixTime};
use crate::entropy::Entropy;
use crate::peer::Peer;

fn judgement() -> Judgement {
    let client = RegisteredClient {
        id: ClientId::presented("client"),
        name: None,
        redirect_uris: vec![RedirectUri::register("https://app.example/cb").unwrap()],
        authentication: ClientAuthentication::None,
        registered_at: UnixTime::from_seconds(0),
    };
    let query = "redirect_uri=https://app.example/cb&response_type=code&code_challenge_method=S256\
                 &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let query = AuthorizeQuery::parse(query.as_bytes()).unwrap();
    query
        .judge(client, &"https://brain.example/mcp".parse().unwrap(), &ClientRules::default())
        .unwrap()
}

fn waiting_room() -> (PendingAuthorizations, ManualClock) {
    let (clock, hand) = Clock::manual(UnixTime::from_seconds(1_000));
    (PendingAuthorizations::new(Duration::from_secs(600), clock, Entropy::seeded(1)), hand)
}

fn browser() -> SessionKey {
    BrowserCookie::new(&Entropy::system()).key()
}

/// Checklist 34: a browser that asks again and again pushes out only its own.
#[test]
fn one_browser_has_a_limit() {
    let (pending, hand) = waiting_room();
    let (greedy, other) = (browser(), browser());
    let others = pending.add(judgement(), other, (Owner::Unknown, Peer::UNKNOWN));
    let mut names = Vec::new();
    for _ in 0..MAX_FOR_ONE_BROWSER + 5 {
        hand.advance(Duration::from_secs(1));
        names.push(pending.add(judgement(), greedy, (Owner::Unknown, Peer::UNKNOWN)));
    }
    let alive: Vec<bool> = names.iter().map(|name| pending.show(name, greedy).is_some()).collect();
    assert_eq!(alive.iter().filter(|alive| **alive).count(), MAX_FOR_ONE_BROWSER);
    assert!(alive[5..].iter().all(|alive| *alive), "the oldest went");
    assert!(pending.show(&others, other).is_some());
}

/// Checklist 34: a flood of strangers fills no memory, and does not touch what a user has on
/// the screen.
#[test]
fn a_flood_pushes_out_strangers_first() {
    let (pending, hand) = waiting_room();
    let owner = browser();
    let own = pending.add(judgement(), owner, (Owner::SignedIn, Peer::UNKNOWN));
    let stranger = browser();
    let early = pending.add(judgement(), stranger, (Owner::Unknown, Peer::UNKNOWN));
    hand.advance(Duration::from_secs(1));
    for _ in 0..MAX_WAITING + 100 {
        pending.add(judgement(), browser(), (Owner::Unknown, Peer::UNKNOWN));
    }
    assert_eq!(pending.lock().len(), MAX_WAITING);
    assert!(pending.show(&own, owner).is_some());
    assert!(pending.show(&early, stranger).is_none());
    hand.advance(Duration::from_secs(600));
    pending.add(judgement(), stranger, (Owner::Unknown, Peer::UNKNOWN));
    assert_eq!(pending.lock().len(), 1, "what expired is swept out");
}

fn address(number: usize) -> Peer {
    // Each in a neighbourhood of its own.
    Peer::at(std::net::Ipv4Addr::from(u32::try_from(number).unwrap() * 256 + 0x0B00_0001).into())
}

/// Checklist 34: twenty for one address. Who floods from there floods out nobody else.
#[test]
fn one_address_has_a_limit() {
    let (pending, hand) = waiting_room();
    let (neighbour, other) = (browser(), browser());
    let neighbours = pending.add(judgement(), neighbour, (Owner::Unknown, address(1)));
    let known = pending.add(judgement(), neighbour, (Owner::SignedInBefore, address(1)));
    let others = pending.add(judgement(), other, (Owner::Unknown, address(2)));
    for _ in 0..MAX_FOR_ONE_ADDRESS + 5 {
        // Of two in the same second either may be the older one.
        hand.advance(Duration::from_secs(1));
        pending.add(judgement(), browser(), (Owner::Unknown, address(1)));
    }
    assert_eq!(pending.lock().len(), MAX_FOR_ONE_ADDRESS + 2);
    assert!(pending.show(&others, other).is_some());
    assert!(pending.show(&known, neighbour).is_some());
    assert!(pending.show(&neighbours, neighbour).is_none());
}

/// Checklist 34: a flood from many addresses pushes out its own before those of an
/// address from which few come, and strangers before those who have been here.
#[test]
fn a_flood_from_many_addresses_pushes_out_itself() {
    let (pending, _hand) = waiting_room();
    let owner = browser();
    let early = pending.add(judgement(), owner, (Owner::Unknown, address(0)));
    let known = pending.add(judgement(), owner, (Owner::SignedInBefore, Peer::UNKNOWN));
    for number in 0..MAX_WAITING * 4 {
        pending.add(judgement(), browser(), (Owner::Unknown, address(number % 100 + 1)));
    }
    assert_eq!(pending.lock().len(), MAX_WAITING);
    assert!(pending.show(&early, owner).is_some());
    assert!(pending.show(&known, owner).is_some());
}

/// Checklist 34: who has a /48 of IPv6 has 65,536 addresses, and pushes out itself.
#[test]
fn a_flood_from_a_whole_network_pushes_out_itself() {
    let (pending, _hand) = waiting_room();
    let (owner, other) = (browser(), browser());
    let early = pending.add(judgement(), owner, (Owner::Unknown, address(0)));
    let unnamed = pending.add(judgement(), other, (Owner::Unknown, Peer::UNKNOWN));
    for number in 0..MAX_WAITING * 4 {
        let inside = format!("2001:db8:1:{number:x}::1").parse().unwrap();
        pending.add(judgement(), browser(), (Owner::Unknown, Peer::at(inside)));
    }
    assert_eq!(pending.lock().len(), MAX_WAITING);
    assert!(pending.show(&early, owner).is_some());
    assert!(pending.show(&unnamed, other).is_some());
}

/// Checklist 146: reloading for ever keeps the newest forms good.
#[test]
fn renderings_have_a_limit() {
    let (pending, _hand) = waiting_room();
    let browser = browser();
    let name = pending.add(judgement(), browser, (Owner::SignedIn, Peer::UNKNOWN));
    let tokens: Vec<String> =
        (0..=MAX_RENDERINGS).map(|_| pending.render(&name, browser).unwrap()).collect();
    assert_eq!(pending.take(&name, browser, &tokens[0]).unwrap_err(), NotTaken::ForeignForm);
    pending.take(&name, browser, &tokens[1]).unwrap();
    assert_eq!(pending.take(&name, browser, &tokens[2]).unwrap_err(), NotTaken::Gone);
}

#[test]
fn names_of_another_form_are_no_names() {
    for text in ["", "short", &"A".repeat(44), &format!("{}+", "A".repeat(42)), &"é".repeat(43)] {
        assert_eq!(PendingName::parse(text), None);
    }
    let name = PendingName::parse(&"A".repeat(43));
    assert_eq!(PendingName::in_query(Some(&format!("x=1&request={}", "A".repeat(43)))), name);
    assert!(name.is_some());
}
