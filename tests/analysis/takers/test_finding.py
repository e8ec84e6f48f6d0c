"""What a comparison says of takers, on models whose answers are planted."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from math import log
from pathlib import Path

import pandas as pd
import pytest

from analysis.data.load import ExportedRun, load_run
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from analysis.takers.answers import load_model_participant, load_model_participants
from analysis.takers.conclusions import describe_conclusions
from analysis.takers.export import Taker, write_sessions
from analysis.takers.finding import draw_readings
from analysis.takers.taking import take_sessions
from experiment.takers.prompt import Context
from lm.answering.answerer import Reply
from tests.analysis.chosen_findings import compare_by
from tests.analysis.takers.sessions import knowing, planned

NOW = datetime(2026, 11, 24, tzinfo=UTC)


def taken(folder: Path, name: str, nats: float, first_nats: float = 0.0, **own: object) -> Path:
    """A taker's folder of a planted model."""
    readings = ["sentence", "forced_choice"]
    plan = planned(readings=readings, n_sessions=8, labels=("letters", "numbers"), **own)
    for reading in plan.readings:
        sittings = take_sessions(plan, reading, knowing(plan, nats, first_nats))
        write_sessions(
            plan, sittings, Taker(name, "nothing", name, "text", NOW), folder / reading.name
        )
    known = {"model_name": name, "tier": "text", "complete": True}
    (folder / "take.json").write_text(json.dumps(plan.key() | known))
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("takers")
    taken(root / "wise", "wise", 3.0)
    taken(root / "biased", "biased", 1.0, first_nats=5.0)
    taken(root / "people", "people", 2.0, sampled=True)
    return root


@pytest.fixture(scope="module")
def people(folders: Path) -> ExportedRun:
    """Sessions as people might have answered them: right with the probability .88."""
    run = load_run(folders / "people" / "forced_choice", models=True)
    return replace(run, verdicts=run.verdicts.assign(kept=True))


@pytest.fixture(scope="module")
def found(folders: Path, people: ExportedRun):
    takers = load_model_participants([folders / "wise", folders / "biased"], people)
    options = ComparisonOptions(resamples=100, takers=takers)
    return compare_by(("takers",), people, options=options)


def rows(found, name: str, **where: str) -> pd.DataFrame:
    frame = found.statistics[name]
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def test_every_construction_stands_in_every_reading_with_a_paired_interval(found):
    frame = rows(found, "taker_readings")
    assert set(frame["reading"]) == {"sentence", "forced_choice"}
    assert len(frame) == 2 * 2 * 3
    # A construction has fewer than five frames: there is no interval.
    assert frame["low"].isna().eq(frame["construction"].ne("")).all()
    known = frame[frame["low"].notna()]
    assert (known["low"] <= known["difference"]).all() and (
        known["high"] >= known["difference"]
    ).all()
    assert (known["p_holm"] >= known["p"]).all()


def test_a_model_that_knows_is_right_in_every_reading_and_people_are_not_better(found):
    frame = rows(found, "taker_readings", model="wise", construction="")
    assert frame["accuracy"].tolist() == [1.0, 1.0]
    held = rows(found, "taker_conclusions", construction="")
    held = held[held["model"].eq("wise") | held["conclusion"].str.contains("biased")]
    numbers = dict(zip(held["conclusion"], held["holds"], strict=True))
    assert numbers["people better"] == 0
    assert numbers["more accurate than biased"] == 1


def test_an_order_bias_is_seen_where_it_was_planted_and_nowhere_else(found):
    biased = rows(found, "taker_biases", judge="biased", reading="forced_choice", labels="all")
    assert biased["estimate"].item() == 1.0
    wise = rows(found, "taker_biases", judge="wise", reading="forced_choice", labels="all")
    assert wise["estimate"].item() == 0.5
    assert len(rows(found, "taker_biases", judge="people")) == 1


def test_the_conclusion_of_a_biased_model_does_not_survive_the_way_of_asking(found):
    by_reading = rows(found, "taker_readings", model="biased", construction="")
    accuracy = dict(zip(by_reading["reading"], by_reading["accuracy"], strict=True))
    assert accuracy == {"sentence": 1.0, "forced_choice": 0.5}
    held = rows(found, "taker_conclusions", model="biased", construction="")
    better = held[held["conclusion"] == "people better"]
    assert better[["holds", "n_readings", "readings"]].values.tolist() == [[1, 2, "forced_choice"]]


def test_biases_in_log_odds_are_those_that_were_planted(found):
    """The first place gets 5 nats in both sets of labels, and knowledge of 1 nat is no bias."""
    for model, nats in (("biased", 5.0), ("wise", 0.0)):
        frame = rows(found, "taker_log_odds", model=model)
        assert set(frame["reading"]) == {"forced_choice"}
        estimates = dict(zip(frame["bias"], frame["estimate"], strict=True))
        planted = {"first place": nats, "first side": 0.0}
        planted |= {"labels: letters": 0.0, "labels: numbers": 0.0}
        assert estimates == pytest.approx(planted, abs=1e-9)
        first = frame[frame["bias"] == "first place"]
        assert first["low"].item() == pytest.approx(nats) == first["high"].item()


def test_consistency_over_orders_is_none_for_a_model_that_follows_the_order(found):
    alike = rows(found, "taker_consistency", reading="forced_choice", between="orders")
    assert dict(zip(alike["judge"], alike["agreement"], strict=True)) == {
        "wise": 1.0,
        "biased": 0.0,
    }
    assert 0.5 < rows(found, "taker_consistency", judge="people")["agreement"].item() < 1.0


def test_the_report_holds_the_tables_of_takers_and_says_how_many_were_looked_at(found):
    tables = {table.name: table for table in found.tables}
    names = ["taker_readings", "taker_conclusions", "taker_biases", "taker_consistency"]
    assert set(names) <= set(tables)
    assert "12 intervals of each kind were computed" in " ".join(tables["taker_conclusions"].notes)
    reported = "What the models report: wise: text; biased: text (docs/takers.md)."
    assert reported in tables["taker_readings"].notes
    labels = set(tables["taker_biases"].frame["label"])
    assert {"forced_choice, zero_shot, letters", "forced_choice, zero_shot, numbers"} <= labels


def test_a_figure_has_a_panel_for_each_model_and_marks_for_each_reading(found):
    [drawing] = [one for one in found.drawings if one.name == "taker_readings"]
    panels = drawing.draw().axes
    assert [axes.get_title(loc="right") for axes in panels] == ["wise", "biased"]
    for axes in panels:
        marked = {line.get_label(): line.get_xdata() for line in axes.lines}
        assert len(marked["sentence"]) == len(marked["forced choice"]) == 3
    biased = {line.get_label(): line.get_xdata()[0] for line in panels[1].lines}
    assert (biased["sentence"], biased["forced choice"]) == (1.0, 0.5)


def test_a_figure_of_programs_says_so_above_the_models_names(found):
    frame = rows(found, "taker_readings").assign(label=lambda own: own["construction"])
    plain, warned = (
        draw_readings(frame, simulated=simulated, chance=0.5).axes for simulated in (False, True)
    )
    assert [axes.get_title(loc="left") for axes in plain] == ["", ""]
    assert [axes.get_title(loc="left") for axes in warned] == ["SIMULATED PARTICIPANTS\n", ""]
    # A mark at 0 or at 1 is whole.
    assert [axes.get_xlim() for axes in warned] == [(-0.02, 1.02)] * 2


def test_the_effect_of_the_session_so_far_is_a_difference_on_the_same_items(
    tmp_path: Path, people: ExportedRun
):
    folder = taken(
        tmp_path / "own", "own", 3.0, contexts=[Context.ZERO_SHOT, Context.HISTORY], orders=(False,)
    )
    options = ComparisonOptions(resamples=100, takers=[load_model_participant(folder, people)])
    history = compare_by(("takers",), people, options=options).statistics["taker_history"]
    assert history[["context", "difference"]].values.tolist() == [["history", 0.0]]


def test_takers_of_other_materials_are_refused(folders: Path, people: ExportedRun):
    other = replace(people, facts=people.facts.model_copy(update={"materials_hash": "ab" * 32}))
    with pytest.raises(AnalysisError, match="the run's materials have the hash abababababab"):
        load_model_participant(folders / "wise", other)


def test_two_folders_of_one_model_are_refused(folders: Path, people: ExportedRun):
    with pytest.raises(AnalysisError, match='two folders hold sessions of a model "wise"'):
        load_model_participants([folders / "wise", folders / "wise"], people)


def test_two_models_with_one_name_are_told_apart_by_their_folders(
    folders: Path, people: ExportedRun, tmp_path: Path
):
    """As servers can have: the identities differ, and so do the answers."""
    copied = tmp_path / "again"
    shutil.copytree(folders / "biased", copied)
    manifest = json.loads((copied / "take.json").read_text())
    named = manifest | {"model_name": "wise", "model_identity": "another server"}
    (copied / "take.json").write_text(json.dumps(named))
    takers = load_model_participants([folders / "wise", copied], people)
    names = [f"wise ({folders / 'wise'})", f"wise ({copied})"]
    assert [taker.model for taker in takers] == names
    options = ComparisonOptions(resamples=100, takers=takers)
    reported = compare_by(("takers",), people, options=options).statistics["taker_readings"]
    assert set(reported["model"]) == set(names)


def test_people_given_as_takers_are_refused(tmp_path: Path, people: ExportedRun):
    with pytest.raises(AnalysisError, match=r"holds no take\.json"):
        load_model_participant(tmp_path, people)


def test_samples_are_reported_by_what_read_them_and_one_label_for_all_is_warned_of(
    tmp_path: Path, people: ExportedRun
):
    """Forty samples of each trial: 39 say the first label, and one names both."""

    def always_first(questions):
        share = log(39 / 40)
        read_by = ("alone",) * 30 + ("chosen",) * 9 + ("several",)
        texts = ("A",) * 39 + ("A or B",)
        return [Reply((share, None), texts, read_by, seed=1) for _ in questions]

    plan = planned(readings=["forced_choice"], n_sessions=1, labels=("letters",))
    [reading] = plan.readings
    sittings = take_sessions(plan, reading, always_first)
    taker = Taker("sure", "nothing", "sure", "samples", NOW)
    write_sessions(plan, sittings, taker, tmp_path / "forced_choice")
    known = {"model_name": "sure", "tier": "samples", "complete": True}
    (tmp_path / "take.json").write_text(json.dumps(plan.key() | known))
    options = ComparisonOptions(resamples=100, takers=[load_model_participant(tmp_path, people)])
    reported = compare_by(("takers",), people, options=options)
    shares = reported.statistics["taker_samples"]
    assert shares[["read_by", "share"]].values.tolist() == [
        ["alone", 0.75],
        ["chosen", 0.225],
        ["several", 0.025],
    ]
    [table] = [table for table in reported.tables if table.name == "taker_samples"]
    n = 39 * len(sittings) * len(sittings[0].read)
    warning = f"Warning: 100% of sure's {n:,} readable samples in forced_choice (letters) are the"
    assert table.notes[0].startswith(f"{warning} label A: it may answer with this label")
    assert list(table.frame["label"])[-1] == "unreadable: several"


def test_takes_without_samples_have_no_table_of_samples(found):
    assert "taker_samples" not in found.statistics


def test_the_first_screen_says_whether_conclusions_depend_on_how_a_model_was_asked():
    rows = [
        ("m", "", "better than chance", 2, 0, 2, "sentence, forced_choice"),
        ("m", "", "people better, Holm", 1, 1, 3, "rating"),
        ("m", "agreement", "better than chance", 0, 2, 2, ""),
        ("n", "", "better than chance", 0, 2, 2, ""),
        ("n", "", "people better, Holm", 0, 0, 2, ""),
        ("o", "", "better than chance", 1, 0, 1, "sentence"),
    ]
    names = ["model", "construction", "conclusion", "holds", "opposite", "n_readings", "readings"]
    assert list(describe_conclusions(pd.DataFrame(rows, columns=names))) == [
        "However the model was asked: that m is better than chance holds in all 2 readings.",
        "Whether people are better than m depends on how the model was asked: it holds in 1 of 3 "
        "readings (rating), and the opposite in 1.",
        "However the model was asked: that n is better than chance is reversed in all 2 readings.",
        "Whether people are better than n is open in all 2 readings.",
    ]
