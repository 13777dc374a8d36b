"""A web hook and a mail server that keep what they get, each by its own protocol."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, cast


@contextmanager
def web_hook(port: int = 0) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Its address on the loopback, and the messages that it gets."""
    heard: list[dict[str, str]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with _serving(HTTPServer(("127.0.0.1", port), Hook)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/", heard


@contextmanager
def mail_server(port: int = 0) -> Iterator[tuple[str, list[EmailMessage]]]:
    """Its host and port, and the messages that it gets."""
    heard: list[EmailMessage] = []

    class Desk(socketserver.StreamRequestHandler):
        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

        def handle(self) -> None:
            self.say("220 desk")
            for line in iter(self.rfile.readline, b""):
                verb = line[:4].upper()
                if verb == b"DATA":
                    self.say("354 go on")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    heard.append(cast("EmailMessage", message_from_bytes(b"".join(lines), policy=default)))
                self.say("221 bye" if verb == b"QUIT" else "250 ok")
                if verb == b"QUIT":
                    return

    with _serving(socketserver.TCPServer(("127.0.0.1", port), Desk)) as server:
        yield f"127.0.0.1:{server.server_address[1]}", heard


@contextmanager
def _serving(server: socketserver.TCPServer) -> Iterator[socketserver.TCPServer]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
