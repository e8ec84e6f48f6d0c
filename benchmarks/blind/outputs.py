"""Every output of an installation that may speak of a run."""

import contextlib
import io
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from types import CodeType
from unittest import mock

from click.testing import CliRunner
from jinja2.bccache import Bucket, BytecodeCache
from prometheus_client import generate_latest
from sqlalchemy import select
from werkzeug.routing import Rule

import parallax
from benchmarks.blind.routes import (
    ASKED,
    FORMS,
    MORE,
    NOT_GIVEN,
    READ_COMMANDS,
    commands,
    is_researcher_path,
    routes,
    why_not,
)
from benchmarks.blind.world import NOW, PROJECT, World
from webapp.core.addresses import RESEARCHER_PATH
from webapp.core.subprocesses import CommandResult
from webapp.database.engine import reading
from webapp.database.models import Notice, Notification
from webapp.jobs.notices import Cause, Channel, write_notices
from webapp.researcher import run_page, runs
from webapp.researcher.access import SESSION_COOKIE
from webapp.server.private_port import collect_registry
from webapp.users.roles import Role, Scope
from webapp.users.sign_in import make_form_token, open_session
from webapp.users.tokens import make_token
from webapp.users.users import add_user

# What a command writes of its own time, place and files; what the stand-in makes up as an id.
_OWN = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?|/tmp/\S+|/dev/shm/\S+|\d+(\.\d+)? ms\b"
    r"|[\d,]+ MiB are free|\d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d"
    r'|name="visit" value="\w+"|\b[0-9a-f]{24}\b|"secret":"[^"]+"'
)
_AGREED = re.compile(r'name="agreed" value="(\w+)"')
# Of the metrics.
_OF_MACHINE = re.compile("bytes|files|seconds")

# The words of a verdict, and how many people have which.
_VERDICT = re.compile(
    r'<span class="state (?:kept|excluded)">\w+</span> ?|Kept in the analysis\.|Excluded\.'
    r'|"(?:kept|excluded)":(?:\d+|true|false)|\d+ (?:kept|excluded)|\b(?:kept|excluded)\b\s*'
    r"|<dt>(?:kept|excluded)</dt><dd>(?:<a [^>]*>)?\d+"
)
# The last column of the list of runs counts the excluded, on the page and in the shell.
_EXCLUDED_OF_RUN = re.compile(r'<td class="number">\d+</td>\s*</tr>|(?<=\d)  +\d+ *\n')


def without_verdicts(outputs: Mapping[str, str]) -> dict[str, str]:
    """Return outputs without what may follow from a change of verdicts: who is kept, and how many.

    Pages that list only the kept or only the excluded are left out.
    """
    return {
        where: _VERDICT.sub("...", _EXCLUDED_OF_RUN.sub("...", text))
        for where, text in outputs.items()
        if "?verdict=" not in where
    }


class Reader:
    """Reads everything as an owner, as a token with every scope, and by the shell."""

    def __init__(self, world: World) -> None:
        self._world = world
        with world.sessions.begin() as session:
            user = add_user(session, "reader", Role.OWNER, "", by="a test", now=NOW)
            cookie = open_session(session, user, "", NOW)
            token = make_token(session, user, "all", list(Scope), 9, NOW)
            told = Notification(
                user_id=user.id, way=Channel.WEBHOOK, address="https://example.org/", made_at=NOW,
                causes=" ".join(Cause), quiet_minutes=1,
            )  # fmt: skip
            session.add(told)
        self._cookie, self._form, self._token = cookie, make_form_token(cookie), token

    def read(self, *, report: bool = True, only: str = "") -> dict[str, str]:
        """Return the text of every output, by where it was read.

        Args:
            report: Whether the report is made: that of an unblinded run has a name of its own each
                time.
            only: A pattern that the names of pages and commands must match to be read.

        A copy of the installation is read by a server that was just started: nothing that was kept
        by, or written of, an earlier reading is told by a later one.
        """
        self._only = re.compile(only)
        # A stream that updates a page ends by itself after one round, while the outputs are read.
        one_round = mock.patch.object(run_page, "_MOST_CHECKS", 1)
        # The command that writes an export needs no interpreter of its own here.
        in_process = mock.patch.object(runs, "run_parallax", _run_in_process)
        with self._world.as_it_is() as app, one_round, in_process:
            app.jinja_env.bytecode_cache = _TEMPLATES
            self._app, self._browser = app, app.test_client()
            self._browser.set_cookie(SESSION_COOKIE, self._cookie, path=RESEARCHER_PATH)
            self._report, self._link = self._world.report_of_before()
            return self._everything(report)

    def _everything(self, report: bool) -> dict[str, str]:
        self._given("summarise", self._world.ref)
        # What is changed is changed last.
        found = dict(self._pages("GET"))
        found |= {f"parallax {' '.join(words)}": self._given(*words) for words in self._commands()}
        found |= self._told()
        found |= {
            where: text
            for where, text in self._pages("POST")
            if report or not where.endswith("/reports")
        }
        found |= self._of_money()
        return {where: _OWN.sub("...", text) for where, text in found.items()}

    def _pages(self, wanted: str) -> Iterator[tuple[str, str]]:
        for method, rule in routes(self._app):
            if method == wanted and why_not(method, rule) is None:
                for path in self._paths(method, rule):
                    where = f"{method} {path}".replace(self._link, "...")
                    if self._only.search(where):
                        yield where, self._answer(rule, method, path)

    def _paths(self, method: str, rule: Rule) -> Iterator[str]:
        """Yield a route's addresses: for each person, each sort and so on."""
        world, asked = self._world, [""]
        for name, values in ASKED.get(rule.endpoint, {}).items() if method == "GET" else ():
            asked += [f"?{name}={value}" for value in values]
        values = {"ref": world.ref, "project": PROJECT, "report": self._report, "link": self._link}
        seen = set()
        for who, more in product(world.people, asked):
            path = re.sub(r"<(\w+)>", r"{\1}", rule.rule) + more
            path = path.format(**values, who=who, participant_ref=who)
            if path not in seen:
                seen.add(path)
                yield path

    def _of_money(self) -> Iterator[tuple[str, str]]:
        """Yield what forms of money show, and confirm; then the ledger, and what was told."""
        rules = {rule.endpoint: rule for _, rule in routes(self._app)}
        check, pay, show = (
            rules[f"money.{name}"]
            for name in ("preview_payments", "make_payments", "show_payments")
        )
        for asked in FORMS["money.preview_payments"]:
            form = {name: text.format(who=self._world.people[-1]) for name, text in asked.items()}
            shown = self._answer(check, "POST", self._of_run(check), form)
            yield f"POST {check.rule} {form}", shown
            if found := _AGREED.search(shown):
                form |= {"agreed": found[1]}
                yield f"POST {pay.rule} {form}", self._answer(pay, "POST", self._of_run(pay), form)
        yield "GET the money, once paid", self._answer(show, "GET", self._of_run(show))
        if self._world.paid_by is not None:
            yield "what the platform was told", "\n".join(self._world.paid_by.calls)

    def _of_run(self, rule: Rule) -> str:
        return rule.rule.replace("<ref>", self._world.ref)

    def _answer(
        self, rule: Rule, method: str, path: str, more: Mapping[str, str] | None = None
    ) -> str:
        headers, client, form = {}, self._app.test_client(), {}
        if rule.endpoint.startswith("api."):
            headers = {"Authorization": f"Bearer {self._token}"}
        elif is_researcher_path(rule):
            client, form = self._browser, {"form_token": self._form}
        data = {**form, **(more or {})} if method == "POST" else None
        with client.open(path, method=method, headers=headers, data=data) as answer:
            content = answer.get_data()
        if content[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = b"\n".join(archive.read(name) for name in sorted(archive.namelist()))
        return f"{answer.status_code} {content.decode(errors='replace')}"

    def _told(self) -> Iterator[tuple[str, str]]:
        """Yield what is told without being asked: in mails, to webhooks, to Prometheus."""
        services = self._app.extensions["parallax"]
        write_notices(services)
        with reading(services.sessions) as session:
            yield "mails", "\n".join(session.scalars(select(Notice.text).order_by(Notice.id)))
        registry = collect_registry(None, services.sessions, self._world.instance)
        lines = generate_latest(registry).decode().splitlines()
        yield "metrics", "\n".join(each for each in lines if not _OF_MACHINE.search(each))

    def _commands(self) -> Iterator[tuple[str, ...]]:
        yield from READ_COMMANDS
        # Somebody is rejected before everybody is approved.
        for path, of_run in sorted(_all_commands(), key=lambda each: each[0] != ("reject",)):
            if of_run and not {path[0], " ".join(path)} & NOT_GIVEN.keys():
                more = (word.format(who=self._world.people[0]) for word in MORE.get(path, ()))
                if self._only.search(path[0]):
                    yield (*path, self._world.ref, *more)

    def _given(self, *words: str) -> str:
        runner = CliRunner(env={"PARALLAX_INSTANCE": str(self._world.instance)})
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            done = runner.invoke(parallax.cli, words)
            written = [*Path(folder).rglob("*"), *(self._world.instance / "exports").rglob("*")]
            files = [each for each in sorted(written) if each.is_file() and each.suffix == ".csv"]
            tables = [each.read_text("utf-8") for each in files]
        return f"{done.exit_code} {done.output} {done.exception or ''} {' '.join(tables)}"


@cache
def _all_commands() -> tuple[tuple[tuple[str, ...], bool], ...]:
    return tuple(commands(parallax.cli))


def _run_in_process(instance: Path, *arguments: str, limit_s: float | None) -> CommandResult:
    done = CliRunner(env={"PARALLAX_INSTANCE": str(instance)}).invoke(parallax.cli, arguments)
    return CommandResult(done.exit_code == 0, done.output)


class _Templates(BytecodeCache):
    """Keeps compiled templates for the servers of all readings."""

    def __init__(self) -> None:
        self._compiled: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what was compiled."""
        bucket.code = self._compiled.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        if bucket.code is not None:
            self._compiled[bucket.key] = bucket.code


_TEMPLATES = _Templates()


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return where the same question has another answer, and what first differs there."""
    return [
        f"{where}: {_first(before.get(where, ''), after.get(where, ''))}"
        for where in sorted({*before, *after})
        if before.get(where) != after.get(where)
    ]


def _first(one: str, other: str) -> str:
    at = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, at - 40)
    return f"{one[start : at + 40]!r} / {other[start : at + 40]!r}"
