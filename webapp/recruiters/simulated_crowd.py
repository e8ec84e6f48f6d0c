"""Many simulated participants, some of them at the same time."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from experiment.errors import ParallaxError
from webapp.errors import RunError, WebappError
from webapp.recruiters.simulated_plan import Plan
from webapp.recruiters.simulated_session import SimulatedSession

N_WORKERS = 8
Visitor = Callable[[httpx.Client, Plan, int], SimulatedSession]
_TIMEOUT_S = 60.0
# Shorter than the server's timeout of idle connections, so that no request is sent just as the
# server closes one.
_KEEPALIVE_S = 1.0


@dataclass(frozen=True, slots=True)
class VisitOutcome:
    """The outcome of one visit.

    Attributes:
        number: The participant's number in the run, from 1.
        responder: The name of the participant's response strategy.
        problem: The problem; empty if the closing page was reached.
    """

    number: int
    responder: str
    problem: str = ""


def simulate(
    plan: Plan,
    url: str,
    participants: int | None = None,
    workers: int = N_WORKERS,
    visitor: Visitor = SimulatedSession,
) -> Iterator[VisitOutcome]:
    """Let simulated participants take part through the public pages, and yield each outcome.

    They arrive one after the other and then work in parallel, so that the same seed gives every
    participant the same place and the same answers, with any number of workers.

    Args:
        plan: The participants and their advance knowledge.
        url: The server's address, e.g. ``http://127.0.0.1:8000``.
        participants: How many; every free place by default.
        workers: How many take part at the same time.
        visitor: The factory of participants, if they do not come by the run's link.

    Raises:
        RunError: The run has too few free places.
        WebappError: No server answers there.
    """
    n_participants = plan.n_free if participants is None else participants
    if not 0 < n_participants <= plan.n_free:
        raise RunError(
            f'the run "{plan.run_ref}" has {plan.n_free} free places, not {n_participants}',
            expected=f"at most {plan.n_free} participants" if plan.n_free else "",
            remedy="" if plan.n_free else "Launch another run for more participants",
        )
    return _send(
        plan, url, range(plan.n_arrived + 1, plan.n_arrived + n_participants + 1), workers, visitor
    )


def _send(
    plan: Plan, url: str, numbers: range, workers: int, visitor: Visitor
) -> Iterator[VisitOutcome]:
    with _client(url) as client, ThreadPoolExecutor(workers) as pool:
        working: set[Future[VisitOutcome]] = set()
        for number in numbers:
            if len(working) == workers:
                done, working = wait(working, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            visit = visitor(client, plan, number)
            arrival = _run_visit(visit, visit.arrive)
            if arrival.problem:
                yield arrival
            else:
                working.add(pool.submit(_run_visit, visit, visit.take_part))
        yield from (future.result() for future in as_completed(working))


def _run_visit(visit: SimulatedSession, step: Callable[[], None]) -> VisitOutcome:
    try:
        step()
    except (ParallaxError, httpx.HTTPError) as error:
        return VisitOutcome(visit.number, visit.responder, str(error) or type(error).__name__)
    return VisitOutcome(visit.number, visit.responder)


@contextmanager
def _client(url: str) -> Iterator[httpx.Client]:
    """Yield a connection to a server, after checking that it answers."""
    limits = httpx.Limits(keepalive_expiry=_KEEPALIVE_S)
    try:
        # A proxy from the environment cannot reach this machine's own addresses.
        client = httpx.Client(base_url=url, timeout=_TIMEOUT_S, limits=limits, trust_env=False)
    except httpx.InvalidURL as error:
        raise _make_no_server_error(url, error) from error
    with client:
        try:
            client.get("/healthz").raise_for_status()
        except httpx.HTTPError as error:
            raise _make_no_server_error(url, error) from error
        yield client


def _make_no_server_error(url: str, error: Exception) -> WebappError:
    return WebappError(
        f"no Parallax server answers ({error})",
        where=url,
        expected="an address like http://127.0.0.1:8000",
        remedy="Start a server with: parallax serve",
    )
