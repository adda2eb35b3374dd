#!/usr/bin/env python3
"""A person's way through the pages in a real browser with scripts switched off: set-up, sign-in, consent, callback.

Pictures of every page in light, dark and phone width are left in target/screenshots.
"""

import http.server
import threading
import urllib.parse

import oauth
import tools
from forms import Page
from report import Report, expect
from server import Server
from webdriver import ENTER, Chromium

SCREENSHOTS = tools.TARGET / "screenshots"
LOOKS = {"light": (False, False), "dark": (True, False), "phone": (False, True), "phone-dark": (True, True)}
PRIVATE_PAGE = "wiki/people/Ada Quill.md"
CONFIDENTIAL_PAGE = "finance/Household budget.md"


class Callback(http.server.ThreadingHTTPServer):
    """The client's end. `/callback` says thanks; `/handover` answers 307 to an app's own scheme, as some clients do."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), CallbackHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.received = []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class CallbackHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path in ("/callback", "/handover"):
            self.server.received.append(self.server.url + self.path)
        if path == "/handover":
            self.send_response(307)
            self.send_header("Location", f"brain-mcp-test://done?{query}")
            self.end_headers()
        else:
            self.send_response(200 if path == "/callback" else 404)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"Thank you.")

    def log_message(self, *_):
        pass


class Person:
    """Somebody at the browser, who also looks at each page closely."""

    def __init__(self, report, server, browser, callback):
        self.report, self.server, self.browser, self.callback = report, server, browser, callback

    def inspect(self, name):
        """What holds for every page, and the pictures of it."""
        browser, check = self.browser, self.report.check
        source = browser.source
        page = Page(source)
        unlabelled = [
            control.name
            for form in page.forms
            for control in form.controls
            if control.type not in ("hidden", "submit") and not control.label
        ]
        check(f"{name}: every input has a label", not unlabelled, " ".join(unlabelled))
        check(
            f"{name}: there is a language, a title and one heading",
            bool(browser.all("html[lang]") and browser.all("title") and len(browser.all("h1")) == 1),
        )
        check(f"{name}: there is no script", "<script" not in source)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        pictures = {}
        for look, (dark, phone) in LOOKS.items():
            browser.look(dark=dark, phone=phone)
            pictures[look] = browser.picture()
            (SCREENSHOTS / f"{name}-{look}.png").write_bytes(pictures[look])
            check(f"{name}: nothing sticks out sideways ({look})", not browser.is_wider_than_the_window())
        check(f"{name}: dark is another picture than light", pictures["dark"] != pictures["light"])
        browser.look(dark=False, phone=False)

    def headers(self):
        """The headers of the page that is open now."""
        _, headers, _ = oauth.fetch(self.browser.url, headers={"Cookie": self.browser.cookies(), "Accept": "text/html"})
        return headers

    def set_up(self):
        self.browser.open(self.server.setup_link())
        self.inspect("setup")
        for field in self.browser.all("input[type=password]"):
            self.browser.type(field, self.server.password)
        self.browser.click(self.browser.one("form button"))
        self.browser.until("the set-up page is left", lambda: "/setup" not in self.browser.url)

    def sign_in(self):
        """By keyboard only."""
        self.browser.type(self.browser.one("input[type=password]"), self.server.password + ENTER)

    def ask(self, client):
        """Opens the client's authorization request and gets as far as the consent page."""
        self.browser.change_tab()
        self.browser.open(client.authorization_url())
        self.sign_in()
        self.browser.until("there is a button Allow", lambda: self.browser.button("Allow"))

    def boxes(self):
        """Scope to box."""
        boxes = self.browser.all("input[type=checkbox]")
        return {self.browser.attribute(box, "value"): box for box in boxes}

    def answer(self, button):
        """Presses the button; what the client's callback got."""
        before = len(self.callback.received)
        self.browser.press(button)
        self.browser.until("the callback is called", lambda: len(self.callback.received) > before)
        return self.callback.received[-1]


def may_read(server, token, path):
    return not oauth.call_tool(server.mcp_url, token, "read_page", {"path": path}).get("isError")


def first_visit(report, person, server, browser):
    browser.open(server.url + "/")
    report.check("a visitor is told the address for clients", server.mcp_url in Page(browser.source).text)
    person.inspect("home")
    with report.step("set up with the one-time link"):
        person.set_up()
    with report.step("the link works only once"):
        status, _, _ = oauth.fetch(server.setup_link())
        expect(status >= 400, f"the used link was answered {status}")
        browser.open(server.setup_link())
    person.inspect("error")
    with report.step("a wrong password is refused"):
        browser.change_tab()
        browser.open(oauth.Client(server.mcp_url).authorization_url())
        browser.type(browser.one("input[type=password]"), "not the password" + ENTER)
        browser.until("the page says so", lambda: browser.all("[role=alert]"))
    person.inspect("sign-in")


def consent_as_offered(report, person, server, client):
    with report.step("sign in with the keyboard, get to the consent page"):
        person.ask(client)
    person.inspect("consent")
    ticked = {scope for scope, box in person.boxes().items() if person.browser.is_ticked(box)}
    report.check("only wiki:read is ticked at first", ticked == {"wiki:read"}, " ".join(sorted(ticked)))
    policy = person.headers()["Content-Security-Policy"] or ""
    report.check(
        "the consent page has a policy without form-action", bool(policy) and "form-action" not in policy, policy
    )
    report.check("the consent page cannot be framed", "frame-ancestors 'none'" in policy, policy)
    text = Page(person.browser.source).text
    host = urllib.parse.urlsplit(client.redirect_uri).netloc
    report.check("it says who asks and where the answer goes", "Browser test" in text and host in text)
    with report.step("Allow leads to the client's callback with a good code"):
        tokens = client.redeem(person.answer("Allow"))
    report.check("the token has what was ticked", tokens["scope"] == "wiki:read", tokens["scope"])
    token = tokens["access_token"]
    report.check("it does not open other pages", not may_read(server, token, CONFIDENTIAL_PAGE))


def consent_with_more(report, person, server, client):
    with report.step("tick wiki:confidential and allow; the callback hands over to an app's own scheme"):
        person.ask(client)
        person.browser.complaints()
        box = person.boxes()["wiki:confidential"]
        if not person.browser.is_ticked(box):
            person.browser.click(box)
        tokens = client.redeem(person.answer("Allow"))
    refusals = [line for line in person.browser.complaints() if "Content Security Policy" in line]
    report.check("no policy of ours stopped the hand-over", not refusals, " ".join(refusals))
    granted = set(tokens["scope"].split())
    report.check("the token has both scopes", granted == {"wiki:read", "wiki:confidential"}, tokens["scope"])
    token = tokens["access_token"]
    report.check("it opens a confidential page", may_read(server, token, CONFIDENTIAL_PAGE))
    report.check("it does not open a page about a person", not may_read(server, token, PRIVATE_PAGE))


def refusal(report, person, client):
    with report.step("Deny is told to the client"):
        person.ask(client)
        answer = urllib.parse.parse_qs(urllib.parse.urlsplit(person.answer("Deny")).query)
        expect(answer["error"] == ["access_denied"], f"{answer}")
        expect(answer["state"] == [client.state], "state came back changed")


def app_scheme(report, person, client):
    with report.step("a client with a scheme of its own gets a page with a link to it"):
        person.ask(client)
        person.browser.press("Allow")
        link = person.browser.one(f"a[href^='{client.redirect_uri}']")
        client.redeem(person.browser.attribute(link, "href"))
    person.inspect("handover")


def main():
    with (
        Report("pages in Chromium") as report,
        Server(with_password=False) as server,
        Callback() as callback,
        Chromium() as browser,
    ):
        person = Person(report, server, browser, callback)
        first_visit(report, person, server, browser)

        def client(redirect_uri):
            return oauth.Client(server.mcp_url, redirect_uri, "Browser test")

        consent_as_offered(report, person, server, client(callback.url + "/callback"))
        consent_with_more(report, person, server, client(callback.url + "/handover"))
        refusal(report, person, client(callback.url + "/callback"))
        app_scheme(report, person, client("com.example.braintest:/callback"))


if __name__ == "__main__":
    main()
