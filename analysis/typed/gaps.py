"""Texts with several gaps: each gap as a text of its own."""

import pandas as pd

from experiment.responses.registry import known_response
from experiment.responses.typed.text import GAP_SEPARATOR
from experiment.responses.typed.typed import GAP
from experiment.studies.study import Study

_OF_GAP = ", gap "


def has_several_gaps(study: Study) -> bool:
    """Return whether the study's texts may have several gaps."""
    return int(getattr(known_response(study), "gaps", 1)) > 1


def split_gaps(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each gap of an answer, with the gap's number in its version.

    Args:
        judgments: One row per answer: item_id, version, typed (with a separator between the texts
            of several gaps) and no_answer.
    """
    rows = judgments.astype({"item_id": str, "version": str}).reset_index(drop=True)
    texts = [str(typed).split(GAP_SEPARATOR) for typed in rows["typed"].astype(object).fillna("")]
    n_parts = pd.Series([len(parts) for parts in texts])
    n_gaps = n_parts.groupby([rows["item_id"], rows["version"]]).transform("max")
    split = rows.loc[rows.index.repeat(n_gaps)]
    numbers = split.groupby(level=0).cumcount()
    typed = [
        texts[row][number] if number < len(texts[row]) else ""
        for row, number in zip(split.index, numbers, strict=True)
    ]
    has_number = n_gaps.loc[split.index].to_numpy() > 1
    is_left_out = (
        split["typed"].notna().to_numpy() & (pd.Series(typed, dtype=object) == "").to_numpy()
    )
    return split.assign(
        typed=pd.Series(typed, split.index, dtype=object).where(split["typed"].notna()),
        no_answer=split["no_answer"].astype(bool).to_numpy() | is_left_out,
        version=[
            f"{version}{_OF_GAP}{number + 1}" if numbered else version
            for version, number, numbered in zip(split["version"], numbers, has_number, strict=True)
        ],
    ).reset_index(drop=True)


def base_version(version: str) -> str:
    """Return the version of the text that a gap belongs to."""
    return version.partition(_OF_GAP)[0]


def gap_number(version: str) -> int:
    """Return the number of the gap that a version is about, from 1."""
    return int(version.partition(_OF_GAP)[2] or 1)


def show_gap(text: str, version: str) -> str:
    """Return a text in which only the gap of a version is a gap."""
    number = version.partition(_OF_GAP)[2]
    if not number:
        return text
    parts = GAP.split(text)
    gaps = ["___" if n == int(number) else "\N{HORIZONTAL ELLIPSIS}" for n in range(1, len(parts))]
    return "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))
