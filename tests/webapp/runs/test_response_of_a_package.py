"""A type of response of somebody else's package, as docs/plugins.md shows it, the whole way."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.data.load import load_run
from experiment.authoring.check import check_folder
from experiment.commands import study as commands
from experiment.records import SIDES
from experiment.studies.load import load_study
from tests.analysis.small_run import compared
from tests.documentation.examples import ROOT, named_blocks
from webapp.database.engine import reading
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run

pytestmark = pytest.mark.one_database
BLOCKS = named_blocks((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8"))
FILES = {
    "__init__.py": "",
    "response.py": BLOCKS["thumbs-response"],
    "analysis.py": BLOCKS["thumbs-analysis"],
    "thumbs.html": BLOCKS["thumbs-page"],
    "thumbs.js": BLOCKS["thumbs-script"],
}


@pytest.fixture
def package(tmp_path_factory, monkeypatch):
    """Lay the page's package where pip would."""
    site = tmp_path_factory.mktemp("site-packages")
    (site / "thumbs").mkdir()
    for name, text in FILES.items():
        (site / "thumbs" / name).write_text(text, encoding="utf-8")
    groups = tomllib.loads(BLOCKS["thumbs-entry-points"])["project"]["entry-points"]
    offered = [f"[{group}]\n{k} = {v}" for group, one in groups.items() for k, v in one.items()]
    info = site / "thumbs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thumbs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(offered))
    monkeypatch.syspath_prepend(str(site))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "thumbs"]:
        del sys.modules[name]


@pytest.fixture
def study(package, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("studies"))
    table = ROOT / "docs" / "examples" / "tables" / "yes_no.csv"
    made = CliRunner().invoke(commands.new, ["mine", "--from", str(table), "--response", "thumbs"])
    assert made.exception is None, made.output
    assert check_folder("mine", 1).errors == ()
    return load_study("mine")


@pytest.fixture
def app(package, app):
    return app


def test_it_is_shown_stored_exported_and_compared(
    study, start, send, sessions, simulated_run, clock, tmp_path: Path
):
    visitor = start(simulated_run)
    page = visitor.page().text
    assert all(f'data-side="{side}"' in page for side in SIDES[:3]) and "Unsure" in page
    # What the page's scripts need of every type, as docs/plugins.md demands.
    assert 'data-field="first"' in page and "data-announce=" in page
    assert re.search(r'<div [^>]*role="group"[^>]* tabindex="-1"', page)
    assert visitor.answer(1, side="third").status_code == 200
    assert visitor.answer(2, side="fourth").status_code == 400

    outcomes = send(responder="accurate", accuracy=1.0)
    assert not [outcome.problem for outcome in outcomes if outcome.problem]
    with sessions.begin() as session:
        store_verdicts(session, session.merge(simulated_run), clock())
    with reading(sessions) as session:
        export_run(session, simulated_run, tmp_path / "export")
    run = load_run(tmp_path / "export")
    whole = run.responses[run.responses["participant"].isin(run.verdicts["participant"])]
    assert (whole["thumb"] == whole["version"].map({"good": "yes", "bad": "no"})).all()
    assert run.responses["chose_good"].isna().all()

    found = compared(tmp_path / "export")
    assert [table.name for table in found.tables] == ["thumbs", "human_baseline"]
    shares = found.statistics["thumbs"].set_index(["condition", "version"])
    assert (shares.xs("good", level="version")["yes"] == 1).all()
    assert found.summary == ("People said yes to 50% of the sentences.",)
