"""Items with the same texts or number are told apart by another column, or not at all."""

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.errors import AnalysisError
from analysis.readers.judgments import read_judgments

ITEMS = """item,condition,list,good,bad
1,early,A,The cat sleeps.,The cat sleep.
1,late,B,The cat sleeps.,The cat sleep.
2,early,B,The dog barks.,The dog bark.
2,late,A,The dog barks.,The dog bark.
"""
# Participant, item, condition, list, both sentences, the sentence chosen, whether that is right.
ROWS = """p,n,cond,group,left,right,response,correct
p1,1,early,A,The cat sleeps.,The cat sleep.,The cat sleeps.,1
p1,2,late,A,The dog bark.,The dog barks.,The dog bark.,0
p2,1,late,B,The cat sleep.,The cat sleeps.,The cat sleeps.,1
p2,2,early,B,The dog barks.,The dog bark.,The dog barks.,1
"""
JUDGED = ["items-1-early", "items-2-late", "items-1-late", "items-2-early"]
TEXTS = ["left", "right", "response"]


def imported(folder, columns, items=ITEMS, mapping=""):
    """Import these columns, renamed; return the judgments and what was said."""
    (folder / "items.csv").write_text(items)
    (folder / "rows.csv").write_text(ROWS)
    table = pd.read_csv(folder / "rows.csv", dtype=str)[["p", *columns]].rename(
        columns={"p": "participant", **columns}
    )
    table.to_csv(folder / "rows.csv", index=False)
    options = ["--items", str(folder / "items.csv"), "--out", str(folder / "o"), "--yes"]
    if mapping:
        (folder / "m.toml").write_text(mapping)
        options += ["--mapping", str(folder / "m.toml")]
    result = CliRunner().invoke(judgments, [str(folder / "rows.csv"), *options],
                                catch_exceptions=False)  # fmt: skip
    assert result.exit_code == 0, result.output
    return pd.read_csv(folder / "o" / "judgments.csv"), result.output


@pytest.mark.parametrize(
    ("columns", "by"),
    [
        ({"cond": "Condition"}, '"condition" = "Condition"'),
        # The words are the items' own, whatever the header.
        ({"cond": "when"}, '"condition" = "when"'),
        ({"group": "List"}, '"list" = "List"'),
    ],
)
def test_a_column_that_the_items_have_too_tells_equal_texts_apart(tmp_path, columns, by):
    table, said = imported(tmp_path, {**columns, **{name: name for name in TEXTS}})
    assert by in said
    assert list(zip(table["item"], table["chosen"] == "good", strict=True)) == list(
        zip(JUDGED, [True, False, True, True], strict=True)
    )


def test_number_and_condition_are_an_item(tmp_path):
    table, said = imported(tmp_path, {"n": "Item", "cond": "Cond", "correct": "correct"})
    assert table["item"].to_list() == JUDGED
    assert '"item" = "Item"\n  "condition" = "Cond"' in said
    assert "the expected version was chosen in 75.0%" in said


def test_nothing_is_decided_where_no_column_or_several_tell_items_apart(tmp_path):
    texts = {name: name for name in TEXTS}
    missing = 'tells items with the same texts apart, such as "items-1-early" and "items-1-late"'
    with pytest.raises(AnalysisError, match=missing):
        imported(tmp_path, texts)
    # The two columns contradict each other in the last two rows.
    lists_exchanged = ITEMS.replace("2,early,B", "2,early,A").replace("2,late,A", "2,late,B")
    with pytest.raises(AnalysisError, match=missing):
        imported(tmp_path, {"cond": "condition", "group": "list", **texts}, lists_exchanged)
    mapping = 'item_by_texts = ["left", "right"]\n[columns]\nchosen = "response"\n'
    with pytest.raises(AnalysisError, match=r"2 group\(s\) of items cannot be told apart .*the "
                       "first: items-1-early or items-1-late.* condition = "):  # fmt: skip
        imported(tmp_path, texts, mapping=mapping)
    by = '[item_by]\ncondition = "c"\n'
    assert imported(tmp_path, {"cond": "c", **texts}, mapping=mapping + by)[0]["item"].to_list()
    (tmp_path / "t.csv").write_text("item,chosen\nno-such-item,good\n")
    with pytest.raises(AnalysisError, match=r"1 judged item\(s\) are not among the items"):
        read_judgments(tmp_path / "t.csv", tmp_path / "items.csv")


@pytest.mark.parametrize(
    ("ids", "known"),
    [
        (["s1", "s2", "s3", "s4"], True),
        # Ids that say no number, another one, or the number of two items each.
        (["raider", "illness", "dog", "cat"], False),
        (["s0", "s1", "s2", "s3"], False),
        (["1a", "1b", "2a", "2b"], False),
    ],
)
def test_a_number_is_no_row_of_items_with_other_ids(tmp_path, ids, known):
    texts = ["The raider left.", "The illness left.", "The dog barks.", "The cat sleeps."]
    pd.DataFrame({"item_id": ids, "sentence": texts}).to_csv(tmp_path / "items.csv", index=False)
    answers = [("p1", 1, 4), ("p1", 2, 2), ("p1", 3, 4), ("p2", 1, 7), ("p2", 2, 5), ("p2", 3, 7)]
    rows = pd.DataFrame(answers, columns=["participant", "item", "rating"])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    options = ["--items", str(tmp_path / "items.csv"), "--out", str(tmp_path / "o"), "--yes"]
    arguments = [str(tmp_path / "rows.csv"), *options]
    if not known:
        with pytest.raises(AnalysisError, match="lacks a column that holds the items' ids"):
            CliRunner().invoke(judgments, arguments, catch_exceptions=False)
        (tmp_path / "m.toml").write_text(
            '[item_by]\nitem = "item"\n[columns]\nrating = "rating"\nparticipant = "participant"\n'
        )
        arguments += ["--mapping", str(tmp_path / "m.toml")]
    result = CliRunner().invoke(judgments, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    table = pd.read_csv(tmp_path / "o" / "judgments.csv")
    means = table.groupby("item")["rating"].mean().to_dict()
    assert means == {ids[0]: 5.5, ids[1]: 3.5, ids[2]: 5.5}
