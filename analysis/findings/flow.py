"""The flow of participants (arrived, finished, kept) as a figure."""

from collections.abc import Sequence
from functools import partial

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.data.participant_flow import Flow
from analysis.figures.drawing import (
    COLUMN_INCHES,
    PEOPLE,
    STYLE,
    TEXT,
    Drawing,
    new_figure,
    warn_of_programs,
)
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.tables.section import Section
from experiment.exclusion.rules import reason

_STEP_INCHES = 0.62


def flow_figure(flow: Flow, *, simulated: bool) -> Figure:
    """Draw the participants' flow from arrival to analysis, with drop-outs to the side.

    Args:
        flow: The numbers at each step.
        simulated: Whether the figure must state that participants were simulated.
    """
    steps = _describe_steps(flow)
    with mpl.rc_context(STYLE):
        figure = new_figure(COLUMN_INCHES, _STEP_INCHES * len(steps) + 0.25)
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_xlim(0, 1)
        axes.set_ylim(len(steps) - 0.5, -0.5)
        for row, (text, n_left) in enumerate(steps):
            last = row == len(steps) - 1
            _draw_box(axes, 0.3, row, text, PEOPLE if last else TEXT)
            if not last:
                _draw_arrow(axes, (0.3, row + 0.27), (0.3, row + 0.73))
            if n_left:
                _draw_arrow(axes, (0.3, row + 0.5), (0.6, row + 0.5))
                _draw_box(axes, 0.79, row + 0.5, n_left, TEXT)
        if simulated:
            warn_of_programs(axes)
    return figure


def _describe_steps(flow: Flow) -> Sequence[tuple[str, str]]:
    """Return the text of each box, and the text of its drop-outs (empty if none)."""
    excluded = "\n".join(
        f"{count} excluded for\n{reason(rule)}" for rule, count in flow.excluded.items()
    )
    # A participant who finished but has no verdict is neither kept nor excluded.
    if flow.consented is None or flow.finished is None:
        return (f"{flow.recruited} judged", excluded), (f"{flow.kept} kept", "")
    without_verdict = flow.finished - flow.kept - sum(flow.excluded.values())
    waiting = f"{without_verdict} without a verdict" if without_verdict > 0 else ""
    return (
        (
            f"{flow.recruited} recruited",
            _describe_dropouts(flow.recruited - flow.consented, "did not consent"),
        ),
        (
            f"{flow.consented} consented",
            _describe_dropouts(flow.consented - flow.finished, "did not finish"),
        ),
        (f"{flow.finished} finished", "\n".join(filter(None, (excluded, waiting)))),
        (f"{flow.kept} kept", ""),
    )


def _describe_dropouts(number: int, reason: str) -> str:
    return f"{number} {reason}" if number else ""


def _draw_box(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    frame = {"boxstyle": "round,pad=0.6", "facecolor": "white", "edgecolor": colour}
    axes.text(x, y, text, ha="center", va="center", color=colour, bbox=frame | {"linewidth": 0.8})


def _draw_arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    line = {"arrowstyle": "-|>", "linewidth": 0.7, "color": TEXT, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=line)


def _run(inputs: FindingInputs) -> Findings:
    origin = inputs.context.origin
    if not origin.flow.recruited:
        return Findings()
    drawing = Drawing(
        "flow",
        "Flow of participants",
        "How many participants came, stayed and were kept. At the right are those who left.",
        Section.PARTICIPANTS,
        partial(flow_figure, origin.flow, simulated=origin.simulated),
    )
    return Findings(drawings=(drawing,))


FLOW = Finding("flow", Section.PARTICIPANTS, _run)
