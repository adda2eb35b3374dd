//! A browser that is not one: keeps cookies, follows redirects, presses buttons.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::Request;
use brain_mcp::authorization_server::OWNER;

use super::forms::Form;
use super::site::{PASSWORD, Reply, Site};

/// A browser with a cookie jar.
#[derive(Default)]
pub struct Browser {
    cookies: BTreeMap<String, String>,
}

/// A page in a browser, or the place outside of the server that it was sent to.
#[derive(Debug)]
pub enum Page {
    /// A page of the server, with the path that it is at.
    Here(String, Reply),
    /// Another site.
    Elsewhere(String),
}

impl Browser {
    /// A browser in which the owner has just signed in.
    pub async fn signed_in(site: &Site) -> Self {
        let mut browser = Self::default();
        let page = browser.open(site, "/login").await;
        // The page asks for a name only where there are several users.
        let name_owner = |form: Form| {
            let asks = form.fields.iter().any(|(name, value)| name == "user" && value.is_empty());
            if asks { form.fill("user", OWNER) } else { form }
        };
        let sign_in = |form| name_owner(form).fill("password", PASSWORD);
        page.submit_with(&mut browser, site, "Sign in", sign_in).await;
        browser
    }

    /// Opens an address and follows redirects while they stay on the server.
    pub async fn open(&mut self, site: &Site, url: &str) -> Page {
        let path = url.strip_prefix(site.issuer()).unwrap_or(url).to_owned();
        let request = Request::get(&path).body(Body::empty()).expect("a request");
        self.follow(site, path, request).await
    }

    /// Posts a form body as a page of the server would.
    pub async fn post(&mut self, site: &Site, path: &str, body: String) -> Page {
        let request = Request::post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", site.issuer())
            .header("sec-fetch-site", "same-origin")
            .body(Body::from(body))
            .expect("a request");
        self.follow(site, path.to_owned(), request).await
    }

    /// What is in the cookie jar.
    pub fn cookies(&self) -> impl Iterator<Item = &String> {
        self.cookies.values()
    }

    async fn follow(&mut self, site: &Site, mut path: String, request: Request<Body>) -> Page {
        let mut request = request;
        for _ in 0..10 {
            let reply = self.send(site, request).await;
            if !reply.status.is_redirection() {
                return Page::Here(path, reply);
            }
            let location = reply.header("location").to_owned();
            let target = location.strip_prefix(site.issuer()).unwrap_or(&location);
            if !target.starts_with('/') {
                return Page::Elsewhere(location);
            }
            path = target.to_owned();
            request = Request::get(&path).body(Body::empty()).expect("a request");
        }
        panic!("too many redirects, the last to {path}");
    }

    /// Sends one request with the cookies, and keeps those that come back.
    pub async fn send(&mut self, site: &Site, mut request: Request<Body>) -> Reply {
        let pairs: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !pairs.is_empty() {
            let value = pairs.join("; ").parse().expect("a header value");
            request.headers_mut().insert("cookie", value);
        }
        let reply = site.send(request).await;
        for cookie in reply.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().expect("text");
            let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
            let (name, value) = pair.split_once('=').expect("a pair");
            if value.is_empty() || attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        reply
    }
}

impl Page {
    /// The answer of a page of the server.
    #[track_caller]
    pub fn reply(&self) -> &Reply {
        match self {
            Self::Here(_, reply) => reply,
            Self::Elsewhere(url) => panic!("sent to {url}"),
        }
    }

    /// Where the browser was sent.
    #[track_caller]
    pub fn elsewhere(&self) -> &str {
        match self {
            Self::Elsewhere(url) => url,
            Self::Here(path, reply) => panic!("still at {path}: {} {}", reply.status, reply.body),
        }
    }

    /// The form that has a button with this label.
    #[track_caller]
    pub fn form(&self, label: &str) -> Form {
        let forms = Form::all(&self.reply().body);
        let found =
            forms.into_iter().find(|form| form.buttons.iter().any(|(text, ..)| text == label));
        found.unwrap_or_else(|| panic!("no button {label} in {}", self.reply().body))
    }

    /// Changes the form with this button, and presses it.
    pub async fn submit_with(
        &self,
        browser: &mut Browser,
        site: &Site,
        label: &str,
        change: impl FnOnce(Form) -> Form,
    ) -> Self {
        let form = change(self.form(label));
        let Self::Here(path, _) = self else { panic!("not a page of the server") };
        let target = if form.action.is_empty() { path.clone() } else { form.action.clone() };
        browser.post(site, &target, form.pressed(label)).await
    }
}
