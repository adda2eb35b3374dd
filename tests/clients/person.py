"""Somebody at the browser, who also looks at each page closely.

Pictures of every page in light, dark and phone width are left in target/screenshots.
"""

import oauth
import tools
from accessibility import grave_faults
from forms import Page
from webdriver import ENTER

SCREENSHOTS = tools.TARGET / "screenshots"
LOOKS = {"light": (False, False), "dark": (True, False), "phone": (False, True), "phone-dark": (True, True)}
# One page of each kind in the sample vault.
PRIVATE_PAGE = "wiki/people/Ada Quill.md"
CONFIDENTIAL_PAGE = "finance/Household budget.md"


class Person:
    def __init__(self, report, server, browser, callback):
        self.report, self.server, self.browser, self.callback = report, server, browser, callback

    def inspect(self, name, *, scripts=0):
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
        check(f"{name}: there are {scripts or 'no'} scripts", source.count("<script") == scripts)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        pictures = {}
        for look, (dark, phone) in LOOKS.items():
            browser.look(dark=dark, phone=phone)
            pictures[look] = browser.picture()
            (SCREENSHOTS / f"{name}-{look}.png").write_bytes(pictures[look])
            check(f"{name}: nothing sticks out sideways ({look})", not browser.is_wider_than_the_window())
            faults = grave_faults(browser)
            check(f"{name}: axe-core finds no serious fault ({look})", not faults, "; ".join(faults))
        check(f"{name}: dark is another picture than light", pictures["dark"] != pictures["light"])
        browser.look(dark=False, phone=False)

    @property
    def text(self):
        """What stands on the page."""
        return Page(self.browser.source).text

    def headers(self):
        """The headers of the page that is open now."""
        _, headers, _ = oauth.fetch(self.browser.url, headers={"Cookie": self.browser.cookies(), "Accept": "text/html"})
        return headers

    def set_up(self):
        for field in self.browser.all("input[type=password]"):
            self.browser.type(field, self.server.password)
        self.browser.click(self.browser.one("form button"))
        self.browser.until("the set-up page is left", lambda: "/setup" not in self.browser.url)

    def sign_in(self, password=None):
        """By keyboard only."""
        self.browser.type(self.browser.one("input[type=password]"), (password or self.server.password) + ENTER)

    def ask(self, client):
        """Opens the client's authorization request in a fresh browser and gets as far as the consent page."""
        self.browser.change_tab()
        self.browser.open(client.authorization_url())
        self.sign_in()
        self.await_consent()

    def await_consent(self):
        self.browser.until("there is a button Allow", lambda: self.browser.button("Allow"))

    def await_words(self, words):
        self.browser.until(f"the page says {words!r}", lambda: words in self.text)

    def boxes(self):
        """Scope to box."""
        boxes = self.browser.all("input[type=checkbox]")
        return {self.browser.attribute(box, "value"): box for box in boxes}

    def tick(self, *scopes):
        """Ticks these scopes and no others."""
        for scope, box in self.boxes().items():
            if self.browser.is_ticked(box) != (scope in scopes):
                self.browser.click(box)

    def answer(self, button, callback=None):
        """Presses the button; what the client's callback got."""
        received = (callback or self.callback).received
        before = len(received)
        self.browser.press(button)
        self.browser.until("the callback is called", lambda: len(received) > before)
        return received[-1]


def may_read(server, token, path):
    return not oauth.call_tool(server.mcp_url, token, "read_page", {"path": path}).get("isError")
