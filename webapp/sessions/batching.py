"""Batching: requests that arrive while one is at work share the next transaction."""

from collections.abc import Callable, Sequence
from threading import Lock
from time import sleep
from typing import Generic, TypeVar, cast

Payload = TypeVar("Payload")
Result = TypeVar("Result")


class _Request(Generic[Payload, Result]):
    """One thread's request, while it waits."""

    __slots__ = ("done", "error", "event", "payload", "result")

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.done = False
        # Closed from the start, and opened by others; lighter than an event.
        self.event = Lock()
        self.event.acquire()


class Batcher(Generic[Payload, Result]):
    """Collects the requests that arrive while one thread works, and then does all of them at once.

    The first thread works at once, so nobody waits where nobody else is. Whatever arrived
    meanwhile is done by one of the waiting threads, in one go. No thread of its own is needed.

    Args:
        do: Takes a batch, does it, and returns one result per member, in their order. The later
            it takes, the larger the batch. What it raises is raised to every member.
    """

    def __init__(self, do: Callable[[Callable[[], list[Payload]]], Sequence[Result]]) -> None:
        self._do = do
        self._lock = Lock()
        self._waiting: list[_Request[Payload, Result]] = []
        self._at_work = False

    def submit(self, payload: Payload) -> Result:
        """Return the result of one request, once the batch that holds it is done."""
        request: _Request[Payload, Result] = _Request(payload)
        with self._lock:
            self._waiting.append(request)
            wait, self._at_work = self._at_work, True
        if wait:
            request.event.acquire()
        if not request.done:
            self._work()
        if request.error is not None:
            raise request.error
        return cast(Result, request.result)

    def _work(self) -> None:
        batch: list[_Request[Payload, Result]] = []

        def take() -> list[Payload]:
            with self._lock:
                batch.extend(self._waiting)
                self._waiting = []
            return [request.payload for request in batch]

        try:
            # Whose request is here already comes along, where nothing else changes the thread.
            sleep(0)
            for request, result in zip(batch, self._do(take), strict=True):
                request.result = result
        except BaseException as error:
            if not batch:
                take()
            for request in batch:
                request.error = error
        finally:
            self._hand_over(batch)

    def _hand_over(self, batch: list[_Request[Payload, Result]]) -> None:
        for request in batch:
            request.done = True
        with self._lock:
            successors = self._waiting[:1]
            self._at_work = bool(successors)
        # Who works next first, because everybody else waits for them.
        for request in (*successors, *batch):
            request.event.release()
