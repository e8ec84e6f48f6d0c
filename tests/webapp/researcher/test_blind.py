"""A blind run gives out no answer, side, time or catch result of a single trial, by any way."""

import re

import pytest
from click.testing import CliRunner

import parallax
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, Participant, Verdict
from webapp.users.roles import Role, Scope
from webapp.users.tokens import make_token
from webapp.users.users import find_user

pytestmark = pytest.mark.one_database
# Times that stand nowhere else, each in the ways in which a page may write it.
TIMES = (7391.25, 8463.75)
TOLD = re.compile(r"7[,.]?391|7\.39|7\.4 ?s|8[,.]?46[34]|8\.46|8\.5 ?s|0dd0a5e5")
SIDES = re.compile(r'class="chosen"|<td>(?:first|second)</td>|\b(?:first|second)\b *$', re.M)
# What needs a platform, a provider or a browser's stream.
ELSEWHERE = ("stream", "oidc", "static", "sign_in")
COMMANDS = (
    ["runs"],
    ["integrity", "RUN"],
    ["exclude", "RUN"],
    ["export", "RUN"],
    ["links", "show", "RUN"],
)


@pytest.fixture
def blind(run, start) -> list[str]:
    """People who answered with times of their own, and where they are."""
    homes = []
    for number, rt_ms in enumerate(TIMES):
        visitor = start(run)
        for trial in visitor.session()["trials"]:
            side = ("first", "second")[(trial["position"] + number) % 2]
            uuid = f"0dd0a5e5-0000-4000-8000-{number:04d}{trial['position']:08d}"
            answered = visitor.answer(trial["position"], side, rt_ms=rt_ms, uuid=uuid)
            assert answered.status_code == 200, answered.text
        visitor.questionnaire(native_language="English")
        homes.append(visitor.home)
    return homes


@pytest.fixture
def command(instance, sessions, run):
    def give(*words: str) -> str:
        arguments = [run.ref if word == "RUN" else word for word in words]
        runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
        done = runner.invoke(parallax.cli, arguments)
        # A command that is written wrongly says nothing, and gives nothing away.
        assert done.exit_code != 2, done.output
        return f"{done.output}\n{done.exception or ''}"

    return give


def pages(app, here, run, sessions, addresses: str = "") -> dict[str, str]:
    """Every researcher page whose address fits the pattern, by its address."""
    with reading(sessions) as session:
        refs = [each.ref for each in session.query(Participant)]
    found = {}
    for rule in app.url_map.iter_rules():
        if not str(rule).startswith("/researcher") or "GET" not in (rule.methods or ()):
            continue
        if any(word in rule.endpoint for word in ELSEWHERE):
            continue
        for ref in refs if "participant_ref" in rule.arguments else refs[:1]:
            values = {"ref": run.ref, "participant_ref": ref}
            if rule.arguments <= values.keys():
                with app.test_request_context():
                    address = app.url_for(rule.endpoint, **{k: values[k] for k in rule.arguments})
                if re.search(addresses, address):
                    found[address] = here.client.get(address).text
    return found


def test_a_program_that_reads_every_page_and_command_finds_nothing(
    app, run, blind, researcher, sessions, command
):
    here = researcher(Role.OWNER)
    shown = pages(app, here, run, sessions)
    assert len(shown) > 8
    for sort in ("rt", "fast", "side", "hidden", "waited", "flags"):
        address = f"/researcher/runs/{run.ref}/participants?sort={sort}"
        shown[address] = here.client.get(address).text
    posted = here.post(f"/runs/{run.ref}/export")
    assert posted.status_code == 409
    shown["export"] = posted.text
    shown |= {" ".join(words): command(*words) for words in COMMANDS}
    told = {name: TOLD.findall(text) for name, text in shown.items() if TOLD.search(text)}
    assert told == {}
    sides = {name: SIDES.findall(text) for name, text in shown.items() if SIDES.search(text)}
    assert sides == {}


def test_the_same_program_finds_them_once_the_run_is_unblinded(
    app, run, blind, researcher, sessions, command
):
    here = researcher(Role.OWNER)
    assert "unblinded" in command("unblind", "RUN", "--reason", "everybody has finished")
    replays = pages(app, here, run, sessions, r"/participants/\w+$").values()
    assert len(replays) == 2
    assert all(TOLD.search(text) and SIDES.search(text) for text in replays)
    assert "responses of 2 participants" in command("export", "RUN")
    with reading(sessions) as session:
        entry = session.query(AuditEntry).filter_by(act="run unblinded").one()
    assert entry.after == {"reason": "everybody has finished"}


def test_a_run_is_not_unblinded_without_a_reason(run, blind, command):
    assert "Please say in a few words" in command("unblind", "RUN", "--reason", "why")
    assert "is blind" in command("export", "RUN")


def test_of_a_rule_that_counts_targets_only_the_verdict_shows(
    app, run, blind, researcher, sessions, command, clock
):
    here = researcher(Role.OWNER)
    with sessions.begin() as session:
        owner = find_user(session, "owner")
        token = make_token(session, owner, "all", [Scope.REVIEW], 9, clock())
    bearer = {"Authorization": f"Bearer {token}"}
    command("exclude", "RUN")

    def read(rule: str, evidence: str) -> tuple[dict[str, str], str]:
        with sessions.begin() as session:
            for verdict in session.query(Verdict):
                verdict.kept, verdict.rule, verdict.evidence = False, rule, evidence
        shown = pages(app, here, run, sessions, f"/runs/{run.ref}(/participants.*)?$")
        of_run = f"/researcher/runs/{run.ref}"
        shown[of_run] = re.sub(r"\d\d:\d\d(:\d\d)?", "", shown[of_run])
        answer = app.test_client().get(f"/researcher/api/runs/{run.ref}/decisions", headers=bearer)
        return shown, answer.text

    counted = "3 errors on the 4 trials"
    before, decided = read("max_errors", counted)
    assert (before, decided) == read("same_side", "first on 8 of 8")
    assert '"kept":false' in decided and '"rule":""' in decided
    [person] = [text for at, text in before.items() if re.search(r"participants/\w+$", at)][:1]
    assert "Excluded." in person and "Rules that count no target: none" in person
    command("unblind", "RUN", "--reason", "everybody has finished")
    after, decided = read("max_errors", counted)
    assert counted in decided and '"rule":"max_errors"' in decided
    assert "Excluded by the rule max_errors" in "".join(after.values())
