#!/usr/bin/env python3
"""mcp-remote, the bridge for clients that speak only stdio, unchanged: authorization, tools, refresh.

mcp_remote.py [PROTOCOL]   PROTOCOL: legacy (its default) or auto
"""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import oauth
import tools
from report import Report, expect
from server import Server

HERE = pathlib.Path(__file__).parent
ACCESS_TOKEN_SECONDS = 3
DEADLINE_SECONDS = 120


class Bridge:
    """The running bridge; one JSON-RPC message a line in both directions."""

    def __init__(self, server, protocol):
        script = tools.NODE_MODULES / "mcp-remote/dist/proxy.js"
        arguments = [tools.node(), str(script), server.mcp_url, "--transport", "http-only", "--protocol", protocol]
        self.folder = server.folder / "mcp-remote"
        self.log = (server.folder / "mcp-remote.log").open("w+")
        environment = {
            **os.environ,
            "MCP_REMOTE_CONFIG_DIR": str(self.folder),
            "BROWSER": str(HERE / "browser.py"),
            "BRAIN_TEST_PASSWORD": server.password,
        }
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment, text=True
        )
        self.watchdog = threading.Timer(DEADLINE_SECONDS, self.process.kill)
        self.watchdog.start()
        self.last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.watchdog.cancel()
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
        if kind is not None:
            self.log.seek(0)
            print("---- mcp-remote's log", self.log.read()[-4000:], "----", sep="\n", file=sys.stderr)
        self.log.close()

    def send(self, method, parameters, **more):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters, **more}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, parameters):
        self.last_id += 1
        self.send(method, parameters, id=self.last_id)
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.last_id:
                expect("result" in message, f"{method} failed: {message.get('error')}")
                return message["result"]
        raise RuntimeError("mcp-remote has ended")

    def call(self, name, arguments):
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        expect(not result.get("isError"), f"{name} failed: {result.get('content')}")
        return result

    def access_token(self):
        """The token as the bridge keeps it on disk."""
        kept = max(self.folder.rglob("*tokens.json"), key=lambda file: file.stat().st_mtime)
        return json.loads(kept.read_text())["access_token"]


def main():
    protocol = sys.argv[1] if len(sys.argv) > 1 else "legacy"
    with (
        Report(f"mcp-remote, {protocol}") as report,
        Server(access_token_seconds=ACCESS_TOKEN_SECONDS) as server,
        Bridge(server, protocol) as bridge,
    ):
        with report.step("discover, register, sign in, allow, connect"):
            hello = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            }
            expect(bridge.ask("initialize", hello)["protocolVersion"] == "2025-11-25", "another protocol revision")
            bridge.send("notifications/initialized", {})
        with report.step("tools/list has search and read_page"):
            names = {tool["name"] for tool in bridge.ask("tools/list", {})["tools"]}
            expect({"search", "read_page"} <= names, f"{names}")
        with report.step("search finds a page"):
            path = oauth.found_paths(bridge.call("search", {"query": "sourdough"}))[0]
        with report.step(f"read_page {path}"):
            before = bridge.call("read_page", {"path": path})
        first_token = bridge.access_token()
        time.sleep(ACCESS_TOKEN_SECONDS + 1)
        with report.step("search again after the token has expired"):
            bridge.call("search", {"query": "sourdough"})
        report.check("the token was refreshed", bridge.access_token() != first_token)
        with report.step("read the page again"):
            expect(bridge.call("read_page", {"path": path}) == before, "the page has changed")


if __name__ == "__main__":
    main()
