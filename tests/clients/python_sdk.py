#!/usr/bin/env python3
"""The official Python SDK, 1.x or 2.x as installed, unchanged: authorization, tools, refresh.

python_sdk.py [MODE]   MODE (2.x only): auto, legacy or a protocol revision to pin
"""

import asyncio
import contextlib
import importlib.metadata
import sys
import urllib.parse

import mcp
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientMetadata

import oauth
from browser import approve
from report import Report, expect
from server import Server

VERSION = importlib.metadata.version("mcp")
IS_FIRST_GENERATION = VERSION.startswith("1.")
CALLBACK = "http://127.0.0.1:53701/callback"
ACCESS_TOKEN_SECONDS = 3


class Memory(TokenStorage):
    """What the SDK asks a host to keep."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


def provider(server, memory):
    """The SDK's OAuth client, with the owner's browser in place of a real one."""
    answer = {}

    async def redirect_handler(url):
        came_back = await asyncio.to_thread(approve, url, server.password)
        answer.update(urllib.parse.parse_qsl(urllib.parse.urlsplit(came_back).query))

    async def callback_handler():
        if IS_FIRST_GENERATION:
            return answer["code"], answer["state"]
        from mcp.client.auth import AuthorizationCodeResult

        return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])

    return OAuthClientProvider(
        server_url=server.mcp_url,
        client_metadata=OAuthClientMetadata(client_name="Python SDK", redirect_uris=[CALLBACK]),
        storage=memory,
        redirect_handler=redirect_handler,
        callback_handler=callback_handler,
    )


@contextlib.asynccontextmanager
async def connection(server, memory, mode):
    """(client, protocol revision); both generations offer list_tools and call_tool."""
    if IS_FIRST_GENERATION:
        from mcp.client.streamable_http import streamablehttp_client

        async with streamablehttp_client(server.mcp_url, auth=provider(server, memory)) as (reading, writing, _):
            async with mcp.ClientSession(reading, writing) as session:
                yield session, (await session.initialize()).protocolVersion
    else:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(auth=provider(server, memory), timeout=30) as http:
            transport = streamable_http_client(server.mcp_url, http_client=http)
            async with mcp.Client(transport, mode=mode) as client:
                yield client, client.protocol_version


async def call(client, name, arguments):
    result = await client.call_tool(name, arguments)
    result = result.model_dump(by_alias=True)
    expect(not result["isError"], f"{name} failed: {result['content']}")
    return result


async def converse(report, server, mode):
    memory = Memory()
    with report.step("discover, register, sign in, allow, connect"):
        stack = contextlib.AsyncExitStack()
        client, revision = await stack.enter_async_context(connection(server, memory, mode))
    async with stack:
        wanted = {"legacy": "2025-11-25", "auto": "2026-07-28"}.get(mode, mode)
        report.check(f"the protocol revision is {wanted}", revision == wanted, revision)
        with report.step("tools/list has search and read_page"):
            names = {tool.name for tool in (await client.list_tools()).tools}
            expect({"search", "read_page"} <= names, f"{names}")
        with report.step("search finds a page"):
            path = oauth.found_paths(await call(client, "search", {"query": "sourdough"}))[0]
        with report.step(f"read_page {path}"):
            before = await call(client, "read_page", {"path": path})
            expect("sourdough" in str(before["content"]).lower(), "the text is missing")
        with report.step("resources are listed and read"):
            uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
            expect({"vault://tags", "vault://recent"} <= uris, f"{uris}")
            contents = (await client.read_resource("vault://tags")).contents
            expect('"tags"' in contents[0].text, f"{contents}")
        with report.step("prompts are listed and filled in"):
            prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
            expect("summarize_topic" in prompts, f"{prompts}")
            filled = await client.get_prompt("summarize_topic", {"topic": "sourdough"})
            expect("sourdough" in filled.messages[0].content.text, f"{filled}")
        first_token = memory.tokens.access_token
        await asyncio.sleep(ACCESS_TOKEN_SECONDS + 1)
        with report.step("search again after the token has expired"):
            await call(client, "search", {"query": "sourdough"})
        report.check("the token was refreshed", memory.tokens.access_token != first_token)
        with report.step("read the page again"):
            after = await call(client, "read_page", {"path": path})
            expect(after["structuredContent"] == before["structuredContent"], "the page has changed")


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "legacy" if IS_FIRST_GENERATION else "auto"
    with Report(f"Python SDK {VERSION}, {mode}") as report, Server(access_token_seconds=ACCESS_TOKEN_SECONDS) as server:
        asyncio.run(converse(report, server, mode))


if __name__ == "__main__":
    main()
