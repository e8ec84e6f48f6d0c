"""SyntaxGym suites: score regions by surprisal, and test the predictions.

Gauthier, J., Hu, J., Wilcox, E., Qian, P., & Levy, R. (2020). SyntaxGym: An online platform for
targeted evaluation of language models. ACL 2020. Regions are joined by single spaces, a token
belongs to the region in which it begins, and surprisals are in bits, without a correction.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiment.materials.formats.suite import Formula, Metric, Suite, SuiteItem, load_suite
from lm.scorer import Scorer
from lm.surprisal import NATS_PER_BIT, region_surprisals

Floats = NDArray[np.float64]
_METRICS: dict[Metric, Callable[[Floats], float]] = {
    "sum": lambda bits: float(bits.sum()),
    "mean": lambda bits: float(bits.mean()) if bits.size else float("nan"),
    "median": lambda bits: float(np.median(bits)) if bits.size else float("nan"),
    "range": lambda bits: float(np.ptp(bits)) if bits.size else float("nan"),
    "max": lambda bits: float(bits.max()) if bits.size else float("nan"),
    "min": lambda bits: float(bits.min()) if bits.size else float("nan"),
}


@dataclass(frozen=True, slots=True)
class SuiteScores:
    """A model's results on suites.

    Attributes:
        regions: suite, item, condition, region, content, n_tokens, surprisal_bits.
        predictions: suite, prediction, formula, item, holds.
    """

    regions: pd.DataFrame
    predictions: pd.DataFrame


def score_suites(
    scorer: Scorer, paths: Sequence[Path], render: Callable[[str], str]
) -> SuiteScores:
    """Score suites with a model and test their predictions.

    Args:
        scorer: The model.
        paths: The suites' files.
        render: Converts a region's text to model input.

    Raises:
        MaterialsError: A file is not a suite, or a formula cannot be evaluated.
        LmError: A text cannot be scored.
    """
    suite_results = [_score_suite(scorer, path, render) for path in paths]
    return SuiteScores(
        pd.concat([suite_scores.regions for suite_scores in suite_results], ignore_index=True),
        pd.concat([suite_scores.predictions for suite_scores in suite_results], ignore_index=True),
    )


def _score_suite(scorer: Scorer, path: Path, render: Callable[[str], str]) -> SuiteScores:
    suite = load_suite(path)
    formulas, name = suite.formulas(path), suite.meta.name or path.stem
    texts = [
        [render(text) if text else "" for text in condition.texts]
        for item in suite.items
        for condition in item.conditions
    ]
    surprisals = iter(region_surprisals(scorer, texts))
    regions: list[dict[str, object]] = []
    predictions: list[dict[str, object]] = []
    for item in suite.items:
        region_rows = list(_score_regions(item, surprisals, suite))
        regions += [{"suite": name, "item": item.item_number, **row} for row in region_rows]
        predictions += _test_predictions(name, item, formulas, region_rows)
    return SuiteScores(pd.DataFrame(regions), pd.DataFrame(predictions))


def _score_regions(
    item: SuiteItem, surprisals: Iterator[list[Floats]], suite: Suite
) -> Iterator[dict[str, object]]:
    summed = _METRICS[suite.metric]
    for condition, region_surprisals_ in zip(item.conditions, surprisals, strict=False):
        for number, text, nats in zip(
            condition.numbers, condition.texts, region_surprisals_, strict=True
        ):
            yield {
                "condition": condition.condition_name,
                "region": number,
                "content": text,
                "n_tokens": nats.size,
                "surprisal_bits": summed(nats / NATS_PER_BIT),
            }


def _test_predictions(
    suite: str, item: SuiteItem, formulas: Sequence[Formula], rows: Sequence[dict[str, object]]
) -> Iterator[dict[str, object]]:
    bits = {
        (str(row["condition"]), int(str(row["region"]))): float(str(row["surprisal_bits"]))
        for row in rows
    }
    for number, formula in enumerate(formulas, start=1):
        yield {
            "suite": suite,
            "prediction": number,
            "formula": formula.text,
            "item": item.item_number,
            "holds": formula.holds(bits),
        }
