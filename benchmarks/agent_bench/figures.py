"""How well scores tell programs from simulated people, printed."""

from collections.abc import Mapping, Sequence

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import Certificate

_ONE_IN = 100


def score(certificate: Certificate) -> float:
    """Return the nats for a program, which order sessions as the score does."""
    return sum(nats for _, nats in certificate.signals)


def area(of_people: Sequence[float], of_programs: Sequence[float]) -> float:
    """Return the area under the ROC: how often a program's score is above a person's."""
    pairs = [(p > h) + (p == h) / 2 for p in of_programs for h in of_people]
    return sum(pairs) / len(pairs)


def bound(of_people: Sequence[float]) -> float:
    """Return the score that one in a hundred people exceeds."""
    ordered = sorted(of_people)
    return ordered[min(len(ordered) - 1, len(ordered) - len(ordered) // _ONE_IN - 1)]


def print_people(found: Mapping[str, Sequence[Certificate]]) -> None:
    """Print how many simulated people raise a flag, by how they answer."""
    print(f"{'simulated people':<38}{'n':>5}{'flagged':>9}{'by the score':>14}")
    for method, certificates in found.items():
        any_flag = sum(bool(flags(one)) for one in certificates) / len(certificates)
        scored = sum("agent_likelihood" in flags(one) for one in certificates) / len(certificates)
        print(f"{method:<38}{len(certificates):>5}{any_flag:>9.1%}{scored:>14.1%}")


def print_programs(
    found: Mapping[str, Sequence[Certificate]], of_people: Sequence[Certificate]
) -> None:
    """Print, of each kind, the area under the ROC, how many are found, and by which signals."""
    human = [score(one) for one in of_people]
    limit = bound(human)
    print(f"\n{'programs':<38}{'n':>5}{'area':>7}{'at 1 %':>8}{'flagged':>9}  most of the score")
    for name, certificates in found.items():
        of_kind = [score(one) for one in certificates]
        above = sum(one > limit for one in of_kind) / len(of_kind)
        caught = sum(bool(flags(one)) for one in certificates) / len(certificates)
        print(
            f"{name:<38}{len(of_kind):>5}{area(human, of_kind):>7.3f}{above:>8.0%}{caught:>9.0%}"
            f"  {_strongest(certificates)}"
        )
    print(
        f"at 1 %: of the score, at the bound {limit:.2f} nats that one in a hundred people passes"
    )


def _strongest(certificates: Sequence[Certificate]) -> str:
    sums: dict[str, float] = {}
    for one in certificates:
        for name, nats in one.signals:
            sums[name] = sums.get(name, 0.0) + nats
    most = sorted(sums, key=lambda name: -sums[name])[:3]
    return ", ".join(f"{name} {sums[name] / len(certificates):.1f}" for name in most)
