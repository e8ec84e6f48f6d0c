"""A browser reduced to its network: one kept-alive connection, HTTP/1.1 written by hand.

The crowd shares two cores with the server it measures, so a request may cost microseconds only.
"""

import asyncio
import gzip
import re
from dataclasses import dataclass, field
from time import perf_counter

# What Chromium sends with every request, so that the bytes counted are a real browser's.
_ALWAYS = (
    'sec-ch-ua-platform: "Windows"\r\n'
    "User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36"
    " (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36\r\n"
    'sec-ch-ua: "Not:A-Brand";v="8", "Chromium";v="156"\r\n'
    "sec-ch-ua-mobile: ?0\r\nAccept: */*\r\nSec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n"
)
_BODY_BYTES = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_IN_CHUNKS = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_LAST_CHUNK, _CHUNKED = b"0\r\n\r\n", -1
_LOCATION = re.compile(rb"\r\nlocation: *([^\r]+)", re.IGNORECASE)
_COOKIE = re.compile(rb"\r\nset-cookie: *([^;\r]+)", re.IGNORECASE)
_PART = re.compile(rb'<(?:link|script)\b[^>]*?\b(?:href|src)="(/[^"]+)"')
_MOST_TRIES = 5


class UnexpectedAnswer(Exception):
    """The server did not answer as a participant may expect."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response.

    Attributes:
        status: Its status.
        head: Its status line and headers, as they came.
        body: Its body.
    """

    status: int
    head: bytes
    body: bytes

    @property
    def content(self) -> bytes:
        """The body, unpacked where it came packed."""
        packed = b"\r\ncontent-encoding: gzip" in self.head.lower()
        return gzip.decompress(self.body) if packed else self.body

    @property
    def location(self) -> str:
        """The path it leads on to."""
        found = _LOCATION.search(self.head)
        if found is None:
            raise UnexpectedAnswer(f"status {self.status} leads nowhere")
        return re.sub(r"^https?://[^/]+", "", found[1].decode())


class _Exchange(asyncio.Protocol):
    """One request at a time and its reply."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.reply: asyncio.Future[Reply] | None = None
        self._came = bytearray()
        self._length = 0  # of the whole reply, once its head is here

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def ask(self, request: bytes) -> "asyncio.Future[Reply]":
        assert self.transport is not None
        self.reply = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self.reply

    def data_received(self, data: bytes) -> None:
        self._came += data
        if not self._length:
            self._read_head()
        ended = _LAST_CHUNK if self._length == _CHUNKED else b""
        whole = self._length == _CHUNKED or len(self._came) >= self._length > 0
        if whole and self._came.endswith(ended) and self.reply is not None:
            head, _, body = bytes(self._came).partition(b"\r\n\r\n")
            self._came.clear()
            self._length = 0
            if not self.reply.done():
                self.reply.set_result(Reply(int(head[9:12]), head, body))

    def _read_head(self) -> None:
        end = self._came.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _BODY_BYTES.search(self._came, 0, end)
        # Of what comes in chunks, only the end matters here.
        chunked = _IN_CHUNKS.search(self._came, 0, end)
        self._length = _CHUNKED if chunked else end + 4 + (int(length[1]) if length else 0)

    def connection_lost(self, error: Exception | None) -> None:
        if self.reply is not None and not self.reply.done():
            self.reply.set_exception(ConnectionResetError("the server hung up"))


@dataclass
class Browser:
    """One participant's browser, which counts what it sends and gets.

    Attributes:
        host: The server's.
        port: The server's.
        sent_bytes: What it sent so far, headers included.
        received_bytes: What it got so far, likewise.
        requests: How many requests it made.
        reconnected: How many of them it had to make again.
        last_s: How long the last one took.
        slowest_s: How long the slowest one took.
        save_s: How long each request that saves an answer took.
        save_bytes: What these requests and their replies came to.
    """

    host: str
    port: int
    sent_bytes: int = 0
    received_bytes: int = 0
    requests: int = 0
    reconnected: int = 0
    last_s: float = 0.0
    slowest_s: float = 0.0
    save_s: list[float] = field(default_factory=list)
    save_bytes: int = 0
    _exchange: _Exchange | None = None
    _cookies: dict[bytes, bytes] = field(default_factory=dict)

    async def get(self, path: str, expected: int = 200) -> Reply:
        """Return the page at a path."""
        return await self._ask("GET", path, b"", "", expected)

    async def get_parts(self, *pages: Reply) -> None:
        """Fetch the style sheets and programs that the pages name, each once."""
        for path in dict.fromkeys(part for page in pages for part in _PART.findall(page.content)):
            await self.get(path.decode())

    async def post(
        self, path: str, body: bytes, kind: str, expected: int = 200, method: str = "POST"
    ) -> Reply:
        """Send a body of a content type and return the reply."""
        return await self._ask(method, path, body, kind, expected)

    async def save(
        self, path: str, body: bytes, kind: str, expected: int = 200, method: str = "POST"
    ) -> Reply:
        """Do what ``post`` does, as the request that saves an answer: its time is kept."""
        bytes_before = self.sent_bytes + self.received_bytes
        reply = await self._ask(method, path, body, kind, expected)
        self.save_s.append(self.last_s)
        self.save_bytes += self.sent_bytes + self.received_bytes - bytes_before
        return reply

    def close(self) -> None:
        """Hang up."""
        if self._exchange is not None and self._exchange.transport is not None:
            self._exchange.transport.close()

    async def _ask(self, method: str, path: str, body: bytes, kind: str, expected: int) -> Reply:
        request, begun = self._request(method, path, body, kind), perf_counter()
        for _ in range(_MOST_TRIES):
            try:
                exchange = await self._connected()
                reply = await exchange.ask(request)
                break
            except ConnectionError:
                self.reconnected += 1
                self._exchange = None
        else:
            raise UnexpectedAnswer(f"{method} {path}: no answer after {_MOST_TRIES} tries")
        self.last_s = perf_counter() - begun
        self._count(request, reply)
        if reply.status // 100 != expected // 100:
            raise UnexpectedAnswer(f"{method} {path}: {reply.status} {reply.body[:300]!r}")
        return reply

    def _request(self, method: str, path: str, body: bytes, kind: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n", _ALWAYS]
        if method != "GET":
            lines.append(
                f"Origin: http://{self.host}:{self.port}\r\n"
                f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            )
        if self._cookies:
            pairs = b"; ".join(b"=".join(pair) for pair in self._cookies.items())
            lines.append(f"Cookie: {pairs.decode()}\r\n")
        return "".join(lines).encode() + b"Connection: keep-alive\r\n\r\n" + body

    async def _connected(self) -> _Exchange:
        exchange = self._exchange
        if exchange is None or exchange.transport is None or exchange.transport.is_closing():
            _, exchange = await asyncio.get_running_loop().create_connection(
                _Exchange, self.host, self.port
            )
            self._exchange = exchange
        return exchange

    def _count(self, request: bytes, reply: Reply) -> None:
        self.requests += 1
        self.slowest_s = max(self.slowest_s, self.last_s)
        self.sent_bytes += len(request)
        self.received_bytes += len(reply.head) + 4 + len(reply.body)
        if b"\r\nset-cookie" in reply.head.lower():
            for cookie in _COOKIE.findall(reply.head):
                name, _, value = cookie.partition(b"=")
                self._cookies[name] = value
        if b"\r\nconnection: close" in reply.head.lower():
            self.close()
            self._exchange = None
