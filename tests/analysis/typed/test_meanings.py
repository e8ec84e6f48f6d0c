"""People's and models' answers by meaning, by hand with vectors of two dimensions."""

import gzip
import hashlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.typed.embeddings import read_embedding
from analysis.typed.energy_distance import list_by_person, measure_distances, measure_sample
from analysis.typed.meanings import MEANINGS

VECTORS = """6 2
cat 1 0
dog 0 2
Tree -3 0
tree 5 5
nil 0 0
a cat in b 7 7
"""
ROOT2 = np.sqrt(2)
ANSWERS = pd.Index(["cat", "dog", "tree"])
# At right angles and opposite.
APART = measure_distances(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))


@pytest.fixture
def embedding(tmp_path):
    (tmp_path / "toy.vec").write_text(VECTORS)
    return read_embedding(tmp_path / "toy.vec")


def test_answers_have_the_vectors_of_their_words(embedding, tmp_path):
    vectors = embedding.embed(["cat", "dog", "tree", "cat dog", "nil", "cat bird", "bird"])
    # The first line of a word counts, whatever its case; a vector of zeros has no direction.
    assert vectors[:4] == pytest.approx(np.array([[1, 0], [0, 1], [-1, 0], [1 / ROOT2, 1 / ROOT2]]))
    assert np.isnan(vectors[4:]).all()
    assert embedding.sha256 == hashlib.sha256(VECTORS.encode()).hexdigest()
    # GloVe's files have no header.
    (tmp_path / "glove.txt.gz").write_bytes(gzip.compress(VECTORS.partition("\n")[2].encode()))
    packed = read_embedding(tmp_path / "glove.txt.gz")
    assert packed.kind == "word vectors of 2 dimensions"
    assert packed.embed(["dog", "a"])[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file has no word vectors"),
        (b"word,1,2\n", "line 1: this line has no word with its vector"),
        (b"3 2\nthe \xff\xfe\x00", "line 2: the word vectors cannot be read: it is not UTF-8 text"),
        (None, "the word vectors cannot be read: No such file or directory"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "other.vec").write_bytes(content)
    with pytest.raises(AnalysisError, match=message):
        read_embedding(tmp_path / "other.vec")


def test_a_cut_line_is_refused_where_an_answer_needs_it(tmp_path):
    (tmp_path / "cut.vec").write_text("cat 1 0\ndog 1\n")
    embedding = read_embedding(tmp_path / "cut.vec")
    assert embedding.embed(["cat"]).tolist() == [[1, 0]]
    with pytest.raises(AnalysisError, match=r'cut.vec, line 2: "dog" has no 2 numbers'):
        embedding.embed(["dog"])


def test_the_energy_distance_is_twice_between_less_both_among():
    """Of three people two say cat and one dog; the model says cat and tree by half."""
    rows = pd.DataFrame({"person": list("123"), "answer": ["cat", "cat", "dog"], "weight": 1.0})
    people, weights = list_by_person(rows, ANSWERS)
    sample = measure_sample(people, weights, np.array([0.5, 0.0, 0.5]), APART)
    # Cat is 0 and 2 from the model's words, dog twice the root of 2.
    assert sample.between == pytest.approx((1 + 1 + ROOT2) / 3)
    assert sample.among == pytest.approx((0 + ROOT2 + ROOT2) / 3)
    # The whole is 1/3 with the model's own 1; without a cat 1 + root - root - 1, without the dog 1.
    assert sample.changes() == pytest.approx([-1 / 3, -1 / 3, 2 / 3])


def test_two_answers_of_one_person_are_no_two_people():
    rows = pd.DataFrame({"person": list("1123"), "answer": ["cat", "dog", "cat", "dog"]})
    people, weights = list_by_person(rows.assign(weight=1.0), ANSWERS)
    sample = measure_sample(people, weights, np.array([1.0, 0.0, 0.0]), APART)
    # Pairs of different people: cat-cat, dog-cat, cat-dog, dog-dog and cat-dog.
    assert (people, sample.among) == (("1", "2", "3"), pytest.approx(3 / 5 * ROOT2))
    # Without the first person only the last of these is left; without the second, cat and dog.
    assert sample.among_without[:2] == pytest.approx([ROOT2, ROOT2 / 2])


def inputs_of(embedding, people, *, completions=None, typed=None):
    """Return inputs with one text; people's answers, a distribution, answers of sessions."""
    key = {"item_id": "a", "version": "good"}
    answers = pd.DataFrame({**key, "participant": [f"p{n}" for n in range(len(people))],
                            "typed": people, "no_answer": False})  # fmt: skip
    rows = [{**key, "word": word, "logprob_nats": np.log(p), "rank": 1, "scored": "word"}
            for word, p in (completions or {}).items()]  # fmt: skip
    takers = [pd.DataFrame({**key, "participant": [f"s{n}" for n in range(len(typed))],
                            "typed": typed})] if typed else []  # fmt: skip
    return SimpleNamespace(
        run=SimpleNamespace(
            study=SimpleNamespace(
                analysis=SimpleNamespace(same_answers=()), study=SimpleNamespace(language="en")
            )
        ),
        options=SimpleNamespace(
            variants={}, embedding=embedding,
            completions={"toy": pd.DataFrame(rows)} if rows else {},
            takers=[SimpleNamespace(model="taker", frame=frame) for frame in takers],
        ),
        data=SimpleNamespace(judgments=answers),
        context=SimpleNamespace(table=lambda name, *_, **__: name),
    )  # fmt: skip


# Half of twelve say cat, half dog, and the other source always cat: root 2 x 5/11; without a cat
# root 2 x 6/11, without a dog root 2 x 4/11. Variance 11/12 x 12 x 2/121 = 2/11, t(11) = 2.2010.
HALVES = ["cat", "Dog."] * 6
ESTIMATE, HALF = 0.64282, 2.2010 * 0.42640


@pytest.mark.parametrize(
    ("people", "others", "source"),
    [
        (HALVES, {"completions": {"cat": 0.5, "unheard": 0.3}}, "distribution"),
        (HALVES, {"typed": ["cat"] * 12}, "sessions"),
        (["cat"] * 12, {"typed": HALVES}, "sessions"),
    ],
)
def test_the_interval_leaves_out_each_person_and_each_session(embedding, people, others, source):
    findings = MEANINGS.run(inputs_of(embedding, [*people, "unheard"], **others))
    [row] = findings.statistics["answer_meanings"].to_dict("records")
    assert (row["source"], row["n_texts"]) == (source, 1)
    assert row["distance"] == pytest.approx(ESTIMATE, abs=1e-5)
    assert (row["low"], row["high"]) == (
        pytest.approx(ESTIMATE - HALF, abs=1e-4),
        pytest.approx(ESTIMATE + HALF, abs=1e-4),
    )
    # Unheard has no vector; of the model's listed words, cat has one.
    assert (row["n_answers"], row["n_without"]) == (13, 1)
    assert row["compared"] == pytest.approx(0.5 if source == "distribution" else 1)
    assert findings.statistics["answers_without_vector"].to_dict("records") == [
        {"answer": "unheard", "n": 1}
    ]
    assert "1 of 13 answers of people have no vector" in findings.summary[0]


def test_too_few_answers_with_vectors_are_named(embedding):
    findings = MEANINGS.run(inputs_of(embedding, ["cat", "dog", "bird"], typed=["cat"] * 3))
    assert findings.left_out == (
        "The meanings of taker's answers (sessions) were left out: no text has answers with "
        "vectors by 3 people and 3 sessions.",
    )
    few = MEANINGS.run(inputs_of(embedding, ["cat", "dog", "dog"], completions={"cat": 1.0}))
    [row] = few.statistics["answer_meanings"].to_dict("records")
    # 2 x root 2 x 2/3 - root 2 x 2/3; an interval needs ten people.
    assert row["distance"] == pytest.approx(ROOT2 * 2 / 3) and np.isnan(row["low"])
    alone = MEANINGS.run(inputs_of(embedding, ["cat"] * 3))
    assert "--embedding needs models' answers" in alone.left_out[0]
