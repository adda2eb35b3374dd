#!/usr/bin/env python3
"""Makes the pictures of the README anew: deploy/screenshots/*.png, of the sample vault, light, on a desktop."""

import oauth
import tools
from callback import Callback, SecureCallback
from person import Person
from report import Report
from server import Server
from webdriver import Chromium

FOLDER = tools.ROOT / "deploy/screenshots"
PORT = 8090
WEBSITE = "reader.example"
WIDTH, HIGHEST, SCALE = 640, 1220, 1.2
LARGEST_KB = 150


def take(report, browser, name):
    """The page from its top, but not endlessly far down."""
    path = FOLDER / f"{name}.png"
    path.write_bytes(browser.picture_of_top(WIDTH, HIGHEST, SCALE))
    size = path.stat().st_size // 1000
    report.check(f"{path.relative_to(tools.ROOT)} is not too large", size < LARGEST_KB, f"{size} kB")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        Report("pictures for the README") as report,
        Callback() as here,
        SecureCallback(WEBSITE) as site,
        Server(with_password=False, port=PORT) as server,
        Chromium(site.addresses) as browser,
    ):
        person = Person(report, server, browser, here)
        browser.open(server.setup_link())
        take(report, browser, "setup")
        person.set_up()

        def allow(client, callback, *scopes):
            person.ask(client)
            person.tick(*scopes)
            client.redeem(person.answer("Allow", callback))

        terminal = oauth.Client(server.mcp_url, here.url + "/callback", "Terminal helper")
        allow(terminal, here, "wiki:read", "wiki:confidential")
        reader = oauth.Client(server.mcp_url, f"https://{WEBSITE}/callback", "Reading list")
        person.ask(reader)
        take(report, browser, "consent")
        reader.redeem(person.answer("Allow", site))
        browser.open(server.url + "/account")
        take(report, browser, "account")


if __name__ == "__main__":
    main()
