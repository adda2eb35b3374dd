"""Headless Chromium through chromedriver, by the WebDriver protocol itself: a dozen calls need no library."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from server import free_port

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # The key that WebDriver section 12 gives to element references.
ENTER = "\ue007"
PATIENCE_SECONDS = 20
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # Chromium as root has no sandbox.
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)
SCRIPTS_OFF = {"profile.managed_default_content_settings.javascript": 2}


class Chromium:
    """A browser with an empty profile; scripts of pages are switched off, unless they are what is tested.

    `addresses` tells it where hosts are, `{"app.example": "127.0.0.1:4711"}`; their certificates may be anybody's.
    """

    def __init__(self, addresses=None, *, scripts=False):
        self.preferences = {} if scripts else SCRIPTS_OFF
        rules = ",".join(f"MAP {host} {address}" for host, address in (addresses or {}).items())
        self.more = [f"--host-resolver-rules={rules}", "--ignore-certificate-errors"] if rules else []

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="brain-mcp-chromium-")
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.until("chromedriver is ready", lambda: self.request("GET", "/status")["ready"])
            options = {"args": [*ARGUMENTS, *self.more, f"--user-data-dir={self.profile}"], "prefs": self.preferences}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            session = self.request("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.base += f"/session/{session['sessionId']}"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if "/session/" in self.base:
                self.request("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def request(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as refusal:
            value = json.load(refusal)["value"]
            raise RuntimeError(f"{value['error']}: {value['message']}") from None

    def until(self, what, holds):
        """Waits until `holds()` is true and returns its value."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                value = holds()
            except urllib.error.URLError:
                value = None
            if value:
                return value
            if time.monotonic() > end:
                raise RuntimeError(f"waited {PATIENCE_SECONDS} s in vain: {what}")
            time.sleep(0.05)

    def change_tab(self):
        """Leaves the tab, with whatever dialog the browser shows over it, for an empty one without cookies."""
        opened = self.request("POST", "/window/new", {"type": "tab"})["handle"]
        self.request("DELETE", "/window")
        self.request("POST", "/window", {"handle": opened})
        self.devtools("Network.clearBrowserCookies")

    @property
    def tab(self):
        return self.request("GET", "/window")

    def new_tab(self, url):
        """Opens a page in one more tab, with the cookies of the others, and goes there; the handle of the tab."""
        opened = self.request("POST", "/window/new", {"type": "tab"})["handle"]
        self.go_to(opened)
        self.open(url)
        return opened

    def go_to(self, tab):
        self.request("POST", "/window", {"handle": tab})

    def close_tab(self, back_to):
        self.request("DELETE", "/window")
        self.go_to(back_to)

    def open(self, url):
        self.request("POST", "/url", {"url": url})

    def back(self):
        self.request("POST", "/back")

    def reload(self):
        self.request("POST", "/refresh")

    @property
    def url(self):
        return self.request("GET", "/url")

    @property
    def source(self):
        return self.request("GET", "/source")

    def all(self, selector):
        """The elements that a CSS selector finds."""
        found = self.request("POST", "/elements", {"using": "css selector", "value": selector})
        return [element[ELEMENT] for element in found]

    def one(self, selector):
        return self.until(f"there is a {selector}", lambda: self.all(selector))[0]

    def by_path(self, path):
        """The elements that an XPath finds."""
        found = self.request("POST", "/elements", {"using": "xpath", "value": path})
        return [element[ELEMENT] for element in found]

    def button(self, words):
        return self.by_path(f"//button[contains(normalize-space(.), '{words}')]")

    def press(self, words):
        self.click(self.until(f"there is a button {words}", lambda: self.button(words))[0])

    def click(self, element):
        self.request("POST", f"/element/{element}/click")

    def double_click(self, element):
        """Two clicks, so fast that no page can come in between."""
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        click = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        there = {"type": "pointerMove", "x": 0, "y": 0, "origin": {ELEMENT: element}}
        self.request("POST", "/actions", {"actions": [{**mouse, "actions": [there, *click, *click]}]})

    def type(self, element, text):
        self.request("POST", f"/element/{element}/value", {"text": text})

    def is_shown(self, element):
        return self.request("GET", f"/element/{element}/displayed")

    def is_ticked(self, element):
        return self.request("GET", f"/element/{element}/selected")

    def text_of(self, element):
        return self.request("GET", f"/element/{element}/text")

    def attribute(self, element, name):
        return self.request("GET", f"/element/{element}/attribute/{name}")

    def cookies(self):
        return "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in self.request("GET", "/cookie"))

    def complaints(self):
        """What the browser has written to its console since the last question."""
        return [entry["message"] for entry in self.request("POST", "/se/log", {"type": "browser"})]

    def devtools(self, command, **parameters):
        return self.request("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def add_authenticator(self):
        """A device in this tab that keeps passkeys, and whose user is always willing (WebAuthn section 11.3)."""
        device = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
        willing = {"isUserConsenting": True, "isUserVerified": True}
        return self.request("POST", "/webauthn/authenticator", {**device, **willing})

    def set_verified(self, authenticator, verified):
        """Whether the user's finger fits from now on."""
        self.request("POST", f"/webauthn/authenticator/{authenticator}/uv", {"isUserVerified": verified})

    def passkeys(self, authenticator):
        return self.request("GET", f"/webauthn/authenticator/{authenticator}/credentials")

    def forget_cookies(self):
        """Another person's browser, but for the devices in this tab."""
        self.devtools("Network.clearBrowserCookies")

    def run_apart(self, preparation, promise):
        """Runs scripts beside the page, which cannot see them nor they its own; the value of the promise.

        The page's policy does not hold there. With scripts switched off no timer ever rings, so whatever
        asks for one is called at once.
        """
        frame = self.devtools("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = self.devtools("Page.createIsolatedWorld", frameId=frame)["executionContextId"]
        timers = "setTimeout = (call, _, ...rest) => (Promise.resolve().then(() => call(...rest)), 0);"
        for script in (timers + preparation + ";0", promise):
            answer = self.devtools(
                "Runtime.evaluate", expression=script, contextId=world, awaitPromise=True, returnByValue=True
            )
            if "exceptionDetails" in answer:
                raise RuntimeError(f"{answer['exceptionDetails']}")
        return answer["result"]["value"]

    def look(self, *, dark, phone):
        """Sets colour scheme and window size as the pages see them."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        width, height = (390, 844) if phone else (1100, 800)
        self.resize(width, height, 2, mobile=phone)

    def resize(self, width, height, scale, *, mobile=False):
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def is_wider_than_the_window(self):
        metrics = self.devtools("Page.getLayoutMetrics")
        return metrics["cssContentSize"]["width"] > metrics["cssLayoutViewport"]["clientWidth"]

    def picture(self):
        """The whole page as PNG."""
        return base64.b64decode(self.devtools("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def picture_of_top(self, width, highest, scale):
        """The page as PNG in a window of that width, cut off where it gets too high."""
        self.look(dark=False, phone=False)
        self.resize(width, 1, scale)
        height = min(highest, self.devtools("Page.getLayoutMetrics")["cssContentSize"]["height"])
        self.resize(width, height, scale)
        return base64.b64decode(self.devtools("Page.captureScreenshot")["data"])
