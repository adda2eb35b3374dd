"""A reverse proxy that adds a bearer token, for a test suite that cannot send one.

Only the head of a request is touched: the token is put in, and `Host` and `Origin` are set right where they
name the proxy itself. A foreign `Host` or `Origin` is passed on, because a scenario may be about just that.
All else is copied byte by byte in both directions, so streams stream and a client that leaves is seen to leave.
"""

import asyncio
import threading
import urllib.parse

MOST_HEAD_BYTES = 64 * 1024


class BearerProxy:
    """`with BearerProxy(url, token) as proxy:` serves at `proxy.url` what is served at `url`."""

    def __init__(self, url, token):
        parts = urllib.parse.urlsplit(url)
        self.upstream, self.path, self.token = parts.netloc, parts.path, token
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        starting = asyncio.start_server(self.connection, "127.0.0.1", 0, limit=MOST_HEAD_BYTES)
        self.listener = asyncio.run_coroutine_threadsafe(starting, self.loop).result()
        self.port = self.listener.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{self.path}"
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def rewritten(self, head):
        request_line, *fields = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        kept = [request_line, f"Authorization: Bearer {self.token}", "Connection: close"]
        own = {f"{host}:{self.port}" for host in ("127.0.0.1", "localhost")}
        for field in fields:
            name, _, value = field.partition(":")
            name, value = name.lower(), value.strip()
            if name in ("host", "origin") and value.removeprefix("http://") in own:
                kept.append(f"{name}: {value.removesuffix(value.removeprefix('http://'))}{self.upstream}")
            elif name not in ("authorization", "connection"):
                kept.append(field)
        return ("\r\n".join(kept) + "\r\n\r\n").encode("latin-1")

    async def connection(self, reader, writer):
        """One request a connection: the head is rewritten only once."""
        upstream_writer = None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            host, port = self.upstream.split(":")
            upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
            upstream_writer.write(self.rewritten(head))
            copies = {
                asyncio.ensure_future(copy(reader, upstream_writer)),
                asyncio.ensure_future(copy(upstream_reader, writer)),
            }
            _, unfinished = await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
            for task in unfinished:
                task.cancel()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # The suite opens connections that it does not use.
        finally:
            for end in filter(None, (writer, upstream_writer)):
                end.close()


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
