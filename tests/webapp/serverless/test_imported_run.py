"""A run of imported sessions is a run like any other, but for what only a server can do."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from benchmarks.static_study import larger_minimal, opened, people, run_command
from experiment.participation import State
from parallax import cli
from tests.webapp.researcher.conftest import PASSWORD, Researcher
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.models import Participant
from webapp.errors import RunError
from webapp.jobs.housekeeping import release_leases
from webapp.services import services_of
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """An instance with an imported run, and the run's export beside it."""
    root = tmp_path_factory.mktemp("imported")
    of = ("--instance", str(root / "instance"))
    study = larger_minimal(root, 6)
    made = ("--seed", "1", "--simulated", "--out", str(root / "site"))
    run_command("study", "static", str(study), *made, *of)
    (root / "kept").mkdir()
    for person in people(12, 0.2, 8):
        entries = opened(root / "site", person, person.number).entries
        (root / "kept" / f"{person.name}.json").write_text(json.dumps(entries))
    told = run_command("import", "sessions", str(root / "kept"), *of)
    (root / "run").write_text(told.partition("Run ")[2].split()[0])
    run_command("exclude", ref(root), *of)
    run_command("export", ref(root), "--out", str(root / "export"), *of)
    return root


def ref(place: Path) -> str:
    return (place / "run").read_text()


def test_it_is_never_opened_because_a_server_would_give_its_sessions_to_others(place):
    with pytest.raises(RunError, match="is a folder of static pages: this server would give the"):
        run_command("open", ref(place), "--instance", str(place / "instance"))
    shown = run_command("runs", "--instance", str(place / "instance"))
    assert ref(place) in shown


def test_its_page_for_researchers_shows_it_and_offers_nothing_that_a_server_would_do(place):
    app = create_app(place / "instance")
    with services_of(app).sessions.begin() as session:
        add_user(session, "lee", Role.OWNER, hash_password(PASSWORD), by="a test", now=utc_now())
    researcher = Researcher(app.test_client())
    assert researcher.sign_in("lee").status_code == 303
    here = f"/runs/{ref(place)}"
    page = researcher.get(here).text
    assert "parallax import sessions" in page
    for offered in ("Open again", "Add places", "become free", f"/run/{ref(place)}<"):
        assert offered not in page
    for refused in ("open", "grow"):
        done = researcher.post(f"{here}/{refused}", places="2")
        assert "is a folder of static pages" in done.text
    people = researcher.get(f"{here}/participants").text
    assert "p00000000001" in people
    assert researcher.get(f"{here}/participants/p00000000001").status_code == 200


def test_a_periodic_job_takes_no_place_from_whom_a_later_import_lets_finish(place):
    services = services_of(create_app(place / "instance"))
    assert release_leases(services) == 0
    with services.sessions() as session:
        states = session.scalars(select(Participant.state)).all()
    assert State.WORKING in states and State.ABANDONED not in states


def test_its_link_on_a_server_takes_nobody(place):
    page = create_app(place / "instance").test_client().get(f"/run/{ref(place)}")
    assert 'value="accept"' not in page.text


def test_power_and_comparison_read_its_export(place):
    options = ("--run", str(place / "export"), "--resamples", "100")
    out = place / "report"
    run_command("compare", *options, "--out", str(out))
    assert "minimal" in (out / "report.html").read_text("utf-8")
    study = ("power", str(place / "export" / "study"), "--simulations", "2", "--per-list", "2")
    assert "Power: to distinguish" in run_command(*study)


def test_its_codebook_says_whose_clock_each_time_is_of(place):
    tables = json.loads((place / "export" / "datapackage.json").read_text("utf-8"))["resources"]
    said = {
        field["name"]: field["description"]
        for table in tables
        for field in table.get("schema", {}).get("fields", ())
        if field["type"] == "datetime"
    }
    assert said["recorded_at"] == "the clock (UTC) of a server, if any"
    for name in ("arrived_at", "consented_at", "finished_at", "at"):
        assert "without a server" in said[name], name


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--store", "post"), '"" is not an address to which answers can be sent'),
        (("--store", "post", "--url", "keep"), '"keep" is not an address'),
        (("--store", "datapipe"), '"" is not the id of a DataPipe experiment'),
        (
            ("--store", "file", "--url", "https://example.org"),
            "--url does not apply to the store file",
        ),
        (
            ("--store", "jatos", "--staging", "https://a.org"),
            "--staging does not apply to the store jatos",
        ),
        (("--sessions", "0"), "0 is not in the range"),
        (("--store", "dropbox"), "'dropbox' is not one of"),
    ],
)
def test_options_that_do_not_fit_are_one_paragraph_and_nothing_is_written(tmp_path, options, said):
    out = tmp_path / "site"
    command = ("study", "static", "minimal", "--simulated", "--seed", "1", "--out", str(out))
    done = CliRunner().invoke(cli, [*command, *options, "--instance", str(tmp_path / "instance")])
    assert done.exit_code
    assert said in (str(done.exception) + done.output)
    assert not out.exists()
