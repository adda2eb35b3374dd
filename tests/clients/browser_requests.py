#!/usr/bin/env python3
"""Authorization requests in a real browser that do not go the straight way: two tabs, the back button, answers that
come twice or too late, another browser, too many tries."""

import re
import time
import urllib.parse

import oauth
from callback import Callback
from person import Person
from report import Report, expect
from server import Server
from webdriver import Chromium

PENDING_SECONDS = 10
FREE_TRIES = 5
DOUBLE_CLICKS = 12


def two_tabs(report, person, client):
    """Two apps ask at the same time."""
    browser, one, other = person.browser, client("One app"), client("Other app")
    with report.step("two apps ask in two tabs, and a person signs in for both at once"):
        browser.change_tab()
        first = browser.tab
        browser.open(one.authorization_url())
        browser.new_tab(other.authorization_url())
        person.sign_in()
        person.await_consent()
        expect("Other app" in person.text, "it is the wrong app")
        second = browser.tab
        browser.go_to(first)
        browser.reload()
        person.await_consent()
        expect("One app" in person.text, "it is the wrong app")
    with report.step("each gets its own answer"):
        one.redeem(person.answer("Allow"))
        browser.go_to(second)
        answer = urllib.parse.parse_qs(urllib.parse.urlsplit(person.answer("Deny")).query)
        expect(answer["error"] == ["access_denied"] and answer["state"] == [other.state], f"{answer}")
        browser.close_tab(first)


def old_sign_in_form(report, person, client):
    browser = person.browser
    with report.step("a sign-in form from before another tab signed in goes on to what it was for"):
        browser.change_tab()
        first = browser.tab
        browser.open(client("One app").authorization_url())
        browser.new_tab(client("Other app").authorization_url())
        person.sign_in()
        person.await_consent()
        browser.close_tab(first)
        person.sign_in()
        person.await_consent()
        expect("One app" in person.text, "it is the wrong app")
    with report.step("one from before another tab signed out is not accepted, and the page says what to do"):
        browser.change_tab()
        first = browser.tab
        browser.open(person.server.url + "/login")
        browser.new_tab(person.server.url + "/login")
        person.sign_in()
        person.await_words("You are signed in")
        browser.press("Sign out")
        browser.one("input[type=password]")
        browser.close_tab(first)
        person.sign_in()
        person.await_words("This form cannot be accepted")
    person.inspect("error-form")


def back_button(report, person, client):
    browser, app = person.browser, client("Browser test")
    with report.step("back from the consent page leads to no second sign-in"):
        person.ask(app)
        browser.back()
        person.await_consent()
    with report.step("back from the app leads to no second answer"):
        tokens = app.redeem(person.answer("Allow"))
        before = len(person.callback.received)
        browser.back()
        # Chromium may keep the page as it was, or ask for it again.
        shown = browser.until("a page of ours is there", lambda: browser.all("h1") and person.text)
        if "Nothing waits for you here" not in shown:
            browser.press("Allow")
            person.await_words("Already answered or expired")
        expect(len(person.callback.received) == before, "the app got a second answer")
        app.refresh(tokens["refresh_token"])


def answered_twice(report, person, client):
    browser, app = person.browser, client("Browser test")
    with report.step("a request that is open in two tabs is answered once"):
        person.ask(app)
        first = browser.tab
        browser.new_tab(browser.url)
        person.await_consent()
        second = browser.tab
        browser.go_to(first)
        tokens = app.redeem(person.answer("Allow"))
        browser.go_to(second)
        before = len(person.callback.received)
        browser.press("Allow")
        person.await_words("Already answered or expired")
        expect(len(person.callback.received) == before, "the app got two answers")
        app.refresh(tokens["refresh_token"])
    person.inspect("error-answered")
    browser.close_tab(first)
    with report.step(f"a double click on Allow gives the app its code, {DOUBLE_CLICKS} times of {DOUBLE_CLICKS}"):
        for _ in range(DOUBLE_CLICKS):
            person.ask(app)
            before = len(person.callback.received)
            browser.double_click(browser.button("Allow")[0])
            browser.until("the app is called", lambda: len(person.callback.received) > before)
            received = person.callback.received[before:]
            expect(len(set(received)) == 1, f"the app got {len(received)} answers")
            tokens = app.redeem(received[0])
            app.refresh(tokens["refresh_token"])


def other_browser(report, person, client):
    browser = person.browser
    with report.step("the address of a consent page opens nothing in another browser"):
        person.ask(client("Browser test"))
        address = browser.url
        browser.change_tab()
        browser.open(address)
        person.sign_in()
        person.await_words("Nothing waits for you here")
    person.inspect("error-gone")


def too_many_tries(report, person, client):
    browser = person.browser
    with report.step("after some wrong passwords a person has to wait"):
        browser.change_tab()
        browser.open(client("Browser test").authorization_url())
        # More than the free ones, should this computer be so slow that a wait is over before the next try.
        for _ in range(3 * FREE_TRIES):
            person.sign_in("not the password")
            browser.until("the page says so", lambda: browser.all("[role=alert]"))
            if "Too many tries" in person.text:
                break
            browser.open(browser.url)
        wait = re.search(r"Too many tries\. Please wait (\d+) s", person.text)
        expect(wait, person.text)
    person.inspect("sign-in-wait")
    with report.step("after the wait the right password is good"):
        time.sleep(int(wait[1]))
        person.sign_in()
        person.await_consent()


def expired(report, person, client):
    browser, app = person.browser, client("Browser test")
    with report.step("a request that waited too long is not answered"):
        person.ask(app)
        began = len(person.callback.received)
        time.sleep(PENDING_SECONDS)
        browser.press("Allow")
        person.await_words("Already answered or expired")
        expect(len(person.callback.received) == began, "the app got an answer")


def too_many_requests(report, person, client):
    browser, app = person.browser, client("Browser test")
    with report.step("who asks too often gets a page that says to wait"):
        browser.change_tab()
        browser.until(
            "the page says so",
            lambda: browser.open(app.authorization_url()) or "Please wait a little" in person.text,
        )
    person.inspect("error-wait")


def main():
    limits = {"BRAIN_MCP_LIMIT_PENDING_SECONDS": str(PENDING_SECONDS), "BRAIN_MCP_LIMIT_AUTHORIZE_PER_MINUTE": "3"}
    with (
        Report("requests that go astray, in Chromium") as report,
        Callback() as callback,
        Server() as server,
        Server(environment=limits) as impatient,
        Chromium() as browser,
    ):

        def asking(server):
            return lambda name: oauth.Client(server.mcp_url, callback.url + "/callback", name)

        person, client = Person(report, server, browser, callback), asking(server)
        two_tabs(report, person, client)
        old_sign_in_form(report, person, client)
        back_button(report, person, client)
        answered_twice(report, person, client)
        other_browser(report, person, client)
        too_many_tries(report, person, client)
        person, client = Person(report, impatient, browser, callback), asking(impatient)
        expired(report, person, client)
        too_many_requests(report, person, client)


if __name__ == "__main__":
    main()
