"""Frozen codes in the export, and the shares of a category that the report compares."""

import pytest
from sqlalchemy import update

from analysis.data.codes import read_codes
from analysis.data.load import load_run
from analysis.errors import AnalysisError
from tests.analysis.chosen_findings import compare_by
from tests.webapp.coding_pages.conftest import CODING
from tests.webapp.coding_pages.test_coding import type_answers
from tests.webapp.recruiters.conftest import ready, send, url  # noqa: F401
from webapp.database.engine import reading
from webapp.database.models import Verdict
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
SHARE = """
[[comparisons]]
name = "living answers"
compare = "condition: strong - weak"
of = "share of alive"
role = "exploratory"
"""


@pytest.fixture
def coding() -> str:
    return CODING + SHARE


def exported(sessions, run, folder):
    with reading(sessions) as session:
        return export_run(session, run, folder)


def test_a_frozen_version_is_exported_and_erased_answers_are_not_part_of_it(
    start, run, coder, researcher, sessions, clock, tmp_path
):
    visitors = [
        type_answers(start, run, [word] * 10) for word in ("mouse", "rock", "house", "Kowalska")
    ]
    for visitor in visitors:
        visitor.questionnaire(native_language="English")
    exported(sessions, run, tmp_path / "before")
    assert not (tmp_path / "before" / "codes.csv").exists()
    coder("Ada").code({"dog": "alive", "mouse": "alive", "rock": "thing", "Kowalska": "alive"})
    coder("Ben").code({"dog": "alive", "mouse": "alive", "rock": "alive", "Kowalska": "alive"})
    coder("Cy", "decide").code({"rock": "thing"})
    assert researcher(Role.OWNER).post(f"/runs/{run.ref}/coding/freeze").status_code == 303
    home = visitors[3].home
    assert visitors[3].client.post(f"{home}withdraw", data={"wish": "erase"}).status_code == 303
    with sessions.begin() as session:
        store_verdicts(session, session.merge(run), clock())
        session.execute(update(Verdict).values(kept=True))  # of wrong catch trials, too
    exported(sessions, run, tmp_path / "after")
    codes = read_codes(load_run(tmp_path / "after"))
    # Three participants are left, each with eight targets; catch trials are not coded.
    assert len(codes) == 24 and codes["participant"].nunique() == 3
    by_code = codes.groupby(["code", "listed", "coder_1", "coder_2", "decided"]).size()
    assert by_code.to_dict() == {
        ("alive", "", "alive", "alive", ""): 8,
        ("thing", "", "thing", "alive", "thing"): 8,
        ("thing", "thing", "", "", ""): 8,
    }
    assert set(codes["coding_version"]) == {1}
    assert "owalska" not in (tmp_path / "after" / "codes.csv").read_text("utf-8")

    result = compare_by(
        ["typed_answers", "coder_agreement", "comparisons"], load_run(tmp_path / "after")
    )
    [agreed] = result.statistics["coder_agreement"].to_dict("records")
    # Each text with each word is one answer: both agree on those with "mouse" only.
    assert agreed["n_equal"] * 2 == agreed["n_answers"] == 16
    # One coder always chose one category, so that agreement is what chance gives.
    assert agreed["kappa"] == 0
    rows = result.statistics["comparisons"].set_index("name")
    row = rows.loc["living answers"]
    assert row["measure"] == "share of alive"
    # One of three people gave living answers in each condition.
    assert row["first"] == pytest.approx(1 / 3) and row["second"] == pytest.approx(1 / 3)

    table = tmp_path / "after" / "codes.csv"
    edited = table.read_text("utf-8").replace("thing,,thing,alive", "alive,,thing,alive")
    table.write_text(edited, "utf-8")
    table.with_suffix(".parquet").unlink()
    with pytest.raises(AnalysisError, match="does not follow from what the coders chose"):
        read_codes(load_run(tmp_path / "after"))
