import subprocess
import sys

import pytest

from analysis.comparison import analyse
from analysis.figures import FORMATS, accuracy_figure, save_figure
from analysis.load import load_run, load_scores


@pytest.fixture
def table(export, scores):
    found = analyse(
        load_run(export), [load_scores(scores)], resamples=100, seed=1, code_version="v"
    )
    return found.tables[0]


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
