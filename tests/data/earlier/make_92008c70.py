"""Make the files of ``tests/data/earlier/92008c70`` again, with the code of commit 92008c70.

In a checkout of that commit with its development environment::

    PYTHONPATH=. .venv/bin/python PATH/TO/make_92008c70.py OUT

Participants' codes, keys and times differ each time; ``figures.json`` says what they are.
"""

import csv
import json
import random
import shutil
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyrage
from benchmarks.capsules import write_export
from click.testing import CliRunner
from sqlalchemy import inspect, text

import parallax
from benchmarks.static_study import Person, opened
from experiment.payment.payment import Caps
from experiment.studies.load import load_study
from experiment.version import code_version
from tests.analysis import small_run
from tests.analysis.archive.conftest import ABOUT
from tests.lm.training import small_training
from tests.webapp.conftest import Visitor
from tests.webapp.postgres import postgres_server
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.models import Assignment, Hit, Participant
from webapp.gate.gate import begin_ledger_entry, store_ledger_state
from webapp.payments.accounts import load_accounts
from webapp.payments.ledger import record_payments
from webapp.payments.rewards import build_reward_entries
from webapp.runs.launch import launch_run

COMMIT = "92008c70"
WORKER = "A1EXAMPLEWORKER"
CAPS = Caps(per_participant_minor=500, per_run_minor=5_000, currency="USD")
Shell = Callable[..., str]


def shell_in(folder: Path) -> Shell:
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(folder)})

    def run(*arguments: object) -> str:
        return runner.invoke(parallax.cli, list(map(str, arguments)), catch_exceptions=False).output

    return run


def take_part(app, run: str, answers: int | None, seed: int) -> Visitor:
    """Give so many answers in a session of the run, or all and the questionnaire."""
    rng, client = random.Random(seed), app.test_client()
    home = client.post(f"/run/{run}", data={"decision": "accept"}).location
    visitor = Visitor(client, home)
    for trial in visitor.session()["trials"][:answers]:
        response = visitor.answer(
            trial["position"], rng.choice(["first", "second"]), rt_ms=rng.randrange(400, 3000)
        )
        assert response.status_code == 200
    if answers is None:
        assert visitor.questionnaire(native_language="English").status_code == 303
    return visitor


def participant(app, visitor: Visitor) -> Participant:
    ref = visitor.home.split("/")[2].split(".")[0]
    with app.extensions["parallax"].sessions() as session:
        return session.query(Participant).filter_by(ref=ref).one()


def owe_a_reward(app, run_ref: str) -> str:
    """Write down the reward of somebody who submitted, and do not pay it."""
    now = utc_now()
    with app.extensions["parallax"].sessions.begin() as session:
        run = launch_run(
            session, load_study("minimal"), 2, "mturk", now=now, code_version=code_version()
        )
        session.flush()
        begin_ledger_entry(session.connection())
        hit = Hit(
            run_id=run.id, token="t" * 64, purpose="recruitment", places=8,
            platform_id="HIT1", posted_at=now,
        )  # fmt: skip
        person = Participant(
            run_id=run.id, ref="paidparticip", code="paidcode", platform_id=WORKER,
            state="finished", arrived_at=now - timedelta(minutes=3),
            consented_at=now - timedelta(minutes=3), finished_at=now,
        )  # fmt: skip
        session.add_all([hit, person])
        session.flush()
        session.add(
            Assignment(
                run_id=run.id,
                hit_id=hit.id,
                platform_id="ASSIGNMENT1",
                status="submitted",
                participant_id=person.id,
                worker_id=WORKER,
                submit_to="",
                receipt="",
                accepted_at=now - timedelta(minutes=3),
                submitted_at=now,
            )
        )
        session.flush()
        record_payments(
            session, run, build_reward_entries(load_accounts(session, run), 20), CAPS, now
        )
        store_ledger_state(session.connection())
        return run.ref


def fill_instance(folder: Path, url: str | None) -> dict[str, object]:
    """Fill an installation, back it up, erase somebody, back it up again."""
    folder.mkdir(mode=0o700)
    if url:
        (folder / "parallax.toml").write_text(f"database_url = {json.dumps(url)}\n", "utf-8")
    shell = shell_in(folder)
    run = shell("launch", "minimal", "--seed", "1").split("Run ")[1].split()[0]
    app = create_app(folder)
    whole = [take_part(app, run, None, seed) for seed in (1, 2)]
    open_session, erased = take_part(app, run, 3, 3), take_part(app, run, None, 4)
    app.test_client().post(f"/run/{run}", data={"decision": "decline"})
    paid_run = owe_a_reward(app, run)
    gone = participant(app, erased)
    figures: dict[str, object] = {
        "run": run,
        "open_session": open_session.home,
        "finished": sorted(participant(app, each).ref for each in whole),
        "erased": {"ref": gone.ref, "code": gone.code, "home": erased.home},
        "paid_run": paid_run,
        "worker": WORKER,
    }
    backups = folder / "backups"
    backups.mkdir()
    identity = pyrage.x25519.Identity.generate()
    (backups / "readers").write_text(f"{identity.to_public()}\n")
    (backups / "identity").write_text(f"{identity}\n")
    shell("db", "backup", backups / "before_the_erasure.age", "--encrypt", backups / "readers")
    shell("erase", run, gone.code, "--yes")
    shell("exclude", run)
    shell("unblind", run, "--reason", "These are files for tests.")
    shell("export", run, "--out", folder / "export")
    if url is None:
        static = Path(folder / "static")
        shell("study", "static", "minimal", "--seed", "5", "--simulated", "--out", static / "site")
        entries = opened(static / "site", Person(1, None), 1, "counter").entries
        (static / "kept").mkdir()
        (static / "kept" / "session.json").write_text(json.dumps(entries), "utf-8")
    if url:
        shell("db", "backup", backups / "after_the_erasure")
    figures["runs"] = shell("runs")
    engine = app.extensions["parallax"].engine
    with engine.connect() as connection:
        figures["rows"] = {
            table: connection.scalar(text(f'SELECT count(*) FROM "{table}"'))
            for table in sorted(inspect(connection).get_table_names())
        }
    figures["built_at"] = utc_now().isoformat()
    engine.dispose()
    return figures


def make_science(folder: Path, export: Path) -> dict[str, object]:
    """Write what needs no server: archive, capsule, a model's take, a checkpoint."""
    shell = shell_in(folder / "unused")
    folder.mkdir()
    (folder / "about.toml").write_text(ABOUT, "utf-8")
    shell("archive", export, "--about", folder / "about.toml", "--coarsen", "--out",
          folder / "archive")  # fmt: skip
    write_export(folder / "small_export")
    scores = small_run.write_scores(folder / "scores.parquet")
    shell("capsule", folder / "small_export", "--scores", scores, "--resamples", "100", "--out",
          folder / "capsule.zip")  # fmt: skip
    shell("lm", "text", "minimal", "--sentences", "300", "--out", folder / "text.txt")
    shell("lm", "train", "--type", "ngram", "--data", folder / "text.txt", "--out",
          folder / "ngram")  # fmt: skip
    shell("take", "minimal", "--model", folder / "ngram", "--reading", "sentence", "--sessions",
          "2", "--seed", "1", "--out", folder / "take")  # fmt: skip
    small_training.write_corpus(folder / "corpus")
    whole = small_training.plan(folder / "corpus", folder / "whole")
    small_training.train_whole(whole)
    stopped = small_training.plan(folder / "corpus", folder / "stopped")
    windows = iter(range(1000))
    training = small_training.trainer(stopped, stop=lambda: next(windows) >= 25)
    assert not training.run()
    with (folder / "take" / "sentence" / "readings.csv").open(newline="") as file:
        readings = list(csv.DictReader(file))
    shutil.rmtree(folder / "corpus" / "cache")
    compared = small_run.compared(folder / "small_export").by_construction
    return {
        "take": {
            "outcomes": Counter(row["outcome"] for row in readings),
            "p_good": [float(row["p_good"]) for row in readings],
        },
        "by_construction": json.loads(compared.to_json(orient="records")),
        "metrics_of_the_whole_training": (folder / "whole" / "metrics.csv").read_text("utf-8"),
    }


def packed(folder: Path, out: Path) -> None:
    with tarfile.open(out, "w:xz", preset=9) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                member = archive.gettarinfo(path, path.relative_to(folder).as_posix())
                member.uid = member.gid = 0
                member.uname = member.gname = ""
                with path.open("rb") as file:
                    archive.addfile(member, file)


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        figures = {"code_version": code_version()}
        figures["sqlite"] = fill_instance(place / "sqlite", None)
        with postgres_server() as server, server.database(empty=True) as url:
            figures["postgresql"] = fill_instance(place / "postgresql", url)
        figures["science"] = make_science(place / "science", place / "sqlite" / "export")
        for name in ("sqlite", "postgresql", "science"):
            packed(place / name, out / f"{name}.tar.xz")
    (out / "figures.json").write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
