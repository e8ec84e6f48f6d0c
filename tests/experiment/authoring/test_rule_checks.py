"""Mistakes in exclusion rules are named before launch, with their line and a remedy."""

import re
import shutil
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder
from experiment.integrity import rates
from experiment.responses.base import Gives
from experiment.responses.reading.self_paced import SelfPaced
from tests.experiment.authoring.whole_study import write_whole_study

RULE = """\
rule = "max_errors"
construction = "filler"
max_errors = 0
"""
ERRORS = 'rule = "max_errors"\nmax_errors = 1\n'
# What stands in place of the rule of lines 40 to 43, and what is said of it.
MISTAKES = {
    "no such construction": (f'{ERRORS}construction = "filer"', 'Did you mean "filler"?'),
    "no such condition": (f'{ERRORS}condition = "sgg"', 'Did you mean "sg"?'),
    "no condition of that construction": (
        f'{ERRORS}construction = "filler"\ncondition = "sg"',
        'no condition "sg". Expected one of: all',
    ),
    "no such kind": (f'{ERRORS}kind = "control"', "kind"),
    "no such column": (f'{ERRORS}where = {{ zip = "4.1" }}', 'Did you mean "zipf"?'),
    "no such value": (f'{ERRORS}where = {{ zipf = "4.2" }}', 'Did you mean "4.1"?'),
    "nothing selected": (
        f'{ERRORS}construction = "question"\nkind = "catch"',
        "counts the catch trials of question, but list 0 has none. Expected trials that every list",
    ),
    "no such question": (
        'rule = "not_native"\nquestion = "native"\naccepted = "English"',
        'Expected one of: age, native_language',
    ),
    "a question misspelt": (
        'rule = "not_native"\nquestion = "native_languag"\naccepted = "English"',
        'Did you mean "native_language"?',
    ),
    "no such answer": (
        'rule = "not_native"\nquestion = "native_language"\naccepted = "Englisch"',
        'Did you mean "English"?',
    ),
    "no such question of comprehension": (
        'rule = "failed_comprehension"\nanswers = { aged = "3" }', 'Did you mean "age"?',
    ),
    "an unknown rule inside": ('rule = "not"\nrules = [{ rule = "too_fats" }]', '"too_fast"?'),
    "a wrong rule inside": (
        'rule = "not"\nrules = [{ rule = "max_errors", max_errors = 0, construction = "filer" }]',
        'Did you mean "filler"?',
    ),
    "half of a rule on time": ('rule = "too_fast"\nbelow_ms = 300', "give below_ms and max_share"),
    "a share in percent": ('rule = "too_slow"\nabove_ms = 9000\nmax_share = 20', "max_share"),
    "everybody excluded": ('rule = "same_side"\nmax_run = 1', "a session without an error"),
}  # fmt: skip
POWERLESS = {
    "as many errors as trials": (
        'rule = "max_errors"\nconstruction = "filler"\nmax_errors = 2',
        "it allows 2 errors on 2 trials. Expected max_errors below 2",
    ),
    "a time in which no press counts": (
        'rule = "too_fast"\nbelow_ms = 150\nmax_share = 0.1', "no press counts in the first 150 ms",
    ),
    "a median in which no press counts": ('rule = "too_fast"\nmin_median_ms = 150', "150 ms"),
    "a run as long as the session": ('rule = "same_side"\nmax_run = 10', "10 in a row of 10"),
    "a distance that nobody can have": (
        'rule = "outlier"\nmeasure = "accuracy"\nmethod = "sd"\ncutoff = 2.5', "cutoff below 2.47",
    ),
    "more devices than are stored": ('rule = "device_change"\nmax_devices = 20', "below 20"),
    "too few trials for a pace": ('rule = "timing_mismatch"', "compares 10 or more answers"),
    "every answer accepted": (
        'rule = "not_native"\nquestion = "native_language"\naccepted = ["English", "another one"]',
        'every answer that "native_language" offers',
    ),
    "as many wrong answers as questions": (
        'rule = "failed_comprehension"\nanswers = { age = "3" }\nmax_wrong = 1',
        "Expected max_wrong below 1",
    ),
    "as many missing trials as a session has": (
        'rule = "incomplete"\nmax_missing_trials = 10', "10 missing trials of 10",
    ),
    "as many missing answers as may be missing": (
        'rule = "incomplete"\nmax_missing_answers = 1', "1 of the questions may be left out",
    ),
}  # fmt: skip
# Rules that answers of these examples' types cannot break.
_WORDS = 'rule = "unknown_words"\nlanguage = "en"\nmax_share = 0.5'
_RUN, _GAP = 'rule = "same_side"\nmax_run =', 'rule = "rating_gap"\nmin_gap = 1'
_LATE = 'rule = "too_late"\nmax_share = 0.2'
OF_TYPES = {
    "errors of scales": ("scales", ERRORS, "answers that are right or wrong"),
    "a run of scales": ("scales", f"{_RUN} 8", "8 in a row of 8"),
    "a gap of scales": ("scales", _GAP, "no other version to be rated above"),
    "no deadline of scales": ("scales", _LATE, "and there is none"),
    "errors read then rated": ("read_then_rate", ERRORS, "answers that are right or wrong"),
    "a run read then rated": ("read_then_rate", f"{_RUN} 10", "10 in a row of 10"),
    "a gap read then rated": ("read_then_rate", _GAP, "no other version"),
    "a run of ratings": ("given_lists", f"{_RUN} 8", "8 in a row of 8"),
    "a gap within choices": ("yes_no", _GAP, "points of a scale"),
    "errors of yes and no": (
        "yes_no", 'rule = "max_errors"\nmax_errors = 16', "16 errors on 16 trials",
    ),
    "errors of a few questions": (
        "self_paced", 'rule = "max_errors"\nmax_errors = 9', "allows 9 errors on",
    ),
    "a deadline that one task lacks": ("mixed", _LATE, "and there is none"),
    "a late part": (
        "prefix_completion",
        f'rule = "any"\nrules = [{{ rule = "incomplete" }}, {{ {_LATE.replace(chr(10), ", ")} }}]',
        "and there is none",
    ),
    "errors with a deadline": (
        "deadline", 'rule = "max_errors"\nmax_errors = 8', "8 errors on 8 trials",
    ),
    "a score of readers": (
        "self_paced", 'rule = "agent_likelihood"\nautomatic = true',
        "never measured for the type of response self_paced. Expected automatic = false",
    ),
    "a score of some readers": (
        "mixed", 'rule = "agent_likelihood"\nautomatic = true', "for the type of response ",
    ),
    "a bonus for right ratings": (
        "scales",
        'rule = "incomplete"\n[payment]\nbonus = "per_correct_catch_trial"\nbonus_amount = "0.02"',
        "is for correct catch trials, but no answer of the type",
    ),
    "typed words of pairs": ("yes_no", f"{_WORDS}", "no answer to the trials is typed"),
    "more answers than gaps": (
        "typed", f"{_WORDS}\nmin_answers = 11", "participants type at most 10"
    ),
    "no dictionary": (
        "typed", _WORDS.replace("en", "zh"), 'no dictionary of the language "zh"'
    ),
    "a run in the Maze": ("maze", f"{_RUN} 10", "can never exclude anyone"),
}  # fmt: skip
SOUND_OF_TYPES = [
    # What a new study of sentences proposes.
    *((one, 'rule = "same_side"\nmax_share = 0.9') for one in ("scales", "given_lists")),
    ("scales", f"{_RUN} 7"), ("read_then_rate", f"{_RUN} 9"), ("given_lists", f"{_RUN} 7"),
    ("yes_no", 'rule = "max_errors"\nmax_errors = 4'), ("deadline", _LATE),
    ("typed", _WORDS),
    ("self_paced", 'rule = "max_errors"\nmax_errors = 1'),
]  # fmt: skip
SOUND = {
    "fewer errors than trials": f'{ERRORS}construction = "filler"',
    "a column and its value": f'{ERRORS}where = {{ zipf = ["4.1"] }}',
    "a time just above the lockout": 'rule = "too_fast"\nbelow_ms = 151\nmax_share = 0.1',
    "a run one shorter than the session": 'rule = "same_side"\nmax_run = 9',
    "a distance that one can have": (
        'rule = "outlier"\nmeasure = "accuracy"\nmethod = "sd"\ncutoff = 2.47'
    ),
    "rules on how plausible a session is": (
        'rule = "any"\nrules = [{ rule = "impossible_time" },'
        ' { rule = "agent_likelihood", automatic = true }]'
    ),
    "half on each side": 'rule = "same_side"\nmax_share = 0.5',
    "an answer in other capitals": (
        'rule = "not_native"\nquestion = "native_language"\naccepted = "english"'
    ),
    "a number": 'rule = "failed_comprehension"\nanswers = { age = "3" }',
    "rules of rules": (
        'rule = "all"\nrules = [\n  { rule = "too_fast", below_ms = 400, max_share = 0.2 },\n'
        '  { rule = "any", rules = [{ rule = "incomplete" }, { rule = "same_side", max_run = 8 }] }'
        "\n]"
    ),
}  # fmt: skip


@pytest.fixture
def checked(tmp_path: Path):
    """Return a function that puts text in place of the first rule and checks the study."""

    def check(rule: str, *, order: str = ""):
        folder = write_whole_study(tmp_path / "whole")
        path = folder / "study.toml"
        text = path.read_text("utf-8").replace(RULE, f"{rule}\n")
        path.write_text(text.replace("[design]\n", f"[design]\n{order}"), encoding="utf-8")
        return check_folder(str(folder), 1)

    return check


@pytest.mark.parametrize(("rule", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_an_error_with_its_place(checked, rule: str, said: str):
    [error] = checked(rule).errors
    assert said in str(error)
    assert "study.toml, line 4" in str(error)
    assert "exclusion" in error.where


def test_a_score_that_people_have_is_a_note(checked):
    report = checked('rule = "agent_likelihood"\nmax_likelihood = 0.4')
    assert report.errors == ()
    assert "more people than that" in str(report.notes)


@pytest.mark.parametrize(("rule", "said"), POWERLESS.values(), ids=POWERLESS)
def test_a_bound_that_nobody_can_cross_is_refused(checked, rule: str, said: str):
    [error] = checked(rule).errors
    assert "the rule can never exclude anyone" in str(error)
    assert said in str(error)


def test_a_score_that_only_proposes_is_a_note(checked):
    report = checked('rule = "agent_likelihood"')
    assert report.errors == ()
    assert "by itself: it only proposes exclusions, and a person decides" in str(report.notes)


def test_a_bound_that_nobody_can_cross_is_refused_inside_another_rule(checked):
    [error] = checked(
        'rule = "any"\nrules = [{ rule = "incomplete" }, { rule = "same_side", max_run = 10 }]'
    ).errors
    assert "the rule can never exclude anyone: it allows 10 in a row of 10" in str(error)


@pytest.mark.parametrize(("example", "rule", "said"), OF_TYPES.values(), ids=OF_TYPES)
def test_a_rule_that_the_answers_of_a_type_cannot_break_is_refused(
    tmp_path: Path, example: str, rule: str, said: str
):
    report = _with_rule(tmp_path, example, rule)
    assert [one for one in report.errors if said in str(one)], (report.errors, report.notes)


@pytest.mark.parametrize(("example", "rule"), SOUND_OF_TYPES)
def test_a_rule_that_the_answers_of_a_type_can_break_is_sound(
    tmp_path: Path, example: str, rule: str
):
    assert _with_rule(tmp_path, example, rule).errors == ()


@pytest.mark.parametrize(
    ("example", "scale", "said"),
    [("scales", "plausibilty", 'mean "plausibility"'), ("given_lists", "b", "not have several")],
)
def test_a_rule_names_a_scale_that_trials_have(tmp_path: Path, example: str, scale: str, said: str):
    rule = 'rule = "same_side"\nmax_run = 7'
    [error] = _with_rule(tmp_path, example, f'{rule}\nscale = "{scale}"').errors
    assert said in str(error)
    own = '\nscale = "plausibility"' if example == "scales" else ""
    assert _with_rule(tmp_path / "sound", example, rule + own).errors == ()


def test_the_same_text_where_none_is_expected_excludes_nobody_without_errors(tmp_path: Path):
    rule = 'rule = "same_side"\nmax_share = 0.8'
    assert _with_rule(tmp_path, "typed", rule).errors == ()
    toml = tmp_path / "typed" / "study.toml"
    toml.write_text(re.sub("(?m)^accepted = .*$", "", toml.read_text("utf-8")), encoding="utf-8")
    errors = map(str, check_folder(str(toml.parent), 1).errors)
    assert [error for error in errors if "exclusion" in error] == []


_SCALE = 'lowest = "not at all natural"\nhighest = "perfectly natural"\n'
_OWN_TASKS = f"""
[trial.parameters.tasks.coarse]
title = "Good?"
response = "rating"
points = 2
{_SCALE}
[trial.parameters.tasks.several]
title = "How is it?"
response = "scales"
""" + "".join(
    f'[trial.parameters.tasks.several.scales.{name}]\nquestion = "{name}?"\n{_SCALE}'
    for name in "yz"
)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ("min_gap = -3", ""),
        ("min_gap = -6", "no gap on 7 points is below -6"),
        ('min_gap = 1\nscale = "z"', 'trials of attraction has the scale "z"'),
    ],
)
def test_a_gap_is_looked_for_in_every_task_that_the_rule_counts(tmp_path, bounds: str, said: str):
    folder = Path(shutil.copytree("docs/examples/mixed", tmp_path / "mixed"))
    toml, items = folder / "study.toml", folder / "items.tsv"
    text = toml.read_text("utf-8").replace("\n# No list has", f"{_OWN_TASKS}\n# No list has")
    rule = f'[[exclusion]]\nrule = "rating_gap"\nconstruction = "attraction"\n{bounds}\n\n'
    toml.write_text(text.replace("[[questionnaire]]", f"{rule}[[questionnaire]]", 1), "utf-8")
    rows = [line.split("\t") for line in items.read_text("utf-8").splitlines()]
    for row in rows[1:]:
        if row[2] == "attraction":
            row[9] = row[8].replace(" are ", " is ")
            row[12] = "coarse" if row[0].startswith(("attraction-7", "attraction-8")) else row[12]
        elif row[2] == "filler":
            row[12] = "several"
    items.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    errors = [str(one) for one in check_folder(str(folder), 1).errors]
    assert len(errors) == bool(said) and said in "".join(errors), errors


def _with_rule(folder: Path, example: str, rule: str):
    """Return what the check of an example says that has this exclusion rule alone."""
    made = Path(shutil.copytree(Path("docs/examples") / example, folder / example))
    toml = (made / "study.toml").read_text("utf-8")
    toml = re.sub(r"^\[\[exclusion\]\]\n(?:.+\n)+", "", toml, flags=re.MULTILINE)
    toml = toml.replace("[[questionnaire]]", f"[[exclusion]]\n{rule}\n\n[[questionnaire]]", 1)
    (made / "study.toml").write_text(toml, encoding="utf-8")
    return check_folder(str(made), 1)


@pytest.mark.parametrize("rule", SOUND.values(), ids=SOUND)
def test_a_sound_rule_is_passed_in_silence(checked, rule: str):
    report = checked(rule)
    # That a blind run tells of its results by whom it keeps is said of sound rules too.
    notes = [note for note in report.notes if "while the run is blind" not in str(note)]
    assert (report.errors, notes) == ((), [])


@pytest.mark.parametrize(
    ("rule", "tells"),
    [
        ('rule = "too_slow"\nabove_ms = 9000\nmax_share = 0.5', True),
        ('rule = "max_errors"\nmax_errors = 0\nkind = "catch"', False),
        ('rule = "incomplete"', False),
    ],
)
def test_a_rule_that_counts_targets_is_named_with_what_a_blind_run_tells(checked, rule, tells):
    name = rule.split('"')[1]
    told = [str(n) for n in checked(rule).notes if f'the rule "{name}" depends on' in str(n)]
    assert len(told) == tells
    assert all("who is kept and who excluded, and how many" in each for each in told)


def test_a_rule_that_compares_all_cannot_go_with_replacing(checked):
    rule = (
        'rule = "any"\nrules = [{ rule = "outlier", measure = "log_rt" }, { rule = "incomplete" }]'
    )
    [error] = checked(rule, order="replace_excluded = true\n").errors
    assert "Expected replace_excluded = false" in str(error)


def test_a_rule_of_times_is_refused_for_a_type_whose_times_leave_a_part_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(SelfPaced, "gives", frozenset({Gives.RIGHT}))
    found = _with_rule(tmp_path, "self_paced", 'rule = "timing_mismatch"').errors
    expected = (
        "the rule counts times that account for the whole trial, but the type of response"
        ' "self_paced" gives none'
    )
    assert any(expected in str(error) for error in found)


def test_a_rule_says_of_which_ways_of_input_it_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    of_type = {("self_paced", "impossible_time", "touch"): {8: 0.03}}
    monkeypatch.setattr(rates, "_load_limits_by_type", lambda: of_type)
    found = _with_rule(tmp_path, "self_paced", 'rule = "impossible_time"')
    expected = (
        "the rule excludes nobody who answers by touch: it may flag more than 1% of honest people "
        "who answer that way"
    )
    assert any(expected in str(note) for note in found.notes)


@pytest.mark.parametrize(
    ("rule", "counts"),
    [
        ('rule = "impossible_time"', False),
        ('rule = "agent_likelihood"', False),
        ('rule = "device_change"', True),
    ],
)
def test_a_rule_says_that_nothing_is_known_of_a_plug_ins_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, counts: bool
):
    class Extended(SelfPaced):
        """A plug-in's type that keeps the name of the one that it extends."""

    monkeypatch.setattr("experiment.responses.reading.self_paced.SelfPaced", Extended)
    expected = (
        "the rule excludes nobody in this study: its error rate on honest people "
        f"was never measured for the type of response {__name__}:Extended"
    )
    notes = _with_rule(tmp_path, "self_paced", rule).notes
    assert sum(expected in str(note) for note in notes) == (not counts)
