"""People's answers beside a model's distribution of words, by hand and from file to report."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.completions import completions
from analysis.commands.import_judgments import judgments
from analysis.compare import command as compare
from analysis.errors import AnalysisError
from analysis.readers.judgments import read_judgments
from analysis.typed.beside_models import BESIDE_MODELS
from analysis.typed.completions import Blank, complete, find_blanks, read_completions
from analysis.typed.model_distance import Compared, jackknife_interval, model_shares
from analysis.typed.same_answers import SameAnswers
from experiment.errors import TableError
from lm.scorer import TokenScores
from tests.lm.toy_models import ngram_folder

# Six of ten people say stamp and four letter; the model gives them .7 and .1.
PAIR = Compared(
    ("stamp", "letter"),
    np.array([[1.0, 0.0]] * 6 + [[0.0, 1.0]] * 4),
    tuple(f"p{n}" for n in range(10)),
    np.array([0.7, 0.1]),
    np.array([True, False]),
)


def test_the_distance_is_what_people_say_more_often_than_the_model():
    assert PAIR.distance(PAIR.counts) == pytest.approx(0.4 - 0.1)


def test_the_interval_leaves_each_person_out_once():
    # Without a stamp .4444 - .1, without a letter .3333 - .1: changes of .0444 and -.0667.
    # Variance .9 x (6 x .0444^2 + 4 x .0667^2) = .02667, error .1633, t(9) = 2.2622: .3 +- .3694.
    low, high = jackknife_interval({("a", "good"): PAIR})
    assert (low, high) == (0.0, pytest.approx(0.6694, abs=1e-4))


def test_answers_drawn_from_the_model_differ_by_chance():
    one = Compared(("a",), np.array([[1.0]]), ("p",), np.array([0.7]), np.array([True]))
    # One draw: with .7 it is a, .3 away; with .3 another word, 1 away: .51.
    assert one.expected_of_samples(np.random.default_rng(1)) == pytest.approx(0.51, abs=0.1)
    sure = Compared(("a",), np.array([[1.0]]), ("p",), np.array([1.0]), np.array([True]))
    assert sure.expected_of_samples(np.random.default_rng(1)) == 0


@pytest.mark.parametrize(
    ("scored", "probabilities"),
    [("word", {"sky": 0.3, "dog": 0.1}), ("whole text", {"sky": 0.75, "dog": 0.25})],
)
def test_forms_of_an_answer_are_added_and_whole_texts_are_relative(scored, probabilities):
    rows = [("Sky", 0.1, None), ("sky", 0.2, 1), ("dog", 0.1, 2)]
    table = pd.DataFrame(
        [("a", "good", word, np.log(p), rank, scored) for word, p, rank in rows],
        columns=["item_id", "version", "word", "logprob_nats", "rank", "scored"],
    )
    shares = model_shares(table, SameAnswers()).set_index("answer")["probability"]
    assert shares.to_dict() == pytest.approx(probabilities)


def test_the_models_own_words_are_counted_before_forms_of_one_answer_are_added():
    key = {"item_id": "a", "version": "good"}
    people = pd.DataFrame({**key, "participant": ["1", "2"], "typed": "sky", "no_answer": False})
    own = pd.DataFrame({**key, "word": ["dog", "sky", "Sky"], "rank": [1, 2, 3], "scored": "word",
                        "logprob_nats": np.log([0.5, 0.2, 0.1])})  # fmt: skip
    study = SimpleNamespace(
        analysis=SimpleNamespace(same_answers=()),
        study=SimpleNamespace(language="en"),
        response="typed",
        trial=SimpleNamespace(parameters={}),
        design=SimpleNamespace(block_of={}),
    )
    inputs = SimpleNamespace(
        run=SimpleNamespace(study=study),
        options=SimpleNamespace(variants={}, completions={"toy": own}),
        data=SimpleNamespace(judgments=people),
        context=SimpleNamespace(seed=1, table=lambda name, *_, **__: name),
    )
    findings = BESIDE_MODELS.run(inputs)
    assert "100% of people's answers are among toy's 3 most probable words" in findings.summary[1]


ITEMS = """item_id,construction,condition,sentence
a1,cloze,end,the cat ___
a2,cloze,inside,the ___ sees .
"""


@pytest.fixture
def imported(tmp_path):
    (tmp_path / "items.csv").write_text(ITEMS)
    rows = [f"p{n},{'sleeps' if n < 8 else 'Sees'},{'cat' if n < 6 else '=dog'}" for n in range(12)]
    (tmp_path / "answers.csv").write_text("\n".join(["who,a1,a2", *rows]) + "\n")
    (tmp_path / "mapping.toml").write_text(
        'wide = true\n[columns]\nparticipant = "who"\ntyped = "{item}"\n'
    )
    given = ["--items", tmp_path / "items.csv", "--mapping", tmp_path / "mapping.toml"]
    run(judgments, tmp_path / "answers.csv", *given, "--out", tmp_path / "in")
    return ["--judgments", tmp_path / "in" / "judgments.csv", "--items", tmp_path / "items.csv"]


def run(command, *arguments):
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_report_has_models_words_beside_peoples(tmp_path, imported):
    ngram_folder(tmp_path / "model")
    run(completions, tmp_path / "model", *imported, "--top", "3", "--out", tmp_path / "toy.csv")
    table = pd.read_csv(tmp_path / "toy.csv")
    assert set(table["scored"]) == {"word", "whole text"}
    # No cell is a formula for a spreadsheet, and reading takes the apostrophe off.
    assert table["word"].str.startswith("'=").any() and not table["word"].str.startswith("=").any()
    assert read_completions(tmp_path / "toy.csv")["word"].str.startswith("=").any()
    (tmp_path / "words.vec").write_text("sleeps 1 0\nsees 0 1\nthe 1 1\ncat -1 0\n")
    given = ["--completions", tmp_path / "toy.csv", "--no-figures", "--out", tmp_path / "report"]
    run(compare, *imported, *given, "--embedding", tmp_path / "words.vec")
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Compared with: toy." in (tmp_path / "report" / "tables" / "completions.txt").read_text()
    assert "toy&#39;s distribution of words differ by a total variation of" in page
    assert "By meaning (words.vec), the energy distance" in page
    assert "words.vec (word vectors of 2 dimensions; SHA-256 " in page
    frames = json.loads((tmp_path / "report" / "results.json").read_text())["statistics"]
    words = pd.DataFrame(frames["completion_words"])
    sums = words.groupby("item_id")["probability"].sum()
    assert sums["a1"] <= 1 and sums["a2"] == pytest.approx(1)
    texts = pd.DataFrame(frames["completion_texts"]).set_index("item_id")
    # Both answers to the first text follow "the cat" in the model's text.
    assert texts.loc["a1", "covered"] == 1


def test_in_scripts_without_spaces_words_are_relative_to_peoples_or_refused():
    """Of a text that goes on, each word fills the gap without a space; no word is a model's own."""
    scored = []

    def score(requests):
        scored.extend(requests)
        return [TokenScores((text,), np.log([0.5]), np.array([False])) for _, text in requests]

    model = SimpleNamespace(score=score, words=["the"], name="toy", trained_on="nothing")
    model.token_ends = model.boundary_logprobs = len  # as a model of parts of words has them
    goes_on = Blank("a", "good", "天上有", "。", ("鸟", "云"))
    rows = list(complete(model, [goes_on], 10, str))
    assert [text for _, text in scored] == ["天上有鸟。", "天上有云。"]
    assert [(row[2], row[4], row[5]) for row in rows] == [
        ("鸟", "", "whole text"),
        ("云", "", "whole text"),
    ]
    with pytest.raises(AnalysisError, match="ends with its gap, and its script has no spaces"):
        list(complete(model, [Blank("a", "good", "天上有", "", ("鸟",))], 10, str))


def test_other_tables_answers_and_texts_are_refused(tmp_path, imported):
    (tmp_path / "other.csv").write_text("item_id,word\na1,cat\n")
    with pytest.raises(AnalysisError, match="the table has no column version, logprob_nats"):
        read_completions(tmp_path / "other.csv")
    people = read_judgments(imported[1], imported[3])
    untyped = type(people)(**{**_fields(people), "responses": people.responses[["item_id"]]})
    with pytest.raises(AnalysisError, match="the answers were not typed"):
        find_blanks(untyped)
    prompts = type(people)(**{**_fields(people), "items": people.items.assign(good="a prompt")})
    with pytest.raises(AnalysisError, match="no text has one gap"):
        find_blanks(prompts)
    picture = "![a drawing](data:image/png;base64,aaaa)"
    for change in ({"good": "The ___ saw a ___."}, {"good": "A ___.", "context": picture}):
        left_out = type(people)(**{**_fields(people), "items": people.items.assign(**change)})
        with pytest.raises(AnalysisError, match="no text has one gap"):
            find_blanks(left_out)
    with pytest.raises(TableError, match="no table of this format can be written here"):
        run(completions, "model", *imported, "--out", tmp_path / "out.txt")
    given = ["model", "--out", str(tmp_path / "out.csv")]
    assert "Give either --run, or --judgments" in CliRunner().invoke(completions, given).output


def _fields(run_of_people):
    return {name: getattr(run_of_people, name) for name in run_of_people.__dataclass_fields__}
