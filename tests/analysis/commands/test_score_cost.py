"""What the whole command calls for a sentence, the check of its scores included, never the time."""

from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.commands.score import score
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from tests.analysis import small_run
from tests.function_calls import counted
from tests.lm.toy_models import TOY_MODELS, WORDS

NOUNS = [word for word in WORDS if word.isalpha()]
# Function calls of Python for each sentence, at most a twentieth above what was measured.
BUDGETS = {"lstm": 220, "hf causal": 475, "ngram": 138}


@pytest.fixture
def items(tmp_path: Path) -> tuple[Path, int]:
    """A file of items that begin alike, and how many sentences they have."""
    rows = [
        {
            **small_run.items()[0],
            "item_id": f"i-{number}",
            "good": f"the {one} the {other} sees the {third} .",
            "bad": f"the {one} the {other} sleeps the {third} .",
        }
        for number, (one, other, third) in enumerate(product(NOUNS, repeat=3))
    ]
    write_table(ITEMS, rows, tmp_path / "items.tsv")
    return tmp_path / "items.tsv", 2 * len(rows)


@pytest.mark.parametrize("name", BUDGETS)
def test_a_scored_and_checked_sentence_costs_no_more_than_its_budget(items, tmp_path, name):
    path, n_sentences = items
    TOY_MODELS[name][1](tmp_path / "model")

    def command(out: str) -> None:
        arguments = [str(tmp_path / "model"), str(path), "--out", str(tmp_path / out)]
        result = CliRunner().invoke(score, arguments, catch_exceptions=False)
        assert "computed again" in result.output

    # What is imported, and loaded once in each process, is not counted.
    command("first.parquet")
    calls, _ = counted(lambda: command("second.parquet"))
    assert calls / n_sentences <= BUDGETS[name]
