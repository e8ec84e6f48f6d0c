import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest

from analysis.data.participant_flow import Flow
from analysis.figures.accuracy import accuracy_figure
from analysis.figures.drawing import FORMATS, save_figure
from analysis.figures.people import calibration_figure, participants_figure, session_figure
from analysis.findings.flow import flow_figure


@pytest.fixture
def table(small_comparison):
    return small_comparison.table("table_1")


def test_people_published_people_and_each_model_are_drawn(table):
    figure = accuracy_figure(table, simulated=False)
    [axes] = figure.axes
    drawn = {line.get_label(): list(line.get_xdata()) for line in axes.lines}
    assert drawn["People, 95% interval"] == [0.75, 0.5]
    assert drawn["People, published"][0] == 0.9
    assert drawn["5-gram"] == [0.5, 0.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(table.frame["label"])


def test_rows_stand_below_their_heading_without_overlap(table):
    [axes] = accuracy_figure(table, simulated=False).axes
    assert list(axes.get_yticks()) == [2, 4]
    assert [text.xy[1] for text in axes.texts] == [1, 3]


def test_seventy_constructions_stand_in_two_columns_of_a_page(table):
    row = table.frame.iloc[:1]
    many = pd.concat([row] * 70, ignore_index=True)
    many["label"] = [f"construction {number}" for number in range(70)]
    many["group"] = [f"group {number // 6}" for number in range(70)]
    figure = accuracy_figure(replace(table, frame=many), simulated=False)
    shown = [[one.get_text() for one in axes.get_yticklabels()] for axes in figure.axes]
    assert [*shown[0], *shown[1]] == many["label"].tolist()
    assert figure.get_size_inches()[0] == 7.0
    assert figure.get_size_inches()[1] < 9.5
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [one.get_window_extent() for one in axes.get_yticklabels()]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_a_figure_says_when_participants_were_simulated(table):
    titles = [
        accuracy_figure(table, simulated=simulated).axes[0].get_title(loc="left")
        for simulated in (True, False)
    ]
    assert titles == ["SIMULATED PARTICIPANTS", ""]


def test_the_same_numbers_give_the_same_bytes(table, tmp_path):
    written = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        paths = save_figure(accuracy_figure(table, simulated=True), folder, "figure_1")
        assert [path.suffix[1:] for path in paths] == list(FORMATS)
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]


def test_figures_need_no_global_state_of_pyplot():
    code = "import analysis.compare, sys; print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_flow_names_every_step_and_who_left_at_it():
    flow = Flow(9, 8, 7, {"max_errors": 2}, 5, 0)
    [axes] = flow_figure(flow, simulated=False).axes
    words = [text.get_text() for text in axes.texts if text.get_text()]
    assert words == [
        "9 recruited", "1 did not consent", "8 consented", "1 did not finish", "7 finished",
        "2 excluded for\ntoo many errors", "5 kept",
    ]  # fmt: skip


def test_a_finished_participant_without_a_verdict_is_named():
    [axes] = flow_figure(Flow(3, 3, 3, {}, 2, 0), simulated=True).axes
    assert "1 without a verdict" in [text.get_text() for text in axes.texts]
    assert axes.get_title(loc="left") == "SIMULATED PARTICIPANTS"


ESTIMATES = pd.DataFrame({"accuracy": [0.7, 0.9], "low": [0.6, 0.8], "high": [0.8, 1.0]})


def test_the_course_of_a_session_is_drawn_in_trials_and_seconds():
    learning = ESTIMATES.assign(first=[1, 11], last=[10, 20])
    speed = ESTIMATES.assign(rt_median_ms=[1500.0, 4000.0])
    left, right = session_figure(learning, speed, simulated=False).axes
    assert list(left.lines[0].get_xdata()) == [5.5, 15.5]
    assert list(right.lines[0].get_xdata()) == [1.5, 4.0]


def test_calibration_has_points_and_a_curve_for_each_model():
    bins = ESTIMATES.rename(columns={"accuracy": "share_good"}).assign(
        judge=["A", "B"], difference_nats=[0.5, 1.0], fitted=[0.71, 0.88]
    )
    [axes] = calibration_figure(bins, simulated=False).axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert (drawn["A"], drawn["B"]) == ([0.7], [0.9])


def test_every_participant_is_counted_in_the_distribution():
    people = pd.DataFrame({"accuracy": [0.31, 0.52, 0.99, 1.0]})
    [axes] = participants_figure(people, simulated=False).axes
    assert sum(bar.get_height() for bar in axes.patches) == 4
