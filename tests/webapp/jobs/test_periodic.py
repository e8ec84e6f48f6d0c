"""Each tick of a job is done once, by whichever process comes first, and a lost one by the next."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from huey import Huey

from tests.patience import PATIENCE_S
from webapp.core.metrics import Metrics
from webapp.database.locks import exclusive
from webapp.jobs.periodic_queue import PERIODIC_JOBS, PeriodicJob, open_queue, run_job

NODE = Path(__file__).with_name("node.py")
ROOT = Path(__file__).parents[3]
DID = "did it"

Node = Callable[..., subprocess.Popen]


@pytest.fixture
def notes(tmp_path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def node(app, instance, notes) -> Iterator[Node]:
    """Return a function that starts a process which looks after the instance's queue."""
    started = []

    def start(*how: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, str(NODE), str(instance), str(notes), "1", *how], cwd=ROOT
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(PATIENCE_S)


def wait_for(notes: Path, n: int) -> list[tuple[str, int]]:
    """What was claimed and done by which process, once the job was done so many times."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        # What follows the last line's end is being written at this moment.
        lines = notes.read_text("utf-8").split("\n")[:-1] if notes.exists() else []
        found = [(what, int(pid)) for what, _, pid in (line.rpartition(" ") for line in lines)]
        if sum(what == DID for what, _ in found) >= n:
            return found
        time.sleep(0.05)
    raise AssertionError(f"the job was not done {n} times")


def test_of_two_processes_one_does_each_tick(node, notes):
    processes = [node(), node()]
    found = Counter(what for what, _ in wait_for(notes, 4))
    times_done = found.pop(DID)
    assert set(found.values()) == {1}
    assert times_done <= len(found)
    for process in processes:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def test_when_a_process_is_killed_at_work_the_next_tick_does_it(node, notes):
    killed = node("die")
    killed.wait(PATIENCE_S)
    claimed, did = wait_for(notes, 1)
    assert did == (DID, killed.pid)
    heir = node()
    *_, claimed_next, did_next = wait_for(notes, 2)
    assert did_next == (DID, heir.pid)
    assert claimed_next[0] != claimed[0]


@pytest.fixture
def services(app):
    return app.extensions["parallax"]


@pytest.fixture
def queues(services, instance) -> Iterator[list[Huey]]:
    """The same queue as two processes see it."""
    with ExitStack() as stack:
        opened = []
        for _ in range(2):
            queue = open_queue(
                services, instance, jobs={"job": PeriodicJob(60, lambda services: None)}
            )
            stack.callback(queue.storage.close)
            opened.append(queue)
        yield opened


def due(queue: Huey) -> int:
    return len(queue.read_periodic(None))


def test_a_tick_is_claimed_once_and_the_next_one_again(queues, clock):
    assert [due(queue) for queue in queues] == [1, 0]
    clock.go_on(seconds=59)
    assert [due(queue) for queue in queues] == [0, 0]
    clock.go_on(seconds=1)
    assert [due(queue) for queue in reversed(queues)] == [1, 0]


def test_a_clock_that_goes_back_does_not_stop_the_work(queues, clock):
    clock.go_on(days=400)
    assert due(queues[0]) == 1
    clock.go_on(days=-400)
    assert [due(queue) for queue in queues] == [1, 0]
    clock.go_on(minutes=1)
    assert due(queues[0]) == 1


def test_claims_do_not_pile_up(queues, clock):
    for _ in range(10):
        due(queues[0])
        clock.go_on(minutes=1)
    assert len(queues[0].storage.result_items()) <= 2


def test_a_queue_that_cannot_be_used_is_logged_and_asked_again(queues, monkeypatch, caplog):
    with monkeypatch.context() as broken:
        broken.setattr(queues[0].storage, "put_if_empty", lambda *_: 1 / 0)
        assert due(queues[0]) == 0
    assert "the jobs' queue cannot be used" in caplog.text
    assert due(queues[0]) == 1


def test_a_tick_that_meets_the_last_one_at_work_leaves_it_to_it(services, instance):
    done = []
    with exclusive(services.engine, instance, "job_slow") as free:
        assert free
        assert run_job("slow", PeriodicJob(60, done.append), services, instance, None)
    assert not done
    assert run_job("slow", PeriodicJob(60, done.append), services, instance, None)
    assert done == [services]


def test_a_job_that_fails_is_logged_and_counted(services, instance, caplog):
    metrics = Metrics()
    assert not run_job(
        "broken", PeriodicJob(60, lambda services: 1 / 0), services, instance, metrics
    )
    assert "ZeroDivisionError" in caplog.text
    assert metrics.registry.get_sample_value(
        "parallax_jobs_total", {"job": "broken", "outcome": "failed"}
    )


def test_no_job_has_ticks_shorter_than_a_minute():
    assert all(job.every_s >= 60 for job in PERIODIC_JOBS.values())
