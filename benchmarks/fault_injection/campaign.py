"""What campaigns of faults share: batches of runs, their counts, and what the command line says."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tqdm import tqdm

from fault_injection.environment import Environment
from fault_injection.operator import NeverDone
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.recruitment.terms import count_unfilled_places

RUNS_PER_ENVIRONMENT = 10
KINDS = ("throttled", "server_error", "server_error_after", "request_lost", "reply_lost")
MOST_WORKERS = 200
REWARD, BONUS = 20, 5  # as the study of the environment says
_NOT_ASKED = ("runs", "processes", "kept")


def unfilled(environment: Environment, run: Run) -> int:
    with reading(environment.services.sessions) as session:
        return count_unfilled_places(session, run)


def ended(number: int, one_run: Callable[[], Counter[str]]) -> Counter[str]:
    """Return the counts of a run; one that does not come to its end is told and counted."""
    try:
        return one_run()
    except NeverDone as error:
        print(f"run {number}: {error}", file=sys.stderr, flush=True)
        return Counter({"runs": 1, "runs without end": 1})


def campaign(
    options: argparse.Namespace, one_environment: Callable[[argparse.Namespace, int], Counter[str]]
) -> Counter[str]:
    """Return the counts of every run together, so many of them in each environment.

    An interrupt ends it early, with the counts of what was done. With ``--kept FILE`` each batch is
    a line of the file, and one that stands there already is not run again.
    """
    asked = {name: value for name, value in vars(options).items() if name not in _NOT_ASKED}
    kept = _kept(options.kept, asked)
    all_firsts = range(0, options.runs, RUNS_PER_ENVIRONMENT)
    firsts = [first for first in all_firsts if first not in kept]
    counts = sum((kept[first] for first in all_firsts if first in kept), Counter[str]())
    with ProcessPoolExecutor(options.processes) as pool:
        batches = pool.map(partial(one_environment, options), firsts)
        done = zip(firsts, batches, strict=True)
        try:
            for first, batch in tqdm(done, total=len(firsts), unit="batch"):
                counts.update(batch)
                if options.kept:
                    with options.kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([asked, first, batch]) + "\n")
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
    return counts


def _kept(file: Path | None, asked: dict[str, object]) -> dict[int, Counter[str]]:
    """Return the counts of the batches of this campaign that a file holds."""
    if file is None or not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {first: Counter(batch) for of, first, batch in lines if of == asked}


def report(
    description: str | None,
    one_environment: Callable[[argparse.Namespace, int], Counter[str]],
    shown: Sequence[str],
    wrong: Sequence[str],
    runs: int = 1000,
    **shares: tuple[float, str],
) -> None:
    """Run a campaign as the command line says, print its counts, and end with 1 if any is wrong."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=int, default=runs)
    for name, (default, words) in shares.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default, help=words)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=float, default=0.15, help="the share of calls that fail")
    parser.add_argument("--deaths", type=float, default=0.03, help="at each point of a process")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="where batches are kept, to go on with later")
    counts = campaign(parser.parse_args(), one_environment)
    for name in shown:
        print(f"{name:<26}{counts[name]:>8,}")
    sys.exit(any(counts[name] for name in wrong))
