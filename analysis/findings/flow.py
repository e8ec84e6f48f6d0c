"""The flow of participants (arrived, finished, kept) as a figure."""

from functools import partial

from analysis.figures.drawing import Drawing
from analysis.figures.flow import flow_figure
from analysis.findings.finding import Finding, Findings, Given
from analysis.tables.section import Section


def _run(given: Given) -> Findings:
    origin = given.context.origin
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


FLOW = Finding("flow", Section.PARTICIPANTS, _run, of=())
