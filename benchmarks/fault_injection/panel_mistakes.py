"""What researchers do wrong with a panel: the wrong file, link, code, secret or order, and twice.

What is refused must change nothing. What a platform has taken can be put right there and with the
commands, and who did the work is thanked all the same.
"""

import random
from contextlib import contextmanager

from sqlalchemy import func, select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from experiment.studies.study import Study
from fault_injection.mistakes import Erring, NotRefused
from fault_injection.operator import Death
from fault_injection.panels import CODE, PanelRun, Person
from webapp.database.engine import reading
from webapp.database.models import OutgoingReport, Participant, Place
from webapp.recruiters.registry import open_platform
from webapp.recruitment.reports import ReportState, confirm_by_hand, requeue_reports
from webapp.runs.exclude import store_verdicts
from webapp.runs.launch import launch_run
from webapp.runs.runs import close_run, open_run

# Each is a study.toml's [panel] that says something wrong.
_WRONG_TABLES = (
    '[panel]\npreset = "prolific"\n',
    '[panel]\npreset = "Prolific"\ncodes = { completed = "C" }\n',
    '[panel]\npreset = "sona"\nvalues = { site = "https://x.sona-systems.com" }\n',
    '[panel]\npreset = "sona"\nvalues = { site = "x", experiment_id = "1" }\n',
    '[panel]\npreset = "sona"\ncredit_token = "t0ken"\n'
    'values = { site = "https://x.sona-systems.com", experiment_id = "1" }\n',
    '[panel]\npreset = "sona"\nsecrets = { credit_token = "another" }\n'
    'values = { site = "https://x.sona-systems.com", experiment_id = "1" }\n',
    '[panel]\npreset = "prolific"\ncodes = { completed = "C", screened_out = "C" }\n',
    '[panel]\npreset = "prolific"\ncodes = { completed = "{PROLIFIC_PID}" }\n',
    '[panel]\npreset = "connect"\nvalues = { completed_address = "https://x.org/1",'
    ' screened_out_address = "https://x.org/1" }\n',
)  # fmt: skip
_ROUNDS_UNTIL_SEEN = 3


class PanelMistakes(Erring):
    """A researcher with a panel, who errs.

    Args:
        run: The run.
        rng: What decides when.
        probability: How often each mistake is made where it can be.
        death: Ends the server's process while people come.
    """

    def __init__(self, run: PanelRun, rng: random.Random, probability: float, death: Death) -> None:
        super().__init__(rng, probability)
        self._run, self._services, self._death = run, run.services, death
        self.let_in = self._rounds = 0

    def before_anybody(self) -> None:
        """Write the wrong file, launch twice, give commands too early, paste the wrong link."""
        if self._errs():
            self._refused(lambda: self._launch_wrong_file())
        if self._errs():
            self._once_more()
        if self._errs():
            # Nobody is paid by our server for a panel: approve, bonus and publish say so.
            self._refused(lambda: open_platform("panel", self._services.settings, live=False))
        self._perhaps(self._send_again)
        self._perhaps(self._open)
        if self._errs():
            self._paste_wrong_link()

    def while_they_come(self, which: int) -> None:
        """Close the run under people's hands, and open it; decide before the end, and twice."""
        if self._errs():
            self._close()
            stranger = Person(self._run, f"stranger {which}", self._rng, self._death)
            self.let_in += stranger.arrive()
            self._close()
            self.made += 1
            self._open()
        self._perhaps(self._exclude)

    @contextmanager
    def in_between(self):  # noqa: ANN201
        """Let the run be closed while somebody is at work, perhaps."""
        closed = self._errs()
        if closed:
            self._close()
        try:
            yield
        finally:
            if closed:
                self.made += 1
                self._open()

    @contextmanager
    def wrong_code(self):  # noqa: ANN201
        """List the run with another completion code for a while, perhaps, and yield whether."""
        wrong = self._run.panel == "prolific" and self._errs()
        recruiter = self._services.recruiter("panel")
        link = recruiter.posted_link("", self._run.run.ref, self._run.study)
        if wrong:
            self.made += 1
            self._run.listed(link, {f"{CODE}X": "completed"})
        try:
            yield wrong
        finally:
            self._run.listed(link)

    def erases(self, person: Person) -> bool:
        """Erase, at their wish, what somebody gave who finished, perhaps before they are thanked.

        Returns:
            Whether that was done.
        """
        if not self._errs():
            return False
        self.made += 1
        person.erase()
        return True

    @contextmanager
    def secret(self):  # noqa: ANN201
        """Let the installation have no secret, or another one, for a while, perhaps."""
        chance, probability = self._rng.random(), self._probability
        lost, wrong = chance < probability / 2, chance > 1 - probability / 2
        self.made += lost or wrong
        with self._run.secret(lost=lost, wrong=wrong):
            yield

    def after_a_round(self) -> None:
        """Send again at the wrong time and twice, and look at what the panel refused."""
        self._rounds += 1
        for _ in range(2):
            self._perhaps(lambda: self._send_again(also_unsafe=True))
        if self._rounds >= _ROUNDS_UNTIL_SEEN:
            self._mend_refused()

    def _mend_refused(self) -> None:
        """Do what the documentation says of refused reports.

        With a wrong number in the frozen study the credit is granted by hand; else sent again.
        """
        if not self._run.wrong_number:
            self._send_again()
            return
        for ref, id_ in self._refused_reports():
            for _ in range(1 + self._errs()):
                grant = {"key": self._run.key, "id": id_}
                self._run.environment.post("/control/grants", json=grant).raise_for_status()
                with self._services.sessions.begin() as session:
                    confirm_by_hand(session, self._run.run, ref, self._services.now())

    def _refused_reports(self) -> list[tuple[str, str]]:
        query = select(Participant.ref, Participant.platform_id).join(
            OutgoingReport, OutgoingReport.participant_id == Participant.id
        )
        refused = OutgoingReport.state == ReportState.REFUSED
        with reading(self._services.sessions) as session:
            rows = session.execute(
                query.where(OutgoingReport.run_id == self._run.run.id, refused)
            ).all()
        return [(ref, id_ or "") for ref, id_ in rows]

    def _launch_wrong_file(self) -> None:
        files = study_files(self._run.study)
        toml = files["study.toml"].decode().partition("[panel]")[0]
        wrong = toml + self._rng.choice(_WRONG_TABLES)
        study = frozen_study({**files, "study.toml": wrong.encode()}, self._run.study.folder)
        self._services.recruiter("panel").check(study)

    def _launch(self, study: Study, seed: int) -> str:
        with self._services.sessions.begin() as session:
            run = launch_run(
                session, study, seed, "panel", now=self._services.now(), code_version="0"
            )
        return run.ref

    def _once_more(self) -> None:
        """Launch the same file again; nobody is sent to that run, and nobody is in it."""
        self.made += 1
        ref = self._launch(self._run.study, 1)
        if ref == self._run.run.ref:
            raise NotRefused("a second launch is the first run")

    def _paste_wrong_link(self) -> None:
        """List another link for a while; whoever comes by it is told so and gets no place."""
        self.made += 1
        recruiter = self._services.recruiter("panel")
        link = recruiter.posted_link("", self._run.run.ref, self._run.study)
        bare = link.partition("?")[0]
        other = self._run.other_panels_study()
        wrong = self._rng.choice((
            bare,
            f"{link}&preview=1",
            recruiter.posted_link("", self._launch(other, 2), other),
        ))  # fmt: skip
        self._run.listed(wrong)
        for which in range(2):
            stranger = Person(self._run, f"early {which}", self._rng, self._death)
            self.let_in += stranger.arrive(tries=3)
        with reading(self._services.sessions) as session:
            held = select(func.count(Place.id)).where(
                Place.run_id == self._run.run.id, Place.participant_id.is_not(None)
            )
            self.let_in += session.execute(held).scalar_one()
        self._run.listed(link)

    def _send_again(self, *, also_unsafe: bool = False) -> None:
        services = self._services
        with services.sessions.begin() as session:
            requeue_reports(
                session, self._run.run, services.recruiter("panel"), self._run.study,
                services.now(), also_unsafe=also_unsafe,
            )  # fmt: skip

    def _exclude(self) -> None:
        for _ in range(2):
            with self._services.sessions.begin() as session:
                store_verdicts(
                    session, session.merge(self._run.run, load=False), self._services.now()
                )

    def _close(self) -> None:
        self.made += 1
        with self._services.sessions.begin() as session:
            close_run(session, session.merge(self._run.run), self._services.now())

    def _open(self) -> None:
        for _ in range(1 + self._errs()):
            with self._services.sessions.begin() as session:
                open_run(session, session.merge(self._run.run))
