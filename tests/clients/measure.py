#!/usr/bin/env python3
"""Speed and size of a running brain-mcp over loopback HTTP, as a Markdown table.

measure.py [--vault DIR] [--seconds N]     with BRAIN_MCP_BINARY=target/release/brain-mcp

Every part of it ends after N seconds. The load comes from this one Python process on the same machine, so the
figures are a lower bound.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import statistics
import time

import oauth
import tools
from server import Server

CONNECTIONS = 32
REFRESHING_CLIENTS = 8
STARTS = 5


class Connection:
    """One kept-alive HTTP/1.1 connection that sends prepared requests."""

    def __init__(self, port):
        self.port = port

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_):
        self.writer.close()

    async def send(self, path, body, headers):
        """The body of the answer, which must be a 200."""
        head = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Content-Length: {len(body)}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*head, "", ""]).encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", answer, re.IGNORECASE)
        content = await (self.reader.readexactly(int(length[1])) if length else self.chunks())
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            raise RuntimeError(f"{answer.decode()}{content.decode()[:300]}")
        return content

    async def chunks(self):
        content = b""
        while size := int(await self.reader.readline(), 16):
            content += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return content


class Bench:
    def __init__(self, server, seconds):
        self.server, self.seconds = server, seconds
        self.chance = random.Random(1)  # The same questions in every run.
        self.pages = [
            str(page.relative_to(server.vault))
            for page in sorted(server.vault.rglob("*.md"))
            if not page.name.endswith(".private.md")
            and not any(part.startswith(".") for part in page.relative_to(server.vault).parts)
        ]
        # Words of the text, so that the frequent ones are asked for most.
        texts = (server.vault.joinpath(page).read_text(errors="replace") for page in self.chance.sample(self.pages, k=min(500, len(self.pages))))
        self.words = [word for text in texts for word in re.findall(r"[^\W\d_]{4,}", text)]
        self.reply_bytes = []
        self.token = oauth.Client(server.mcp_url).tokens(server.password)["access_token"]

    def search_notes(self):
        query = " ".join(self.chance.choices(self.words, k=self.chance.randint(1, 4)))
        return oauth.tool_request("search_notes", {"query": query}, self.token)

    def read_page(self):
        return oauth.tool_request("read_page", {"path": self.chance.choice(self.pages)}, self.token)

    async def calls(self, make_request, connections):
        """How long each call took, in seconds, over so many connections at once."""
        took, end = [], time.monotonic() + self.seconds

        async def client():
            async with Connection(self.server.port) as connection:
                while (began := time.monotonic()) < end:
                    answer = await connection.send("/mcp", *make_request())
                    took.append(time.monotonic() - began)
                    self.reply_bytes.append(len(answer))

        await asyncio.gather(*(client() for _ in range(connections)))
        return took

    async def refreshes(self):
        """How many refresh tokens were exchanged, by some clients at once."""
        count = 0
        clients = [oauth.Client(self.server.mcp_url) for _ in range(REFRESHING_CLIENTS)]
        grants = [(client, client.tokens(self.server.password)["refresh_token"]) for client in clients]
        end = time.monotonic() + self.seconds

        async def chain(client, refresh_token):
            nonlocal count
            async with Connection(self.server.port) as connection:
                while time.monotonic() < end:
                    body = client.token_request(grant_type="refresh_token", refresh_token=refresh_token)
                    answer = await connection.send(
                        "/token", body, {"Content-Type": "application/x-www-form-urlencoded"}
                    )
                    refresh_token = json.loads(answer)["refresh_token"]
                    count += 1

        await asyncio.gather(*(chain(*grant) for grant in grants))
        return count

    async def index(self):
        """Waits for the first answer: since the start, the seconds, and those of the processors."""
        async with Connection(self.server.port) as connection:
            await connection.send("/mcp", *self.search_notes())
        fields = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().rsplit(")")[1].split()
        # Those of git, which the server has waited for, included.
        ticks = sum(int(field) for field in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self, kind):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        kibibytes = int(re.search(kind + r":\s+(\d+)", status)[1])
        return f"{kibibytes / 1024:.0f} MiB"


def latency(took):
    cuts = statistics.quantiles(took, n=100)
    return f"{cuts[49] * 1000:.2f} / {cuts[98] * 1000:.2f} ms"


async def measure(server, seconds):
    """(what, figure) one after the other."""
    starts = [server.start_seconds]
    for _ in range(STARTS - 1):
        server.stop()
        server.start()
        starts.append(server.start_seconds)
    bench = Bench(server, seconds)
    yield "pages in the vault", len(bench.pages)
    yield "binary", f"{tools.BINARY.stat().st_size / 2**20:.1f} MiB"
    yield f"start until /health answers, median of {STARTS}", f"{statistics.median(starts) * 1000:.0f} ms"
    yield "start and index, CPU seconds", f"{await bench.index():.2f}"
    yield "most resident memory so far", bench.memory("VmHWM")
    for name in ("search_notes", "read_page"):
        make_request = getattr(bench, name)
        bench.reply_bytes.clear()
        yield f"`{name}` p50 / p99, one connection", latency(await bench.calls(make_request, 1))
        yield f"`{name}` bytes of a reply, p50", f"{statistics.median(bench.reply_bytes):.0f}"
        took = await bench.calls(make_request, CONNECTIONS)
        yield f"`{name}` a second, {CONNECTIONS} connections", f"{len(took) / seconds:.0f} (p50 / p99 {latency(took)})"
    yield f"refresh tokens exchanged a second, {REFRESHING_CLIENTS} clients", f"{await bench.refreshes() / seconds:.0f}"
    yield "resident memory after that", bench.memory("VmRSS")


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vault", type=pathlib.Path, default=tools.SAMPLE_VAULT)
    parser.add_argument("--seconds", type=int, default=10)
    arguments = parser.parse_args()
    with Server(vault=arguments.vault) as server:
        print("| what | figure |\n|---|---|")
        async for what, figure in measure(server, arguments.seconds):
            print(f"| {what} | {figure} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
