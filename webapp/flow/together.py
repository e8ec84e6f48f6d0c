"""Doing for many at once what each of them asks for alone."""

from collections.abc import Callable, Sequence
from threading import Lock
from time import sleep
from typing import Generic, TypeVar, cast

Asked = TypeVar("Asked")
Told = TypeVar("Told")


class _Turn(Generic[Asked, Told]):
    """One thread's request, while it waits."""

    __slots__ = ("asked", "error", "gate", "over", "told")

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.told: Told | None = None
        self.error: BaseException | None = None
        self.over = False
        # Closed from the start, and opened by others; lighter than an event.
        self.gate = Lock()
        self.gate.acquire()


class Together(Generic[Asked, Told]):
    """Collects what threads ask for while one of them is at work, and then does all of it at once.

    The first thread works at once, so nobody waits where nobody else is. Whatever was asked
    meanwhile is done by one of those who asked, in one go. No thread of its own is needed.

    Args:
        do: Takes a batch, does it, and returns what each of its members is to be told, in their
            order. The later it takes, the more have asked. What it raises is raised to every
            member.
    """

    def __init__(self, do: Callable[[Callable[[], list[Asked]]], Sequence[Told]]) -> None:
        self._do = do
        self._lock = Lock()
        self._waiting: list[_Turn[Asked, Told]] = []
        self._at_work = False

    def ask(self, asked: Asked) -> Told:
        """Return what it is told, once the batch that it belonged to is done."""
        turn = _Turn[Asked, Told](asked)
        with self._lock:
            self._waiting.append(turn)
            wait, self._at_work = self._at_work, True
        if wait:
            turn.gate.acquire()
        if not turn.over:
            self._work()
        if turn.error is not None:
            raise turn.error
        return cast(Told, turn.told)

    def _work(self) -> None:
        batch = list[_Turn[Asked, Told]]()

        def take() -> list[Asked]:
            with self._lock:
                batch.extend(self._waiting)
                self._waiting = []
            return [turn.asked for turn in batch]

        try:
            # Whose request is here already comes along, where nothing else changes the thread.
            sleep(0)
            for turn, told in zip(batch, self._do(take), strict=True):
                turn.told = told
        except BaseException as error:
            if not batch:
                take()
            for turn in batch:
                turn.error = error
        finally:
            self._hand_over(batch)

    def _hand_over(self, batch: list[_Turn[Asked, Told]]) -> None:
        for turn in batch:
            turn.over = True
        with self._lock:
            successors = self._waiting[:1]
            self._at_work = bool(successors)
        # Who works next first, because everybody else waits for them.
        for turn in (*successors, *batch):
            turn.gate.release()
