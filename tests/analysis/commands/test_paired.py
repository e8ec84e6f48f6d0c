"""Models against models: the figures are the known ones, and logs that do not match are refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from scipy.stats import binomtest, norm

from analysis.commands.paired import paired_command
from analysis.errors import AnalysisError
from analysis.findings.benchmark import items_needed
from analysis.statistics.paired import models_against_models


def write_log(folder: Path, tasks: dict[str, list[int]], *, salt: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for task, right in tasks.items():
        rows = [
            {"doc_id": n, "doc_hash": f"{task}{n}{salt}", "doc": {"kind": f"k{n % 2}"}, "acc": one}
            for n, one in enumerate(right)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"samples_{task}_2026-11-20T10-00-00.0.jsonl").write_text(text, "utf-8")
    return folder


def run(out: Path, *arguments: object) -> Result:
    return CliRunner().invoke(paired_command, [*map(str, arguments), "--out", str(out)])


@pytest.fixture
def logs(tmp_path: Path) -> tuple[str, str]:
    alike = {name: [1, 0] * 4 for name in "bcde"}
    one = write_log(tmp_path / "one", {"a": [1] * 8} | alike)
    two = write_log(tmp_path / "two", {"a": [1] * 2 + [0] * 6} | alike)
    return f"one={one}", f"two={two}"


def test_mcnemar_is_exact_and_the_difference_is_that_of_the_accuracies(
    logs: tuple[str, str], tmp_path: Path
):
    found = run(tmp_path / "out", *logs)
    assert found.exit_code == 0, found.output
    rows = json.loads((tmp_path / "out" / "paired.json").read_text("utf-8"))["pairs"]
    whole = next(row for row in rows if row["paradigm"] == "")
    assert whole["difference"] == pytest.approx(6 / 40)
    assert (whole["p"] < 0.05) == (whole["low"] > 0 or whole["high"] < 0)
    assert whole["p_mcnemar"] == pytest.approx(binomtest(6, 6, 0.5).pvalue)
    assert (whole["only_first"], whole["only_second"], whole["n_items"]) == (6, 0, 40)
    page = (tmp_path / "out" / "paired.html").read_text("utf-8")
    assert "<table>" in page and "one - two" in page and "40 items in 5 paradigms" in page


def test_a_few_paradigms_give_no_interval_over_them_which_is_said(tmp_path: Path):
    rights = {"one": [1, 1, 1, 0] * 5, "two": [1, 0] * 10}
    few = [f"{name}={write_log(tmp_path / name, dict.fromkeys('abcd', right))}"
           for name, right in rights.items()]  # fmt: skip
    run(tmp_path / "out", *few)
    whole, *parts = json.loads((tmp_path / "out" / "paired.json").read_text("utf-8"))["pairs"]
    assert whole["paradigm"] == "" and whole["p_mcnemar"] < 0.01
    assert [whole[name] for name in ("low", "high", "p", "p_holm", "p_equivalence")] == [None] * 5
    assert all(None not in (part["low"], part["p"]) for part in parts)
    page = (tmp_path / "out" / "paired.html").read_text("utf-8")
    assert "fewer than 5 are too few for an interval over all items" in page


def test_an_interval_over_paradigms_is_wider_where_their_items_fall_alike():
    paradigm = np.repeat([f"p{n}" for n in range(12)], 30)
    right = np.repeat(np.arange(12) % 3 > 0, 30)
    ids = [str(n) for n in range(360)]
    models = {
        "m": pd.DataFrame({"item_id": ids, "paradigm": paradigm, "correct": right}),
        "n": pd.DataFrame(
            {"item_id": ids, "paradigm": paradigm, "correct": np.arange(360) % 2 > 0}
        ),
    }
    of_items = models_against_models(models, "paradigm").iloc[0]
    of_paradigms = models_against_models(models, "paradigm", clustered=True).iloc[0]
    assert of_items["difference"] == of_paradigms["difference"]
    ratio = (of_paradigms["high"] - of_paradigms["low"]) / (of_items["high"] - of_items["low"])
    assert ratio > 2


def test_the_number_of_items_is_the_formulas_and_grows_with_likeness_within_paradigms():
    differences = np.tile([1.0, 0.0, 0.0, -1.0], 50)
    alone = items_needed(differences, pd.Series(["a"] * 200), 0.1)
    variance = np.var(differences, ddof=1)
    z = norm.ppf(0.975) + norm.ppf(0.8)
    assert alone["n_items"] == np.ceil(z**2 * variance / 0.01) and alone["design_effect"] == 1
    alike = items_needed(np.sort(differences), pd.Series(np.repeat(list("abcdefghij"), 20)), 0.1)
    assert alike["design_effect"] > 5 and alike["n_items"] > 5 * alone["n_items"]


def test_p_is_adjusted_over_the_pairs_of_models(logs: tuple[str, str], tmp_path: Path):
    three = write_log(tmp_path / "three", {name: [name < "d"] * 8 for name in "abcde"})
    run(tmp_path / "out", *logs, f"three={three}")
    rows = json.loads((tmp_path / "out" / "paired.json").read_text("utf-8"))["pairs"]
    whole = sorted((row["p"], row["p_holm"]) for row in rows if row["paradigm"] == "")
    assert len(whole) == 3 and whole[0][1] == pytest.approx(min(1, 3 * whole[0][0]))


def test_paradigms_come_from_a_field_of_the_documents(logs: tuple[str, str], tmp_path: Path):
    run(tmp_path / "out", *logs, "--by", "kind")
    rows = json.loads((tmp_path / "out" / "paired.json").read_text("utf-8"))["pairs"]
    assert {row["paradigm"] for row in rows} == {"", "k0", "k1"}


def test_logs_of_another_version_of_the_benchmark_are_refused(
    logs: tuple[str, str], tmp_path: Path
):
    other = write_log(tmp_path / "other", {"a": [1] * 20}, salt="v2")
    error = run(tmp_path / "out", logs[0], f"other={other}").exception
    assert isinstance(error, AnalysisError)
    says = "8 items of one and other have the same name but other contents, the first a/0"
    assert says in str(error)
    assert not (tmp_path / "out").exists()


def test_logs_of_other_tasks_and_documents_without_the_field_are_refused(logs, tmp_path: Path):
    other = write_log(tmp_path / "other", {"z": [1] * 20})
    error = run(tmp_path / "out", logs[0], f"other={other}").exception
    assert "one and other have no item in common. Expected logs of one benchmark" in str(error)
    error = run(tmp_path / "out", *logs, "--by", "field").exception
    assert 'line 1: the sample\'s document has no "field". Expected one of: kind' in str(error)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("one",), '"one" names no model. Expected MODEL=LOG, such as gpt2=scores'),
        (("one=nowhere",), "two or more models"),
        (("one=nowhere", "two=nowhere"), "no log of items"),
    ],
)
def test_what_names_no_log_is_told(arguments: tuple[str, ...], told: str, tmp_path: Path):
    error = run(tmp_path / "out", *arguments).exception
    assert isinstance(error, AnalysisError) and told in str(error)


def test_a_metric_that_is_no_right_or_wrong_is_refused(tmp_path: Path):
    path = tmp_path / "samples_x.jsonl"
    path.write_text('{"doc_id": 0, "acc": 0.5}\n', "utf-8")
    error = run(tmp_path / "out", f"a={path}", f"b={path}").exception
    assert isinstance(error, AnalysisError) and "1 or 0 under" in str(error)
