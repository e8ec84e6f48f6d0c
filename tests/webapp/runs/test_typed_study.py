"""A study with typed answers: shown, stored once, checked, exported, excluded and compared."""

from pathlib import Path

import pytest

from analysis.archive.package import read_package
from analysis.archive.traces import Kind, find_traces, rows_without
from analysis.data.load import load_run
from experiment.studies.load import load_study
from tests.analysis.small_run import compared
from webapp.database.engine import reading
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run

pytestmark = pytest.mark.one_database
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "typed"


def typed(text: str) -> dict[str, object]:
    return {"side": None, "details": {"text": text, "first_key_ms": 812.5, "n_edits": 1}}


@pytest.fixture
def study():
    return load_study(str(EXAMPLE))


def test_a_cloze_study_goes_the_whole_way(
    study, start, send, sessions, simulated_run, clock, tmp_path: Path
):
    visitor = start(simulated_run)
    page = visitor.page().text
    assert 'id="typed-text"' in page and "I cannot think of one" in page
    for wrong in ("x" * 5000, "two words", "tr\u0000ee", "tr\u202eee", " "):
        assert visitor.answer(1, **typed(wrong)).status_code == 400, wrong
    assert visitor.answer(1, side="first").status_code == 400
    assert visitor.answer(1, **typed("=CMD()|'🌳")).status_code == 200
    assert visitor.answer(2, **typed("")).status_code == 200

    outcomes = send(responder="accurate", accuracy=1.0)
    assert not [outcome.problem for outcome in outcomes if outcome.problem]
    with sessions.begin() as session:
        store_verdicts(session, session.merge(simulated_run), clock())
    with reading(sessions) as session:
        export_run(session, simulated_run, tmp_path / "export")
    run = load_run(tmp_path / "export")
    assert run.verdicts["kept"].all()
    mine = run.responses[run.responses["n_edits"] == 1].sort_values("position")
    assert list(mine["typed"].astype(object).fillna("")) == ["=CMD()|'🌳", ""]
    assert "'=CMD()|'🌳" in (tmp_path / "export" / "responses.csv").read_text("utf-8")
    assert list(mine["no_answer"]) == [False, True]
    assert list(mine["first_key_ms"]) == [812.5, 812.5]

    found = compared(tmp_path / "export")
    texts = found.statistics["cloze"].set_index(["item_id", "condition"])
    assert len(texts) == 16 and (texts["cloze"] == 1).all()
    assert "cloze probability of 1.00 on average" in found.summary[-1]

    package = read_package(tmp_path / "export")
    traces = [str(one) for one in find_traces(package, study) if "responses.typed" in one.where]
    assert traces == [
        'free_text: responses.typed: 1 texts that fewer than 5 people typed, such as "=CMD()|\'🌳"'
    ]
    [table] = [table for table in package.tables if table.name == "responses"]
    texts = {row["typed"] for row in rows_without(package, study, [Kind.FREE_TEXT])(table)}
    assert "tree" in texts and "=CMD()|'🌳" not in texts
