"""Estimate the weight of each candidate signal, and determine which signals the product may count.

Usage: python benchmarks/integrity_weights.py SESSIONS [--write]

SESSIONS is the output of ``python benchmarks/agents.py --keep SESSIONS``: sessions of the
benchmark's programs, for which the signals were designed. The rates at which a candidate flags
humans come from the tables of ``people_flagged.py`` and ``people_published.py``.
``--write`` saves the programs' counts in ``experiment/integrity/programs.tsv``.

The weight is log(p / q): q is the upper end of the 95 % interval of the share of flagged humans in
the worst answering style and the worst data; p is the mean over the kinds of programs, plus one
further kind that is flagged as often as humans. The interval in brackets is that of log(p / q) with
both shares drawn from their posteriors (Jeffreys' prior); it shows the uncertainty of this
benchmark's shares, not the variety of other programs.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from agent_bench.candidates import DROPPED, SPEAKS_NATS, nats_of
from agent_bench.kept import kept
from people_flagged import LENGTHS, NOT_MEASURED
from people_published import first

from experiment.integrity import rates
from experiment.integrity.certificate import DIRECT, SIGNALS
from experiment.integrity.observed import ObservedSession

FILE = Path(rates.__file__).with_name("programs.tsv")
CANDIDATES = tuple(name for name in (*SIGNALS, *DROPPED) if name not in DIRECT)
# These are told of a mouse alone, and switches in place of fingers were not simulated.
OF_A_MOUSE, NOT_BY_TOUCH = ("jumps", "even_paths", "rests", "waits"), ("trusted", "short_holds")
# The length at which the table is printed; the product has every one.
SHOWN = 76
_DRAWS = 20_000


def counts(programs: Mapping[str, Sequence[ObservedSession]]) -> Iterator[rates.ProgramRate]:
    """Yield how often each candidate speaks of each kind of program, by length."""
    for kind, sessions in programs.items():
        for n in LENGTHS:
            cut = [nats_of(one) for one in (first(each, n) for each in sessions) if one is not None]
            for name in CANDIDATES if cut else ():
                k = sum(nats.get(name, 0.0) >= SPEAKS_NATS for nats in cut)
                yield rates.ProgramRate(kind, n, name, k, len(cut))


def rows(found: Sequence[rates.ProgramRate]) -> Iterator[str]:
    """Yield the lines of the file of programs."""
    yield "# made by: python benchmarks/integrity_weights.py SESSIONS --write; programs that ran"
    yield "kind\tn_trials\tname\tn_speaks\tn"
    for one in found:
        yield "\t".join(map(str, (one.kind, one.n_trials, one.name, one.n_fired, one.n)))


def worst(name: str, seen: str, n_trials: int) -> rates.PeopleRate | None:
    """Return the highest rate of people who are seen to answer so, at no greater length."""
    found = [
        one
        for one in rates.measured_rates()
        if (one.name, one.seen) == (name, seen) and one.n_trials <= n_trials
    ]
    return max(found, key=lambda one: one.high, default=None)


def interval(k: int, n: int, people: rates.PeopleRate) -> tuple[float, float]:
    """Return the 95 % interval of the log ratio of two shares, each with Jeffreys' prior."""
    rng = np.random.default_rng(38)
    program = rng.beta(k + 0.5, n - k + 0.5, _DRAWS)
    person = rng.beta(people.n_flagged + 0.5, people.n - people.n_flagged + 0.5, _DRAWS)
    low, high = np.quantile(np.log(program / person), (0.025, 0.975))
    return float(low), float(high)


def show(programs: tuple[rates.ProgramRate, ...]) -> None:
    """Print each candidate: the programs' share, the people's, and what it is worth."""
    kinds = {one.kind for one in programs}
    print(f"{len(kinds)} kinds of programs, sessions of {SHOWN} trials; nats where a signal speaks")
    print(f"{'signal':<13}{'programs':>10}   " + "".join(f"{seen:<42}" for seen in rates.METHODS))
    for name in CANDIDATES:
        of = [one for one in programs if (one.name, one.n_trials) == (name, SHOWN)]
        k, n = sum(one.n_fired for one in of), sum(one.n for one in of)
        cells = "".join(f"{_cell(name, seen, k, n, programs):<42}" for seen in rates.METHODS)
        print(f"{name:<13}{f'{k} of {n}':>10}   {cells}".rstrip())
    print(f"\nnats by length{'':<9}" + "".join(f"{n:>7}" for n in LENGTHS))
    for name in SIGNALS:
        for seen in rates.METHODS if name not in DIRECT else ():
            found = [rates.weight(name, frozenset({seen}), n, programs) for n in LENGTHS]
            print(f"{name:<12}{seen:<11}" + "".join(f"{_nats(one):>7}" for one in found))


def _cell(name: str, seen: str, k: int, n: int, programs: Sequence[rates.ProgramRate]) -> str:
    people = worst(name, seen, SHOWN)
    if (name in OF_A_MOUSE and seen != "pointer") or (name in NOT_BY_TOUCH and seen == "touch"):
        return "not told" if name in OF_A_MOUSE else "people not known"
    if name in NOT_MEASURED and people is None:
        return "people not known"
    assert people is not None
    at_most = f"people <= {people.high:.1%}"
    if people.high >= rates.LIMIT:
        return f"{at_most}: hurts people"
    low, high = interval(k, n, people)
    used = rates.weigh_evidence(name, SHOWN, people.high, programs)
    return f"{at_most}: {used:.1f} ({low:.1f} to {high:.1f})"


def _nats(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def main() -> None:
    """Count, print, and keep the programs' counts if told to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sessions", type=Path, help="what agents.py --keep wrote")
    parser.add_argument("--write", action="store_true", help="keep them for the product")
    options = parser.parse_args()
    found = tuple(counts(kept(options.sessions)))
    if options.write:
        FILE.write_text("\n".join(rows(found)) + "\n", encoding="utf-8")
    show(found)


if __name__ == "__main__":
    main()
