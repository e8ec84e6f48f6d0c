from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore

import pytest

from webapp.flow.together import Together


class Desk:
    """Doubles numbers, one batch whenever the test lets it; 13 is bad luck for everybody."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun, self.let_go = Semaphore(0), Semaphore(0)

    def double(self, take: Callable[[], list[int]]) -> list[int]:
        numbers = take()
        self.batches.append(sorted(numbers))
        self.begun.release()
        assert self.let_go.acquire(timeout=10)
        if 13 in numbers:
            raise ValueError("bad luck")
        return [2 * number for number in numbers]


def ask_while_the_first_is_at_work(desk: Desk, numbers: Sequence[int], pool: ThreadPoolExecutor):
    together = Together(desk.double)
    waiting = [pool.submit(together.ask, 0)]
    assert desk.begun.acquire(timeout=10)
    waiting += [pool.submit(together.ask, number) for number in numbers]
    while len(together._waiting) < len(numbers):
        Event().wait(0.001)
    return together, waiting


def test_who_comes_alone_does_not_wait_for_others():
    desk = Desk()
    desk.let_go.release()
    assert Together(desk.double).ask(21) == 42
    assert desk.batches == [[21]]


def test_what_is_asked_meanwhile_is_done_in_one_go_and_everybody_gets_their_own():
    desk = Desk()
    with ThreadPoolExecutor(8) as pool:
        _, waiting = ask_while_the_first_is_at_work(desk, range(1, 8), pool)
        desk.let_go.release(2)
        assert [each.result(timeout=10) for each in waiting] == list(range(0, 16, 2))
    assert desk.batches == [[0], [1, 2, 3, 4, 5, 6, 7]]


def test_a_failure_is_everybodys_of_that_batch_and_nobody_elses():
    desk = Desk()
    with ThreadPoolExecutor(8) as pool:
        together, waiting = ask_while_the_first_is_at_work(desk, [12, 13, 14], pool)
        desk.let_go.release(3)
        assert waiting[0].result(timeout=10) == 0
        for each in waiting[1:]:
            with pytest.raises(ValueError, match="bad luck"):
                each.result(timeout=10)
        assert pool.submit(together.ask, 5).result(timeout=10) == 10


def test_a_batch_that_answers_too_few_is_a_failure():
    with pytest.raises(ValueError):
        Together[int, int](lambda take: take()[1:]).ask(1)


def test_thousands_of_requests_from_many_threads_are_each_done_once():
    seen: list[int] = []

    def note(take: Callable[[], list[int]]) -> list[int]:
        numbers = take()
        seen.extend(numbers)
        return numbers

    together = Together(note)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(together.ask, range(4000))) == list(range(4000))
    assert sorted(seen) == list(range(4000))


def test_who_asks_before_the_batch_is_taken_belongs_to_it():
    batches: list[list[int]] = []
    waits, taken = Event(), Event()

    def keep(take: Callable[[], list[int]]) -> list[int]:
        waits.set()
        assert taken.wait(timeout=10)
        batches.append(take())
        return batches[-1]

    together = Together(keep)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(together.ask, 1)
        assert waits.wait(timeout=10)
        second = pool.submit(together.ask, 2)
        while len(together._waiting) < 2:
            Event().wait(0.001)
        taken.set()
        assert (first.result(timeout=10), second.result(timeout=10)) == (1, 2)
    assert batches == [[1, 2]]


def test_a_failure_before_the_batch_is_taken_is_theirs_who_waited_for_it():
    calls: list[int] = []

    def fail_first(take: Callable[[], list[int]]) -> list[int]:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("no database")
        return take()

    together = Together(fail_first)
    with pytest.raises(ValueError, match="no database"):
        together.ask(1)
    assert together.ask(2) == 2
