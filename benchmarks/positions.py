"""Draw many orders of a study's first list and print where its trials stand.

Usage: python benchmarks/positions.py [STUDY ...] [--seeds 1000]

Printed are each kind's mean position, and the chi-square of every condition's positions against an
even distribution: its median over the conditions should be near the degrees of freedom, where a
condition has few trials. Conditions of many trials keep apart, which no even distribution does;
`parallax lists audit` compares trials with the exact one where that can be counted.
"""

import argparse
from collections import defaultdict
from statistics import fmean, median

from experiment.design.lists import build_lists
from experiment.design.session import session_order
from experiment.materials.read import load_items
from experiment.seeds import generator
from experiment.studies.load import load_study

_STUDIES = ("marvin_linzen_2018", "gulordava_2018_italian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", default=_STUDIES)
    parser.add_argument("--seeds", type=int, default=1000)
    options = parser.parse_args()
    for name in options.studies:
        print_positions(name, options.seeds)


def print_positions(name: str, n_seeds: int) -> None:
    """Print the positions of a study's trials over so many seeds."""
    study = load_study(name)
    entries = build_lists(study, load_items(study), 1).lists[0]
    kinds = defaultdict[str, list[int]](list)
    cells = defaultdict[tuple[str, str], list[int]](lambda: [0] * len(entries))
    for seed in range(n_seeds):
        drawn = session_order(entries, study.design, 0, generator(seed, "positions"))
        for position, index in enumerate(drawn):
            item = entries[index].item
            kinds[str(entries[index].kind)].append(position + 1)
            cells[item.construction, item.condition][position] += 1
    print(f"{name}: {len(entries)} trials, {n_seeds:,} orders, middle {(len(entries) + 1) / 2:g}")
    for kind, positions in kinds.items():
        print(f"  {kind}: mean position {fmean(positions):.1f}")
    found = [_chi_square(counts) for counts in cells.values()]
    freedom = len(entries) - 1
    print(f"  {len(cells)} conditions: median chi-square {median(found):.0f}, {freedom} d.f.")


def _chi_square(counts: list[int]) -> float:
    expected = sum(counts) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts)


if __name__ == "__main__":
    main()
