"""The checklist for human baselines says what the run knows, and nothing that nobody said."""

import json
from pathlib import Path

import pytest

from analysis.baseline.checklist import TITLES
from analysis.compare import compare
from analysis.findings.finding import ComparisonOptions
from experiment.errors import StudyError
from experiment.studies.publication import AboutFile, Baseline, Publication, read_about
from tests.analysis import small_run

FAST = {"resamples": 100}
Answers = dict[str, dict[str, str]]


def answers(run: Path, out: Path, scores: list[Path], about: AboutFile | None = None) -> Answers:
    compare(run, scores, out, ComparisonOptions(about=about, **FAST), figures=False)
    return read(out)


def read(out: Path) -> Answers:
    found = json.loads((out / "human_baseline" / "human_baseline.json").read_text("utf-8"))
    return {one["number"]: one for one in found["items"]}


@pytest.fixture(scope="module")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small run beside a model, and the answers in ``out``; no test changes it."""
    folder = tmp_path_factory.mktemp("plain")
    scores = small_run.write_scores(folder / "scores.parquet")
    answers(small_run.write_export(folder / "export"), folder / "out", [scores])
    return folder


@pytest.fixture
def plain(plain_folder: Path) -> Answers:
    return read(plain_folder / "out")


def test_all_33_numbered_items_and_their_sub_items_have_a_line(plain: Answers):
    assert list(plain) == list(TITLES)
    numbered = [one for one in TITLES if one.count(".") == 1 and not one.startswith("0.")]
    assert len(numbered) == 33


def test_what_the_run_knows_is_answered_with_its_evidence(plain: Answers):
    expected = {"1.1": "2", "1.2": "4", "1.3": "2", "1.4": "4", "3.2.2": "1 of 3 participants"}
    assert {number: plain[number]["answer"] for number in expected} == expected
    assert all(plain[number]["source"] == "run" for number in expected)
    assert "too many errors" in plain["3.2.2"]["evidence"]


def test_what_nobody_said_is_unknown_with_the_key_that_would_answer_it(plain: Answers):
    unknown = [one for one in plain.values() if one["answer"] is None]
    assert {"1.6", "1.7", "1.8", "1.9", "1.10", "2.4", "5.2"} <= {one["number"] for one in unknown}
    assert all(one["source"] == "unknown" and one["evidence"] for one in unknown)
    assert "`baseline.author_participants`" in plain["2.4"]["evidence"]


def test_a_file_for_about_answers_in_place_of_the_study(export: Path, scores: Path, tmp_path: Path):
    about = AboutFile(
        publication=Publication(data_url="https://example.org/d", preregistration="none"),
        baseline=Baseline(author_participants="no", power_analysis="no"),
    )
    found = answers(export, tmp_path / "out", [scores], about)
    assert found["2.4"]["answer"] == "no" and found["2.4"]["source"] == "study.toml"
    assert found["1.8.1"]["answer"] == "not applicable"
    assert found["5.2"]["answer"] == "yes: https://example.org/d"
    assert found["1.10"]["answer"] == "none"


def test_without_a_model_nothing_is_said_of_models(export: Path, tmp_path: Path):
    found = answers(export, tmp_path / "out", [])
    for number in ("0.9", "3.4", "4.1", "4.3", "4.4", "4.5"):
        assert found[number]["answer"] is None and "compare" in found[number]["evidence"]


def test_people_and_models_stand_side_by_side(plain_folder: Path):
    lines = (plain_folder / "out/human_baseline/items.csv").read_text("utf-8").splitlines()
    assert lines[0].startswith("item_id,people_good,people_contrast,")
    assert lines[1].startswith("s-1,") and "child" in lines[1]
    assert len(lines) == 5


def test_rare_answers_of_the_questionnaire_are_not_named(export: Path, tmp_path: Path):
    path = export / "study" / "study.toml"
    question = '\n[[questionnaire]]\nname = "region"\nlabel = "Where?"\n'
    question += 'type = "choice"\noptions = ["North", "South"]\n'
    path.write_text(path.read_text("utf-8") + question, "utf-8")
    (export / "answers.parquet").unlink(missing_ok=True)
    (export / "answers.csv").write_text("participant,field,value\nAnn,region,North\n", "utf-8")
    found = answers(export, tmp_path / "out", [])
    told = found["5.1.1"]["evidence"]
    assert "North" not in told and "fewer than 5 people" in told


@pytest.mark.parametrize(
    "text",
    ['[baseline]\nauthor_participant = "no"', '[baseline]\npopulation = "maybe"', "[baseline"],
)
def test_a_wrong_file_for_about_is_told_in_one_paragraph(text: str, tmp_path: Path):
    path = tmp_path / "about.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(StudyError, match=r"about\.toml: ") as told:
        read_about(path)
    assert "\n\n" not in str(told.value) and "expected" in str(told.value).lower()
