"""A small publication in the formats of Gulordava et al. (2018), of sentences of our own.

The published files may not be copied here (docs/decisions/published-data.md), so a plain clone
reads these. They are written by hand below, not by the code that is tested.
"""

from dataclasses import dataclass
from pathlib import Path

# Of each sentence how many people chose the correct and the wrong form.
PEOPLE = {("original", "L__DET_ADJ_NOUN"): (9, 1), ("generated", "L__DET_ADJ_NOUN"): (6, 4),
          ("original", "R__NOUN_VERB"): (8, 0), ("generated", "R__NOUN_VERB"): (3, 5)}  # fmt: skip
# Two models: in which of the four sentences, in their order, each prefers the correct form.
MODELS = {"hidden1_batch1": (True, True, True, False), "hidden2_batch1": (False, False, True, True)}
END, TAB = " . <eos>", "\t"


@dataclass(frozen=True)
class Sentence:
    """One sentence with its target's two forms and what is published of it."""

    words: str
    index: int
    cue: int
    gold: str
    pattern: str
    constr_id: int
    sent_id: int
    number: str
    forms: tuple[str, str]
    attractors: int
    freq: tuple[int, int]

    @property
    def type(self) -> str:
        return "generated" if self.sent_id else "original"

    @property
    def prefix(self) -> str:
        return " ".join(self.words.split()[: self.index])


_ADJ = "DET_ADJ_NOUN!Number=Sing!Number=Plur"
_VERB = "NOUN_VERB!Number=Plur!Number=Sing"
_NOUN_ROW = "L!{0}\t1\t{1}\t3\tNOUN\tGender=Masc|Number=Sing\t{2}\t_\t1\tDET\tDET_ADJ_NOUN"
_VERB_ROW = "R!{0}\t2\t{1}\t4\tVERB\tNumber=Plur|Person=3\t{2}\t_\t1\tNOUN\tNOUN_ADP_NOUN_VERB"
SENTENCES = (
    Sentence("ecco il vecchio forno", 3, 1, _NOUN_ROW.format(_ADJ, 0, "forno\tforni"),
             "L__DET_ADJ_NOUN", 1, 0, "sing", ("forno", "forni"), 0, (40, 10)),
    Sentence("ecco il lungo sonno", 3, 1, _NOUN_ROW.format(_ADJ, 1, "sonno\tsonni"),
             "L__DET_ADJ_NOUN", 1, 1, "sing", ("sonno", "sonni"), 0, (5, 7)),
    Sentence("le chiavi del portone mancano", 4, 1, _VERB_ROW.format(_VERB, 0, "mancano\tmanca"),
             "R__NOUN_VERB", 2, 0, "plur", ("mancano", "manca"), 1, (20, 30)),
    Sentence("le nuvole del piatto cantano", 4, 1, _VERB_ROW.format(_VERB, 1, "cantano\tcanta"),
             "R__NOUN_VERB", 2, 1, "plur", ("cantano", "canta"), 1, (6, 2)),
)  # fmt: skip
_HEADER = (
    "pattern\tconstr_id\tsent_id\tcorrect_number\tform\tclass\ttype\tprefix\tn_attr\tpunct\tfreq"
    "\tlen_context\tlen_prefix\tsent"
)


def write_publication(folder: Path) -> Path:
    """Write the test set, the tables and the subject-verb set, and return their folder."""
    folder.mkdir(exist_ok=True)
    _write(folder / "generated.text", (f"{each.words}{END}" for each in SENTENCES))
    _write(folder / "generated.gold", (each.gold for each in SENTENCES))
    _write(folder / "generated.eval", (str(each.index) for each in SENTENCES))
    _write(folder / "generated.tab", _table())
    _write(folder / "all_models.tab", _table(*MODELS))
    _write(folder / "best_model_mturk.tab", _table("full_id", "mturk_count", "hidden1_batch1"))
    _write(folder / "subject_verb.text", (f"{words}{END}" for words in _ENGLISH))
    _write(folder / "subject_verb.gold", ("2\tare\tis\t0", "5\twaits\twait\t1"))
    _write(folder / "subject_verb.eval", ("2", "5"))
    return folder


_ENGLISH = ("the ovens are warm", "the key to the doors waits there")


def _table(*more: str):
    yield "\t".join([_HEADER, *more])
    for number, each in enumerate(SENTENCES):
        for column, form in enumerate(each.forms):
            shown = [
                *(each.pattern, each.constr_id, each.sent_id, each.number, form),
                *(("correct", "wrong")[column], each.type, each.prefix, each.attractors, "False"),
                *(each.freq[column], each.index - each.cue, each.index, f"{each.words}{END}"),
            ]
            values = [_value(name, each, number, column) for name in more]
            yield "\t".join(map(str, [*shown, *values]))


def _value(name: str, each: Sentence, number: int, column: int) -> str:
    if name == "full_id":
        return f"{each.gold.partition(TAB)[0]}__{each.constr_id}__{each.sent_id}"
    if name == "mturk_count":
        return f"{PEOPLE[each.type, each.pattern][column]}.0"
    prefers_this = MODELS[name][number] == (column == 0)
    return "-4.25" if prefers_this else "-9.5"


def _write(path: Path, lines) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
