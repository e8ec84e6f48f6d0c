"""Which figures a comparison has, with the words that go into a paper next to them."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from analysis.figures.accuracy import accuracy_figure
from analysis.figures.curves import curves_figure
from analysis.figures.drawing import Drawing
from analysis.figures.flow import flow_figure
from analysis.figures.people import calibration_figure, participants_figure, session_figure
from analysis.result import Comparison
from analysis.tables.section import Section

# A figure of every condition would be longer than a page.
_DRAWN = ("table_1", "table_2")


def comparison_drawings(found: Comparison) -> Iterator[Drawing]:
    """Yield every figure of a comparison."""
    simulated = found.provenance.simulated
    if found.provenance.flow.recruited:
        yield Drawing(
            "flow",
            "Flow of participants",
            "How many participants came, stayed and were kept. At the right are those who left.",
            Section.PARTICIPANTS,
            partial(flow_figure, found.provenance.flow, simulated=simulated),
        )
    for table in found.tables:
        if table.name in _DRAWN:
            yield Drawing(
                table.name.replace("table", "figure"),
                table.title.replace("Table", "Figure"),
                f"{table.caption.removesuffix(found.provenance.warning).strip()} People with 95% "
                "intervals, published people as open circles"
                f"{', models on the judged items' * bool(found.provenance.models)}. The dashed "
                "line is chance.",
                table.section,
                partial(
                    accuracy_figure,
                    table,
                    simulated=simulated,
                    chance=found.provenance.chance,
                ),
            )
    yield from _of_statistics(found, simulated=simulated)
    if "curves" in found.statistics:
        yield from _curve_drawings(found.statistics["curves"], found)


def _of_statistics(found: Comparison, *, simulated: bool) -> Iterator[Drawing]:
    wanted = ("calibration_curve", "participants", "learning", "speed_accuracy")
    curve, people, learning, speed = (found.statistics.get(name) for name in wanted)
    if curve is not None and len(curve):
        yield Drawing(
            "calibration_curve",
            "People and log-probabilities",
            "Share of people who chose the expected version of items, in ten bins of equally many "
            "items by the model's log-probability difference, with 95% intervals; the lines are "
            "the fitted logistic curves. Dashed: chance.",
            Section.AGREEMENT,
            partial(calibration_figure, curve, simulated=simulated, chance=found.provenance.chance),
        )
    if people is not None and len(people):
        yield Drawing(
            "participants",
            "Participants' accuracy",
            "How many of the participants kept reached which accuracy.",
            Section.PEOPLE,
            partial(participants_figure, people, simulated=simulated),
        )
    if learning is not None and speed is not None and len(learning) and len(speed):
        yield Drawing(
            "session",
            "Course of a session",
            "Accuracy by blocks of trials (left) and by fifths of reaction times within each "
            "participant (right), with 95% intervals.",
            Section.PEOPLE,
            partial(session_figure, learning, speed, simulated=simulated),
        )


def _curve_drawings(curves: pd.DataFrame, found: Comparison) -> Iterator[Drawing]:
    """Yield a figure for each construction and model, of ``analysis.findings.curves.curves``."""
    titles = {one.name: one.title for one in found.study.constructions}
    several = curves["model"].nunique() > 1
    for (model, construction), rows in curves.groupby(["model", "construction"], sort=False):
        name = str(construction)
        yield Drawing(
            _file_name(f"curves_{name}_{model}" if several else f"curves_{name}"),
            f"Word by word: {titles.get(name, name)}{f' under {model}' if several else ''}",
            f"Log-probability of each word of the expected version (good) and of the other, given "
            f"the words before it, by {model}; averaged over n judged items of each condition. "
            "Words of one slot are added; the labels are examples. The first words that differ are "
            "shaded.",
            Section.CURVES,
            partial(curves_figure, rows),
        )


def _file_name(text: str) -> str:
    return "".join(one if one.isalnum() or one in "-_" else "_" for one in text)
