//! How a document is fetched (CIMD sections 4, 4.4, 6.5, 6.6).

use std::time::{Duration, Instant};

use super::super::hostile::{PRIVATE, PUBLIC, Step, answer};
use super::{CALLBACK, HOST, HostileWeb, ID, PATH, assert_refused, assert_waits, authorize};
use super::{document, document_of, start};
use crate::authorization_server::client::ClientId;
use crate::authorization_server::client_document::FetchError;
use crate::authorization_server::testing::TestServer;

/// Asserts why a document cannot be had, and that the page does not say it: the host may
/// be one of the operator's own network, and the reader anybody.
async fn assert_unreached(server: &TestServer, id: &str, why: FetchError) {
    let page = authorize(server, id, CALLBACK).await;
    assert_refused(&page, "could not be fetched");
    assert!(!page.text.contains(&why.to_string()), "{}", page.text);
    let reason = server.server.client_to_ask_for(ClientId::presented(id)).await.unwrap_err();
    assert!(reason.to_string().ends_with(&why.to_string()), "{reason}");
}

/// Checklist 103, 105, B27, R11: no address but public ones, and one private one spoils all.
#[tokio::test]
async fn a_host_with_any_private_address_is_not_called() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    for addresses in [&[PRIVATE][..], &[PUBLIC, PRIVATE], &[PRIVATE, PUBLIC]] {
        let server = start(&web).await;
        web.resolve(HOST, &[addresses]);
        assert_unreached(&server, ID, FetchError::NotPublic).await;
    }
    assert_eq!((web.connections_to_private(), web.requests().len()), (0, 0));
}

/// Checklist 104: a name that changes its mind after the check leads nowhere new.
#[tokio::test]
async fn a_rebinding_name_is_looked_up_once() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    web.resolve(HOST, &[&[PUBLIC], &[PRIVATE]]);
    let server = start(&web).await;
    assert_waits(&authorize(&server, ID, CALLBACK).await);
    assert_eq!((web.look_ups(), web.connections_to_private()), (1, 0));
}

#[tokio::test]
async fn a_name_that_nobody_has_is_told() {
    let web = HostileWeb::start(&[HOST]).await;
    let server = start(&web).await;
    let id = "https://nobody.example/app.json";
    assert_unreached(&server, id, FetchError::NotFound).await;
}

/// The certificate is checked against the name.
#[tokio::test]
async fn a_host_that_is_another_one_is_not_believed() {
    let web = HostileWeb::start(&[HOST]).await;
    web.resolve("other.example", &[&[PUBLIC]]);
    web.publish(PATH, &document_of("https://other.example/app.json", ""), "");
    let server = start(&web).await;
    let id = "https://other.example/app.json";
    assert_unreached(&server, id, FetchError::Connection).await;
    assert_eq!(web.requests().len(), 0);
}

/// Checklist 106: redirects are errors, even to itself.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish("/other.json", &document(""), "");
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let server = start(&web).await;
        let head = "location: https://client.example/other.json\r\n";
        web.on(PATH, vec![Step::Send(answer(status, head, &document("")))]);
        assert_refused(&authorize(&server, ID, CALLBACK).await, "redirect");
    }
    assert!(web.requests().iter().all(|head| !head.contains("/other.json")));
}

/// Checklist 107: only 200 counts, and a 304 only as the answer to our question.
#[tokio::test]
async fn any_other_status_is_an_error() {
    let web = HostileWeb::start(&[HOST]).await;
    for status in [
        "201 Created",
        "203 Non-Authoritative",
        "206 Partial",
        "401 Unauthorized",
        "403 Forbidden",
        "404 Not Found",
        "410 Gone",
        "429 Too Many",
        "500 Oops",
        "503 Later",
    ] {
        let server = start(&web).await;
        web.on(PATH, vec![Step::Send(answer(status, "", &document("")))]);
        let number = status.split(' ').next().unwrap();
        assert_refused(&authorize(&server, ID, CALLBACK).await, &format!("status {number}"));
    }
    let server = start(&web).await;
    web.on(PATH, vec![Step::Send(b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec())]);
    assert_refused(&authorize(&server, ID, CALLBACK).await, "redirect");
}

/// Checklist 108, CIMD section 6.6: size, with and without an announced length.
#[tokio::test]
async fn a_large_document_is_cut() {
    let web = HostileWeb::start(&[HOST]).await;
    let large = document(&format!(r#","x":"{}""#, "a".repeat(6 * 1024)));
    let server = start(&web).await;
    web.publish(PATH, &large, "");
    assert_refused(&authorize(&server, ID, CALLBACK).await, "too large");

    let server = start(&web).await;
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                 transfer-encoding: chunked\r\n\r\n";
    let chunk = format!("400\r\n{}\r\n", "a".repeat(1024)).into_bytes();
    let endless = std::iter::repeat_n(Step::Send(chunk), 100_000);
    web.on(PATH, [Step::Send(head.to_vec())].into_iter().chain(endless).collect());
    let began = Instant::now();
    assert_refused(&authorize(&server, ID, CALLBACK).await, "too large");
    assert!(began.elapsed() < Duration::from_secs(4));
}

/// RFC 1952, with one block that is stored as it is: what any reader of gzip unpacks.
fn gzipped(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    let mut remainder = u32::MAX;
    for byte in text.bytes() {
        remainder ^= u32::from(byte);
        for _ in 0..8 {
            remainder = (remainder >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(remainder & 1));
        }
    }
    let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01".to_vec();
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(text.bytes());
    packed.extend((!remainder).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    packed
}

/// Checklist 108: nothing is unpacked, so nothing small becomes large.
#[tokio::test]
async fn a_packed_document_is_not_unpacked() {
    let web = HostileWeb::start(&[HOST]).await;
    let server = start(&web).await;
    let body = gzipped(&document(""));
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    web.on(PATH, vec![Step::Send([head.into_bytes(), body].concat())]);
    assert_refused(&authorize(&server, ID, CALLBACK).await, "not a JSON object");
    assert!(!web.requests()[0].to_ascii_lowercase().contains("accept-encoding"));
}

/// Checklist 108: an answer that drips for ever is cut after five seconds, header or body.
#[tokio::test]
async fn a_slow_answer_is_cut() {
    let web = HostileWeb::start(&[HOST]).await;
    let server = start(&web).await;
    let mut steps = vec![Step::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n"
            .to_vec(),
    )];
    for _ in 0..200 {
        steps.extend([Step::Wait(Duration::from_millis(100)), Step::Send(b" ".to_vec())]);
    }
    web.on(PATH, steps);
    web.on("/silent.json", vec![Step::Wait(Duration::from_secs(30))]);
    let silent = "https://client.example/silent.json";
    let began = Instant::now();
    tokio::join!(
        assert_unreached(&server, ID, FetchError::TooSlow),
        assert_unreached(&server, silent, FetchError::TooSlow)
    );
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
}

/// A page that happens to be JSON inside is a page.
#[tokio::test]
async fn what_does_not_call_itself_json_is_not_read() {
    let web = HostileWeb::start(&[HOST]).await;
    let server = start(&web).await;
    let text = document("");
    let page = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    );
    web.on(PATH, vec![Step::Send(page.into_bytes())]);
    assert_refused(&authorize(&server, ID, CALLBACK).await, "not JSON");
}

/// Checklist 113: fresh as long as the headers say, within bounds; then asked for again with its
/// tag, and a 304 makes it fresh again.
#[tokio::test]
async fn a_document_is_kept_as_its_headers_say() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "cache-control: max-age=600\r\netag: \"one\"\r\n");
    let server = start(&web).await;
    let ask = async || assert_waits(&authorize(&server, ID, CALLBACK).await);
    ask().await;
    server.advance(599);
    ask().await;
    assert_eq!(web.requests().len(), 1);
    let unchanged = b"HTTP/1.1 304 Not Modified\r\ncache-control: max-age=900\r\n\r\n".to_vec();
    web.on(PATH, vec![Step::Send(unchanged)]);
    server.advance(1);
    ask().await;
    assert_eq!(web.requests().len(), 2);
    assert!(web.requests()[1].to_ascii_lowercase().contains("if-none-match: \"one\""));
    server.advance(899);
    ask().await;
    assert_eq!(web.requests().len(), 2, "the 304 renewed it");

    // Bounds: no-store is five minutes, a year is a day.
    web.publish(PATH, &document(""), "cache-control: no-store\r\n");
    server.advance(1);
    ask().await;
    server.advance(299);
    ask().await;
    assert_eq!(web.requests().len(), 3);
    web.publish(PATH, &document(""), "cache-control: max-age=31536000\r\n");
    server.advance(1);
    ask().await;
    server.advance(24 * 60 * 60);
    ask().await;
    assert_eq!(web.requests().len(), 5);
}

/// Checklist 114: a failure is remembered for a short time and never as a client.
#[tokio::test]
async fn a_failure_is_remembered_for_a_while() {
    let web = HostileWeb::start(&[HOST]).await;
    let server = start(&web).await;
    web.on(PATH, vec![Step::Send(answer("503 Later", "cache-control: max-age=86400\r\n", ""))]);
    for _ in 0..10 {
        assert_refused(&authorize(&server, ID, CALLBACK).await, "status 503");
    }
    assert_eq!(web.requests().len(), 1, "not asked again at once");
    server.advance(5);
    assert_refused(&authorize(&server, ID, CALLBACK).await, "status 503");
    server.advance(5);
    assert_refused(&authorize(&server, ID, CALLBACK).await, "status 503");
    assert_eq!(web.requests().len(), 2, "each failure doubles the pause");
    web.publish(PATH, &document(""), "");
    server.advance(5);
    assert_waits(&authorize(&server, ID, CALLBACK).await);
}

/// Checklist 115: a hundred browsers make one fetch; one site gets thirty a minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_ask_make_one_fetch() {
    let web = HostileWeb::start(&[HOST]).await;
    let slow = vec![
        Step::Wait(Duration::from_millis(200)),
        Step::Send(answer("200 OK", "", &document(""))),
    ];
    web.on(PATH, slow);
    let server = std::sync::Arc::new(start(&web).await);
    let asking: Vec<_> = (0..100)
        .map(|_| {
            let server = std::sync::Arc::clone(&server);
            tokio::spawn(async move { authorize(&server, ID, CALLBACK).await })
        })
        .collect();
    for one in asking {
        assert_waits(&one.await.unwrap());
    }
    assert_eq!(web.requests().len(), 1);

    for number in 0..60 {
        let id = format!("https://client.example/{number}.json");
        let answer = authorize(&server, &id, CALLBACK).await;
        assert_refused(&answer, if number < 29 { "status 404" } else { "try again in a minute" });
    }
    assert_eq!(web.requests().len(), 30);
}

/// Checklist 115: what strangers have us fetch takes neither the place nor the budget of a client
/// that a user has approved.
#[tokio::test]
async fn strangers_do_not_keep_an_approved_client_out() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "cache-control: max-age=300\r\n");
    let server = start(&web).await;
    super::approved(&server).await;
    for number in 0..300 {
        let id = format!("https://client.example/{number}.json");
        authorize(&server, &id, CALLBACK).await;
        authorize(&server, &format!("https://{number}.example/app.json"), CALLBACK).await;
    }
    assert_waits(&authorize(&server, ID, CALLBACK).await);
    server.advance(300);
    for number in 0..300 {
        let id = format!("https://client.example/{number}.json");
        authorize(&server, &id, CALLBACK).await;
    }
    assert_waits(&authorize(&server, ID, CALLBACK).await);
}
