"""Choices among four options of other programs: each layout gives the shares counted by hand."""

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.data.n_alternatives import chance_accuracy
from analysis.errors import AnalysisError
from analysis.readers.judgments import read_judgments
from analysis.readers.plausibility import check_accuracy

ITEMS = """item,context,good,bad,distractor,distractor_2
i1,The key to the cabinets,is,are,be,been
i2,The dogs near the door,bark,barks,barking,barked
i3,The boy with the books,sings,sing,sung,
"""
TEXTS = {"i1": ("is", "are", "be", "been"), "i2": ("bark", "barks", "barking", "barked"),
         "i3": ("sings", "sing", "sung")}  # fmt: skip
VERSIONS = ("good", "bad", "distractor", "distractor_2")
# What each of four people chose of each item, as the number of the version; None is none of them.
CHOSEN = {"p1": (0, 0, 0), "p2": (1, 0, 0), "p3": (0, 2, 1), "p4": (None, 3, 0)}
SHARES = {"good": 7 / 12, "bad": 2 / 12, "distractor": 1 / 12, "distractor_2": 1 / 12,
          "none": 1 / 12}  # fmt: skip


def choices() -> pd.DataFrame:
    """Return a row for each choice, with the options on places that differ between people."""
    rows = []
    for person, (name, chosen) in enumerate(CHOSEN.items()):
        for number, item in enumerate(TEXTS):
            texts = list(TEXTS[item])
            turned = texts[person % len(texts) :] + texts[: person % len(texts)]
            answer = None if chosen[number] is None else texts[chosen[number]]
            rows.append(
                {
                    "subject": name,
                    "item": item,
                    **{f"opt{n + 1}": text for n, text in enumerate([*turned, ""][:4])},
                    "response": "none of these" if answer is None else answer,
                    "place": None if answer is None else turned.index(answer),
                    "rt": 700 + 10 * number + person,
                }
            )
    return pd.DataFrame(rows)


LAYOUTS = {
    "text": lambda table: table.drop(columns="place"),
    "letter": lambda table: table.assign(
        response=["none" if pd.isna(n) else "ABCD"[int(n)] for n in table["place"]]
    ).drop(columns="place"),
    "number from 0": lambda table: table.assign(
        response=["none" if pd.isna(n) else str(int(n)) for n in table["place"]]
    ).drop(columns="place"),
    "header": lambda table: table.assign(
        response=["none" if pd.isna(n) else f"opt{int(n) + 1}" for n in table["place"]],
        correct_answer=[
            next(f"opt{n}" for n in range(1, 5) if row[f"opt{n}"] == TEXTS[row["item"]][0])
            for row in table.to_dict("records")
        ],
    ).drop(columns="place"),
    "no ids": lambda table: table.drop(columns=["place", "item"]),
}


def imported(tmp_path, table, *options):
    (tmp_path / "items.csv").write_text(ITEMS)
    table.to_csv(tmp_path / "data.csv", index=False)
    arguments = [str(tmp_path / "data.csv"), "--items", str(tmp_path / "items.csv"), "--out",
                 str(tmp_path / "out"), "--yes", *options]  # fmt: skip
    result = CliRunner().invoke(judgments, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_of_four_options_gives_the_same_shares(tmp_path, layout):
    said = imported(tmp_path, LAYOUTS[layout](choices()))
    assert "the expected version was chosen in 58.3% of choices among several options" in said
    run = read_judgments(tmp_path / "out" / "judgments.csv", tmp_path / "items.csv")
    assert run.responses["version"].value_counts(normalize=True).to_dict() == SHARES
    assert run.responses["chose_good"].sum() == 7
    of_third = run.trials[run.trials["item_id"].str.endswith("i3")]
    assert {len(names.split()) for names in of_third["options"]} == {3}
    # The places turn from person to person, and with them the side of the expected option.
    first = run.trials[run.trials["item_id"].str.endswith("i1")]
    assert first["good_side"].to_list() == ["first", "fourth", "third", "second"]
    assert chance_accuracy(run) == pytest.approx((1 / 4 + 1 / 4 + 1 / 3) / 3)


def test_events_between_the_choices_are_left_out(tmp_path):
    table = LAYOUTS["text"](choices())
    clicks = table.assign(response="AUDIO STARTED", **{"Zone Type": "content_audio"})
    table = table.assign(**{"Zone Type": "response_button_text"})
    said = imported(tmp_path, pd.concat([clicks, table]).sort_index(kind="stable"))
    assert "12 judgments of 4 participants" in said and "chosen in 58.3%" in said


def test_choices_by_name_need_no_columns_of_options(tmp_path):
    table = choices()
    chosen = [VERSIONS[n] if n is not None else "none" for row in CHOSEN.values() for n in row]
    said = imported(tmp_path, table[["subject", "item"]].assign(chosen=chosen))
    assert "(good 58.3%, bad 16.7%, distractor 8.3%, distractor_2 8.3%, none 8.3%)" in said


def test_a_choice_that_is_no_option_is_refused_with_the_options(tmp_path):
    table = LAYOUTS["text"](choices())
    table.loc[4, "response"] = "meows"
    (tmp_path / "mapping.toml").write_text(
        'options = ["opt1", "opt2", "opt3", "opt4"]\nunrelated = ["response"]\n'
        '[columns]\nparticipant = "subject"\nchosen = "response"\n'
    )
    expected = '"meows" is not one of the options of the item items-i2.*good "bark", bad "barks"'
    with pytest.raises(AnalysisError, match=expected):
        imported(tmp_path, table, "--mapping", str(tmp_path / "mapping.toml"))
    table = LAYOUTS["text"](choices())
    table.loc[4, "opt1"] = "meows"
    expected = 'a text that does not belong to .*"meows", items-i2.*"bark" or "barks" or "barking"'
    with pytest.raises(AnalysisError, match=expected):
        imported(tmp_path, table, "--mapping", str(tmp_path / "mapping.toml"))
    mapping = (tmp_path / "mapping.toml").read_text()
    (tmp_path / "mapping.toml").write_text(mapping.replace('["response"]', '["response", "opt1"]'))
    with pytest.raises(AnalysisError, match='"meows" was on the screen, but is not a version'):
        imported(tmp_path, table, "--mapping", str(tmp_path / "mapping.toml"))


def test_low_accuracy_among_four_is_that_below_the_chance_of_four(tmp_path):
    table = LAYOUTS["text"](choices())
    wrong = [TEXTS[item][1] for item in table["item"]]
    with pytest.raises(AnalysisError, match=r"\.00 of 12 judgments; guessing gives \.28"):
        imported(tmp_path, table.assign(response=wrong))
    imported(tmp_path, table)
    run = read_judgments(tmp_path / "out" / "judgments.csv", tmp_path / "items.csv")
    # .58 is low for a choice between two, and not for one among four.
    check_accuracy(run)
