"""A server that bills in strange ways, over real HTTP on loopback."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

PRICE_IN, PRICE_OUT = 3.0, 15.0
LABELS = (" 1", " 2", " A", " B", " X", " Y")
_SLOW_S = 0.6
TIMEOUT_S = 0.2


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the server does with one call.

    Attributes:
        status: The status of its reply.
        bills: Whether it bills the call.
        cuts: Whether it breaks the connection in the middle of the body.
        hangs: Whether it replies after the client has gone.
        body: What it sends in place of its reply.
        usage: What stands in the reply as usage; None for what it bills.
        overhead: Tokens of a prompt of its own, which it bills with every call.
    """

    status: int = 200
    bills: bool = True
    cuts: bool = False
    hangs: bool = False
    body: str | None = None
    usage: Any = "billed"
    overhead: int = 0


ORDINARY = Behaviour()


class StrangeServer(ThreadingHTTPServer):
    """Answers the first calls as a script says, and all later ones in one way.

    Attributes:
        billed: What was billed, in tokens of prompts and of answers.
        calls: How many calls came.

    Args:
        script: What it does with the first calls.
        later: What it does with all others.
        endless: Whether the script is repeated without end.
    """

    daemon_threads = True

    def __init__(self, script: Sequence[Behaviour], later: Behaviour, *, endless: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script, self.later, self.endless = script, later, endless
        self.billed, self.calls, self.lock = [0, 0], 0, Lock()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that went away."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def bill(self) -> float:
        return (self.billed[0] * PRICE_IN + self.billed[1] * PRICE_OUT) / 1_000_000

    def next_behaviour(self) -> Behaviour:
        number, self.calls = self.calls, self.calls + 1
        if self.endless:
            return self.script[number % len(self.script)]
        return self.script[number] if number < len(self.script) else self.later


class _Handler(BaseHTTPRequestHandler):
    server: StrangeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server = self.server
        with server.lock:
            behaviour = server.next_behaviour()
            # As many tokens as a server can bill: one for each byte, and the whole answer.
            prompt = str(asked.get("prompt") or asked.get("messages"))
            n_in = len(prompt.encode()) + behaviour.overhead
            n_out = asked.get("max_tokens", 0)
            if behaviour.bills:
                server.billed[0] += n_in
                server.billed[1] += n_out
        if behaviour.hangs:
            time.sleep(_SLOW_S)
        usage = {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}
        reply = {"model": "toy", "choices": [_choice()]}
        if behaviour.usage is not None:
            reply["usage"] = usage if behaviour.usage == "billed" else behaviour.usage
        if behaviour.status != 200:
            reply = {"error": {"message": "strange"}}
        content = (behaviour.body or json.dumps(reply)).encode()
        self.send_response(behaviour.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if behaviour.cuts else content)
        if behaviour.cuts or behaviour.hangs:
            self.close_connection = True


def _choice() -> dict[str, Any]:
    alternatives = {label: -2.0 - 0.1 * place for place, label in enumerate(LABELS)}
    logprobs = {"tokens": [" 1"], "token_logprobs": [-1.0], "top_logprobs": [alternatives]}
    return {"text": " 1", "logprobs": logprobs, "message": {"content": "1"}}


@contextmanager
def strange_server(
    script: Sequence[Behaviour], later: Behaviour = ORDINARY, *, endless: bool = False
) -> Iterator[StrangeServer]:
    """Serve until the block ends, and until what is under way has been billed."""
    with StrangeServer(script, later, endless=endless) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
