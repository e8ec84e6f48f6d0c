"""People's answers beside those that a model typed, by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.typed.same_answers import SameAnswers
from analysis.typed.sampled import SAMPLED_ANSWERS, distance_of_one_source, sampled_shares


def test_a_models_answers_count_as_peoples_do() -> None:
    typed = ["tree", "Tree.", "trees", "sky"]
    rows = pd.DataFrame(
        {"item_id": "a", "version": "good", "typed": typed, "participant": list("1234")}
    )
    same = SameAnswers({("", "trees"): "tree"})
    shares = sampled_shares(rows, same).set_index("answer")
    assert shares["n"].to_dict() == {"tree": 3, "sky": 1}
    assert shares["probability"].to_dict() == {"tree": 0.75, "sky": 0.25}


@pytest.mark.parametrize(
    ("people", "model", "distance"),
    [
        ([2.0, 0.0], [3.0, 0.0], 0.0),
        # One answer of each: whoever gets which, they differ.
        ([1.0, 0.0], [0.0, 1.0], 1.0),
        # Of two a and two b, two are drawn: in 4 of 6 ways one of each, else they differ wholly.
        ([1.0, 1.0], [1.0, 1.0], 1 / 3),
    ],
)
def test_answers_of_one_source_differ_by_chance(people, model, distance) -> None:
    rng = np.random.default_rng(1)
    one_source = distance_of_one_source(np.array(people), np.array(model), rng)
    # 200 draws of 0 or 1: three standard errors are .1.
    assert one_source == pytest.approx(distance, abs=0.1 if 0 < distance < 1 else 1e-9)


def test_the_distance_and_the_answers_in_common_are_by_text_and_by_model() -> None:
    """People say tree three times and sky once; the model each of tree, sea once and sky twice."""
    key = {"item_id": "a", "version": "good"}
    people = pd.DataFrame({**key, "participant": list("1234"), "no_answer": False,
                           "typed": ["tree", "tree", "tree", "sky"]})  # fmt: skip
    frame = pd.DataFrame(
        {**key, "participant": list("5678"), "typed": ["tree", "sky", "sky", "sea"]}
    )
    inputs = SimpleNamespace(
        run=SimpleNamespace(
            study=SimpleNamespace(
                analysis=SimpleNamespace(same_answers=()), study=SimpleNamespace(language="en")
            )
        ),
        options=SimpleNamespace(
            variants={}, takers=[SimpleNamespace(model="toy", frame=frame),
                                 SimpleNamespace(model="chooser", frame=frame[["participant"]])],
        ),
        data=SimpleNamespace(judgments=people),
        context=SimpleNamespace(seed=1, table=lambda name, *_, **__: name),
    )  # fmt: skip
    findings = SAMPLED_ANSWERS.run(inputs)
    assert not any("the same word" in sentence for sentence in findings.summary)
    [row] = findings.statistics["sampled_answers"].to_dict("records")
    assert (row["model"], row["n_sittings"], row["n_texts"]) == ("toy", 4, 1)
    # Of tree 3/4 - 1/4; people's answers are all among the model's, of whose four sea is not.
    assert (row["distance"], row["covered"], row["given"]) == (0.5, 1.0, 0.75)
    [text] = findings.statistics["sampled_answers_by_text"].to_dict("records")
    assert (text["answer"], text["share"], text["model_share"]) == ("tree", 0.75, 0.25)
    assert (text["word"], text["word_share"]) == ("sky", 0.5)
    inputs.options.takers[0].frame["typed"] = "sky"
    assert "toy typed the same word in all sessions" in SAMPLED_ANSWERS.run(inputs).summary[1]
