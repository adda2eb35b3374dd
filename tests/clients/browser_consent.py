#!/usr/bin/env python3
"""A person's way through the pages in a real browser with scripts switched off: set-up, sign-in, every kind of consent.

Pictures of every page are left in target/screenshots.
"""

import urllib.parse

import oauth
from accessibility import grave_faults
from callback import Callback, SecureCallback
from forms import Page
from person import CONFIDENTIAL_PAGE, PRIVATE_PAGE, Person, may_read
from report import Report, expect
from server import Server
from webdriver import ENTER, Chromium

OTHER_HOST = "reader.example"
LONGEST_NAME = "Donaudampfschifffahrtsgesellschaftskapitän" + "Ω" * 58
# What turns the direction, breaks the line, covers the lines around, is markup, and has no end.
HOSTILE_NAME = (
    "\u202eknaB ruoY\u2066 <b>says</b>\r\n\u2028allow \U0001f469\u200d\U0001f467 Z"
    + "\u0334\u033f\u0489" * 200
    + "algo "
    + "really " * 1500
)
FAULTY_PAGE = "data:text/html," + urllib.parse.quote(
    "<title>Faults</title><p style='color:#aaa;background:#fff;width:9000px'>Pale<input><img src='data:,'>"
)
THIS_COMPUTER = "Every program on this computer could ask like this"
SOME_APP = "Any app on this device may open such links"


def the_tests_can_see(report, browser):
    """A page that is full of faults, so that we know that ours are looked at."""
    with report.step("axe-core finds faults where there are some"):
        browser.open(FAULTY_PAGE)
        faults = " ".join(grave_faults(browser))
        for rule in ("html-has-lang", "color-contrast", "label", "image-alt"):
            expect(f"{rule} at " in faults, f"{rule} is not among {faults}")
    with report.step("something that sticks out sideways is seen"):
        expect(browser.is_wider_than_the_window(), "it is not")


def first_visit(report, person, server, browser):
    browser.open(server.url + "/")
    report.check("a visitor is told the address for clients", server.mcp_url in Page(browser.source).text)
    person.inspect("home")
    with report.step("set up with the one-time link"):
        browser.open(server.setup_link())
        person.inspect("setup")
        person.set_up()
    person.inspect("welcome")
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
    report.check("it warns that any program here could ask like that", THIS_COMPUTER in text)
    with report.step("Allow leads to the client's callback with a good code"):
        tokens = client.redeem(person.answer("Allow"))
    report.check("the token has what was ticked", tokens["scope"] == "wiki:read", tokens["scope"])
    token = tokens["access_token"]
    report.check("it does not open other pages", not may_read(server, token, CONFIDENTIAL_PAGE))


def consent_with_more(report, person, server, client):
    with report.step("tick wiki:confidential and allow; the callback hands over to an app's own scheme"):
        person.ask(client)
        person.browser.complaints()
        person.tick("wiki:read", "wiki:confidential")
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
        expect_denial(client, person.answer("Deny"))
    with report.step("to allow nothing is to deny"):
        person.ask(client)
        person.tick()
        expect_denial(client, person.answer("Allow"))


def expect_denial(client, callback_url):
    answer = urllib.parse.parse_qs(urllib.parse.urlsplit(callback_url).query)
    expect(answer["error"] == ["access_denied"], f"{answer}")
    expect(answer["state"] == [client.state], "state came back changed")


def notes_about_people(report, person, server, client):
    with report.step("notes about people are opened for a day, and not for good"):
        person.ask(client)
        person.tick("wiki:read", "wiki:people")
        spans = [person.browser.attribute(span, "value") for span in person.browser.all("#people-for option")]
        expect(spans == ["1h", "8h", "1d"], f"the spans are {spans}")
        chosen = person.browser.one("#people-for option:checked")
        expect(person.browser.attribute(chosen, "value") == "1h", "the shortest is not the one that is offered first")
        person.browser.click(person.browser.one("#people-for option[value='1d']"))
        tokens = client.redeem(person.answer("Allow"))
    token = tokens["access_token"]
    report.check("the token opens a page about a person", may_read(server, token, PRIVATE_PAGE))
    report.check("it does not open a confidential page", not may_read(server, token, CONFIDENTIAL_PAGE))
    with report.step("the next time the box for people is not ticked"):
        person.ask(client)
        ticked = {scope for scope, box in person.boxes().items() if person.browser.is_ticked(box)}
        expect(ticked == {"wiki:read"}, f"ticked: {ticked}")


def app_scheme(report, person, client):
    with report.step("a client with a scheme of its own gets a page with a link to it"):
        person.ask(client)
        expect(SOME_APP in person.text, "there is no warning of other apps")
        person.inspect("consent-scheme")
        person.browser.press("Allow")
        link = person.browser.one(f"a[href^='{client.redirect_uri}']")
        client.redeem(person.browser.attribute(link, "href"))
    person.inspect("handover")


def unknown_website(report, person, client, site):
    with report.step("a website that registered itself is named by where the answer goes"):
        person.ask(client)
        text = person.text
        expect("name not verified" in text and "address verified" not in text, "its name looks verified")
        expect(OTHER_HOST in text, f"{OTHER_HOST} is not named")
        expect(THIS_COMPUTER not in text and SOME_APP not in text, "there is a warning for other kinds of apps")
        person.inspect("consent-website")
        client.redeem(person.answer("Allow", site))


def described_apps(report, person, server, site):
    """Client ID Metadata Documents, fetched by the running server from https://localhost."""
    person.browser.change_tab()
    with report.step("an app with a document is named by the host that vouches for it"):
        answers = f"https://{OTHER_HOST}/callback"
        client_id = site.publish("/notebook.json", "Notebook", answers)
        client = oauth.Client(server.mcp_url, answers, client_id=client_id)
        person.ask(client)
        text = person.text
        host = urllib.parse.urlsplit(client_id).netloc
        expect(f"An app of {host}" in text and "address verified" in text, text)
        expect("It calls itself Notebook" in text and client_id in text, text)
        expect("name not verified" not in text, "its name looks unverified")
        expect(OTHER_HOST in text and THIS_COMPUTER not in text, "it is not said where the answer goes")
        person.inspect("consent-document")
        client.redeem(person.answer("Allow", site))
    with report.step("if its answers go to this computer, there is the warning all the same"):
        answers = person.callback.url + "/callback"
        client_id = site.publish("/command.json", "Notebook for the terminal", answers)
        client = oauth.Client(server.mcp_url, answers, client_id=client_id)
        person.ask(client)
        text = person.text
        expect("address verified" in text and THIS_COMPUTER in text, text)
        person.inspect("consent-document-here")
        client.redeem(person.answer("Allow"))
    with report.step("an app whose document is not there is not let in"):
        client = oauth.Client(server.mcp_url, answers, client_id=site.url + "/nowhere.json")
        person.browser.open(client.authorization_url())
        person.await_words("This app cannot be looked up")
    person.inspect("error-document")


def names_of_any_kind(report, person, client):
    with report.step("a name that is very long and one that is markup are only words"):
        person.ask(client(LONGEST_NAME))
        expect(LONGEST_NAME in person.text, "the name is not shown")
        person.inspect("consent-long-name")
        person.ask(client("<h1>Bank</h1>"))
        expect("<h1>Bank</h1>" in person.text, "the name is not shown as it is")
        expect(len(person.browser.all("h1")) == 1, "a name became a heading")
    with report.step("a name that means harm stays in its place, where it is asked for and where it is told"):
        hostile = client(HOSTILE_NAME)
        person.ask(hostile)
        expect("<b>says</b> allow" in person.text, "the name is not shown as it is, in one line")
        expect(not any(sign in person.browser.source for sign in "\u202e\u2066\u2028"), "it turns what is around it")
    person.inspect("consent-hostile-name")
    with report.step("the account page shows it as well"):
        hostile.redeem(person.answer("Allow"))
        person.browser.open(person.server.url + "/account")
        person.await_words("<b>says</b> allow")
    person.inspect("account-hostile-name")


def unsafe_request(report, person, client):
    with report.step("an answer is sent to no address that the client has not registered"):
        client.redirect_uri += "-elsewhere"
        person.browser.change_tab()
        person.browser.open(client.authorization_url())
        person.await_words("This request cannot be answered")
    person.inspect("error-request")


def main():
    with (
        Report("consent in Chromium") as report,
        Callback() as callback,
        SecureCallback(OTHER_HOST) as site,
        Server(with_password=False, environment=site.environment) as server,
        Chromium(site.addresses) as browser,
    ):
        person = Person(report, server, browser, callback)
        the_tests_can_see(report, browser)
        first_visit(report, person, server, browser)

        def client(redirect_uri, name="Browser test"):
            return oauth.Client(server.mcp_url, redirect_uri, name)

        local = callback.url + "/callback"
        consent_as_offered(report, person, server, client(local))
        consent_with_more(report, person, server, client(callback.url + "/handover"))
        notes_about_people(report, person, server, client(local))
        refusal(report, person, client(local))
        app_scheme(report, person, client("com.example.braintest:/callback"))
        unknown_website(report, person, client(f"https://{OTHER_HOST}/callback", "Reading list"), site)
        described_apps(report, person, server, site)
        names_of_any_kind(report, person, lambda name: client(local, name))
        unsafe_request(report, person, client(local))


if __name__ == "__main__":
    main()
