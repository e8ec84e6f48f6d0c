"""Every door that takes a file or a text, and what becomes of hostile ones."""

import gzip
import io
import random
import resource
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import unquote, urlencode
from uuid import UUID

from sqlalchemy import select
from werkzeug.test import EnvironBuilder, run_wsgi_app

from experiment.studies.load import load_study
from tests.function_calls import counted
from tests.hostile import documents
from tests.hostile.answers import MOST_CALLS, ROOT, TooLongError, bounded, wrong_with
from tests.hostile.archives import archives, packed, study_files, study_with
from tests.hostile.site import Site
from webapp.core.addresses import RESEARCHER_PATH
from webapp.core.clock import utc_now
from webapp.database.models import Participant, Run
from webapp.jobs.long_job_queue import do_job
from webapp.researcher.access import SESSION_COOKIE
from webapp.researcher.reports import Jobs
from webapp.researcher.study_folders import get_project_uploads, hash_text
from webapp.runs.blinding import unblind_run
from webapp.runs.launch import launch_run

_Each = TypeVar("_Each")
# What a check or a launch may keep a processor for; the founding study's takes a fifth of it.
MOST_CPU_S, MOST_MIB = 60.0, 2048
_TYPED_TRIALS = 10  # of a session in docs/examples/typed


@dataclass
class Sent:
    """What became of what was sent.

    Attributes:
        counted: How many of a kind at a door were taken, refused, or told to be wrong.
        cpu_s: The most seconds of a processor that one took, by door, with processes of its own.
        calls: The most functions that one called in the thread that answers, by door.
        found: What is wrong.
    """

    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    cpu_s: dict[str, float] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)


class Doors:
    """The doors of a site, as its owner and a participant have them.

    Args:
        site: The installation.
        share: How much of what there is is sent, of 1; it is drawn.
        damaged: How many archives with wrong bytes there are of each kind of compression.
    """

    def __init__(self, site: Site, share: float = 1.0, damaged: int = 100) -> None:
        self.sent, self._site, self._share = Sent(), site, share
        self._damaged, self._draw, self._door = damaged, random.Random(1), ""
        self._n_typed = 0
        with site.sessions.begin() as session:
            # A run that may be reported: nobody took part yet, so it is unblinded for nothing.
            run = session.scalars(select(Run)).one()
            unblind_run(session, run, by="a benchmark", reason="to be tried", now=utc_now())
        self._typed_home, self._typed_person = _take_part_in_typed(site)

    def send_everything(self) -> Sent:
        """Send what there is to each door, and return what became of it."""
        for kind, content in self._some(archives(self._damaged)):
            self._try("upload a study: the zip file", kind, lambda c=content: self._uploaded(c))
        for kind, content in self._some(documents.settings()):
            whole = packed(study_files() | {"mine/study.toml": content})
            self._try("upload a study: its settings", kind, lambda c=whole: self._checked(c))
        for kind, content in self._some(documents.texts()):
            whole = study_with(**{"consent_md": content})
            self._try("upload a study: its texts", kind, lambda c=whole: self._checked(c))
        for kind, suffix, content in self._some(documents.tables()):
            self._try("make a study of a table", kind, lambda c=content, s=suffix: self._made(s, c))
        for name, documented in (("study.toml", documents.settings), ("x.md", documents.texts)):
            for kind, content in self._some(documented()):
                self._try("look at what is typed", kind, lambda c=content, n=name: self._look(n, c))
                self._try("save what is typed", kind, lambda c=content, n=name: self._save(n, c))
        for kind, content in self._some(documents.bodies()):
            for door in ("answers", "device"):
                self._try(f"participants: {door}", kind, lambda c=content, d=door: self._told(d, c))
        for kind, details in self._some(documents.typed()):
            self._try("participants: typed answers", kind, lambda d=details: self._typed(d))
        self._send_images()
        for kind, content in self._some(documents.scores()):
            self._try("a model's scores", kind, lambda c=content: self._scored(c))
        return self.sent

    def _send_images(self) -> None:
        """Send pictures as the material of trials and in texts, and images instead of files."""
        for kind, text in self._some(documents.pictures()):
            rows = "".join(f'"{text}",The cat {n} sleeps.,The cat {n} sleep.\n' for n in range(8))
            table = f"context,good,bad\n{rows}".encode()
            self._try("pictures in a table", kind, lambda c=table: self._made(".csv", c))
            whole = study_with(instructions_md=text.encode())
            self._try("pictures in a text", kind, lambda c=whole: self._checked(c))
            self._try("pictures in a text", kind, lambda c=text: self._look("x.md", c.encode()))
        for kind, content in self._some(documents.images()):
            self._try("images as files", kind, lambda c=content: self._uploaded(c))
            for suffix in (".csv", ".xlsx", ".png"):
                self._try("images as files", kind, lambda c=content, s=suffix: self._made(s, c))

    def _some(self, everything: Iterator[_Each]) -> Iterator[_Each]:
        return (each for each in everything if self._draw.random() < self._share)

    def _try(self, door: str, kind: str, send: Callable[[], str]) -> None:
        before, self._door = _cpu_s(), door
        try:
            with bounded():
                outcome = send()
        except TooLongError:
            outcome = "found: it took too long"
        took = _cpu_s() - before
        self.sent.cpu_s[door] = max(self.sent.cpu_s.get(door, 0.0), took)
        if took > MOST_CPU_S:
            outcome = f"found: {took:.0f} s of a processor"
        if outcome.startswith("found"):
            self.sent.found.append(f"{door}, {kind}: {outcome}")
        self.sent.counted[door, outcome.partition(":")[0]] += 1

    def _asked(self, method: str, path: str, **options: object) -> tuple[int, str, str]:
        """Return an answer's status, where it leads to, and its text."""
        builder = EnvironBuilder(path, method=method, **options)
        environ = builder.get_environ() | {"HTTP_COOKIE": f"{SESSION_COOKIE}={self._site.cookie}"}
        calls, (body, status, headers) = counted(
            lambda: run_wsgi_app(self._site.app, environ, buffered=True)
        )
        self.sent.calls[self._door] = max(self.sent.calls[self._door], calls)
        if calls > MOST_CALLS:
            raise _FoundError(f"{calls:,} calls in the thread that answers")
        content = b"".join(body)
        if headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        code = int(status.partition(" ")[0])
        if problem := wrong_with(code, headers, content, self._site.instance):
            raise _FoundError(problem)
        return code, headers.get("Location", ""), content.decode("utf-8", "replace")

    def _form(self, path: str, **form: object) -> tuple[int, str, str]:
        data = {"form_token": self._site.form, **form}
        return self._asked("POST", f"/researcher{path}", data=data)

    def _uploaded(self, content: bytes) -> str:
        return self._outcome(lambda: self._form("/launch/upload", file=_file(content, "s.zip"))[0])

    def _checked(self, content: bytes) -> str:
        """Upload a study, read its checks, and launch it all the same."""

        def send() -> int:
            status, leads_to, _ = self._form("/launch/upload", file=_file(content, "s.zip"))
            if status == 303:
                _, _, page = self._asked("GET", leads_to)
                study = page.partition('name="study" value="')[2].partition('"')[0]
                form = {"study": study, "seed": "1", "recruiter": "direct", "simulated": "yes"}
                sound = "the study can be launched" in page
                launches = sound or self._draw.random() < 0.2
                status = self._form("/launch", **form)[0] if launches and study else 409
            return status

        return self._outcome(send)

    def _made(self, suffix: str, content: bytes) -> str:
        table = _file(content, f"items{suffix}")
        return self._outcome(lambda: self._form("/studies/new", name="made", table=table)[0])

    def _look(self, name: str, content: bytes) -> str:
        typed = content.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
        return self._outcome(lambda: self._form("/studies/look", text=name, content=typed)[0])

    def _save(self, name: str, content: bytes) -> str:
        def send() -> int:
            _, leads_to, _ = self._form("/studies/copy", study="minimal", name="typed")
            called = leads_to.partition("study=")[2].partition("&")[0].replace("+", " ")
            study, text = unquote(called), "study.toml" if name != "x.md" else "texts/en/consent.md"
            [stored] = get_project_uploads(self._site.instance, None).glob(
                f"{study.partition('(')[2].rstrip(')')}/typed/{text}"
            )
            seen = hash_text(stored.read_text("utf-8"))
            typed = content.decode("utf-8", "replace")
            form = {"study": study, "text": text, "seen": seen, "content": typed}
            status = self._form("/studies/edit", **form)[0]
            self._asked("GET", f"/researcher/studies/edit?{urlencode({'study': study})}")
            if self._draw.random() < 0.1:
                self._form("/studies/findings", study=study)
            self._form("/studies/delete", study=study, sure="yes")
            return status

        return self._outcome(send)

    def _told(self, door: str, content: bytes) -> str:
        path = f"/p/{self._site.token}/{door}"
        return self._outcome(
            lambda: self._asked("POST", path, data=content, content_type="application/json")[0]
        )

    def _typed(self, details: object) -> str:
        """Answer a trial, and read the answers on the pages of the participant and the room."""
        self._n_typed += 1
        answer = {
            "uuid": str(UUID(int=self._n_typed)), "input_method": "key", "details": details,
            "position": self._n_typed % _TYPED_TRIALS + 1,
        }  # fmt: skip

        def send() -> int:
            status = self._asked("POST", f"{self._typed_home}answers", json=answer)[0]
            self._asked("GET", self._typed_home)
            self._asked("GET", self._typed_person)
            return status

        return self._outcome(send)

    def _scored(self, content: bytes) -> str:
        def send() -> int:
            path = f"/runs/{self._site.ref}/reports"
            status = self._form(path, scores=_file(content, "scores.parquet"))[0]
            jobs = Jobs(self._site.instance)
            for job in jobs.list_jobs(self._site.ref):
                do_job(self._site.instance, job.id, utc_now)
            page = self._asked("GET", f"/researcher{path}")[2]
            for job in jobs.list_jobs(self._site.ref):
                status = 409 if jobs.find(job.id).text else status
                jobs.remove(job.id)
            return status if page else 500

        return self._outcome(send)

    def _outcome(self, send: Callable[[], int]) -> str:
        kept = self._outside()
        try:
            status = send()
        except _FoundError as error:
            return f"found: {error}"
        if self._outside() != kept:
            return f"found: left elsewhere: {sorted(self._outside() ^ kept)}"
        return "refused" if status >= 400 else "taken"

    def _outside(self) -> set[str]:
        """Return what lies around the installation, and in it but for what it makes itself."""
        instance = self._site.instance
        own = (
            "studies",
            "long_jobs",
            "exports",
            "projects",
            "parallax.sqlite3",
            "jobs.sqlite3",
            "study_",
        )
        inside = {each.name for each in instance.iterdir() if not each.name.startswith(own)}
        return inside | {str(each) for each in instance.parent.iterdir()}


def _take_part_in_typed(site: Site) -> tuple[str, str]:
    """Launch a study with typed answers as long as any may be, and take part.

    Returns:
        The address of the participant's page, and that of the researcher's page about them.
    """
    folder = shutil.copytree(ROOT / "docs" / "examples" / "typed", site.instance.parent / "typed")
    settings = (folder / "study.toml").read_text("utf-8")
    longest = 'accepted = "accepted"\nwords = "many"\nmax_length = 1000'
    settings = settings.replace('accepted = "accepted"', longest, 1)
    (folder / "study.toml").write_text(settings, encoding="utf-8")
    now = utc_now()
    with site.sessions.begin() as session:
        study = load_study(str(folder))
        run = launch_run(session, study, 1, "direct", now=now, code_version="0", simulated=True)
        unblind_run(session, run, by="a benchmark", reason="to be tried", now=now)
        ref = run.ref
    home = site.app.test_client().post(f"/run/{ref}", data={"decision": "accept"}).location
    with site.sessions() as session:
        person = session.scalars(select(Participant).join(Run).where(Run.ref == ref)).one().ref
    page = f"{RESEARCHER_PATH}/runs/{ref}/participants/{person}"
    # Whoever is first on a page compiles its templates.
    for path in (home, page):
        assert site.owner().get(path).status_code == 200
    return home, page


class _FoundError(Exception):
    """An answer is what no answer may be."""


def _file(content: bytes, name: str) -> tuple[io.BytesIO, str]:
    return io.BytesIO(content), name


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
