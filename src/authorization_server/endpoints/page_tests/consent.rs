//! `/consent`: what the owner sees, and what one answer does.

use std::time::Duration;

use axum::http::{StatusCode, header};

use super::{Answer, Ask, Browser, CALLBACK, PageServer};
use crate::authorization_server::audit::What;
use crate::authorization_server::client::ClientId;
use crate::authorization_server::client_document::hostile::HostileWeb;
use crate::authorization_server::password::{HashingCost, Password};
use crate::authorization_server::testing::TestServer;

async fn setting() -> (PageServer, Browser, ClientId) {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let browser = test.signed_in().await;
    (test, browser, client)
}

fn ticked(page: &Answer) -> Vec<&str> {
    let boxes = page.body.split("<input type=\"checkbox\"").skip(1);
    boxes
        .filter_map(|rest| rest.split_once('>'))
        .filter(|(tag, _)| tag.ends_with(" checked"))
        .filter_map(|(tag, _)| tag.split_once("value=\"")?.1.split('"').next())
        .collect()
}

/// Checklist 143, 25, design section 4 rule 5: asked every time; at first only reading is
/// ticked, then what was allowed last time, and people never.
#[tokio::test]
async fn consent_is_asked_for_every_time_with_the_last_choice_ticked() {
    let (test, mut browser, client) = setting().await;
    let url = Ask::of(&client).url();
    let page = browser.open(&url).await;
    assert_eq!(ticked(&page), ["wiki:read"]);
    browser.allow(&page, &["wiki:confidential", "wiki:people", "wiki:write"]).await.code();
    let page = browser.open(&url).await;
    assert_eq!(ticked(&page), ["wiki:confidential", "wiki:write"]);
    let page = browser.open(&Ask::of(&client).with("scope", "wiki:read").url()).await;
    assert_eq!(ticked(&page), Vec::<&str>::new());
    // Another place of the same client is another question.
    let other = test.client(&["https://other.example/cb"]).await;
    let ask = Ask::of(&other).with("redirect_uri", "https://other.example/cb");
    assert_eq!(ticked(&browser.open(&ask.url()).await), ["wiki:read"]);
}

/// Checklist 144
#[tokio::test]
async fn the_page_says_who_where_what_how_long_and_as_whom() {
    let (test, mut browser, _client) = setting().await;
    let client = test
        .client(&["https://app.example:8443/cb", "http://127.0.0.1/cb", "cursor://auth/cb"])
        .await;
    let open = |place: &str| Ask::of(&client).with("redirect_uri", place).url();
    let website = browser.open(&open("https://app.example:8443/cb")).await.body;
    for words in [
        "<bdi>Notebook</bdi>",
        "name not verified",
        "<bdi>app.example:8443</bdi>",
        "https://brain.example/mcp",
        "Read ordinary notes",
        "Read confidential notes",
        "Read notes about people",
        "Add notes to the inbox",
        "<option value=\"1h\" selected>1 hour",
        "<option value=\"180d\" selected>180 days",
        "Signed in as <strong><bdi>owner</bdi>",
        "Not you?",
        ">Deny</button>",
        ">Allow</button>",
        client.as_str(),
    ] {
        assert!(website.contains(words), "{words} is not in {website}");
    }
    let program = browser.open(&open("http://127.0.0.1:4711/cb")).await.body;
    assert!(program.contains("a program on this computer"));
    assert!(program.contains("<bdi>127.0.0.1:4711</bdi>"));
    assert!(program.contains("Every program on this computer could ask like this"));
    assert!(!website.contains("Every program on this computer"));
    let app = browser.open(&open("cursor://auth/cb")).await.body;
    assert!(app.contains("the app that opens <bdi>cursor:</bdi> links"));
}

/// Checklist 144, 117: the page of a published client leads with the host that vouches, and
/// tells of a change since the last consent.
#[tokio::test]
async fn a_published_client_is_named_by_its_host() {
    let web = HostileWeb::start(&["client.example"]).await;
    let id = "https://client.example/app.json";
    let document = |places: &str| {
        format!(r#"{{"client_id":"{id}","client_name":"Claude","redirect_uris":[{places}]}}"#)
    };
    web.publish("/app.json", &document(&format!("\"{CALLBACK}\"")), "");
    let base = TestServer::start_on(web.web(), 1, |settings| {
        settings.issuer = super::ISSUER.parse().unwrap();
        settings.resource = format!("{}/mcp", super::ISSUER).parse().unwrap();
        settings.hashing_cost = HashingCost::LEAST;
    });
    base.server.first_run(Some(Password::typed(super::PASSWORD))).await.unwrap();
    let test = PageServer::of(base);
    let url = Ask::of(&ClientId::presented(id)).url();
    let warning = "has changed what it says about itself";
    let mut browser = test.signed_in().await;
    let page = browser.open(&url).await;
    let heading = page.body.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    assert!(heading.contains("<bdi>client.example</bdi>"), "{heading}");
    assert!(!heading.contains("Claude"), "{heading}");
    assert!(page.body.contains("It calls itself <bdi>Claude</bdi>") && page.body.contains(id));
    assert!(!page.body.contains(warning));
    browser.allow(&page, &["wiki:read"]).await.code();

    let moved = format!("\"https://elsewhere.example/cb\",\"{CALLBACK}\"");
    web.publish("/app.json", &document(&moved), "");
    test.wait(Duration::from_secs(24 * 60 * 60));
    let page = test.signed_in().await.open(&url).await;
    assert!(page.body.contains(warning), "{}", page.body);
}

/// Checklist 145
#[tokio::test]
async fn what_is_not_ticked_is_not_given() {
    let (test, mut browser, client) = setting().await;
    let url = Ask::of(&client).url();
    let page = browser.open(&url).await;
    let code = browser.allow(&page, &["wiki:confidential"]).await.code();
    assert_eq!(test.issued(&code).await.terms.scopes.to_string(), "wiki:confidential");
    let page = browser.open(&url).await;
    let nothing = browser.allow(&page, &[]).await;
    assert_eq!(nothing.error(), "access_denied");
    assert_eq!(nothing.response()["state"], "xyz");
}

/// What was not asked for cannot be ticked, whatever the form says.
#[tokio::test]
async fn a_forged_tick_gives_nothing() {
    let (_test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).with("scope", "wiki:read").url()).await;
    let answer = browser.allow(&page, &["wiki:read", "wiki:people"]).await;
    answer.assert_local_page(StatusCode::BAD_REQUEST);
    browser.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
}

/// The owner's spans reach the grant; people never outlast it.
#[tokio::test]
async fn the_spans_are_those_of_the_form() {
    let (test, mut browser, client) = setting().await;
    let (hour, day) = (Duration::from_secs(3600), Duration::from_secs(86_400));
    for (grant, people, ends, people_ends) in
        [("1d", "1d", day, day), ("30d", "8h", 30 * day, 8 * hour), ("180d", "1h", 180 * day, hour)]
    {
        let page = browser.open(&Ask::of(&client).url()).await;
        let token = page.form_token();
        let fields = [
            ("form", &*token),
            ("scope", "wiki:people"),
            ("grant_for", grant),
            ("people_for", people),
            ("decision", "allow"),
        ];
        let terms = {
            let code = browser.post(&page.action(), &fields).await.code();
            test.issued(&code).await.terms
        };
        let now = test.server.clock().now();
        assert_eq!((terms.ends_at, terms.people_until), (now + ends, now + people_ends));
    }
}

/// Checklist 146: two renderings are both good, one answer is taken, and a GET gives nothing.
#[tokio::test]
async fn two_renderings_stay_good_and_one_answer_is_taken() {
    let (_test, mut browser, client) = setting().await;
    let first = browser.open(&Ask::of(&client).url()).await;
    let second = browser.get(&first.action()).await;
    assert_ne!(first.form_token(), second.form_token());
    browser.get(&format!("{}&decision=allow&scope=wiki:read", first.action())).await;
    browser.allow(&first, &["wiki:read"]).await.code();
    browser.allow(&second, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);

    let first = browser.open(&Ask::of(&client).url()).await;
    let second = browser.get(&first.action()).await;
    browser.allow(&second, &["wiki:read"]).await.code();
    browser.deny(&first).await.assert_local_page(StatusCode::FORBIDDEN);
}

/// Checklist 146: of many answers at once exactly one is taken.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_answers_at_once_one_is_taken() {
    let (_test, mut browser, client) = setting().await;
    let url = Ask::of(&client).url();
    let first = browser.open(&url).await;
    let mut pages = vec![first];
    for _ in 0..15 {
        let again = browser.open(&pages[0].action()).await;
        pages.push(again);
    }
    let mut answers = tokio::task::JoinSet::new();
    for page in pages {
        let mut browser = browser.clone();
        answers.spawn(async move { browser.allow(&page, &["wiki:read"]).await.status });
    }
    let statuses = answers.join_all().await;
    let taken = statuses.iter().filter(|status| **status == StatusCode::SEE_OTHER).count();
    assert_eq!(taken, 1, "{statuses:?}");
}

/// Checklist 146: a form that comes many times at once, as after a double click, has one
/// answer with one code; another answer to it is none.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_comes_twice_is_answered_once_and_told_twice() {
    let (test, mut browser, client) = setting().await;
    let page = std::sync::Arc::new(browser.open(&Ask::of(&client).url()).await);
    let mut answers = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (mut browser, page) = (browser.clone(), std::sync::Arc::clone(&page));
        answers.spawn(async move { browser.allow(&page, &["wiki:read"]).await.code() });
    }
    let codes = answers.join_all().await;
    assert!(codes.iter().all(|code| *code == codes[0]), "{codes:?}");
    browser.deny(&page).await.assert_local_page(StatusCode::FORBIDDEN);
    let more = browser.allow(&page, &["wiki:read", "wiki:write"]).await;
    more.assert_local_page(StatusCode::FORBIDDEN);
    let mut elsewhere = test.signed_in().await;
    elsewhere.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
    let events = test.server.events(None, usize::MAX).await.unwrap();
    let allowed = events.iter().filter(|event| matches!(event.what, What::Allowed { .. }));
    assert_eq!(allowed.count(), 1);
    test.wait(Duration::from_secs(10));
    browser.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
}

/// A double click as browsers make it: they hang up on the first, whatever has become of
/// it, and want the answer to the second.
#[tokio::test(flavor = "multi_thread")]
async fn who_hangs_up_on_the_first_gets_the_answer_to_the_second() {
    let (test, mut browser, client) = setting().await;
    for milliseconds in 0..20 {
        let page = browser.open(&Ask::of(&client).url()).await;
        let mut first = browser.clone();
        let span = Duration::from_millis(milliseconds);
        let _hung_up = tokio::time::timeout(span, first.allow(&page, &["wiki:read"])).await;
        let code = browser.allow(&page, &["wiki:read"]).await.code();
        assert!(test.issued(&code).await.is_fresh());
    }
}

/// Checklist 53: a code that the client has had is not sent again: to exchange it twice
/// would end the access.
#[tokio::test]
async fn a_code_that_was_exchanged_is_not_sent_again() {
    let (test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    let code = browser.allow(&page, &["wiki:read"]).await.code();
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", &code),
        ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
    ];
    let tokens = test.base.post_form("/token", &form).await.tokens();
    browser.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
    test.base.live_scopes(&tokens).expect("nobody has replayed anything");
}

/// A denial that comes twice is told twice, too.
#[tokio::test]
async fn a_denial_that_comes_twice_is_told_twice() {
    let (_test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    for _ in 0..2 {
        assert_eq!(browser.deny(&page).await.error(), "access_denied");
    }
    browser.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
}

/// Checklist 146: missing, made-up and foreign form tokens; the request goes on waiting.
#[tokio::test]
async fn a_form_that_we_did_not_render_is_refused() {
    let (_test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    let other = browser.open(&Ask::of(&client).url()).await;
    let sign_out_token = page.body.rsplit_once("name=\"form\" value=\"").unwrap().1;
    let sign_out_token = sign_out_token.split('"').next().unwrap().to_owned();
    for token in ["", "A", &"A".repeat(43), &other.form_token(), &sign_out_token] {
        let fields =
            [("form", token), ("scope", "wiki:read"), ("grant_for", "1d"), ("decision", "allow")];
        let answer = browser.post(&page.action(), &fields).await;
        answer.assert_local_page(StatusCode::FORBIDDEN);
    }
    browser.allow(&page, &["wiki:read"]).await.code();
}

/// Checklist 146, R6, R12, T17, B29, B30
#[tokio::test]
async fn forms_of_other_sites_are_refused() {
    let (_test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    for headers in [
        vec![("origin", "https://evil.example")],
        vec![("origin", "https://brain.example.evil.example")],
        vec![("origin", "http://brain.example")],
        vec![("origin", "https://brain.example:8443")],
        vec![("origin", "null")],
        vec![("origin", "null"), ("sec-fetch-site", "cross-site")],
        vec![("origin", "https://brain.example"), ("sec-fetch-site", "cross-site")],
        vec![("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
        vec![("sec-fetch-site", "same-site")],
        vec![("sec-fetch-site", "cross-site")],
    ] {
        browser.headers.clone_from(&headers);
        let answer = browser.allow(&page, &["wiki:read"]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    for headers in [
        vec![],
        vec![("origin", "https://brain.example")],
        vec![("origin", "https://brain.example"), ("sec-fetch-site", "same-origin")],
        vec![("origin", "null"), ("sec-fetch-site", "same-origin")],
    ] {
        browser.headers.clear();
        let page = browser.open(&Ask::of(&client).url()).await;
        browser.headers = headers;
        browser.allow(&page, &["wiki:read"]).await.code();
    }
}

/// Checklist 147: what browser A started is worth nothing in browser B, signed in or not, and
/// A's cookie cannot be planted in B.
#[tokio::test]
async fn a_request_cannot_be_carried_to_another_browser() {
    let (test, mut owner, client) = setting().await;
    let mut attacker = test.browser();
    let started = attacker.get(&Ask::of(&client).url()).await;
    let consent = started.location().replace("/login", "/consent");
    owner.get(&consent).await.assert_local_page(StatusCode::NOT_FOUND);

    let mut victim = test.browser();
    let sign_in = victim.open(started.location()).await;
    assert!(!sign_in.body.contains("Notebook"), "{}", sign_in.body);
    let next = victim.sign_in(started.location(), super::PASSWORD).await;
    victim.get(next.location()).await.assert_local_page(StatusCode::NOT_FOUND);

    // A form that was rendered for one browser is not taken from another.
    let page = owner.open(&Ask::of(&client).url()).await;
    let mut second = test.signed_in().await;
    second.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
    owner.allow(&page, &["wiki:read"]).await.code();
}

/// Checklist 28, 147: a denial is as final as an approval.
#[tokio::test]
async fn a_denial_is_final() {
    let (_test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    assert_eq!(browser.deny(&page).await.error(), "access_denied");
    browser.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
}

/// Design section 4 rule 9: private-use schemes get a page that goes by itself.
#[tokio::test]
async fn apps_are_reached_by_a_page_that_navigates() {
    let (test, mut browser, _client) = setting().await;
    for place in ["cursor://anysphere.cursor/cb", "com.example.app:/cb?x='1'&y=;2"] {
        let client = test.client(&[place]).await;
        let ask = Ask::of(&client).with("redirect_uri", place).with("state", "\"><script>");
        let page = browser.open(&ask.url()).await;
        let allowed = browser.allow(&page, &["wiki:read"]).await;
        assert_eq!((allowed.status, allowed.location()), (StatusCode::OK, ""));
        assert!(allowed.body.contains("http-equiv=\"refresh\""), "{}", allowed.body);
        assert!(allowed.body.contains("code=") && !allowed.body.contains("<script"));
        assert_eq!(allowed.body.matches("href=\"").count(), 3, "{}", allowed.body);
        let page = browser.open(&ask.url()).await;
        let denied = browser.deny(&page).await;
        assert!(denied.body.contains("error=access_denied"), "{}", denied.body);
    }
}

/// Checklist 148: the headers of every answer, and the exception of the consent page (B28, R16).
#[tokio::test]
async fn every_answer_is_protected() {
    let (test, mut browser, client) = setting().await;
    let url = Ask::of(&client).url();
    let consent = browser.open(&url).await;
    let answers = [
        browser.get("/login").await,
        test.browser().open(&url).await,
        browser.get(&url).await,
        browser.get("/authorize").await,
        browser.get("/logout").await,
        browser.get("/setup?token=x").await,
        browser.post("/login", &[]).await,
        browser.post("/consent", &[]).await,
        browser.send(axum::http::Method::PUT, "/login", axum::body::Body::empty()).await,
        browser.deny(&consent).await,
    ];
    for answer in answers.iter().chain([&consent]) {
        let policy = answer.header(header::CONTENT_SECURITY_POLICY);
        for part in
            ["default-src 'none'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{part}: {answer:?}");
        }
        assert!(!policy.contains("unsafe"));
        assert_eq!(answer.header(header::X_FRAME_OPTIONS), "DENY");
        assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
        assert_eq!(answer.header(header::REFERRER_POLICY), "same-origin");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        let has_form_action = policy.contains("form-action 'self'");
        assert_eq!(has_form_action, !answer.body.contains("value=\"allow\""));
        for inline in ["<script", " style=", " onload", " onclick", "javascript:"] {
            assert!(!answer.body.contains(inline), "{inline}");
        }
    }
    let style = browser.get("/assets/style.css").await;
    assert_eq!(style.header(header::CONTENT_TYPE), "text/css; charset=utf-8");
    assert!(style.header(header::CACHE_CONTROL).contains("max-age"));
}

/// Checklist 148: whatever a client calls itself, it stays text.
#[tokio::test]
async fn what_clients_supply_stays_text() {
    let (test, mut browser, _client) = setting().await;
    let corpus = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' autofocus onfocus=alert(1) x='",
        "</title><svg/onload=alert(1)>",
        "{{ 7*7 }}{% raw %}",
        "<!--",
        "&lt;script&gt;",
        "</bdi></h1><form action=https://evil.example>",
        "javascript:alert(1)",
        "\u{202E}gnp.exe",
        "</textarea><iframe srcdoc='<b>'>",
    ];
    for text in corpus {
        let client = test.named_client(text, &[CALLBACK, "http://localhost/cb"]).await;
        let ask = Ask::of(&client)
            .with("state", text)
            .with("scope", &format!("wiki:read {text}"))
            .and("ui_locales", text);
        let mut pages = vec![browser.open(&ask.url()).await];
        pages.push(test.browser().open(&ask.url()).await);
        pages.push(browser.open(&ask.clone().with("client_id", text).url()).await);
        pages.push(browser.open(&ask.clone().with("redirect_uri", text).url()).await);
        pages.push(browser.post("/login", &[("form", text), ("user", text)]).await);
        let query = form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        pages.push(browser.get(&format!("/setup?token={query}")).await);
        pages.push(browser.get(&format!("/consent?request={query}")).await);
        for page in pages {
            for tag in ["<script", "<img src=x", "<svg", "<iframe", "<!--", "evil.example>"] {
                assert!(!page.body.contains(tag), "{text}: {}", page.body);
            }
            // No attribute was left: every quote in the text is escaped.
            assert!(!page.body.contains("' autofocus onfocus"), "{}", page.body);
            assert!(!page.location().contains(['<', '"', '\'']), "{}", page.location());
        }
        assert!(browser.open(&ask.url()).await.body.contains("<h1><bdi>"));
    }
}
