"""Parts of one study as one run: whoever came again is one participant, sessions are told apart."""

import csv
import subprocess
from dataclasses import replace

import pandas as pd
import pytest

from analysis.data.join import judgments
from analysis.data.longitudinal import join_parts
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from tests.analysis.chosen_findings import compare_by
from tests.analysis.designed_studies import designed, mixed, within
from tests.prerequisites import LME4

N, STAYED = 40, 30


def part(run, name, folder, session):
    """A run as one part's export: its own references, and its session."""
    folder.mkdir()
    refs = {one: f"{name}-{one}" for one in run.participants["participant"]}
    tables = {
        table: frame.assign(participant=frame["participant"].map(refs))
        for table in ("participants", "trials", "responses", "verdicts")
        if (frame := getattr(run, table)) is not None
    }
    facts = run.facts.model_copy(update={"run": name, "session": session})
    return replace(run, folder=folder, facts=facts, answers=None, **tables)


def codes(path, pairs):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("code", "AAAA", "BBBB"), *pairs])
    return path


@pytest.fixture
def sessions(tmp_path):
    """Two sessions of 40 people, 30 of whom came again, and are better then."""
    first = part(within(1, N), "AAAA", tmp_path / "one", 1)
    second = part(within(2, N), "BBBB", tmp_path / "two", 2)
    people = first.participants["participant"].str.removeprefix("AAAA-").tolist()
    pairs = [(f"c{one}", f"AAAA-{one}", f"BBBB-{one}" if n < STAYED else "")
             for n, one in enumerate(people)]  # fmt: skip
    return first, second, codes(tmp_path / "parts.csv", pairs)


def test_who_came_again_is_one_participant_with_two_sessions(sessions):
    first, second, table = sessions
    rows = judgments(join_parts([second, first], table))
    assert rows["participant"].nunique() == N
    both = rows.groupby("participant", observed=True)["session"].nunique()
    assert (both == 2).sum() == STAYED
    of_second = rows[rows["session"] == 2]
    theirs = second.responses[~second.responses["participant"].isin(
        [f"BBBB-{one[1:]}" for one in both[both == 1].index])]  # fmt: skip
    assert len(of_second) == len(theirs)
    assert of_second["chose_good"].astype(bool).mean() == pytest.approx(
        theirs["chose_good"].astype(bool).mean()
    )
    assert not rows.duplicated(["participant", "position"]).any()


def test_the_session_is_a_term_of_the_formula_as_lme4_has_it(sessions, tmp_path):
    first, second, table = sessions
    run = join_parts([first, second], table)
    formula = "session + (1 + session || participant) + (1 | frame)"
    found = compare_by(("mixed",), run, options=ComparisonOptions(formula=formula))
    own = found.statistics["mixed_model"].set_index("term")
    assert list(own.index) == ["Intercept", "session"]

    script = LME4.require()
    rows = judgments(run).assign(y=lambda frame: frame["chose_good"].astype(int))
    rows[["y", "session", "participant", "frame"]].to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "model.R").write_text(
        'library(lme4); rows <- read.csv("rows.csv"); rows$frame <- factor(rows$frame)\n'
        "model <- glmer(y ~ session + (1 + session || participant) + (1 | frame), rows, binomial,\n"
        '  control = glmerControl(optimizer = "bobyqa"))\n'
        'write.csv(coef(summary(model)), "coefficients.csv")\n'
    )
    subprocess.run([script, "model.R"], cwd=tmp_path, check=True, capture_output=True)
    theirs = pd.read_csv(tmp_path / "coefficients.csv", index_col=0)
    for column, in_r in (("estimate", "Estimate"), ("std_error", "Std. Error")):
        assert own[column].to_numpy() == pytest.approx(theirs[in_r], rel=0.01, abs=0.01)


def test_a_session_of_which_somebody_was_excluded_is_left_out(sessions):
    first, second, table = sessions
    name = first.participants["participant"].iloc[0].removeprefix("AAAA-")
    out = second.verdicts["participant"] == f"BBBB-{name}"
    assert out.any()
    second = replace(second, verdicts=second.verdicts.assign(kept=~out))
    rows = judgments(join_parts([first, second], table))
    assert set(rows.loc[rows["participant"] == f"c{name}", "session"]) == {1}


def test_items_of_one_id_with_other_words_are_told_apart(sessions):
    first, second, table = sessions
    items = second.items.assign(good="Something else " + second.items["good"].astype(str))
    run = join_parts([first, replace(second, items=items)], table)
    assert len(run.items) == 2 * len(first.items)
    assert judgments(run)["frame"].nunique() == 2 * judgments(first)["frame"].nunique()


def test_what_cannot_be_joined_is_refused(sessions, tmp_path):
    first, second, table = sessions
    with pytest.raises(AnalysisError, match=r"lacks the column\(s\) BBBB.*, each of them once"):
        join_parts([first, second], _only_first(table, tmp_path / "one.csv"))
    with pytest.raises(AnalysisError, match="differs in its task from"):
        join_parts([first, designed(second, response="yes_no")], table)
    other = part(mixed(2, N), "CCCC", tmp_path / "three", 1)
    again = part(mixed(2, N), "BBBB", tmp_path / "four", 2)
    lists = again.participants.assign(list=1 - again.participants["list"])
    pairs = [(one, f"CCCC-{one}", f"BBBB-{one}") for one in mixed(2, N).participants["participant"]]
    mapped = tmp_path / "mixed.csv"
    with mapped.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("code", "CCCC", "BBBB"), *pairs])
    assert judgments(join_parts([other, again], mapped))["own_instruction"].nunique() == 2
    with pytest.raises(AnalysisError, match="has other levels"):
        join_parts([other, replace(again, participants=lists)], mapped)


def _only_first(table, path):
    rows = pd.read_csv(table, dtype=str)
    rows[["code", "AAAA"]].to_csv(path, index=False)
    return path
