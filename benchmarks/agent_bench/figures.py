"""How well scores tell programs from simulated people, printed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import Certificate

_ONE_IN = 100


class Judged(NamedTuple):
    """A session's certificate, and the nats of every signal that was tried."""

    certificate: Certificate
    nats: Mapping[str, float]


def score(judged: Judged) -> float:
    """Return the nats of all signals for a program, as if hurting people did not matter."""
    return sum(judged.nats.values())


def area(of_people: Sequence[float], of_programs: Sequence[float]) -> float:
    """Return the area under the ROC: how often a program's score is above a person's."""
    pairs = [(p > h) + (p == h) / 2 for p in of_programs for h in of_people]
    return sum(pairs) / len(pairs)


def bound(of_people: Sequence[float]) -> float:
    """Return the score that one in a hundred people exceeds."""
    ordered = sorted(of_people)
    return ordered[min(len(ordered) - 1, len(ordered) - len(ordered) // _ONE_IN - 1)]


def print_people(found: Mapping[str, Sequence[Judged]]) -> None:
    """Print how many simulated people raise a flag, by how they answer."""
    print(f"{'simulated people':<38}{'n':>5}{'flagged':>9}{'by the score':>14}")
    for method, judged in found.items():
        certificates = [one.certificate for one in judged]
        any_flag = sum(bool(flags(one)) for one in certificates) / len(certificates)
        scored = sum("agent_likelihood" in flags(one) for one in certificates) / len(certificates)
        print(f"{method:<38}{len(certificates):>5}{any_flag:>9.1%}{scored:>14.1%}")


def print_programs(found: Mapping[str, Sequence[Judged]], of_people: Sequence[Judged]) -> None:
    """Print, of each kind, the area under the ROC, how many are found, and by which signals."""
    human = [score(one) for one in of_people]
    limit = bound(human)
    print(f"\n{'programs':<38}{'n':>5}{'area':>7}{'at 1 %':>8}{'flagged':>9}  most of the score")
    for name, judged in found.items():
        of_kind = [score(one) for one in judged]
        above = sum(one > limit for one in of_kind) / len(of_kind)
        caught = sum(bool(flags(one.certificate)) for one in judged) / len(judged)
        print(
            f"{name:<38}{len(of_kind):>5}{area(human, of_kind):>7.3f}{above:>8.0%}{caught:>9.0%}"
            f"  {_strongest(judged)}"
        )
    print(
        f"at 1 %: of the score, at the bound {limit:.2f} nats that one in a hundred people passes"
    )


def _strongest(judged: Sequence[Judged]) -> str:
    sums: dict[str, float] = {}
    for one in judged:
        for name, nats in one.nats.items():
            sums[name] = sums.get(name, 0.0) + nats
    most = sorted(sums, key=lambda name: -sums[name])[:3]
    return ", ".join(f"{name} {sums[name] / len(judged):.1f}" for name in most)
