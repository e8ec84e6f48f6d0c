from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.reading import surprisal
from analysis.commands.score import score
from analysis.commands.text import list_words, text
from analysis.data.load import load_scores
from experiment.errors import TableError
from experiment.grammar.grammar import load_grammar
from experiment.materials.item_rows import item_row
from experiment.materials.read import load_items, materials_hash
from experiment.studies.load import load_study
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from lm.baselines.unigram import count_unigrams
from lm.baselines.unigram import save as save_unigram
from lm.commands import train
from lm.corpora.text import count_words, encode
from lm.corpora.vocab import vocabulary_by_frequency
from tests.analysis import small_run

READING = Path(__file__).parents[3] / "docs" / "examples" / "self_paced"
TEXT_GRAMMAR = """
name = "small text"
start = "sentence"

[features]
number = ["singular", "plural"]

[rules]
"sentence" = { "phrase" = 1, "'now' phrase" = 1 }
"phrase" = { "'the' <noun.number> <verb.number>" = 1 }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = small_run.write_study(tmp_path / "small")
    (folder / "training_text.toml").write_text(TEXT_GRAMMAR)
    return folder


@pytest.fixture
def model(study: Path, tmp_path: Path) -> Path:
    run(text, study, "--sentences", 50, "--out", tmp_path / "text.txt")
    run(train, "--type", "ngram", "--text", tmp_path / "text.txt", "--out", tmp_path / "model")
    return tmp_path / "model"


def run(command, *arguments: object) -> str:
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_studys_words_are_listed_by_lexicon_and_form(study):
    lists = list_words(load_grammar(study / "grammar.toml").lexicon.values())
    assert lists == {
        "noun.singular": ("child", "singer"),
        "noun.plural": ("children", "singers"),
        "verb.singular": ("sleeps", "is happy"),
        "verb.plural": ("sleep", "are happy"),
    }


def test_generated_text_never_holds_a_sentence_of_the_materials(study, tmp_path):
    out = tmp_path / "text.txt"
    run(text, study, "--sentences", 60, "--seed", 3, "--out", out)
    lines = out.read_text().splitlines()
    assert len(lines) == 60
    # Without "now" the sentence would be one of the study's own.
    assert all(line.startswith("now the ") for line in lines)


def test_the_same_seed_gives_the_same_text(study, tmp_path):
    texts = []
    for seed in (1, 1, 2):
        run(text, study, "--sentences", 30, "--seed", seed, "--out", tmp_path / "text.txt")
        texts.append((tmp_path / "text.txt").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_scores_name_model_text_study_and_materials(study, model, tmp_path):
    out = tmp_path / "scores.parquet"
    run(score, model, study, "--out", out)
    found = load_scores(out)
    items = list(load_items(load_study(str(study))))
    assert len(found.frame) == 2 * len(items)
    assert found.facts.model == "5-gram"
    assert "small text" in found.facts.trained_on
    assert (found.facts.study, found.facts.study_version) == ("small", "1.0")
    assert found.facts.materials_hash == materials_hash(items)


def test_scores_that_are_there_already_are_left_as_they_are(study, model, tmp_path):
    out = tmp_path / "scores.parquet"
    run(score, model, study, "--out", out)
    before = out.stat().st_mtime_ns
    assert "already holds these scores" in run(score, model, study, "--out", out)
    assert out.stat().st_mtime_ns == before
    (model / "config.json").write_text((model / "config.json").read_text() + " ")
    assert "already" not in run(score, model, study, "--out", out)


def test_a_file_of_items_is_scored_too(study, model, tmp_path):
    items = list(load_items(load_study(str(study))))
    write_table(ITEMS, map(item_row, items[:2]), tmp_path / "items.tsv")
    out = tmp_path / "scores.parquet"
    run(score, model, tmp_path / "items.tsv", "--out", out)
    found = load_scores(out)
    assert (found.facts.study, found.facts.rendering) == ("", "split_lower_case_tokens")
    assert set(found.frame["item_id"]) == {items[0].item_id, items[1].item_id}


def train_unigram(folder: Path, sentence: str) -> None:
    words = [sentence.split()]
    vocabulary = vocabulary_by_frequency(count_words(words))
    counts = count_unigrams(encode(words, vocabulary), vocabulary)
    save_unigram(folder, vocabulary, counts, {"name": "toy", "trained_on": "one sentence"})


@pytest.mark.parametrize(
    ("sentence", "is_told"), [("der hund bellt .", True), ("Der hund bellt .", False)]
)
def test_texts_without_capitals_for_a_model_with_them_are_told(tmp_path, sentence, is_told):
    train_unigram(tmp_path / "toy", "Der Hund bellt .")
    (tmp_path / "items.csv").write_text(f"sentence,item\n{sentence},1\n")
    printed = run(score, tmp_path / "toy", tmp_path / "items.csv", "--out", tmp_path / "s.parquet")
    unknown = 2 if is_told else 1  # of four tokens; the model knows Der and Hund
    assert f"{unknown} of 4 tokens are unknown to the model." in printed
    assert ("The model's words have capitals, and it read none" in printed) is is_told


def test_words_that_participants_read_keep_their_capitals_for_a_model_with_them(tmp_path):
    train_unigram(tmp_path / "toy", "While the man hunted .")
    run(surprisal, tmp_path / "toy", READING, "--out", tmp_path / "toy.tsv")
    table = pd.read_csv(tmp_path / "toy.tsv", sep="\t")
    assert set(table.loc[table["text"] == "While the man hunted", "n_unknown"]) == {0}


def test_scores_are_kept_in_parquet_alone(study, tmp_path):
    with pytest.raises(TableError, match=r"a name that ends in \.parquet"):
        run(score, tmp_path, study, "--out", tmp_path / "scores.csv")
