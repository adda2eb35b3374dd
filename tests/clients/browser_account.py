#!/usr/bin/env python3
"""The account page in a real browser: what was given away is taken back there, and holds from the next request on."""

import secrets
import urllib.parse

import oauth
from browser import Browser
from callback import Callback
from forms import Page
from person import CONFIDENTIAL_PAGE, PRIVATE_PAGE, Person, may_read
from report import Report, expect
from server import Server
from webdriver import Chromium

LONG_NAME = "A program with quite a long name, as makers sometimes give them"


class AccountTest:
    def __init__(self, report, server, browser, callback):
        self.report, self.server, self.browser = report, server, browser
        self.person = Person(report, server, browser, callback)

    def connect(self, name, redirect_uri="http://127.0.0.1:53700/callback"):
        """A client of that name which was allowed everything, in a browser of its own, and its tokens."""
        client = oauth.Client(self.server.mcp_url, redirect_uri, name)
        return client, client.tokens(self.server.password)

    def open(self):
        self.browser.open(self.server.url + "/account")
        self.person.await_words("Your account")

    def sign_in(self):
        self.browser.change_tab()
        self.browser.open(self.server.url + "/account")
        self.person.sign_in()
        self.person.await_words("Your account")

    def press(self, button, *, app=None, says):
        """Presses a button of the page, or of one app there, and waits for what the page then says."""
        inside = f"//article[.//h3[contains(., '{app}')]]" if app else ""
        self.browser.click(self.browser.by_path(f"{inside}//button[contains(., '{button}')]")[0])
        self.person.await_words(says)

    def box(self, app, label):
        path = f"//article[.//h3[contains(., '{app}')]]//label[contains(., '{label}')]/../input"
        return self.browser.by_path(path)[0]

    def apps(self):
        return [self.browser.text_of(heading) for heading in self.browser.all("article h3 bdi")]

    def is_let_in(self, token):
        body, headers = oauth.tool_request("list_notes", {}, token)
        return oauth.fetch(self.server.mcp_url, body, headers)[0] == 200

    def nothing_yet(self):
        with self.report.step("the account page asks who it is"):
            self.browser.open(self.server.url + "/account")
            self.person.inspect("sign-in-account")
            self.sign_in()
            expect(self.server.mcp_url in self.person.text, "it does not tell the address for clients")
        self.person.inspect("account-empty")

    def all_there(self):
        """Three apps, one of them twice, and a refusal."""
        self.reader, self.reading = self.connect("Reading list", "https://reader.example/callback")
        self.editor, self.editing = self.connect("Editor", "http://localhost:53701/callback")
        self.editing_twice = self.editor.tokens(self.server.password)
        _, self.running = self.connect(LONG_NAME)
        with self.report.step("it shows each app once"):
            self.open()
            apps = self.apps()
            expect(sorted(apps) == [LONG_NAME, "Editor", "Reading list"], f"{apps}")
            expect("Connection 2 of 2" in self.person.text, "the second connection is not shown")

    def narrow(self):
        token = self.reading["access_token"]
        expect(may_read(self.server, token, CONFIDENTIAL_PAGE), "the token opens no confidential page")
        with self.report.step("an app keeps only what stays ticked, from its next request on"):
            self.browser.click(self.box("Reading list", "confidential"))
            self.press("Keep only", app="Reading list", says="may do what is ticked below")
            expect(not may_read(self.server, token, CONFIDENTIAL_PAGE), "the token still opens the page")
            expect(may_read(self.server, token, PRIVATE_PAGE), "more was taken than was asked for")
            self.reading = self.reader.refresh(self.reading["refresh_token"])
            expect("wiki:confidential" not in self.reading["scope"].split(), "a new token has it again")

    def refused(self):
        with self.report.step("what an app was refused is shown with the real reason"):
            self.open()
            words = self.person.text
            expect("Refused lately" in words and CONFIDENTIAL_PAGE in words, words)
        self.person.inspect("account")

    def disconnect(self):
        with self.report.step("a disconnected app is not let in any more"):
            expect(self.is_let_in(self.running["access_token"]), "it was not let in before")
            self.press("Disconnect", app=LONG_NAME, says="The app is disconnected")
            expect(not self.is_let_in(self.running["access_token"]), "it still is")
            expect(LONG_NAME not in self.apps(), "it is still listed")
            expect(self.is_let_in(self.editing["access_token"]), "another one is not, either")

    def reused_token(self):
        with self.report.step("a token that was used twice ends the access, and the page says so on top"):
            replaced = self.reading["refresh_token"]
            self.reading = self.reader.refresh(replaced)
            # Until the new access token is used, the answer with it may have been lost.
            expect(self.is_let_in(self.reading["access_token"]), "the app is not let in")
            body = self.reader.token_request(grant_type="refresh_token", refresh_token=replaced)
            status, _, _ = oauth.fetch(self.reader.server["token_endpoint"], body)
            expect(status == 400, f"the replaced token was answered {status}")
            expect(not self.is_let_in(self.reading["access_token"]), "the app is still let in")
            self.open()
            banner = self.browser.text_of(self.browser.one("[role=alert]"))
            expect("Reading list" in banner and "Somebody may have copied it" in banner, banner)
        self.person.inspect("account-reuse")

    def disconnect_all(self):
        with self.report.step("all apps at once"):
            self.press("Disconnect all apps", says="All apps are disconnected")
            expect(self.apps() == [], f"{self.apps()}")
            for tokens in (self.editing, self.editing_twice):
                expect(not self.is_let_in(tokens["access_token"]), "one is still let in")

    def other_browsers(self):
        with self.report.step("the other browsers are signed out, and this one is not"):
            other = signed_in_elsewhere(self.server)
            expect(other.load(self.server.url + "/account")[0] == 200, "the other browser is not signed in")
            self.open()
            self.press("Sign out everywhere else", says="You are signed out everywhere else")
            expect("Another browser" not in self.person.text, self.person.text)
            status, location, _ = other.load(self.server.url + "/account")
            expect(location and "/login" in location, f"the other browser was answered {status}")

    def new_password(self):
        fresh = secrets.token_urlsafe(18)
        _, tokens = self.connect("Late app")
        other = signed_in_elsewhere(self.server)
        with self.report.step("nobody changes the password without the present one"):
            self.open()
            self.type_passwords("not the password", fresh, fresh)
            self.person.await_words("the present one is not right")
        self.person.inspect("account-problem")
        with self.report.step("nor to one that was mistyped"):
            self.type_passwords(self.server.password, fresh, fresh + "!")
            self.person.await_words("The password is not changed")
            expect(self.is_let_in(tokens["access_token"]), "the app is not let in any more")
        with self.report.step("a new password signs out the other browsers and disconnects the apps"):
            self.type_passwords(self.server.password, fresh, fresh)
            self.person.await_words("Your password is changed")
            expect(not self.is_let_in(tokens["access_token"]), "the app is still let in")
            location = other.load(self.server.url + "/account")[1]
            expect(location and "/login" in location, "the other browser is still signed in")
        with self.report.step("the old password is not good any more, and the new one is"):
            self.browser.change_tab()
            self.browser.open(self.server.url + "/account")
            self.person.sign_in()
            self.person.await_words("not right")
            self.server.password = fresh
            self.sign_in()

    def type_passwords(self, present, new, repeated):
        for field, text in (("present", present), ("password", new), ("repeated", repeated)):
            self.browser.type(self.browser.one(f"#{field}"), text)
        self.browser.press("Change password")

    def sign_out(self):
        with self.report.step("sign out, after a question when only a link was followed"):
            self.browser.open(self.server.url + "/logout")
            self.person.inspect("sign-out")
            self.browser.press("Sign out")
            self.browser.one("input[type=password]")
            self.browser.open(self.server.url + "/account")
            expect(self.browser.all("input[type=password]"), "the account page is still open")


def signed_in_elsewhere(server):
    """Another browser with a session."""
    browser = Browser()
    address = server.url + "/login?to=account"
    _, _, body = browser.load(address)
    [form] = Page(body).forms
    action, fields = form.filled(password=server.password, refuse=False)
    browser.referer = address
    browser.load(urllib.parse.urljoin(address, action), fields)
    return browser


def main():
    # Else a client whose answer was lost may use its last refresh token for another minute.
    strict = {"BRAIN_MCP_LIMIT_REFRESH_GRACE_SECONDS": "0"}
    with (
        Report("the account page in Chromium") as report,
        Server(environment=strict) as server,
        Callback() as callback,
        Chromium() as browser,
    ):
        test = AccountTest(report, server, browser, callback)
        test.nothing_yet()
        test.all_there()
        test.narrow()
        test.refused()
        test.disconnect()
        test.reused_token()
        test.disconnect_all()
        test.other_browsers()
        test.new_password()
        test.sign_out()


if __name__ == "__main__":
    main()
