#!/usr/bin/env python3
"""Passkeys in a real browser, with an authenticator that is made of software: added, used on both ways in, removed."""

import base64
import urllib.parse

import oauth
from browser import Browser
from callback import Callback
from forms import Page
from person import Person
from report import Report, expect
from server import Server
from webdriver import Chromium

SIGN_IN = "Sign in with a passkey"
NAME = "This laptop"


class PasskeyTest:
    def __init__(self, report, server, browser, callback):
        self.report, self.server, self.browser = report, server, browser
        self.person = Person(report, server, browser, callback)
        self.authenticator = browser.add_authenticator()

    def open(self, path):
        self.browser.open(self.server.url + path)

    def sign_out(self):
        self.open("/logout")
        self.browser.press("Sign out")
        self.browser.one("input[type=password]")

    def say(self, button, words):
        """Presses a button; the script says these words."""
        self.browser.press(button)
        self.browser.until(
            f"the script says {words!r}",
            lambda: any(words in self.browser.text_of(status) for status in self.browser.all("form.passkey [role=status]")),
        )

    def offers_passkeys(self):
        return any(map(self.browser.is_shown, self.browser.button(SIGN_IN)))

    def complaints(self):
        """What the browser did not let the pages do, and where their script broke; it gives advice there, too."""
        faults = ("Security Policy", "Uncaught", "Error")
        return [text for text in self.browser.complaints() if any(fault in text for fault in faults)]

    def add(self):
        with self.report.step("without passkeys none is asked for"):
            self.open("/account")
            expect(not self.offers_passkeys(), "the sign-in page offers passkeys")
            self.person.sign_in()
            self.person.await_words("Your account")
            self.browser.click(self.browser.until("a link", lambda: self.browser.all("a[href='/account/passkeys']"))[0])
            self.person.await_words("Your passkeys")
        self.person.inspect("passkeys-empty", scripts=1)
        with self.report.step("a finger that does not fit adds none"):
            self.browser.type(self.browser.one("#new-name"), NAME)
            self.browser.set_verified(self.authenticator, False)
            self.say("Add a passkey", "No passkey was given")
            self.browser.set_verified(self.authenticator, True)
        with self.report.step("a passkey is added"):
            self.browser.press("Add a passkey")
            self.person.await_words("The passkey is added")
            expect(NAME in self.person.text, self.person.text)
            [kept] = self.browser.passkeys(self.authenticator)
            expect(kept["isResidentCredential"] and kept["rpId"] == "localhost", f"{kept}")
            handle = base64.urlsafe_b64decode(kept["userHandle"] + "==")
            expect(len(handle) == 32 and b"owner" not in handle, f"{handle}")
        with self.report.step("the same device has no second one"):
            self.browser.type(self.browser.one("#new-name"), "Again")
            self.say("Add a passkey", "There is a passkey for this account on that device already")
        self.open("/account/passkeys")
        self.person.inspect("passkeys", scripts=1)
        self.open("/account")
        self.person.inspect("account-passkey")
        with self.report.step("it has another name when it is given one"):
            self.open("/account/passkeys")
            field = self.browser.one("#name-1")
            self.browser.request("POST", f"/element/{field}/clear")
            self.browser.type(field, "Old laptop")
            self.browser.press("Rename")
            self.person.await_words("The passkey has its new name")
            expect("Old laptop" in self.person.text, self.person.text)

    def sign_in(self):
        with self.report.step("it signs in without a password"):
            self.sign_out()
            self.open("/account")
            expect(self.offers_passkeys(), "the sign-in page offers no passkeys")
        self.person.inspect("sign-in-passkey", scripts=1)
        with self.report.step("not without the finger"):
            self.browser.set_verified(self.authenticator, False)
            self.say(SIGN_IN, "No passkey was given")
            self.browser.set_verified(self.authenticator, True)
        with self.report.step("and then with it"):
            self.browser.press(SIGN_IN)
            self.person.await_words("Your account")
            expect("signed in with the passkey “Old laptop”" in self.person.text, self.person.text)
        with self.report.step("the password does as before"):
            self.sign_out()
            self.person.sign_in()
            self.person.await_words("You are signed in")

    def consent(self):
        with self.report.step("an app is allowed after a sign-in with it"):
            self.browser.forget_cookies()
            client = oauth.Client(self.server.mcp_url, self.person.callback.url + "/callback", "Reading list")
            self.browser.open(client.authorization_url())
            self.browser.press(SIGN_IN)
            self.person.await_consent()
            policy = self.person.headers()["Content-Security-Policy"]
            expect("script" not in policy and "<script" not in self.browser.source, policy)
            tokens = client.redeem(self.person.answer("Allow"))
            expect(tokens["access_token"], "there are no tokens")
        with self.report.step("the browser has nothing to complain about"):
            complaints = self.complaints()
            expect(not complaints, f"{complaints}")

    def elsewhere(self):
        with self.report.step("at an address instead of the name no passkey is offered"):
            self.browser.forget_cookies()
            self.browser.open(f"http://127.0.0.1:{self.server.port}/login")
            expect(not self.offers_passkeys(), "it is offered where it cannot work")
        with self.report.step("without scripts the button is not there, and the password is"), Chromium() as plain:
            person = Person(self.report, self.server, plain, self.person.callback)
            plain.open(self.server.url + "/account")
            expect(plain.button(SIGN_IN), "the page has no passkeys")
            expect(not any(map(plain.is_shown, plain.button(SIGN_IN))), "the button shows")
            person.sign_in()
            person.await_words("Your account")
            plain.open(self.server.url + "/account/passkeys")
            person.await_words("Your browser runs no scripts here")
            expect(not any(map(plain.is_shown, plain.button("Add a passkey"))), "the button shows")
            person.inspect("passkeys-without-scripts", scripts=1)

    def remove(self):
        with self.report.step("a passkey that was removed meanwhile signs nobody in"):
            self.browser.forget_cookies()
            self.open("/login")
            remove_elsewhere(self.server)
            self.browser.press(SIGN_IN)
            self.person.await_words("This passkey is not known here")
        self.person.inspect("sign-in-passkey-problem")  # It was the last one.
        with self.report.step("and is not offered any more"):
            expect(not self.offers_passkeys(), "it is")
            self.open("/login?to=account")
            expect(not self.browser.button(SIGN_IN), "it is")


def remove_elsewhere(server):
    """Removes the passkey in another browser."""
    browser = Browser()

    def press(address, choose, **fields):
        _, _, body = browser.load(server.url + address)
        form = next(form for form in Page(body).forms if any(one.name == choose for one in form.controls))
        action, sent = form.filled(password=server.password, refuse=False)
        browser.referer = server.url + address
        return browser.load(urllib.parse.urljoin(server.url, action), {**dict(sent), **fields})

    press("/login?to=passkeys", "password")
    status, _, _ = press("/account/passkeys", "key", change="remove")
    expect(status == 303, f"removing was answered {status}")


def main():
    with (
        Report("passkeys in Chromium") as report,
        Server(host="localhost") as server,
        Callback() as callback,
        Chromium(scripts=True) as browser,
    ):
        test = PasskeyTest(report, server, browser, callback)
        test.add()
        test.sign_in()
        test.consent()
        test.elsewhere()
        test.remove()


if __name__ == "__main__":
    main()
