"""Scores and items in the layouts that other programs print: read, or refused with a reason."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from analysis.commands.import_scores import scores
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.readers.import_manifest import remove_import
from experiment.errors import MaterialsError
from experiment.materials.formats.files import is_materials, open_materials

CLAMS = "True\tthe cat sleeps\nFalse\tthe cat sleep\nTrue\tthe cats sleep\nFalse\tthe cats sleeps\n"
SURPRISAL = """word sentid sentpos wlen surp entropy
the 0 0 3 2.0 5.0
cat 0 1 3 4.0 5.0
sleeps 0 2 6 1.0 5.0
<eos> 0 3 5 0.5 5.0
the 1 0 3 2.0 5.0
cat 1 1 3 4.0 5.0
sleep 1 2 5 3.0 5.0
<eos> 1 3 5 0.5 5.0
the 2 0 3 2.0 5.0
cats 2 1 4 4.0 5.0
sleep 2 2 5 1.0 5.0
the 3 0 3 2.0 5.0
cats 3 1 4 4.0 5.0
sleeps 3 2 6 3.0 5.0
"""


def imported(folder, name, content, *options):
    (folder / "simple.txt").write_text(CLAMS)
    (folder / name).write_text(content)
    given = [folder / name, "--items", folder / "simple.txt", "--out", folder / "out", *options]
    result = CliRunner().invoke(scores, list(map(str, given)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return load_scores(next((folder / "out").glob("scores_*.parquet"))), result.output


def sums(loaded):
    table = loaded.frame.pivot(index="item_id", columns="variant", values="logprob_nats")
    return table[["good", "bad"]].to_numpy()


def test_words_with_spaces_between_the_columns_are_read_in_bits(tmp_path):
    loaded, output = imported(tmp_path, "surprisals.txt", SURPRISAL)
    np.testing.assert_allclose(sums(loaded), -np.log(2) * np.array([[7.0, 9.0]] * 2))
    assert "surp in bits" in output
    assert "2 tokens stand for no piece of a text" in output


@pytest.mark.parametrize("unknown", ["<unk>", "<UNK>", "[UNK]"])
def test_a_token_for_an_unknown_word_counts_where_the_text_is_known(tmp_path, unknown):
    texts = ("the cat sleeps", "the cat sleep", "the cats sleep", "the cats sleeps")
    rows = [
        f"{text},{token},{surprisal}"
        for text in texts
        for token, surprisal in (("the", 2), (unknown, 7), (text.split()[2], len(text)), ("<s>", 9))
    ]
    content = "\n".join(["text,token,surprisal_nats", *rows])
    loaded, output = imported(tmp_path, "tokens.csv", content)
    # 2 + 7 and the number of letters and spaces: 14, 13, 14 and 15.
    np.testing.assert_allclose(sums(loaded), [[-23.0, -22.0], [-23.0, -24.0]])
    assert "4 tokens stand for no piece of a text" in output


# The scores of two texts of three words and a mark for the end, which gets none.
@pytest.mark.parametrize(
    ("good", "bad", "ends"),
    [
        ([0, 2, 3, 0], [0, 2, 5, 0], (-5, -7)),
        (["NA", 2, 3, 0], ["NA", 2, 5, 0], (-5, -7)),
        # A trigram model's scores begin with the third word.
        (["NA", "NA", 3, 0], ["NA", "NA", 5, 0], (-3, -5)),
        # One text may begin with a certain word.
        ([1, 0, 3, 0], [1, 2, 5, 0], (-4, -8)),
        # The same a row below, and a row above.
        ([0, 0, 2, 3], [0, 0, 2, 5], "the second token of each of the 4 texts has a score of 0"),
        ([5, "NA", 2, 3], [3, "NA", 2, 5], "the second token of each of the 4 texts has no score"),
        ([2, 3, 0, 0], [2, 5, 0, 0], "the last token of each of the 4 texts has a score of 0"),
    ],
)
def test_scores_that_moved_by_a_row_are_refused(tmp_path, good, bad, ends):
    lines = ["text,token,surprisal_nats"]
    for line in CLAMS.splitlines():
        label, text = line.split("\t")
        words = [*text.split(), "<eos>"]
        cells = zip(words, good if label == "True" else bad, strict=True)
        lines += [f"{text},{word},{score}" for word, score in cells]
    content = "\n".join(lines)
    if isinstance(ends, str):
        with pytest.raises(AnalysisError, match=ends):
            imported(tmp_path, "tokens.csv", content)
    else:
        np.testing.assert_allclose(sums(imported(tmp_path, "tokens.csv", content)[0]), [ends] * 2)


def test_ids_that_are_a_row_too_low_are_refused_by_the_texts_they_make(tmp_path):
    said = ("We know that the small grey cat sleep", "You know that the small grey dogs sleep")
    texts = [text + ending for text in said for ending in ("s", "")]
    words = [(n, place, word) for n, t in enumerate(texts) for place, word in enumerate(t.split())]
    above = [words[-1], *words[:-1]]
    lines = [f"{a[0]} {w[1]} {w[2]} 1.5" for a, w in zip(above, words, strict=True)]
    (tmp_path / "tokens.txt").write_text(
        "\n".join(["sentence_id token_id token surprisal", *lines])
    )
    (tmp_path / "items.csv").write_text("\n".join(["sentence", *texts]))
    given = [tmp_path / "tokens.txt", "--items", tmp_path / "items.csv", "--out", tmp_path / "out"]
    with pytest.raises(AnalysisError, match="is nearly that of the item"):
        CliRunner().invoke(scores, list(map(str, given)), catch_exceptions=False)


def test_scores_of_bare_sentences_are_read(tmp_path):
    (tmp_path / "rated.tsv").write_text("label\tsentence\n1\tShe left.\n0\tShe leave.\n")
    (tmp_path / "scored.csv").write_text("sentence,logprob\nShe left.,-3.5\nShe leave.,-7.25\n")
    given = [tmp_path / "scored.csv", "--items", tmp_path / "rated.tsv", "--out", tmp_path / "out"]
    done = CliRunner().invoke(scores, list(map(str, given)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    loaded = load_scores(next((tmp_path / "out").glob("scores_*.parquet"))).frame
    assert loaded["logprob_nats"].tolist() == [-3.5, -7.25]
    assert loaded["variant"].tolist() == ["good", "good"]


def test_lists_of_tokens_as_minicons_prints_them_are_read(tmp_path):
    said = [
        [("the", 0.0), ("cat", -1.0), ("sleeps", -2.0)],
        [("the", 0.0), ("cat", -1.0), ("sleep", -3.0)],
        [("the", None), ("cats", -1.0), ("sleep", -2.5)],
        [("the", None), ("cats", -1.0), ("sleeps", -3.5)],
    ]
    loaded, output = imported(tmp_path, "printed.txt", repr(said))
    np.testing.assert_allclose(sums(loaded), [[-3.0, -4.0], [-3.5, -4.5]])
    assert "taken for logprobs" in output
    assert "2 tokens have no score" in output


def test_a_printed_data_frame_is_read(tmp_path):
    lines = ["sentence_id token surprisal"]
    texts = [line.split("\t")[1].split() for line in CLAMS.splitlines()]
    lines += [
        f"{k} {n} {word} {2.0 + (n in (1, 3))}"
        for k, (n, word) in enumerate((n, w) for n, text in enumerate(texts) for w in text)
    ]
    loaded, _ = imported(tmp_path, "printed.txt", "\n".join(lines), "--unit", "nats")
    np.testing.assert_allclose(sums(loaded), [[-6.0, -9.0]] * 2)


def test_a_line_with_a_value_too_many_is_refused(tmp_path):
    with pytest.raises(
        AnalysisError, match=r"line 3: the line has 8 values, but there are 6 columns"
    ):
        imported(tmp_path, "surprisals.txt", SURPRISAL.replace("cat 0 1", "c a t 0 1"))


def test_marked_lines_are_pairs_and_their_file_is_materials(tmp_path):
    (tmp_path / "simple.txt").write_text(CLAMS)
    found = list(open_materials(tmp_path / "simple.txt").items())
    assert [(one.good, one.bad) for one in found] == [
        ("the cat sleeps", "the cat sleep"),
        ("the cats sleep", "the cats sleeps"),
    ]
    assert is_materials(str(tmp_path))


@pytest.mark.parametrize("text", ["True\ta\nTrue\tb\n", "False\ta\nTrue\tb\n", "True\ta\n"])
def test_a_marked_line_without_its_counterpart_is_refused(tmp_path, text):
    (tmp_path / "simple.txt").write_text(text)
    with pytest.raises(MaterialsError, match="not followed by its counterpart"):
        open_materials(tmp_path / "simple.txt")


@pytest.mark.parametrize(("protocol", "several"), [(0, list), (2, tuple), (4, list)])
def test_templates_of_lm_syneval_are_read_pairs_and_triples(tmp_path, protocol, several):
    made = {
        "past": [("no cat ran", "the cat ran", "most cats ran")],
        "sing": [("it runs", "it run")],
    }
    (tmp_path / "npi.pickle").write_bytes(
        pickle.dumps({name: several(every) for name, every in made.items()}, protocol)
    )
    triple, pair = open_materials(tmp_path / "npi.pickle").items()
    assert (triple.good, triple.distractor, triple.bad) == made["past"][0]
    assert (pair.good, pair.bad, pair.distractor) == ("it runs", "it run", "")
    assert {triple.construction, pair.construction} == {"npi"}


class Hostile:
    def __reduce__(self):
        return (print, ("run!",))


def test_a_pickle_that_names_a_function_is_refused_and_nothing_runs(tmp_path, capsys):
    (tmp_path / "npi.pickle").write_bytes(pickle.dumps({"past": [Hostile()]}))
    with pytest.raises(MaterialsError, match="which is not run"):
        open_materials(tmp_path / "npi.pickle")
    assert "run!" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("column", "change", "said"),
    [
        ("logprob_nats", lambda value: -value, "is above 0"),
        ("logprob_nats", lambda value: value / 3, "is not the sum of its tokens"),
        ("token_logprobs_nats", lambda value: [2 * one for one in value], "is not the sum"),
    ],
    ids=["positive", "a mean", "tokens in bits"],
)
def test_score_files_with_impossible_numbers_are_refused(tmp_path, column, change, said):
    loaded, _ = imported(tmp_path, "surprisals.txt", SURPRISAL)
    table = pq.read_table(loaded.path)
    changed = pa.array(map(change, table[column].to_pylist()), table.schema.field(column).type)
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, table.schema.field(place), changed), loaded.path)
    with pytest.raises(AnalysisError, match=said):
        load_scores(loaded.path)


def test_an_import_of_scores_is_accounted_for_replaced_and_undone(tmp_path):
    imported(tmp_path, "one.txt", SURPRISAL, "--model", "lstm")
    out = tmp_path / "out"
    record = json.loads((out / "import.json").read_text())
    assert record["source"] == "one.txt"
    assert record["models"]["lstm"]["versions_scored"] == 4
    assert record["models"]["lstm"]["versions_without_score"] == 0
    assert set(record["files"]) == {"scores_lstm.parquet"}
    imported(tmp_path, "two.txt", SURPRISAL.replace("4.0", "3.0"), "--model", "other")
    assert sorted(path.name for path in out.iterdir()) == ["import.json", "scores_other.parquet"]
    (out / "scores_other.parquet").write_bytes(b"changed")
    with pytest.raises(AnalysisError, match="was changed after the import"):
        remove_import(out)
    with pytest.raises(AnalysisError, match="was changed after an earlier import"):
        imported(tmp_path, "one.txt", SURPRISAL, "--model", "lstm")
    imported(tmp_path, "one.txt", SURPRISAL, "--model", "lstm", "--replace")
    assert remove_import(out) == ["scores_lstm.parquet", "import.json"]
    assert not out.exists()
