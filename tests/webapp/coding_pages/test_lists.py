"""Lists in a time limit are coded entry by entry, each different entry of a text once."""

import re

import pytest

from analysis.data.codes import read_codes
from analysis.data.load import load_run
from experiment.studies.load import load_study
from tests.analysis.chosen_findings import compare_by
from tests.webapp.coding_pages.conftest import CODING, study_with
from tests.webapp.coding_pages.test_coding import type_answers
from webapp.database.engine import reading
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
COMPARISON = """
[[comparisons]]
name = "living things"
compare = "condition: strong - weak"
of = "number of alive"
"""
RIGHT = {"dog": "alive", "Cow": "alive", "rock": "thing"}


@pytest.fixture
def study(tmp_path):
    folder = study_with(tmp_path, "").folder
    settings, items = folder / "study.toml", folder / "items.tsv"
    text = settings.read_text("utf-8").replace('"typed"', '"fluency"', 1)
    text = text.replace("trials_per_list = 10", "trials_per_list = 8")
    text = text[: text.index("[[comparisons]]")]
    for table in ("design.shared", "trial", "trial.parameters", "exclusion"):
        text = re.sub(rf"^\[+{re.escape(table)}\]+\n(?:[^\[#].*\n)*", "", text, flags=re.M)
    text = re.sub(r'^\[\[constructions\]\]\nname = "catch"\n.*\n', "", text, flags=re.M)
    settings.write_text(text + COMPARISON + CODING, "utf-8")
    lines = items.read_text("utf-8").splitlines()
    items.write_text("\n".join(line for line in lines if "\tcatch\t" not in line) + "\n", "utf-8")
    return load_study(str(folder))


def test_an_entry_is_coded_once_for_each_text_wherever_it_is_in_a_list(
    start, run, coder, researcher, sessions, clock, tmp_path
):
    lists = [
        # "house" is on the study's list of answers.
        ["Cow | rock | cow", "house", *[""] * 6],
        ["rock | house | Cow", *[""] * 7],
    ]
    # The first participant's first text is not the second's, who has the other list.
    for texts in lists:
        visitor = type_answers(start, run, texts)
        visitor.questionnaire(native_language="English")
    first = coder("Ada")
    cards = first.cards()[1:]
    # What is shown of a card is the text and one entry; its place in a list is not.
    assert sorted(card["typed"] for card in cards) == ["Cow", "Cow", "rock", "rock"]
    assert all("___" in card["before"] and not card["gap"] for card in cards)
    first.code(RIGHT)
    coder("Ben").code(RIGHT | {"rock": "alive"})
    decider = coder("Cy", "decide")
    assert [card["typed"] for card in decider.cards()] == ["rock", "rock"]
    decider.code({"rock": "thing"})
    assert researcher(Role.OWNER).post(f"/runs/{run.ref}/coding/freeze").status_code == 303
    with sessions.begin() as session:
        store_verdicts(session, session.merge(run), clock())
    with reading(sessions) as session:
        export_run(session, run, tmp_path / "out")
    exported = load_run(tmp_path / "out")
    codes = read_codes(exported)
    rows = codes.sort_values(["participant", "position", "gap"])
    of_lists = rows.groupby(["participant", "position"])[["gap", "code"]].agg(list)
    assert sorted(map(tuple, of_lists["code"])) == [
        ("alive", "thing", "alive"), ("thing",), ("thing", "thing", "alive"),
    ]  # fmt: skip
    assert sorted(map(tuple, of_lists["gap"])) == [(1,), (1, 2, 3), (1, 2, 3)]
    result = compare_by(["fluency", "coder_agreement", "comparisons"], exported)
    [row] = result.statistics["comparisons"].to_dict("records")
    assert row["measure"] == "number of alive" and row["n_observations"] == 16
    # Each person's eight lists have one different living thing, in one of the conditions.
    assert row["first"] + row["second"] == pytest.approx(2 / 8)
    [agreed] = result.statistics["coder_agreement"].to_dict("records")
    assert (agreed["n_equal"], agreed["n_answers"]) == (2, 4)
    assert not any("no code" in sentence for sentence in result.left_out)
