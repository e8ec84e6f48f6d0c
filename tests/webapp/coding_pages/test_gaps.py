"""Each gap of a text with several is coded by itself."""

import pytest

from analysis.data.codes import add_codes, read_codes
from analysis.data.load import load_run
from experiment.studies.load import load_study
from tests.webapp.coding_pages.conftest import CODING, study_with
from tests.webapp.coding_pages.test_coding import type_answers
from webapp.database.engine import reading
from webapp.runs.export import export_run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
RIGHT = {"dog": "alive", "cow": "alive", "rock": "thing"}


@pytest.fixture
def study(tmp_path):
    folder = study_with(tmp_path, CODING).folder
    settings = folder / "study.toml"
    settings.write_text(
        settings.read_text("utf-8").replace(
            "[trial.parameters]", "[trial.parameters]\ngaps = 2", 1
        ),
        "utf-8",
    )
    items = folder / "items.tsv"
    header, *rows = items.read_text("utf-8").splitlines()
    # Every target has a second gap, and no right answers.
    targets = [
        row.replace("___", "___ of ___").rpartition("\t")[0] + "\t" if "\ttarget\t" in row else row
        for row in rows
    ]
    items.write_text("\n".join([header, *targets]) + "\n", "utf-8")
    return load_study(str(folder))


def test_a_gap_has_its_own_card_and_code(start, run, coder, researcher, sessions, tmp_path):
    type_answers(start, run, ["cow | rock", " | rock", *["house | cow"] * 8])
    first = coder("Ada")
    cards = first.cards()[1:]
    # "house" is on the study's list; nobody filled the first gap of the second text.
    assert sorted(card["typed"] for card in cards) == ["cow"] * 7 + ["rock"] * 2
    [of_first] = [card for card in cards if card["typed"] == "cow" and "___" in card["after"]]
    [*of_second] = [card for card in cards if "___" in card["before"]]
    assert of_first["after"].startswith(" of ___") and len(of_second) == 8
    first.code(RIGHT)
    coder("Ben").code(RIGHT)
    assert researcher(Role.OWNER).post(f"/runs/{run.ref}/coding/freeze").status_code == 303
    with reading(sessions) as session:
        export_run(session, run, tmp_path / "out")
    exported = load_run(tmp_path / "out")
    codes = read_codes(exported)
    # Of eight texts, seven have two answers and one has one.
    assert len(codes) == 15
    by_gap = codes.groupby(["gap", "code"]).size().to_dict()
    assert by_gap == {(1, "alive"): 1, (1, "thing"): 6, (2, "alive"): 6, (2, "thing"): 2}
    coded = add_codes(exported.responses, codes)
    assert len(coded) == 15 and coded.index.nunique() == 8
