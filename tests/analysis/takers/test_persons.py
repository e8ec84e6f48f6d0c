"""The very sessions that people of a run had, with their answers in prompts where asked for."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.data.load import load_run
from analysis.errors import AnalysisError
from analysis.takers.command import take as take_command
from analysis.takers.plan import Factors, make_plan
from analysis.takers.run import Request, run_take
from analysis.takers.source import Source, find_people, find_source
from analysis.takers.taking import take_sessions
from experiment.errors import UnknownNameError
from experiment.materials.render import render
from experiment.studies.load import load_study
from experiment.takers.prompt import Context
from tests.analysis.takers.sessions import BOTH, EXAMPLES, PRESENTATIONS, knowing
from tests.lm.toy_models import ngram_folder
from tests.whole_way import exported

NOW = datetime(2026, 11, 25, 9, tzinfo=UTC)
STUDIES = {
    "minimal": "minimal",
    "ratings": PRESENTATIONS / "ratings",
    "yes_no": EXAMPLES / "yes_no",
    "options": PRESENTATIONS / "german_case",
}


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the export of a study that people took, made once; nothing changes it."""

    @cache
    def export(name: str) -> Path:
        return exported(load_study(str(STUDIES[name])), tmp_path_factory.mktemp("instance"))

    return export


@pytest.fixture(scope="module", params=STUDIES)
def run(request: pytest.FixtureRequest, taken: Callable[[str], Path]) -> Path:
    return taken(request.param)


def yoked(folder: Path, reading: str, refs: list[str], *contexts: Context):
    source = find_source(str(folder), None)
    factors = Factors(contexts or (Context.YOKED,), ("letters",), (False,))
    to_model = render(source.study.materials.shown_to_people)
    return make_plan(source, [reading], factors, 0, to_model, participants=refs)


def native(source: Source) -> str:
    return {"rating": "rating", "yes_no": "acceptability"}.get(
        source.study.response, "forced_choice"
    )


def test_a_session_is_trial_for_trial_what_the_person_had_and_prompts_show_their_answers(run: Path):
    people = load_run(run)
    kept = sorted(people.responses["participant"].astype(str).unique())[:2]
    plan = yoked(run, native(find_source(str(run), None)), kept)
    for person, session in zip(plan.people, plan.sessions, strict=True):
        own = people.trials[people.trials["participant"].astype(str) == person.ref]
        shown = own.sort_values("position")
        assert [one.trial.item_id for one in session.trials] == list(shown["item_id"].astype(str))
        assert [str(one.trial.good_side or "") for one in session.trials] == list(
            shown["good_side"].astype(object).fillna("")
        )
        answered = people.responses[people.responses["participant"].astype(str) == person.ref]
        assert sorted(person.answers) == sorted(answered["position"])
    [reading] = plan.readings
    for sitting in take_sessions(plan, reading, knowing(plan)):
        person = plan.person(sitting.session)
        last = sitting.read[-1].asks[0].prompt
        first = sitting.session.trials[0]
        given = person.answers[first.trial.position]
        place = first.answers.index(given)
        assert f"Answer: {'ABCDEFGHI'[place]}\n" in last or "Antwort: " in last


def test_people_are_named_by_their_reference_in_an_exported_run(run: Path, tmp_path: Path):
    reading = native(find_source(str(run), None))
    with pytest.raises(UnknownNameError, match="participant"):
        yoked(run, reading, ["nobody"])
    with pytest.raises(AnalysisError, match=r"Name people \(--participant\)"):
        yoked(run, reading, [])


def test_a_study_has_no_people(tmp_path: Path):
    source = find_source("minimal", 1)
    with pytest.raises(AnalysisError, match="a study was given, which nobody has taken"):
        find_people(source, None, ["abc"])


def test_the_command_takes_sessions_or_people_and_not_both():
    for own in ([], ["--sessions", "2", "--participant", "abc"]):
        done = CliRunner().invoke(
            take_command,
            ["minimal", "--model", "m", "--reading", "sentence", "--out", "o", *own],
        )
        assert done.exit_code == 2 and "either --sessions" in done.output


def test_the_folder_says_whose_session_it_is(taken: Callable[[str], Path], tmp_path: Path):
    folder = taken("minimal")
    ngram_folder(tmp_path / "model")
    ref = str(load_run(folder).responses["participant"].iloc[0])
    request = Request(
        study=str(folder),
        model=str(tmp_path / "model"),
        readings=("forced_choice",),
        factors=Factors((Context.YOKED, Context.HISTORY), ("letters",), BOTH),
        n_sessions=0,
        seed=None,
        sampled=False,
        device="cpu",
        out=tmp_path / "takers",
        participants=(ref,),
    )
    list(run_take(request, NOW))
    text = (tmp_path / "takers" / "forced_choice" / "participants.csv").read_text()
    assert text.count(ref) == 4
    factors = Factors((Context.HISTORY,), ("letters",), BOTH)
    with pytest.raises(AnalysisError, match="participants"):
        list(run_take(replace(request, participants=(), n_sessions=1, factors=factors), NOW))


def test_a_trial_of_an_item_outside_the_list_is_refused(taken: Callable[[str], Path]):
    folder = taken("minimal")
    source = find_source(str(folder), None)
    ref = str(load_run(folder).trials["participant"].iloc[0])
    emptied = replace(source.built, lists=[[] for _ in source.built.lists])
    factors = Factors((Context.YOKED,), ("letters",), (False,))
    with pytest.raises(AnalysisError, match=f'"{ref}" was shown the item ".*", which is not in'):
        make_plan(
            replace(source, built=emptied), ["forced_choice"], factors, 0,
            render(source.study.materials.shown_to_people), participants=[ref],
        )  # fmt: skip
