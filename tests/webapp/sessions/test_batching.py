from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore

import pytest

from tests.patience import PATIENCE_S
from webapp.sessions.record_batch import Batcher


class CountingDesk:
    """Doubles numbers, one batch whenever the test lets it; 13 is bad luck for everybody."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun, self.let_go = Semaphore(0), Semaphore(0)

    def double(self, take: Callable[[], list[int]]) -> list[int]:
        numbers = take()
        self.batches.append(sorted(numbers))
        self.begun.release()
        assert self.let_go.acquire(timeout=PATIENCE_S)
        if 13 in numbers:
            raise ValueError("bad luck")
        return [2 * number for number in numbers]


def ask_while_the_first_is_at_work(
    desk: CountingDesk, numbers: Sequence[int], pool: ThreadPoolExecutor
):
    batcher = Batcher(desk.double)
    waiting = [pool.submit(batcher.submit, 0)]
    assert desk.begun.acquire(timeout=PATIENCE_S)
    waiting += [pool.submit(batcher.submit, number) for number in numbers]
    while len(batcher._waiting) < len(numbers):
        Event().wait(0.001)
    return batcher, waiting


def test_who_comes_alone_does_not_wait_for_others():
    desk = CountingDesk()
    desk.let_go.release()
    assert Batcher(desk.double).submit(21) == 42
    assert desk.batches == [[21]]


def test_what_is_asked_meanwhile_is_done_in_one_go_and_everybody_gets_their_own():
    desk = CountingDesk()
    with ThreadPoolExecutor(8) as pool:
        _, waiting = ask_while_the_first_is_at_work(desk, range(1, 8), pool)
        desk.let_go.release(2)
        assert [each.result(timeout=PATIENCE_S) for each in waiting] == list(range(0, 16, 2))
    assert desk.batches == [[0], [1, 2, 3, 4, 5, 6, 7]]


def test_a_failure_is_everybodys_of_that_batch_and_nobody_elses():
    desk = CountingDesk()
    with ThreadPoolExecutor(8) as pool:
        batcher, waiting = ask_while_the_first_is_at_work(desk, [12, 13, 14], pool)
        desk.let_go.release(3)
        assert waiting[0].result(timeout=PATIENCE_S) == 0
        for each in waiting[1:]:
            with pytest.raises(ValueError, match="bad luck"):
                each.result(timeout=PATIENCE_S)
        assert pool.submit(batcher.submit, 5).result(timeout=PATIENCE_S) == 10


def test_a_batch_that_answers_too_few_is_a_failure():
    with pytest.raises(ValueError):
        Batcher[int, int](lambda take: take()[1:]).submit(1)


def test_thousands_of_requests_from_many_threads_are_each_done_once():
    seen: list[int] = []

    def note(take: Callable[[], list[int]]) -> list[int]:
        numbers = take()
        seen.extend(numbers)
        return numbers

    batcher = Batcher(note)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(batcher.submit, range(4000))) == list(range(4000))
    assert sorted(seen) == list(range(4000))


def test_who_asks_before_the_batch_is_taken_belongs_to_it():
    batches: list[list[int]] = []
    waits, taken = Event(), Event()

    def keep(take: Callable[[], list[int]]) -> list[int]:
        waits.set()
        assert taken.wait(timeout=PATIENCE_S)
        batches.append(take())
        return batches[-1]

    batcher = Batcher(keep)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(batcher.submit, 1)
        assert waits.wait(timeout=PATIENCE_S)
        second = pool.submit(batcher.submit, 2)
        while len(batcher._waiting) < 2:
            Event().wait(0.001)
        taken.set()
        assert (first.result(timeout=PATIENCE_S), second.result(timeout=PATIENCE_S)) == (1, 2)
    assert batches == [[1, 2]]


def test_a_failure_before_the_batch_is_taken_is_theirs_who_waited_for_it():
    calls: list[int] = []

    def fail_first(take: Callable[[], list[int]]) -> list[int]:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("no database")
        return take()

    batcher = Batcher(fail_first)
    with pytest.raises(ValueError, match="no database"):
        batcher.submit(1)
    assert batcher.submit(2) == 2
