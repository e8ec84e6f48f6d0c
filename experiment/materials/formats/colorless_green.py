"""The tables of Gulordava et al. (2018): two rows for each sentence, its right and its wrong form.

Gulordava, K., Bojanowski, P., Grave, E., Linzen, T., & Baroni, M. (2018). Colorless green
recurrent networks dream hierarchically. NAACL 2018.
"""

from collections.abc import Iterable

from experiment.errors import MaterialsError
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import RawRow, RawTable

_COLUMNS = {"pattern", "constr_id", "sent_id", "form", "class", "type", "prefix"}
_CLASSES = ("correct", "wrong")
# What tells more of the sentence, and nothing of a model.
_KEPT = ("correct_number", "n_attr", "punct", "freq", "len_context", "len_prefix")


def is_colorless_green(columns: Iterable[str]) -> bool:
    """Return whether a table with these columns is one of theirs."""
    return set(columns) >= _COLUMNS


def read_colorless_green(
    table: RawTable, *, identical: bool = False
) -> tuple[list[Draft], tuple[str, ...]]:
    """Return each sentence's beginning with its two forms, and notes, without models' columns.

    The published Italian table has a sentence whose two forms are one word, which nobody can choose
    between.

    Args:
        table: The file's rows.
        identical: Whether a sentence's two forms may be the same word; else it is left out, with a
            note.

    Raises:
        MaterialsError: A sentence has not exactly one correct and one wrong form.
    """
    sentences: dict[tuple[str, str, str], dict[str, RawRow]] = {}
    for row in table.rows:
        key = (row.values["pattern"], row.values["constr_id"], row.values["sent_id"])
        forms = sentences.setdefault(key, {})
        class_ = row.values["class"]
        if class_ in forms or class_ not in _CLASSES:
            raise MaterialsError(
                f'the sentence {"-".join(key)} has more than one form "{class_}"',
                where=row.place,
                expected="two rows for each sentence, class correct and wrong",
            )
        forms[class_] = row
    drafts = [_draft(key, forms) for key, forms in sentences.items()]
    same = [] if identical else [draft for draft in drafts if draft.good == draft.bad]
    notes = tuple(
        f'Sentence {draft.item_id} was left out: both of its forms are "{draft.good}", so nobody '
        "could choose between them."
        for draft in same
    )
    return [draft for draft in drafts if draft not in same], notes


def _draft(key: tuple[str, str, str], forms: dict[str, RawRow]) -> Draft:
    if set(forms) != set(_CLASSES):
        (alone,) = forms.values()
        raise MaterialsError(
            f"the sentence {'-'.join(key)} has only one form",
            where=alone.place,
            expected="two rows for each sentence, class correct and wrong",
        )
    pattern, instance, version = key
    right = forms["correct"].values
    return Draft(
        forms["correct"].place,
        good=right["form"],
        bad=forms["wrong"].values["form"],
        context=right["prefix"],
        item=f"{instance}-{version}",
        item_id="-".join(key),
        condition=right["type"],
        construction=pattern,
        extra={name: right[name] for name in _KEPT if name in right},
    )
