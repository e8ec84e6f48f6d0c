"""What parts of a study are made of: any type of answer, sound codes, items of their own."""

import csv
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.comparison import compare
from analysis.data.join import judgments
from analysis.data.load import load_run, load_scores
from analysis.data.longitudinal import join_parts
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from tests.analysis import small_run
from tests.analysis.chosen_findings import compare_by
from tests.analysis.data.test_longitudinal import codes, part
from tests.analysis.designed_studies import yes_no
from tests.analysis.findings.test_plan import with_plan
from tests.analysis.rated_study import island_run

FEW = ComparisonOptions(resamples=100)
PEOPLE = list(small_run.CHOICES)


def joined(tmp_path, first, second):
    people = first.participants["participant"]
    pairs = [(f"c{one}", f"AAAA-{one}", f"BBBB-{one}") for one in people]
    return [
        part(first, "AAAA", tmp_path / "one", 1),
        part(second, "BBBB", tmp_path / "two", 2),
    ], codes(tmp_path / "parts.csv", pairs)


@pytest.fixture
def exports(tmp_path):
    """Two parts as they are exported, of the same three people."""
    runs = []
    for number, name in enumerate(("AAAA", "BBBB"), start=1):
        facts = small_run.facts() | {"run": name} | ({"session": number} if number > 1 else {})
        runs.append(small_run.write_export(tmp_path / name, described=facts))
    return runs


@pytest.fixture
def table(tmp_path):
    return codes(tmp_path / "parts.csv", [(f"c{one}", one, one) for one in PEOPLE])


def test_ratings_of_two_sessions_are_analysed_together(tmp_path):
    runs, table = joined(tmp_path, island_run(1, 12, 8), island_run(2, 12, 8))
    rows = judgments(join_parts(runs, table))
    given = np.concatenate([run.responses["rating"] for run in runs])
    assert sorted(rows["rating"]) == sorted(given)
    assert rows.groupby("session")["rating"].size().eq(96).all()


def test_yes_and_no_of_two_sessions_are_analysed_together(tmp_path):
    runs, table = joined(tmp_path, yes_no(1, 12, 8), yes_no(2, 12, 8))
    rows = judgments(join_parts(runs, table))
    given = np.concatenate([run.responses["said_yes"] for run in runs])
    assert rows["said_yes"].sum() == given.sum() and len(rows) == len(given)


def test_parts_from_their_files_are_compared_without_their_frozen_plans(exports, table):
    with_plan(exports[0])
    run = join_parts([load_run(one) for one in exports], table)
    assert set(run.trials["session"]) == {1, 2} and "session" not in run.responses
    found = compare_by(("plan",), run, [], FEW)
    assert not any(one.name == "plan" for one in found.tables)
    [said] = [one for one in found.left_out if "frozen plan" in one]
    assert "compare one part alone, with its --run" in said


def test_a_factor_called_session_is_not_the_number_of_a_session(exports, table):
    first, second = (load_run(one) for one in exports)
    people = pd.read_parquet(exports[0] / "participants.parquet")
    people.assign(session="morning").to_parquet(exports[0] / "participants.parquet")
    again = join_parts([load_run(exports[0]), second], table)
    assert again.trials.equals(join_parts([first, second], table).trials)


def test_one_run_given_twice_is_refused(exports, table):
    runs = [load_run(one) for one in (*exports, exports[1])]
    with pytest.raises(AnalysisError, match="is given 2 times, so each of its judgments would"):
        join_parts(runs, table)


@pytest.mark.parametrize("number", [2, 1])
def test_other_words_of_each_part_stay_apart_even_where_two_are_of_one_session(
    number, exports, tmp_path
):
    """Of two second parts, or of a first part that was launched twice."""
    first, second = (load_run(one) for one in exports)
    third = replace(second, facts=second.facts.model_copy(update={"run": "CCCC"}))
    runs = [
        replace(
            run,
            facts=run.facts.model_copy(update={"session": session}),
            items=run.items.assign(good=run.items["good"].astype(str) + word),
        )
        for run, word, session in (
            (first, "", 1), (second, " indeed", number), (third, " really", number),
        )
    ]  # fmt: skip
    pairs = [("code", "AAAA", "BBBB", "CCCC"), *((f"c{one}", one, one, one) for one in PEOPLE)]
    with (tmp_path / "three.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(pairs)
    run = join_parts(runs, tmp_path / "three.csv")
    words = run.items.set_index("item_id")["good"]
    assert words.is_unique and words.index.is_unique and len(words) == 3 * len(first.items)
    n = len(first.trials) // len(PEOPLE)
    for place, word in enumerate(("sleeps", "indeed", "really")):
        shown = run.trials[run.trials["position"] == place * n + 1]["item_id"].astype(str)
        assert words[shown].str.endswith(word).all()


def test_words_that_come_back_in_a_later_part_are_one_item(exports, tmp_path):
    first, second = (load_run(one) for one in exports)
    other = second.items.assign(good=second.items["good"].astype(str) + " indeed")
    third = second.facts.model_copy(update={"run": "CCCC", "session": 3})
    pairs = [("code", "AAAA", "BBBB", "CCCC"), *((f"c{one}", one, one, one) for one in PEOPLE)]
    with (tmp_path / "three.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(pairs)
    runs = [first, replace(second, items=other), replace(second, items=other, facts=third)]
    assert len(join_parts(runs, tmp_path / "three.csv").items) == 2 * len(first.items)


def test_scores_that_cannot_cover_all_parts_are_refused_with_what_helps(exports, table, tmp_path):
    first, second = (load_run(one) for one in exports)
    scores = load_scores(small_run.write_scores(tmp_path / "scores.parquet"))
    same = compare_by(("differences",), join_parts([first, second], table), [scores], FEW)
    assert "people_minus_models" in same.statistics
    other = second.items.assign(good=second.items["good"].astype(str) + " indeed")
    run = join_parts([first, replace(second, items=other)], table)
    with pytest.raises(AnalysisError, match="without --scores") as caught:
        compare(run, [scores], FEW, code_version="x")
    assert "again" not in str(caught.value)


HEAD = "code,AAAA,BBBB\n"
UNSOUND = {
    "has no code for Ann, Ann, Ben, Ben": HEAD + ",Ann,Ann\n ,Ben,Ben\nc3,Cat,Cat\n",
    "has the code(s) c1 in several rows": HEAD + "c1,Ann,Ann\nc1,Ben,Ben\n",
    "names the participant(s) Ann of the run BBBB in several": HEAD + "c1,Ann,Ann\nc2,Ben,Ann\n",
    "lacks the column(s) BBBB": "code,AAAA\nc1,Ann\n",
    "has the column(s) AAAA more than once": "code,AAAA,AAAA,BBBB\nc1,Ann,Ben,Ann\n",
    "cannot be read": HEAD.encode() + b"\xff\xfe,Ann,Ann\n",
    "no participant of the runs is in the table": HEAD + "c1,Zoe,Zoe\n",
}


@pytest.mark.parametrize("problem", UNSOUND)
def test_a_table_of_codes_that_does_not_say_who_is_who_is_refused(problem, exports, tmp_path):
    path, text = tmp_path / "bad.csv", UNSOUND[problem]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(AnalysisError) as caught:
        join_parts([load_run(one) for one in exports], path)
    assert problem in caught.value.problem
    assert str(path) in str(caught.value) and "parallax recruitment parts" in str(caught.value)
    assert caught.value.expected


def test_somebody_without_a_list_in_their_first_part_is_refused(exports, table):
    first, second = (load_run(one) for one in exports)
    nobody = first.participants["participant"] == "Ann"
    lists = first.participants["list"].astype(float).mask(nobody)
    first = replace(first, participants=first.participants.assign(list=lists))
    with pytest.raises(AnalysisError, match="the code cAnn has no list in their first part"):
        join_parts([first, second], table)
