"""An installation in which there is one of everything that a form or an address may name."""

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from flask.testing import FlaskClient
from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from werkzeug.routing import Rule

from experiment.studies.load import load_study
from tests.hostile.forms import watch
from tests.hostile.right import (
    JOB,
    PASSWORD,
    REPORT,
    RIGHT,
    SPECIAL,
    STUDY,
    asking_first,
    of_a_panel,
)
from tests.hostile.site import PROJECT, Site
from tests.webapp.conftest import Visitor
from webapp.core.clock import utc_now
from webapp.core.subprocesses import CommandResult
from webapp.database.models import FailedSignIn, Notification, Participant, Run, User
from webapp.jobs.long_jobs import RESULT_FOLDER, Job, Jobs, JobState
from webapp.jobs.notices import Cause, Channel
from webapp.recruiters.registry import RECRUITERS
from webapp.researcher.reports import make_report_link
from webapp.researcher.study_folders import copy_study_folder, get_project_uploads, hash_text
from webapp.runs.blinding import unblind_run
from webapp.runs.launch import launch_run
from webapp.runs.links import make_links
from webapp.runs.notes import write_note
from webapp.users.members import make_invitation
from webapp.users.passwords import hash_password
from webapp.users.projects import find_project
from webapp.users.roles import ProjectRole, Role
from webapp.users.sign_in import find_session, make_form_token, open_session
from webapp.users.users import add_user, create_password_link

_BY = "a benchmark"


class Peopled(Site):
    """Such an installation; commands of the room are not begun, but their arguments are looked at.

    Attributes:
        arrivals: A run for each way of arriving.
        sound: What is right in a field, by its name.
        leaves: Endpoints that end the session, which come last.
    """

    leaves = ("sign_in.end_this_session", "sign_in.end_all_sessions")

    def __init__(self, instance: Path, database_url: str = "") -> None:
        super().__init__(instance, database_url)
        watch(self.app)
        self._patched = ExitStack()
        for name, module in list(sys.modules.items()):
            if name.startswith("webapp.researcher.") and hasattr(module, "run_parallax"):
                self._patched.enter_context(patch.object(module, "run_parallax", _not_begun))
        self.sound: dict[str, str] = {}
        with self.sessions.begin() as session:
            self._add_to(session)
        self._take_part()

    def _add_to(self, session: Session) -> None:
        now, run = utc_now(), session.scalars(select(Run)).one()
        unblind_run(session, run, by=_BY, reason="to be tried", now=now)
        hashed = hash_password(PASSWORD)
        session.scalars(select(User)).one().password_hash = hashed
        other = add_user(session, "anna", Role.VIEWER, hashed, by=_BY, now=now)
        told = Notification(
            user_id=1, way=Channel.WEBHOOK, address="https://example.org/", made_at=now,
            causes=" ".join(Cause), quiet_minutes=1,
        )  # fmt: skip
        session.add(told)
        study = load_study("minimal")
        self.arrivals = [
            launch_run(session, of_a_panel(study), 1, name, now=now, code_version="0").ref
            for name in RECRUITERS
        ]
        self._asking = launch_run(
            session, asking_first(study), 1, "direct", now=now, code_version="0"
        ).ref
        folder = get_project_uploads(self.instance, None) / "0a0b0c0d" / "mine"
        copy_study_folder(study.folder, folder)
        jobs = Jobs(self.instance)
        for subject, job_id in ((self.ref, REPORT), (STUDY, JOB)):
            made = jobs.folder(job_id) / RESULT_FOLDER
            made.mkdir(parents=True)
            jobs.store(Job(job_id, subject, "made", _BY, now.isoformat(), [], JobState.DONE))
            jobs.add_marks(job_id, ())
            (made / "report.html").write_text("a report", encoding="utf-8")
        self.sound |= RIGHT | {
            "seen": hash_text((folder / "study.toml").read_text("utf-8")),
            "invitation": make_invitation(
                session, find_project(session, PROJECT), ProjectRole.READER, by=_BY, now=now
            ),
            "token": create_password_link(session, other, by=_BY, now=now),
        }  # fmt: skip

    def _take_part(self) -> None:
        """Let people come as far as there is something to ask of them."""
        client = self.app.test_client()
        done = Visitor(client, f"/p/{self._arrived()}/")
        done.answer_all()
        done.questionnaire(native_language="English")
        almost = Visitor(client, f"/p/{self._arrived()}/")
        almost.answer_all()
        asked = [self._begun(client) for _ in range(3)]
        for home in asked[1:]:
            client.post(f"{home}assent", data={"decision": "accept"})
        client.post(f"{asked[2]}screening", data={"age": "30"})
        self._at = {
            "admission.decide_for_oneself": asked[0], "admission.answer_screening": asked[1],
            "admission.answer_comprehension": asked[2],
            "session.answer_questionnaire": almost.home,
        }  # fmt: skip
        with self.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.ref == self.ref)).one()
            person = session.scalars(
                select(Participant).where(Participant.run_id == run.id)
            ).first()
            assert person is not None
            self.person = person.ref
            write_note(session, run, person, text="a note", tags="a tag", who=_BY, now=utc_now())
            self.sound |= {"who": person.ref, "participant": person.ref, "_code": person.code}
            # From now on this run is open to nobody without a link.
            linked = session.scalars(select(Run).where(Run.ref == self._asking)).one()
            [link] = make_links(session, linked, "multi", ["somebody"], [None], utc_now())
            self.sound["link"] = link.token
            jobs = Jobs(self.instance)
            self.shared = make_report_link(jobs.folder(self.sound["report"]))

    def _begun(self, client: FlaskClient) -> str:
        return client.post(f"/run/{self._asking}", data={"decision": "accept"}).location

    def sound_of(self, rule: Rule) -> dict[str, str]:
        """Return what is right in the fields of a route, by their names."""
        own = {
            "rights.send_data": {"code": self.sound["_code"]},
            "joining.join_project": {"code": self.sound["invitation"]},
            "report_pages.read_shared_report": {"link": self.shared},
        }
        special = SPECIAL.get(rule.endpoint, {}) | own.get(rule.endpoint, {})
        return self.sound | special

    def path_of(self, rule: Rule, given: Mapping[str, str] | None = None) -> str:
        """Return an address of the route at which there is something, but for what is given."""
        known = {"participant_ref": self.person}
        if rule.endpoint.startswith("links."):
            known["ref"] = self._asking
        known |= given or {}
        home = self._at.get(rule.endpoint)
        if home and not given:
            known["token"] = home.strip("/").split("/")[-1]
        return super().path_of(rule, known)

    def be_ready(self) -> None:
        """Undo what keeps the owner from asking on: a session that ended, wrong passwords."""
        with self.sessions.begin() as session:
            session.execute(delete(FailedSignIn))
            if find_session(session, self.cookie, utc_now()) is None:
                self.cookie = open_session(session, session.get_one(User, 1), "", utc_now())
                self.form = make_form_token(self.cookie)

    def close(self) -> None:
        """End it."""
        self._patched.close()
        super().close()


def _not_begun(_instance: Path, *arguments: str, **_options: object) -> CommandResult:
    """Refuse what no command can be given, as the system does."""
    if any(b"\0" in os.fsencode(each) for each in arguments):
        raise ValueError("embedded null byte")
    return CommandResult(worked=False, text="")
