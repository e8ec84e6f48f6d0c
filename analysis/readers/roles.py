"""The roles that columns of judgments can have, and how a column is known to have one.

A role is found by what a column contains; its name decides only among columns that could all have
it. One line of ``ROLES`` is one role.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

TRUTH = frozenset({"true", "false", "1", "0", "yes", "no", "1.0", "0.0"})
_PREFIX = re.compile(r"^((player|Answer|Input|response)\.|Spreadsheet: )")


@dataclass(frozen=True, slots=True)
class Role:
    """What a column can be.

    Attributes:
        names: The names under which programs and researchers write it, the likelier first, plain.
        holds: Whether cells that are not empty can be its cells.
    """

    names: tuple[str, ...]
    holds: Callable[["pd.Series[str]"], bool]


def _anything(_: "pd.Series[str]") -> bool:
    return True


def _numbers(cells: "pd.Series[str]") -> bool:
    return bool(pd.to_numeric(cells.str.replace(",", "."), errors="coerce").notna().mean() > 0.5)


def _truths(cells: "pd.Series[str]") -> bool:
    return set(cells.str.lower()) <= TRUTH


ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "participant": Role(
            ("participant", "participantid", "prolificpid", "participantcode", "workerid",
             "participantprivateid", "responseid", "uniqueid", "subject", "subjectid", "subj",
             "subjid", "studyresult", "md5hashofparticipantsipaddress",
             "md5hashthathopefullyuniquelyidentifiesparticipant", "runid", "sessionid", "anoncode",
             "person", "who", "respondentid", "result"),
            _anything,
        ),
        "rt_ms": Role(
            ("rtms", "rt", "reactiontime", "responsetime", "playerrt", "playerrtms",
             "playerresponsetime", "playerreactiontime", "latency", "timetakentoanswer", "hitrt",
             "decisiontime", "rtseconds", "rtsec"),
            _numbers,
        ),
        "good_side": Role(
            ("goodside", "correctside", "correctresponse", "correctkey", "correctanswer",
             "answerkey", "targetside", "good", "goodoption", "goodposition", "correctposition",
             "expected", "playergoodside"),
            _anything,
        ),
        "option_first": Role(
            ("optionfirst", "firstoption", "first", "left", "leftoption", "lefttext", "optionleft",
             "sentence1", "sentencea", "text1", "optiona"),
            _anything,
        ),
        "chosen": Role(
            ("chosen", "choice", "answer", "response", "value", "judgment", "judgement",
             "preferred", "preference", "selection", "selected", "picked", "pick",
             "buttonpressed", "keypress", "key"),
            _anything,
        ),
        "correct": Role(
            ("correct", "iscorrect", "accuracy", "acc", "hit", "right",
             "whetherornotanswerwascorrectnullifna"),
            _truths,
        ),
        "item": Role(
            ("item", "itemid", "itemnum", "itemnumber", "sentenceid", "sentencenumber",
             "stimulusid", "stimulusnumber"),
            _anything,
        ),
    }
)  # fmt: skip


def simple(name: str) -> str:
    """Return a name as it is compared: its letters and digits, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def columns_of(table: pd.DataFrame, role: str) -> Iterator[str]:
    """Yield the columns that are called like a role and hold what it holds, the likelier first."""
    known = ROLES[role]
    for name in known.names:
        for column in table.columns:
            # A name counts with or without the model or form that it belongs to.
            if name in (simple(column), simple(_PREFIX.sub("", column))):
                filled = table[column][table[column] != ""]
                if len(filled) and known.holds(filled):
                    yield column


def first_of(table: pd.DataFrame, role: str) -> str | None:
    """Return the likeliest column of a role; None where no column has it."""
    return next(columns_of(table, role), None)


def people_by_contents(table: pd.DataFrame, item: str) -> str | None:
    """Return the one column that can name participants: who judged several items, each once.

    Args:
        table: The rows of judgments.
        item: The column of their items.
    """
    fitting = []
    for column in table.columns:
        values = table[column]
        sizes = values.value_counts()
        several = len(sizes) > 1 and float(sizes.median()) > 1
        if column == item or (values == "").any() or not several:
            continue
        if not table[[column, item]].duplicated().any():
            fitting.append(column)
    return fitting[0] if len(fitting) == 1 else None
