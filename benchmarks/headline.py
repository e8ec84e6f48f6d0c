"""How often the report's first sentence is wrong, in thirty constructed situations.

``python -m benchmarks.headline --studies 200`` draws this number of studies of each situation, with
varying participants and items, and compares every claim of the sentence with the truth. "Better" or
"worse" is wrong if the truth is no difference or the opposite; "the same" is wrong if the true
difference exceeds the margin; a construction is named wrongly if participants and model do not
differ on it, or omitted if they do; "the same errors" (or "other errors") is wrong if kappa is not
above (below) 0.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import numpy as np
from scipy.special import expit

sys.path.append(str(Path(__file__).parents[1]))
from analysis.data.load import PEOPLE
from analysis.report.summary import (
    EXPLORATORY_ALPHA,
    ErrorOverlap,
    Verdict,
    judge_difference,
    judge_errors,
)
from analysis.statistics.consistency import error_consistency
from analysis.statistics.paired import people_against_models
from benchmarks.situations import POINTS, SITUATIONS, WEIGHTS, Situation, centre, draw

MARGIN = 0.1
_SEED = 35


@cache
def kappa(situation: Situation) -> float:
    """Return the true kappa of people and model being right, over all people and items."""
    spread = float(np.hypot(situation.sd_person, situation.sd_item))
    weights = WEIGHTS / WEIGHTS.sum()
    both, first, second = [], [], []
    for share, models in zip(situation.people, situation.model, strict=True):
        middle = centre(share, spread)
        people = np.array(
            [
                weights @ expit(middle + situation.sd_person * POINTS + situation.sd_item * one)
                for one in POINTS
            ]
        )
        model = expit(centre(models, 1.5) + 1.5 * POINTS)
        if not situation.shared:
            model = np.full_like(model, weights @ model)
        both.append(weights @ (people * model + (1 - people) * (1 - model)))
        first.append(weights @ people)
        second.append(weights @ model)
    one, two = np.mean(first), np.mean(second)
    chance = one * two + (1 - one) * (1 - two)
    return float((np.mean(both) - chance) / (1 - chance))


@dataclass(frozen=True, slots=True)
class Wrong:
    """Which claims of one study's sentence are not true."""

    answer: bool
    construction: bool
    errors: bool

    @property
    def any(self) -> bool:
        """Whether one of them is not."""
        return self.answer or self.construction or self.errors


def wrong_claims(situation: Situation, rng: np.random.Generator) -> Wrong:
    """Return which claims of one study's sentence are not true."""
    judgments, decisions = draw(situation, rng)
    judged = {"model": decisions[decisions["item_id"].isin(judgments["item_id"])]}
    found = people_against_models(judgments, judged, ["construction"], MARGIN)
    rows = found.set_index("construction")
    told, truth = judge_difference(rows.loc[""].to_dict()), situation.difference
    answer = (
        (told is Verdict.WORSE and truth <= 0)
        or (told is Verdict.BETTER and truth >= 0)
        or (told is Verdict.SAME and abs(truth) >= MARGIN - 1e-9)
    )
    named = rows[(rows.index != "") & (rows["p_holm"] < EXPLORATORY_ALPHA)]
    apart = dict(zip("abcdef", np.subtract(situation.people, situation.model), strict=False))
    construction = any(apart[str(name)] * row["difference"] <= 0 for name, row in named.iterrows())
    kappas = error_consistency(judgments, judged, rng)
    of_model = (kappas["first"] == PEOPLE) & (kappas["second"] == "model")
    same, true = judge_errors(kappas[of_model].iloc[0].to_dict()), kappa(situation)
    other = (same is ErrorOverlap.SAME and true <= 0) or (same is ErrorOverlap.OTHER and true >= 0)
    return Wrong(answer, construction, other)


def is_wrong(situation: Situation, rng: np.random.Generator) -> bool:
    """Return whether the sentence of one study says something that is not true."""
    return wrong_claims(situation, rng).any


@click.command(help=__doc__)
@click.option("--studies", default=200, show_default=True, help="Studies of each situation.")
@click.option("--only", default="", help="Only the situations whose name begins so.")
def main(studies: int, only: str) -> None:
    """Print for each situation how often the sentence is wrong."""
    total, drawn, most = 0, 0, 0.0
    click.echo("situation | true difference | wrong: anything | answer | construction | errors")
    for number, situation in enumerate(SITUATIONS):
        if not situation.name.startswith(only):
            continue
        rng = np.random.default_rng([_SEED, number])
        found = [wrong_claims(situation, rng) for _ in range(studies)]
        shares = [
            sum(getattr(one, name) for one in found) / studies
            for name in ("any", "answer", "construction", "errors")
        ]
        total += sum(one.any for one in found)
        drawn += studies
        most = max(most, shares[0])
        told = " | ".join(f"{share:.1%}" for share in shares)
        click.echo(f"{situation.name} | {situation.difference:+.2f} | {told}")
    click.echo(f"all {drawn:,}: {total / drawn:.1%} wrong; at most {most:.1%} of one")


if __name__ == "__main__":
    main()
