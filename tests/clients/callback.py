"""The client's end of an authorization: where browsers are sent with the answer, over http or https."""

import http.server
import json
import pathlib
import ssl
import subprocess
import tempfile
import threading


class Callback(http.server.ThreadingHTTPServer):
    """`/callback` says thanks; `/handover` answers 307 to an app's own scheme, as some clients do."""

    scheme = "http"

    def __init__(self):
        super().__init__(("127.0.0.1", 0), CallbackHandler)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        self.url = f"http://{self.address}"
        self.received = []
        self.documents = {}

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """A browser that hangs up is no news."""


class SecureCallback(Callback):
    """The same as a website of two names: an app's maker has `localhost`, and some other website the second.

    It also publishes the descriptions of apps (Client ID Metadata Documents) that are put into `documents`.
    brain-mcp believes its certificate if `environment` is the server's.
    """

    scheme = "https"

    def __init__(self, other_host):
        super().__init__()
        self.url = f"https://localhost:{self.server_address[1]}"
        self.folder = tempfile.TemporaryDirectory(prefix="brain-mcp-certificate-")
        folder = pathlib.Path(self.folder.name)
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        command += ["-days", "2", "-subj", "/CN=brain-mcp tests", "-addext", "basicConstraints=critical,CA:FALSE"]
        command += ["-addext", f"subjectAltName=DNS:localhost,DNS:{other_host}", "-keyout", key, "-out", certificate]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.environment = {"SSL_CERT_FILE": str(certificate), "BRAIN_MCP_PRIVATE_CLIENT_HOSTS": "localhost"}
        self.addresses = {other_host: self.address}

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        self.folder.cleanup()

    def publish(self, path, name, redirect_uri):
        """Describes an app at the path; its client id."""
        client_id = self.url + path
        self.documents[path] = {
            "client_id": client_id,
            "client_name": name,
            "redirect_uris": [redirect_uri],
            "token_endpoint_auth_method": "none",
        }
        return client_id


class CallbackHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path in ("/callback", "/handover"):
            self.server.received.append(f"{self.server.scheme}://{self.headers['Host']}{self.path}")
        if path in self.server.documents:
            self.answer(200, "application/json", json.dumps(self.server.documents[path]).encode())
        elif path == "/handover":
            self.send_response(307)
            self.send_header("Location", f"brain-mcp-test://done?{query}")
            self.end_headers()
        else:
            self.answer(200 if path == "/callback" else 404, "text/plain", b"Thank you.")

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
