"""The installation: project A with a member who means harm, project B with a quiet run."""

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from load_platforms.platform import Site
from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.studies.load import STUDIES_FOLDER, load_study
from webapp import create_app
from webapp.codes.codes import add_coder
from webapp.core.clock import utc_now
from webapp.database.models import Run
from webapp.runs.launch import launch_run
from webapp.server import server_control
from webapp.users.members import set_member
from webapp.users.projects import add_project
from webapp.users.roles import ProjectRole, Role
from webapp.users.sign_in import make_form_token, open_session
from webapp.users.users import add_user

ATTACKED, QUIET = "attacked", "quiet"
_BY = "a benchmark"
_EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
# A run of each has links that strangers change; the first is exponential where it is tried by
# trial and error.
PATTERNS = ("(a+)+b", "(a|a)*b", "([a-z]{1,30}){1,30}", "(.*)(.*)(.*)(.*)!b")
PANEL = """
[panel]
person = ["pid"]
[panel.parameters.pid]
pattern = '{pattern}'
[panel.codes]
completed = "1"
"""
_CODING = """
[coding]
question = "What is it?"
[[coding.categories]]
name = "thing"
title = "A thing"
[[coding.categories]]
name = "other"
title = "Something else"
"""
_LONGEST_ANSWER = 'accepted = "accepted"\nwords = "many"\nmax_length = 1000'


@dataclass
class Installation:
    """The installation, which is made and served.

    Attributes:
        folder: Where the studies and the instance folder lie.
        quiet_study: The built-in study of B's run.
        instance: The instance folder.
        cookie: The session of a member of project A.
        form: What the member's forms contain.
        runs: The runs by name: quiet (B's), minimal, typed and prolific, and pattern0, pattern1 ...
        coder: The token of a coder of the run typed.
        site: Where the server answers.
    """

    folder: Path
    quiet_study: str
    instance: Path = field(init=False)
    cookie: str = field(init=False)
    form: str = field(init=False)
    runs: dict[str, str] = field(default_factory=dict)
    coder: str = field(init=False)
    site: Site = field(init=False)

    def __post_init__(self) -> None:
        self.instance = self.folder / "instance"
        app = create_app(self.instance)
        services = app.extensions["parallax"]
        with services.sessions.begin() as session:
            self._fill(session)
        services.engine.dispose()
        started = server_control.start(self.instance)
        self.site = Site("127.0.0.1", int(started.url.rpartition(":")[2]), started.pid)

    def close(self) -> None:
        """Stop the server."""
        server_control.stop(self.instance)

    def _fill(self, session: Session) -> None:
        now = utc_now()
        add_project(session, QUIET, by=_BY, now=now)
        project = add_project(session, ATTACKED, by=_BY, now=now)
        user = add_user(session, "member", Role.MEMBER, "", by=_BY, now=now)
        set_member(session, project, user, ProjectRole.MANAGER, by=_BY, now=now)
        self.cookie = open_session(session, user, "", now)
        self.form = make_form_token(self.cookie)
        # With room for everybody whom the quiet client is, one after the other.
        first = (STUDIES_FOLDER / self.quiet_study, r"participants_per_list = \d+")
        self._launch(session, QUIET, *first, "participants_per_list = 100", project=QUIET)
        minimal = STUDIES_FOLDER / "minimal"
        self._launch(session, "minimal", minimal)
        self._launch(session, "prolific", minimal, more=PANEL.format(pattern="a"))
        for number, pattern in enumerate(PATTERNS):
            more = PANEL.format(pattern=pattern)
            self._launch(session, f"pattern{number}", minimal, more=more)
        typed = (_EXAMPLES / "typed", 'accepted = "accepted"', _LONGEST_ANSWER)
        self._launch(session, "typed", *typed, more=_CODING)
        run = session.scalars(select(Run).where(Run.ref == self.runs["typed"])).one()
        self.coder = add_coder(session, run, "a coder", decides=False, now=now).token

    def _launch(
        self, session: Session, name: str, source: Path, old: str = "$^", new: str = "",
        more: str = "", project: str = ATTACKED,
    ) -> None:  # fmt: skip
        folder = shutil.copytree(source, self.folder / str(len(self.runs)) / source.name)
        toml = (folder / "study.toml").read_text("utf-8")
        toml = re.sub(old, lambda _: new, toml, count=1) + more
        (folder / "study.toml").write_text(toml, encoding="utf-8")
        recruiter = "prolific" if name == "prolific" else "direct"
        run = launch_run(
            session, load_study(str(folder)), 1, recruiter, now=utc_now(), code_version="0",
            project=project,
        )  # fmt: skip
        self.runs[name] = run.ref
