"""The figure of the participants' flow has a row for each step."""

import pytest

from analysis.data.participant_flow import Flow
from analysis.findings.flow import flow_figure


@pytest.mark.parametrize("n_rules", [0, 2])
def test_the_figure_grows_with_its_steps_and_says_the_numbers(n_rules):
    excluded = {"max_errors": 1, "min_duration": 2} if n_rules else {}
    flow = Flow(9, 8, 7, excluded=excluded, kept=7 - sum(excluded.values()), simulated=0)
    figure = flow_figure(flow, simulated=False)
    [axes] = figure.axes
    bottom, top = axes.get_ylim()
    n_steps = bottom - top
    assert n_steps == round(n_steps)
    # Each step has 0.62 inches, and the figure a quarter of an inch more.
    assert figure.get_size_inches()[1] == pytest.approx(0.62 * n_steps + 0.25)
    texts = " ".join(text.get_text() for text in axes.texts)
    assert all(str(n) in texts for n in (9, 8, 7, flow.kept))
