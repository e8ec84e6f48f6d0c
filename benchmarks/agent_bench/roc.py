"""How many held-out browsers are found at which price for people: a table, and the ROC."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from people_flagged import exact

from agent_bench import held_out
from agent_bench.figures import Judged, bound, score
from experiment.exclusion.integrity import flags

GROUPS = {"scripted": tuple(held_out.SCRIPTED), "mimics": tuple(held_out.MIMICS)}
ByKind = Mapping[str, Sequence[Judged]]


def counting(judged: Judged) -> float:
    """Return the nats that count in the product's score."""
    return sum(nats for _, nats in judged.certificate.signals)


SCORES = {"the product's score": counting, "all signals": score}


def worst_bound(human: ByKind, of: Callable[[Judged], float]) -> float:
    """Return the score that one in a hundred people exceeds in the worst way of answering."""
    return max(bound([of(one) for one in found]) for found in human.values())


def show(programs: ByKind, denying: ByKind, human: ByKind) -> None:
    """Print the tables."""
    print(f"{'people':<44}{'n':>5}{'flagged':>9}")
    for way, found in human.items():
        flagged = sum(bool(flags(one.certificate)) for one in found)
        print(f"{way:<44}{len(found):>5}{flagged / len(found):>9.1%}")
    bounds = {name: worst_bound(human, of) for name, of in SCORES.items()}
    print(f"\n{'held-out browsers':<44}{'n':>4}{'flagged':>9}{'1 % product':>13}{'1 % all':>9}"
          f"{'if it denies':>14}")  # fmt: skip
    rows = {name: [name] for name in programs} | {f"all {k}": list(v) for k, v in GROUPS.items()}
    for label, names in rows.items():
        found = [one for name in names for one in programs.get(name, ())]
        if not found:
            continue
        quiet = [one for name in names for one in denying.get(name, ())]
        cells = [sum(bool(flags(one.certificate)) for one in found)]
        cells += [sum(of(one) > bounds[name] for one in found) for name, of in SCORES.items()]
        cells += [sum(score(one) > bounds["all signals"] for one in quiet)]
        shares = [f"{cell / len(found):.0%}" for cell in cells]
        low, high = exact(cells[0], len(found))
        wide = f"  flagged {low:.0%} to {high:.0%}" if label.startswith("all ") else ""
        print(f"{label.removeprefix('held out: '):<44}{len(found):>4}{shares[0]:>9}{shares[1]:>13}"
              f"{shares[2]:>9}{shares[3]:>14}{wide}")  # fmt: skip
    limits = ", ".join(f"{name} {value:.2f} nats" for name, value in bounds.items())
    print(f"1 %: above what one in a hundred people of any way of answering exceeds: {limits}")
    print("if it denies: all signals, where the browser says that no program drives it")


def curve(
    human: Mapping[str, Sequence[float]], programs: Sequence[float]
) -> list[tuple[float, float]]:
    """Return the ROC: the share of people of the worst way, and of programs, above each bound."""
    limits = np.unique([*programs, *(one for of in human.values() for one in of), -1e9])
    wrong = np.max([_above(of, limits) for of in human.values()], axis=0)
    found = zip(wrong.tolist(), _above(programs, limits).tolist(), strict=True)
    return sorted([*found, (1.0, 1.0)])


def _above(values: Sequence[float], limits: np.ndarray) -> np.ndarray:
    """Return the share of values above each limit."""
    return 1 - np.searchsorted(np.sort(values), limits, side="right") / len(values)


def draw(path: Path, programs: ByKind, denying: ByKind, human: ByKind) -> None:
    """Draw the ROC of both scores."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
    lines = (("scripted", programs, "#0b5394", "-", "scripted"),
             ("scripted", denying, "#0b5394", ":", "scripted, denying it"),
             ("mimics", programs, "#b45f06", "-", "mimics"))  # fmt: skip
    for axis, (title, of) in zip(axes, SCORES.items(), strict=True):
        people_of = {way: [of(one) for one in found] for way, found in human.items()}
        for group, source, colour, style, label in lines:
            values = [of(one) for name in GROUPS[group] for one in source.get(name, ())]
            if not values:
                continue
            x, y = zip(*curve(people_of, values), strict=True)
            axis.step(x, y, where="post", color=colour, linestyle=style, label=label, linewidth=1.8)
        axis.axvline(0.01, color="#777", linewidth=0.8)
        axis.text(0.014, 0.02, "1 %", color="#555", fontsize=9)
        axis.set(title=title, xlim=(0, 1), ylim=(0, 1.02))
        axis.set_xlabel("people flagged, in the worst way of answering")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("held-out browsers flagged")
    axes[0].legend(loc="center right", frameon=False)
    figure.savefig(path, dpi=150)
