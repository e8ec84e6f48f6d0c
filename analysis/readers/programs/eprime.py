"""E-Prime: the text log of a session, a row for each of its frames."""

import pandas as pd

from analysis.readers.json_trials import trials_as_text
from analysis.readers.program import Program

_HEADER, _HEADER_END = "*** Header Start ***", "*** Header End ***"
_FRAME, _FRAME_END = "*** LogFrame Start ***", "*** LogFrame End ***"


def _read_log(text: str) -> tuple[pd.DataFrame, str]:
    """Return the frames as rows, each with what the header says of the session."""
    session, values = dict[str, object](), dict[str, object]()
    rows = []
    for line in map(str.strip, text.splitlines()):
        if line in (_HEADER, _FRAME):
            values = {}
        elif line == _HEADER_END:
            session = values
        elif line == _FRAME_END:
            rows.append(session | values)
        else:
            name, _, value = line.partition(":")
            values[name] = value.strip()
    return trials_as_text(rows), PROGRAM.name


PROGRAM = Program(
    name="E-Prime",
    documentation="| E-Prime | the text log of a session (`.txt`), a row for each frame; the "
    "tables of E-Merge and E-DataAid as any other |",
    recognises=lambda text: text.lstrip().startswith(_HEADER),
    read_text=_read_log,
)
