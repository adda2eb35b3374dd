#!/usr/bin/env python3
"""The MCP conformance suite, the released one and the newest preview, against a running brain-mcp.

conformance.py [--table]   --table prints the scenarios that do not apply, with the reasons, and ends
"""

import re
import subprocess
import sys
import urllib.request

import oauth
import scenarios
import tools
from bearer_proxy import BearerProxy
from browser import approve
from report import Report
from server import Server, free_port

DEADLINE_SECONDS = 120


class Suite:
    """One installed version of the suite."""

    def __init__(self, title, folder):
        self.title = title
        script = tools.NODE_MODULES / folder / "dist/index.js"
        self.command = [tools.node(), str(script)]

    def listed(self, kind):
        """Scenario to revisions, as the suite lists them."""
        ended = subprocess.run([*self.command, "list", kind], capture_output=True, text=True, check=True)
        found = re.findall(r"^\s+- (\S+) \[(.*)\]$", ended.stdout, re.MULTILINE)
        return {name: revisions.split(",") for name, revisions in found}

    def server_scenario(self, url, name, revision, folder):
        """(passed, output) of one scenario."""
        arguments = [
            "server",
            "--url",
            url,
            "--scenario",
            name,
            "--spec-version",
            revision,
            "--output-dir",
            str(folder / "results"),
        ]
        if name in scenarios.EXPECTED_FAILURES:
            baseline = folder / "expected-failures.yml"
            baseline.write_text(
                "server:\n" + "".join(f"  - {name}:{check}\n" for check in scenarios.EXPECTED_FAILURES[name])
            )
            arguments += ["--expected-failures", str(baseline)]
        ended = subprocess.run(
            [*self.command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE_SECONDS,
        )
        return ended.returncode == 0, ended.stdout

    def authorization(self, server, revision):
        """Scenario to (passed, output). The suite prints the authorization URL and waits at its callback for the owner.

        Both scenarios run in one go, since the second uses the metadata that the first has read.
        """
        port = free_port()
        client = oauth.Client(server.mcp_url, f"http://127.0.0.1:{port}/callback", "conformance suite")
        arguments = [
            "authorization",
            "--url",
            server.url,
            "--client-id",
            client.client_id,
            "--resource",
            server.mcp_url,
        ]
        arguments += ["--port", str(port), "--spec-version", revision]
        with subprocess.Popen(
            [*self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as running:
            output = ""
            for line in running.stdout:
                output += line
                url = re.search(r"https?://\S+[?&]code_challenge=\S+", line)
                if url:
                    try:
                        urllib.request.urlopen(approve(url[0], server.password), timeout=30).close()
                    except BaseException:
                        running.kill()
                        raise
        # A scenario that the suite skipped has not passed.
        passed = {name for name in scenarios.AUTHORIZATION if re.search(rf"{name}: [1-9]\d* passed, 0 failed", output)}
        return {name: (running.returncode == 0 and name in passed, output) for name in scenarios.AUTHORIZATION}


def check_tables(report, listed):
    """Every scenario that a suite knows has been judged, and nothing else has."""
    judged = {*scenarios.APPLICABLE, *(name for names in scenarios.NOT_APPLICABLE.values() for name in names)}
    known = {name for suite in listed for name in suite}
    report.check("every scenario is in scenarios.py", not known - judged, " ".join(sorted(known - judged)))
    report.check("scenarios.py has no other", not judged - known, " ".join(sorted(judged - known)))


def check(report, name, result):
    passed, output = result
    if not report.check(name, passed):
        lines = output.splitlines()
        telling = [line for line in lines if re.search(r"FAILURE|WARNING|Error:|[Uu]nexpected|[Ss]tale", line)]
        print(*(telling or lines[-30:]), sep="\n", flush=True)


def print_table():
    print("| scenario | why it does not apply |\n|---|---|")
    for reason, names in scenarios.NOT_APPLICABLE.items():
        for name in names:
            print(f"| {name} | {reason} |")


def main():
    preview = Suite("preview", "@modelcontextprotocol/conformance")
    suites = [Suite("released", "conformance-stable"), preview]
    with Report("MCP conformance suite") as report, Server() as server:
        listed = {suite: suite.listed("--server") for suite in suites}
        check_tables(report, listed.values())
        token = oauth.Client(server.mcp_url).tokens(server.password)["access_token"]
        with BearerProxy(server.mcp_url, token) as proxy:
            for suite, names in listed.items():
                for name, revisions in names.items():
                    for revision in revisions if name in scenarios.APPLICABLE else ():
                        result = suite.server_scenario(proxy.url, name, revision, server.folder)
                        check(report, f"{suite.title} {revision} {name}", result)
        authorization = preview.listed("--authorization")
        report.check(
            "the authorization scenarios are the known ones", set(authorization) == set(scenarios.AUTHORIZATION)
        )
        for revision in sorted({revision for revisions in authorization.values() for revision in revisions}):
            for name, result in preview.authorization(server, revision).items():
                check(report, f"authorization {revision} {name}", result)


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print_table()
    else:
        main()
