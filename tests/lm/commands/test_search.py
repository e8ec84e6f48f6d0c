import csv
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from lm.commands.search import search
from lm.errors import LmError
from lm.training.settings import read_grid
from tests.lm.training.small_training import write_corpus

SPEC = """
preset = "demo_lstm"
settings = { epochs = 1, steps = 6, embedding = 6, layers = 1, batch = 4 }
[[grid]]
hidden = [6]
lr = [1.0, 5.0]
"""


def test_the_published_search_has_68_models():
    models = read_grid("gulordava_2018")
    assert len(models) == 68
    assert models["hidden650_batch128_dropout0.2_lr20.0"].epochs == 40
    assert sum(settings.hidden == 200 for settings in models.values()) == 36


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            "[[grid]]\nhiden = [3]",
            'line 2: there is no setting "hiden".*Did you mean "hidden"',
        ),
        ('[[grid]]\nhidden = ["many"]', 'line 2: the setting "hidden" cannot be .many.'),
        ("[[grid]]\nhidden = 3", 'search.toml, line 2: "grid.0.hidden" must be a list'),
        (
            'preset = "lstn"\n[[grid]]\nhidden = [3]',
            'line 1: there is no preset "lstn"',
        ),
        ("[settings]\nhidden = 3\nlr = 'x'\n[[grid]]\nhidden = [3]", 'line 3: the setting "lr"'),
        ("[[grid", "search.toml"),
    ],
)
def test_a_search_that_cannot_be_read_is_refused(tmp_path: Path, spec: str, said: str):
    (tmp_path / "search.toml").write_text(spec)
    with pytest.raises(LmError, match=said):
        read_grid(str(tmp_path / "search.toml"))
    with pytest.raises(LmError, match="or one of: gulordava_2018"):
        read_grid("gulordava")


@contextmanager
def in_this_process(_n: int, _prepare: object, _threads: int) -> Iterator[Executor]:
    """What stands for a pool of processes, each of which would read PyTorch anew."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_search_lists_its_models_and_keeps_what_was_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = write_corpus(tmp_path / "data") / "words"
    (tmp_path / "search.toml").write_text(SPEC)
    arguments = [str(tmp_path / "search.toml"), "--data", str(data), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(search, arguments, catch_exceptions=False)
    assert "2 models; the best is hidden6_lr5.0" in result.output
    with (tmp_path / "out" / "search.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["model"], row["lr"]) for row in rows] == [
        ("hidden6_lr1.0", "1.0"),
        ("hidden6_lr5.0", "5.0"),
    ]
    assert float(rows[1]["valid_perplexity"]) < float(rows[0]["valid_perplexity"])
    weights = tmp_path / "out" / "hidden6_lr5.0" / "weights.safetensors"
    before = weights.stat().st_mtime_ns
    monkeypatch.setattr("lm.sharding.worker_pool", in_this_process)
    again = CliRunner().invoke(search, [*arguments, "--jobs", "1"], catch_exceptions=False)
    assert again.output == result.output
    assert weights.stat().st_mtime_ns == before
