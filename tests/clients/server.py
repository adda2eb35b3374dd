#!/usr/bin/env python3
"""Runs brain-mcp for a test: a free loopback port, a temporary data folder, a copy of the sample vault.

As a module:   with Server(access_token_seconds=3) as server: ... server.url, server.password ...
As a command:  server.py [--access-token-seconds N] COMMAND...   runs COMMAND beside a server that it finds
               in BRAIN_TEST_URL and whose owner's password is in BRAIN_TEST_PASSWORD; `node` is the installed one.

BRAIN_MCP_BINARY names the binary; without it the debug build of this repository is used.
"""

import argparse
import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import tools

START_SECONDS = 60
STOP_SECONDS = 15


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def lay_vault(source, destination):
    """Copies a vault into a git repository of its own, since classes come from git attributes."""
    shutil.copytree(source, destination, symlinks=True)
    if (destination / ".git").exists():
        return
    git = ["git", "-C", str(destination), "-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=Sample vault"]):
        subprocess.run(git + arguments, check=True)


class Server:
    """A running server, with more `environment` if given. If an exception ends the `with` block, its log is printed."""

    def __init__(
        self,
        *,
        access_token_seconds=None,
        with_password=True,
        vault=tools.SAMPLE_VAULT,
        environment=None,
        port=None,
        host="127.0.0.1",
    ):
        self.access_token_seconds = access_token_seconds
        self.with_password = with_password
        self.vault_source = vault
        self.environment = dict(environment or {})
        self.password = secrets.token_urlsafe(18)
        self.port = port or free_port()
        self.url = f"http://{host}:{self.port}"
        self.mcp_url = self.url + "/mcp"
        self.environment.setdefault("BRAIN_MCP_RESOURCE", self.mcp_url)

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="brain-mcp-test-"))
        self.log = self.folder / "server.log"
        self.vault = self.folder / "vault"
        try:
            lay_vault(self.vault_source, self.vault)
            self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def start(self):
        """Starts the process and waits until it answers; also used to start it again on the same data."""
        arguments = [
            tools.BINARY,
            "serve",
            "--vault",
            self.vault,
            "--listen",
            f"127.0.0.1:{self.port}",
            "--data-dir",
            self.folder / "data",
        ]
        if self.access_token_seconds is not None:
            configuration = self.folder / "brain-mcp.toml"
            configuration.write_text(f"[limits]\naccess_token_seconds = {self.access_token_seconds}\n")
            arguments += ["--config", configuration]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BRAIN_MCP_")}
        # One address asks for everything here.
        for limit in ("MCP", "BAD_TOKEN", "SIGN_IN", "AUTHORIZE", "PAGES", "TOKEN", "REFRESH", "REGISTER"):
            environment[f"BRAIN_MCP_LIMIT_{limit}_PER_MINUTE"] = "0"
        if self.with_password:
            password_file = self.folder / "password"
            password_file.write_text(self.password + "\n")
            password_file.chmod(0o600)
            environment["BRAIN_MCP_OWNER_PASSWORD_FILE"] = str(password_file)
        environment.update(self.environment)
        began = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(argument) for argument in arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )
        while not self.is_healthy():
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with status {self.process.returncode}")
            if time.monotonic() - began > START_SECONDS:
                raise RuntimeError(f"the server did not answer /health within {START_SECONDS} s")
            time.sleep(0.01)
        self.start_seconds = time.monotonic() - began

    def is_healthy(self):
        try:
            with urllib.request.urlopen(self.url + "/health", timeout=5) as answer:
                return json.load(answer)["status"] == "ok"
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def setup_link(self):
        """The one-time link that the first start prints when there is no password file."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            found = re.search(rf"{re.escape(self.url)}/setup\?token=\S+", self.log.read_text())
            if found:
                return found[0]
            time.sleep(0.05)
        raise RuntimeError("no setup link was printed")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"the server did not stop within {STOP_SECONDS} s of SIGTERM") from None

    def __exit__(self, kind, error, trace):
        try:
            if getattr(self, "process", None) and self.process.poll() is None:
                self.stop()
        finally:
            if kind is not None and self.log.exists():
                lines = self.log.read_text(errors="replace").splitlines()[-60:]
                print("---- the server's log", *lines, "----", sep="\n", file=sys.stderr, flush=True)
            shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="Run a command beside a fresh brain-mcp.")
    parser.add_argument("--access-token-seconds", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    with Server(access_token_seconds=arguments.access_token_seconds) as server:
        environment = {
            **os.environ,
            "BRAIN_TEST_URL": server.url,
            "BRAIN_TEST_PASSWORD": server.password,
            "BRAIN_TEST_NODE_MODULES": str(tools.NODE_MODULES),
        }
        command = [tools.node() if word == "node" else word for word in arguments.command]
        subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failure:
        sys.exit(failure.returncode)
