"""A server that answers what it is told, to see what a client makes of it."""

import contextlib
import enum
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Trouble(enum.Enum):
    """What can happen to a request that was read whole."""

    HANG = enum.auto()
    DROP = enum.auto()


@dataclass(frozen=True)
class Answer:
    """A status with S3's error code, or a body of which only `sent` bytes arrive."""

    status: int
    code: str = ""
    body: bytes = b""
    sent: int | None = None


@dataclass
class FaultyHttp:
    """A running server: give each request the next step of the script, and the last one to all that follow."""

    script: Sequence[Answer | Trouble]
    endpoint: str = ""
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def next_step(self, method: str, path: str, headers: dict[str, str]) -> Answer | Trouble:
        self.requests.append((method, path, headers))
        return self.script[min(len(self.requests), len(self.script)) - 1]


@contextlib.contextmanager
def run_faulty_http(*script: Answer | Trouble) -> Iterator[FaultyHttp]:
    state = FaultyHttp(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            step = state.next_step(self.command, self.path, dict(self.headers))
            if isinstance(step, Trouble):
                if step is Trouble.HANG:
                    state.released.wait(30)
                self.close_connection = True
                return
            body = step.body
            if step.code:
                body = f"<Error><Code>{step.code}</Code><Message>As planned</Message></Error>".encode()
            self.send_response(step.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body[: step.sent])
            if step.sent is not None:
                self.close_connection = True

        do_GET = do_PUT = do_POST = do_HEAD = respond  # noqa: N815  the names that http.server looks for

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
