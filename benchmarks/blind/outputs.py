"""Every output of an installation that may speak of a run."""

import contextlib
import io
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
from click.testing import CliRunner

import parallax
from benchmarks.blind.world import NOW, World
from webapp.projects.rights import Scope
from webapp.projects.tokens import make_token
from webapp.researcher import live
from webapp.researcher.access import COOKIE, PREFIX
from webapp.researcher.participants import SORTS
from webapp.users.roles import Role
from webapp.users.sign_in import form_token, open_session
from webapp.users.users import add_user

_OF_PERSON = {"participant_ref", "who"}
# They change or end what is read, or unblind it on purpose.
_NOT_GIVEN = (
    "unblind", "open", "close", "launch", "erase", "forget", "correct", "restrict", "simulate",
    "serve", "work", "demo",
)  # fmt: skip
# What a command writes of its own time, its own place and its own files.
_OWN = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?|/tmp/\S+|/dev/shm/\S+|\d+(\.\d+)? ms\b"
    r"|[\d,]+ MiB are free|\d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d"
)


class Reader:
    """Reads everything as an owner, as a token with every scope, and by the shell."""

    def __init__(self, world: World) -> None:
        self._world = world
        live._ROUNDS = 1
        with world.sessions.begin() as session:
            user = add_user(session, "reader", Role.OWNER, "", by="a test", now=NOW)
            cookie = open_session(session, user, "", NOW)
            token = make_token(session, user, "all", list(Scope), 9, NOW)
        self._cookie, self._form, self._token = cookie, form_token(cookie), token

    def read(self, *, report: bool = True) -> dict[str, str]:
        """Return the text of every output, by where it was read.

        The report of an unblinded run takes long, and may be left out.

        A server reads that was just started, and the database is afterwards what it was before:
        nothing that was kept by, or written of, an earlier reading is told by a later one.
        """
        with self._world.as_it_is() as app:
            self._app, self._browser, self._report = app, app.test_client(), report
            self._browser.set_cookie(COOKIE, self._cookie, path=PREFIX)
            return self._everything()

    def _everything(self) -> dict[str, str]:
        self._given("summarise", self._world.ref)
        found = dict(self._pages())
        found |= {f"parallax {' '.join(words)}": self._given(*words) for words in self._commands()}
        return {where: _OWN.sub("...", text) for where, text in found.items()}

    def _pages(self) -> Iterator[tuple[str, str]]:
        for rule in self._app.url_map.iter_rules():
            if not rule.rule.startswith(PREFIX) or "static" in rule.endpoint:
                continue
            for method in sorted((rule.methods or set()) & {"GET", "POST"}):
                asked = ("export", "apply_rules", *(["make"] if self._report else []))
                is_read = method == "GET" or rule.endpoint.rpartition(".")[2] in asked
                if is_read and rule.arguments <= {"ref", *_OF_PERSON}:
                    yield from self._asked(rule.rule, rule.endpoint, method, rule.arguments)

    def _asked(
        self, rule: str, endpoint: str, method: str, arguments: set[str]
    ) -> Iterator[tuple[str, str]]:
        people = self._world.people if arguments & _OF_PERSON else [""]
        asked = [""]
        if endpoint == "participants.show_all":
            asked += [f"?sort={order}" for order in SORTS]
        if endpoint == "film.show":
            asked += [f"?who={each}" for each in self._world.people]
        for who in people:
            path = rule.replace("<ref>", self._world.ref)
            path = path.replace("<participant_ref>", who).replace("<who>", who)
            for more in asked:
                yield f"{method} {path}{more}", self._answer(endpoint, method, f"{path}{more}")

    def _answer(self, endpoint: str, method: str, path: str) -> str:
        if endpoint.startswith("api."):
            headers = {"Authorization": f"Bearer {self._token}"}
            client, form = self._app.test_client(), {}
        else:
            headers, client, form = {}, self._browser, {"form_token": self._form}
        data = form if method == "POST" else None
        with client.open(path, method=method, headers=headers, data=data) as answer:
            content = answer.get_data()
        if content[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = b"\n".join(archive.read(name) for name in sorted(archive.namelist()))
        return f"{answer.status_code} {content.decode(errors='replace')}"

    def _commands(self) -> Iterator[tuple[str, ...]]:
        yield ("runs",)
        for path in _of_a_run((), parallax.cli):
            if path[0] not in _NOT_GIVEN:
                yield (*path, self._world.ref)

    def _given(self, *words: str) -> str:
        runner = CliRunner(env={"PARALLAX_INSTANCE": str(self._world.instance)})
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            done = runner.invoke(parallax.cli, words)
            written = [*Path(folder).rglob("*"), *(self._world.instance / "exports").rglob("*")]
            tables = [each.read_text("utf-8") for each in sorted(written) if each.suffix == ".csv"]
        return f"{done.exit_code} {done.output} {done.exception or ''} {' '.join(tables)}"


def _of_a_run(path: tuple[str, ...], command: click.Command) -> Iterator[tuple[str, ...]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from _of_a_run((*path, name), found)
    elif [each.name for each in command.params if isinstance(each, click.Argument)][:1] == ["run"]:
        yield path


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
