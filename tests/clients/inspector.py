#!/usr/bin/env python3
"""The command-line client of MCP Inspector, unchanged: authorization, tools, refresh.

inspector.py [ERA]   ERA: legacy (its default), auto or modern
Each call is a process of its own; between them the Inspector keeps the tokens in a file.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import oauth
import tools
from report import Report, expect
from server import Server

HERE = pathlib.Path(__file__).parent
ACCESS_TOKEN_SECONDS = 8  # Starting node takes a good part of it.
DEADLINE_SECONDS = 120


class Inspector:
    def __init__(self, server, era):
        script = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        self.arguments = [
            tools.node(),
            str(tools.NODE_MODULES / script),
            "--cli",
            "--transport=http",
            f"--server-url={server.mcp_url}",
            f"--protocol-era={era}",
            "--format=json",
            "--quiet",
        ]
        self.secrets = server.folder / "inspector-secrets.json"
        self.environment = {
            **os.environ,
            "HOME": str(server.folder),
            "BROWSER": str(HERE / "browser.py"),
            "BRAIN_TEST_PASSWORD": server.password,
            "MCP_AUTO_OPEN_ENABLED": "true",
            "MCP_STORAGE_DIR": str(server.folder / "inspector"),
            "MCP_INSPECTOR_SECRET_STORE": "file",
            "MCP_INSPECTOR_SECRET_FILE": str(self.secrets),
        }

    def run(self, *arguments):
        ended = subprocess.run(
            [*self.arguments, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        expect(ended.returncode == 0, f"status {ended.returncode}: {ended.stderr[-2000:] or ended.stdout[-2000:]}")
        answer = json.loads(ended.stdout)
        return answer.get("result", answer)

    def call(self, name, arguments, *more):
        result = self.run(
            "--method=tools/call", f"--tool-name={name}", f"--tool-args-json={json.dumps(arguments)}", *more
        )
        expect(not result.get("isError"), f"{name} failed: {result.get('content')}")
        return result


def main():
    era = sys.argv[1] if len(sys.argv) > 1 else "legacy"
    with Report(f"MCP Inspector, {era}") as report, Server(access_token_seconds=ACCESS_TOKEN_SECONDS) as server:
        inspector = Inspector(server, era)
        with report.step("discover, register, sign in, allow, tools/list; the schemas are portable"):
            names = {tool["name"] for tool in inspector.run("--method=tools/list", "--strict")["tools"]}
            expect({"search", "read_page"} <= names, f"{names}")
        # From here on a browser is not allowed: what is kept must do.
        with report.step("search finds a page"):
            path = oauth.found_paths(inspector.call("search", {"query": "sourdough"}, "--stored-auth-only"))[0]
        with report.step(f"read_page {path}"):
            before = inspector.call("read_page", {"path": path}, "--stored-auth-only")
        kept = inspector.secrets.read_bytes()
        time.sleep(ACCESS_TOKEN_SECONDS + 1)
        with report.step("read the page again after the token has expired"):
            expect(inspector.call("read_page", {"path": path}, "--stored-auth-only") == before, "the page has changed")
        report.check("the token was refreshed", inspector.secrets.read_bytes() != kept)


if __name__ == "__main__":
    main()
