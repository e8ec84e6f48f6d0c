"""Scores of several models that others published, as one table of models against models."""

from pathlib import Path

import pandas as pd

from benchmarks import models_against_models

WRONG = {"small-hf": 10, "large-hf": 2}


class Scores:
    """A published file: forty pairs of five paradigms, the first of which the model has wrong."""

    def __init__(self, repository: str, path: str) -> None:
        self.model = Path(path).stem

    def copy(self, clones: Path, to: Path) -> None:
        numbers = range(40)
        good = [-30.0 if n < WRONG[self.model] else -20.0 for n in numbers]
        pd.DataFrame(
            {
                "item_id": numbers,
                "blimp_UID": [f"paradigm_{n % 5}" for n in numbers],
                "good_sentence": [f"The {n} authors laugh." for n in numbers],
                "bad_sentence": [f"The {n} authors laughs." for n in numbers],
                "direct_sum_logprob_good_sentence": good,
                "direct_sum_logprob_bad_sentence": -25.0,
                "model": self.model,
            }
        ).to_csv(to, index=False)


def test_the_models_accuracies_and_their_difference_are_in_the_table(monkeypatch, tmp_path):
    monkeypatch.setattr(models_against_models, "Place", Scores)
    table = models_against_models.page(tmp_path, tmp_path / "page", ("large-hf", "small-hf"))
    assert "40 items in 5 paradigms" in table
    row = next(line for line in table.splitlines() if line.startswith("| large - small"))
    assert row.startswith("| large - small | 0.95 | 0.75 | 0.20 [")
    assert "| 8 | 0 |" in row
    assert (tmp_path / "page" / "paired.html").is_file()
    assert str(tmp_path) not in table
