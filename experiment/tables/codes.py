"""The tables of the codes of typed answers."""

from experiment.tables.column import JUDGE, Column, TableSchema

_CODE_COLUMNS = {
    "code": "the answer's category in this version",
    "listed": "its category by the study's list of answers",
    "coder_1": "by the first coder",
    "coder_2": "by the second coder",
    "coder_1_again": "by the first coder at the second time, of answers that come twice",
    "coder_2_again": "by the second coder at the second time",
    "decided": "by the person who decides where the two differ",
}
_CODES = (
    *(Column(name, "string", told, optional=True) for name, told in _CODE_COLUMNS.items()),
    Column(
        "proposed",
        "string",
        "by a model, an opinion that decides nothing",
        optional=True,
        absent="",
    ),
    Column("proposed_by", "string", "the name of the model", optional=True, absent=""),
)
CODES = TableSchema(
    "codes",
    "The categories of typed answers in the latest frozen version: one row per coded answer, "
    "of texts with several gaps one for each gap, of lists one for each entry. Only of studies "
    "with [coding], after a version was frozen.",
    ("participant", "position", "gap"),
    (
        Column("participant", "string", "random reference; not a platform's worker id"),
        Column("position", "integer", "the trial's place in the session, from 1"),
        Column(
            "gap",
            "integer",
            "the number of the gap, or of the entry of a list, from 1",
            optional=True,
            absent="",
        ),
        Column("answer", "integer", "the number of the different answer, which was coded once"),
        *_CODES,
        Column("coding_version", "integer", "the number of the frozen version"),
        JUDGE,
    ),
)

CODED_ANSWERS = TableSchema(
    "codes",
    "The categories of imported typed answers in one frozen version: one row per different answer.",
    ("item_id", "version", "typed"),
    (
        Column("item_id", "string", "the item; empty if coders saw no texts"),
        Column("version", "string", "the version that was shown; empty if coders saw no texts"),
        Column(
            "typed",
            "string",
            "the answer as it is compared, with an apostrophe before what a spreadsheet would take "
            "for a formula",
            is_free_text=True,
        ),
        *_CODES,
    ),
)
