#!/usr/bin/env python3
"""The owner's browser, as far as a client needs one: it follows redirects and posts the forms that it finds.

As a module:   approve(authorization_url, password) -> the URL that the owner is sent back to
As a command:  browser.py URL           approves, then visits the client's callback (for BROWSER=...)
               browser.py --print URL   approves and prints the callback URL
               The password is in BRAIN_TEST_PASSWORD.
"""

import http.cookiejar
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

from forms import Page

MOST_PAGES = 20
REDIRECTS = (301, 302, 303, 307, 308)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects are followed by hand: the one to the client must be seen, not fetched."""

    def redirect_request(self, *_arguments):
        return None


class Browser:
    """Keeps cookies, and sends the headers by which a server tells a person's form post from a forged one."""

    def __init__(self):
        # Browsers treat loopback as a secure origin, Python's cookie jar does not.
        policy = http.cookiejar.DefaultCookiePolicy(secure_protocols=("http", "https"))
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar(policy))
        self.opener = urllib.request.build_opener(cookies, NoRedirect)
        self.referer = None

    def load(self, url, fields=None):
        """(status, location or None, body) of one request."""
        origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))
        headers = {
            "Accept": "text/html",
            "Sec-Fetch-Site": "none",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        }
        if self.referer:
            headers["Referer"] = self.referer
            headers["Sec-Fetch-Site"] = "same-origin" if self.referer.startswith(origin + "/") else "cross-site"
        data = None
        if fields is not None:
            headers["Origin"] = origin
            data = urllib.parse.urlencode(fields).encode()
        try:
            answer = self.opener.open(urllib.request.Request(url, data, headers), timeout=30)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer:
            location = answer.headers["Location"] if answer.status in REDIRECTS else None
            return answer.status, location and urllib.parse.urljoin(url, location), answer.read().decode()


def approve(authorization_url, password, *, refuse=False):
    """Signs in, ticks every box, presses Allow (or Deny) and returns the URL of the client's callback."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(authorization_url).query)
    callback = query["redirect_uri"][0]
    browser, url, fields = Browser(), authorization_url, None
    for _ in range(MOST_PAGES):
        status, location, body = browser.load(url, fields)
        if location is not None:
            if location == callback or location.startswith((callback + "?", callback + "&")):
                return location
            url, fields = location, fields if status in (307, 308) else None
            continue
        page = Page(body)
        if status >= 400:
            raise RuntimeError(f"{url.split('?')[0]} answered {status}: {page.text[:300]}")
        # The refusing button stands only on the consent page; on the way there the other one is pressed.
        pressed = None
        for wish in dict.fromkeys((refuse, False)):
            pressed = pressed or next(
                filter(None, (form.filled(password=password, refuse=wish) for form in page.forms)), None
            )
        if pressed is None:
            raise RuntimeError(f"{url.split('?')[0]} has no form to send: {page.text[:300]}")
        action, fields = pressed
        browser.referer, url = url, urllib.parse.urljoin(url, action)
    raise RuntimeError(f"not back at the client after {MOST_PAGES} pages")


def main():
    callback = approve(sys.argv[-1], os.environ["BRAIN_TEST_PASSWORD"])
    if "--print" in sys.argv:
        print(callback)
    else:
        with urllib.request.urlopen(callback, timeout=30) as answer:
            answer.read()


if __name__ == "__main__":
    main()
