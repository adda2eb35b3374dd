"""An OAuth and MCP client of a few lines, for the tests that look at something else than a client.

It follows the documents that the server publishes (RFC 9728, RFC 8414, RFC 7591) and knows no path of its own.
"""

import base64
import hashlib
import json
import re
import secrets
import urllib.error
import urllib.parse
import urllib.request

from browser import approve
from report import expect

REVISION = "2026-07-28"


def fetch(url, body=None, headers=None):
    """(status, headers, body) of a GET, or of a POST when there is a body."""
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, body, headers or {}), timeout=30)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    with answer:
        return answer.status, answer.headers, answer.read()


def fetch_json(url, body=None, headers=None):
    status, _, answer = fetch(url, body, headers)
    expect(status in (200, 201), f"{url} answered {status}: {answer[:300]}")
    return json.loads(answer)


class Client:
    """A public client of one MCP server, which registers itself unless it has a `client_id` already."""

    def __init__(
        self, mcp_url, redirect_uri="http://127.0.0.1:53700/callback", name="brain-mcp tests", *, client_id=None
    ):
        self.mcp_url, self.redirect_uri = mcp_url, redirect_uri
        status, headers, _ = fetch(mcp_url, b"{}", {"Content-Type": "application/json"})
        expect(status == 401, f"a call without a token was answered {status}")
        challenge = headers["WWW-Authenticate"]
        self.scope = re.search(r'scope="([^"]+)"', challenge)[1]
        self.resource = fetch_json(re.search(r'resource_metadata="([^"]+)"', challenge)[1])
        issuer = self.resource["authorization_servers"][0]
        self.server = fetch_json(issuer + "/.well-known/oauth-authorization-server")
        self.client_id = client_id or self.register(redirect_uri, name)

    def register(self, redirect_uri, name):
        registration = {
            "client_name": name,
            "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        endpoint, body = self.server["registration_endpoint"], json.dumps(registration).encode()
        return fetch_json(endpoint, body, {"Content-Type": "application/json"})["client_id"]

    def authorization_url(self):
        self.verifier, self.state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": self.scope,
            "state": self.state,
            "resource": self.resource["resource"],
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return self.server["authorization_endpoint"] + "?" + urllib.parse.urlencode(query)

    def redeem(self, callback_url):
        """The token response for the code that came back."""
        answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(callback_url).query))
        expect(answer.get("state") == self.state, "state came back changed")
        expect(answer.get("iss") == self.server["issuer"], "iss (RFC 9207) is missing or wrong")
        expect("code" in answer, f"no code came back: {answer}")
        return self.token(
            grant_type="authorization_code",
            code=answer["code"],
            redirect_uri=self.redirect_uri,
            code_verifier=self.verifier,
            resource=self.resource["resource"],
        )

    def refresh(self, refresh_token):
        return self.token(grant_type="refresh_token", refresh_token=refresh_token)

    def token(self, **fields):
        return fetch_json(self.server["token_endpoint"], self.token_request(**fields))

    def token_request(self, **fields):
        return urllib.parse.urlencode({"client_id": self.client_id, **fields}).encode()

    def tokens(self, password):
        """The whole dance: the token response after the owner allowed everything."""
        return self.redeem(approve(self.authorization_url(), password))


def rpc_request(method, parameters, access_token, *, name=None):
    """(body, headers) of a stateless MCP request."""
    meta = {"io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**parameters, "_meta": meta}}
    headers = {
        "Authorization": f"Bearer {access_token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": method,
    }
    if name is not None:
        headers["Mcp-Name"] = name
    return json.dumps(message).encode(), headers


def tool_request(name, arguments, access_token):
    return rpc_request("tools/call", {"name": name, "arguments": arguments}, access_token, name=name)


def call_tool(mcp_url, access_token, name, arguments):
    """The result of one tool call."""
    answer = fetch_json(mcp_url, *tool_request(name, arguments, access_token))
    expect("result" in answer, f"{name} failed: {answer}")
    return answer["result"]


def found_paths(result):
    """The paths of the pages that a `search` result names, in order."""
    return [value for key, value in pairs(result["structuredContent"]) if key == "path"]


def pairs(value):
    """Every (key, value) anywhere in a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from pairs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pairs(inner)
