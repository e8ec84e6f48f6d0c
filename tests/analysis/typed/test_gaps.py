"""Texts with several gaps are counted gap by gap."""

import pandas as pd

from analysis.typed.cloze import count_answers
from analysis.typed.gaps import base_version, show_gap, split_gaps


def answers(texts: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "participant": [f"p{number}" for number in range(len(texts))],
            "item_id": "a-1",
            "version": "good",
            "typed": texts,
            "no_answer": [text is None for text in texts],
        }
    )


def test_each_gap_has_its_own_shares_among_all_who_saw_the_text():
    rows = split_gaps(answers(["dog | cat", "dog | ", " | cat", None]))
    counts = count_answers(rows).set_index(["version", "answer"])
    assert counts["n"].to_dict() == {("good, gap 1", "dog"): 2, ("good, gap 2", "cat"): 2}
    assert (counts["n_people"] == 4).all() and (counts["cloze"] == 0.5).all()
    left_out = rows.loc[rows["no_answer"], ["participant", "version"]].to_numpy().tolist()
    assert left_out == [
        ["p1", "good, gap 2"], ["p2", "good, gap 1"], ["p3", "good, gap 1"], ["p3", "good, gap 2"],
    ]  # fmt: skip


def test_a_withheld_answer_is_withheld_in_each_gap_and_one_gap_keeps_its_version():
    rows = answers(["dog | cat", "x"]).assign(no_answer=False)
    rows.loc[1, "typed"] = None
    split = split_gaps(rows)
    withheld = split[split["participant"] == "p1"]
    assert withheld["typed"].isna().all() and not withheld["no_answer"].any()
    assert split_gaps(answers(["dog", None]))["version"].tolist() == ["good", "good"]


def test_a_text_shows_the_gap_that_is_meant():
    text = "The ___ chased the ____."
    assert show_gap(text, "good, gap 1") == "The ___ chased the \u2026."
    assert show_gap(text, "bad, gap 2") == "The \u2026 chased the ___."
    assert (show_gap(text, "good"), base_version("bad, gap 2")) == (text, "bad")
