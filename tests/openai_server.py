"""A chat-completions server on the loopback address, for tests: real HTTP, no network.

Its replies are scripted; it records every request and what was answered.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, "dict[str, Any] | str", "dict[str, str]"]


def completion(
    content: str | None,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    reasoning: str | None = None,
) -> Reply:
    """A successful answer."""
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": refusal}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    body = {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "local",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return 200, body, {}


def failure(status: int, message: str, **headers: str) -> Reply:
    """An error as such servers put it."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return status, body, {name.replace("_", "-"): value for name, value in headers.items()}


def malformed() -> Reply:
    """A body that ends in the middle."""
    return 200, '{"id": "chatcmpl-test", "choices": [{"index": 0, "mess', {}


@dataclass
class Server:
    """What a test sees of the server.

    Attributes
    ----------
    reply : callable
        From a request's number (0, 1, ...) and body to the reply.
    requests : list of dict
        Bodies, in order of arrival.
    """

    reply: Callable[[int, dict[str, Any]], Reply]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def words(self, number: int = -1) -> str:
        """The text of a request's last message."""
        content = self.requests[number]["messages"][-1]["content"]
        if isinstance(content, str):
            return content
        return "\n".join(part["text"] for part in content if part["type"] == "text")

    def images(self, number: int = -1) -> list[str]:
        """URLs of the images in a request's last message."""
        content = self.requests[number]["messages"][-1]["content"]
        if isinstance(content, str):
            return []
        return [part["image_url"]["url"] for part in content if part["type"] == "image_url"]


@contextmanager
def serve(reply: Callable[[int, dict[str, Any]], Reply]) -> Iterator[Server]:
    """Run a server until the block ends."""
    server, lock = Server(reply), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(server.requests)
                server.requests.append(body)
            status, content, headers = server.reply(number, body)
            payload = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the test's output clean."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{httpd.server_address[1]}/v1"
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
