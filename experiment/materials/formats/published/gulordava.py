"""Tables of Gulordava et al. (2018): two rows for each sentence, its right and its wrong form.

Gulordava, K., Bojanowski, P., Grave, E., Linzen, T., & Baroni, M. (2018). Colorless green recurrent
networks dream hierarchically. NAACL 2018.
"""

from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.formats.delimited import cells_of, find_layout, open_text
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import TEXT_SUFFIXES, RawRow, read_raw

_COLUMNS = {"pattern", "constr_id", "sent_id", "form", "class", "type", "prefix"}
_CLASSES = ("correct", "wrong")
# Columns that describe the sentence rather than a model's result.
_KEPT_COLUMNS = ("correct_number", "n_attr", "punct", "freq", "len_context", "len_prefix")


def is_gulordava(path: Path) -> bool:
    """Return whether a file is a tab-separated table with the columns of Gulordava et al."""
    if path.suffix.lower() not in TEXT_SUFFIXES or not path.is_file():
        return False
    try:
        file = open_text(path)
        _, headers = next(cells_of(file, find_layout(file)), (0, []))
    except ValueError:
        return False
    return {name.strip().lower() for name in headers} >= _COLUMNS


def _read(path: Path, terms: ReadOptions) -> Drafts:
    """Return each sentence's prefix with its two forms, and notes; models' columns are dropped.

    The published Italian table has a sentence with two identical forms, which participants cannot
    choose between: this sentence is left out with a note, unless identical sentences are allowed.

    Raises:
        MaterialsError: A sentence does not have exactly one correct and one wrong form.
    """
    table = read_raw(path, terms.language)
    table = table.renamed({name: name.lower() for name in table.columns})
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
    drafts = [_sentence_pair(key, forms) for key, forms in sentences.items()]
    identical_drafts = (
        [] if terms.identical else [draft for draft in drafts if draft.good == draft.bad]
    )
    notes = tuple(
        f'Sentence {draft.item_id} was left out: both of its forms are "{draft.good}", so nobody '
        "could choose between them."
        for draft in identical_drafts
    )
    return Drafts(
        [draft for draft in drafts if draft not in identical_drafts], (*table.notes, *notes)
    )


def _sentence_pair(key: tuple[str, str, str], forms: dict[str, RawRow]) -> Draft:
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
        extra={name: right[name] for name in _KEPT_COLUMNS if name in right},
    )


FORMAT = Format(
    name="a table of Gulordava et al. (2018)",
    documentation="| table of Gulordava et al. (2018) | `pattern`, `constr_id`, `sent_id`, `form`, "
    "`class`, `type`, `prefix` | the two rows of a sentence, `correct` and `wrong`, are a pair "
    "after the sentence's beginning |",
    recognises=is_gulordava,
    read=_read,
)
