"""Items of Ibex and PCIbex: the array ``items`` of a data file in JavaScript.

Each entry is a label, or a label with an item's number, and then controllers with their options.
Nothing is executed: entries whose sentence is computed are left out with a note.

Drummond, A. (2013). Ibex farm. https://github.com/addrummond/ibex
"""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from more_itertools import longest_common_prefix

from experiment.errors import MaterialsError
from experiment.materials.formats.columns import KIND_WORDS, PRACTICE_WORDS
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.javascript import CodeExpression, LocatedArray, read_variables
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import read_text
from experiment.materials.formats.regions import join_regions
from experiment.materials.formats.words import BAR
from experiment.records import PAIR, Kind

_SUFFIX = ".js"
_ITEMS = re.compile(r"\bitems\s*=\s*\[")
# Entries alone, as laboratories keep them between the beginning and the end of a data file.
_ENTRIES_ALONE = re.compile(r"""\s*\[\s*(\[\s*)?["'][^\n]*\{\s*s\s*:""")
# The response type of the controllers that show a sentence to be read or judged.
_RESPONSE_TYPES = {
    "DashedSentence": "self_paced",
    "ds": "self_paced",
    "Maze": "maze",
    "AcceptabilityJudgment": "rating",
    "DashedAcceptabilityJudgment": "read_then_rate",
}
_QUESTION, _SHOWN = "Question", 3
_BETWEEN = re.compile(r"[-_. ]")
_TAG = re.compile(r"<[^>]*>")
_PRACTICE = {*PRACTICE_WORDS, "prac"}

_Options = dict[str, object]


def _is_ibex(path: Path) -> bool:
    # In ``data_includes`` the name of a file often has no suffix.
    if path.suffix.lower() not in (_SUFFIX, "") or not path.is_file():
        return False
    text = path.read_bytes().decode("utf-8", "replace")
    return bool(_ITEMS.search(text) or _ENTRIES_ALONE.match(text))


def _read(path: Path, terms: ReadOptions) -> Drafts:
    """Return the entries that show a sentence, with their questions.

    Raises:
        MaterialsError: The file is no JavaScript, or no entry shows a sentence.
    """
    text, notes = read_text(path, terms.language)
    if not _ITEMS.search(text):
        text = f"items = [{text}\n]"
    names = ("items", "defaults", "practiceItemTypes")
    variables = {name: value for name, (value, _) in read_variables(text, names, str(path)).items()}
    practice = _texts(variables.get("practiceItemTypes"))
    entries = variables.get("items")
    reader = _Reader(path, _defaults(variables.get("defaults")), practice)
    drafts = [draft for draft in map(reader.draft, _entries(entries)) if draft]
    if not drafts:
        raise MaterialsError(
            'no entry of the array "items" shows a sentence',
            where=str(path),
            expected='entries such as [["match", 1], "DashedSentence", {s: "The boy runs."}]',
        )
    notes = (*notes, *reader.notes())
    return Drafts(_name_experiments(_drop_numbers(drafts)), notes, response=reader.response())


def _entries(value: object) -> list[LocatedArray]:
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, LocatedArray) and len(entry) > 1]


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _name(controller: object) -> str:
    return controller.text if isinstance(controller, CodeExpression) else str(controller)


def _pairs(values: Sequence[object]) -> Iterator[tuple[str, _Options]]:
    """Yield each controller with its options."""
    for controller, options in zip(values[::2], values[1::2], strict=False):
        yield _name(controller), options if isinstance(options, dict) else {}


def _defaults(value: object) -> dict[str, _Options]:
    return dict(_pairs(value)) if isinstance(value, list) else {}


@dataclass(slots=True)
class _Label:
    """An entry's label: the condition and the item's number."""

    condition: str
    number: str


def _label(value: object) -> _Label:
    condition, number = (*value, "", "")[:2] if isinstance(value, list) else (value, "")
    # [number, group]: entries of one group go to the same list.
    number = number[0] if isinstance(number, list) and number else number
    return _Label(str(condition), "" if number is None else str(number))


class _Reader:
    """Reads entries, and counts what is left out."""

    def __init__(
        self, path: Path, defaults: Mapping[str, _Options], practice: Sequence[str]
    ) -> None:
        self._path, self._defaults, self._practice = path, defaults, practice
        self._computed: list[str] = []
        self._unasked: list[str] = []
        self._passed_over: Counter[str] = Counter()
        self._controllers: Counter[str] = Counter()
        self._n_marked_up = 0

    def draft(self, entry: LocatedArray) -> Draft | None:
        """Return the entry's sentence with its question; None if it shows none."""
        label, place = _label(entry[0]), f"{self._path}, line {entry.line}"
        pairs = [
            (name, {**self._defaults.get(name, {}), **options})
            for name, options in _pairs(entry[1:])
        ]
        shown = [n for n, (name, options) in enumerate(pairs) if "s" in options]
        if not shown:
            return None
        at = next((n for n in shown if pairs[n][0] in _RESPONSE_TYPES), shown[0])
        controller, options = pairs[at]
        regions = self._regions(options["s"])
        if regions is None:
            self._computed.append(place)
            return None
        kind = self._kind(label.condition)
        if kind not in _PRACTICE:
            self._controllers[controller] += 1
            self._passed_over.update(
                name for n, (name, _) in enumerate(pairs) if n != at and name != _QUESTION
            )
        extra = {"controller": controller, **_scale(options)}
        if any(" " in region for region in regions) and len(regions) > 1:
            extra["good_regions"] = f" {BAR} ".join(regions)
        if isinstance(distractors := options.get("a"), str) and controller == "Maze":
            extra["distractors"] = distractors
        extra |= self._question(pairs[at + 1 :], place)
        return Draft(
            place,
            join_regions(regions),
            item=label.number,
            condition="" if kind and label.condition.lower() == kind else label.condition,
            kind="practice" if kind in _PRACTICE else kind,
            extra=extra,
        )

    def _regions(self, value: object) -> list[str] | None:
        """Return a sentence's parts as text; None if it is computed."""
        if isinstance(value, dict):
            value = value.get("html")
        parts = value if isinstance(value, list) else [value]
        texts = [self._plain(part) for part in parts if isinstance(part, str)]
        regions = [text for text in texts if text]
        return regions if regions and len(texts) == len(parts) else None

    def _plain(self, text: str) -> str:
        plain = html.unescape(_TAG.sub(" ", text))
        self._n_marked_up += plain != text
        return " ".join(plain.split()) if plain != text else text.strip()

    def _kind(self, label: str) -> str:
        if label in self._practice:
            return "practice"
        words = re.findall(r"[^\W\d_]+", label.lower())
        kinds = KIND_WORDS.keys() - {word for word in KIND_WORDS if KIND_WORDS[word] is Kind.TARGET}
        # "control" and "check" may be conditions of an experiment.
        known = {*_PRACTICE, *kinds} - {"control", "controls", "check", "distractor"}
        return next((word for word in (*words[:1], *words[-1:]) if word in known), "")

    def _question(self, pairs: Sequence[tuple[str, _Options]], place: str) -> dict[str, str]:
        """Return the columns of an entry's first question; own columns if it cannot be asked."""
        options = next((options for name, options in pairs if name == _QUESTION), {})
        question = options.get("q")
        if not isinstance(question, str):
            return {}
        offered = options.get("as")
        # An answer may have a key: ["y", "Yes"].
        answers = [
            self._plain(str(answer[-1] if isinstance(answer, list) and answer else answer))
            for answer in (offered if isinstance(offered, list) else [])
        ]
        right = options.get("hasCorrect")
        if isinstance(right, str) and right in answers:
            right = answers.index(right)
        elif right is True:
            right = 0
        columns = {"question": self._plain(question), "answers": f" {BAR} ".join(answers)}
        if isinstance(right, int) and right is not False and 0 <= right < len(answers) == len(PAIR):
            return {**columns, "answer": answers[right]}
        self._unasked.append(place)
        return {f"ibex_{name}": text for name, text in columns.items()}

    def notes(self) -> Iterator[str]:
        """Yield what was left out, as sentences."""
        yield 'Read as the array "items" of Ibex; nothing in the file was run.'
        if self._n_marked_up:
            yield f"{self._n_marked_up} texts are shown without their marks of HTML."
        if self._computed:
            yield (
                f"{len(self._computed)} entries were left out, because their sentence is computed: "
                f"{_list_places(self._computed)}."
            )
        if self._unasked:
            yield (
                f"{len(self._unasked)} questions are not asked, because they do not have exactly "
                f"two answers of which one is right (hasCorrect): {_list_places(self._unasked)}."
            )
        if self._passed_over:
            names = ", ".join(f"{name} ({n})" for name, n in self._passed_over.items())
            yield f"What other controllers show with a sentence is not read: {names}."

    def response(self) -> str:
        """Return the response type of most items; empty if their controllers are unknown."""
        usual = self._controllers.most_common(1)
        return _RESPONSE_TYPES.get(usual[0][0], "") if usual else ""


def _list_places(places: Sequence[str]) -> str:
    lines = [place.rpartition(", ")[2] for place in places]
    return ", ".join(lines[:_SHOWN]) + ", ..." * (len(lines) > _SHOWN)


def _scale(options: _Options) -> dict[str, str]:
    """Return the columns of a scale: its number of points, and the labels of its ends."""
    points = options.get("as")
    if not options.get("presentAsScale") or not isinstance(points, list):
        return {}
    ends = {"lowest": options.get("leftComment"), "highest": options.get("rightComment")}
    return {"points": str(len(points))} | {
        name: text.strip() for name, text in ends.items() if isinstance(text, str)
    }


def _drop_numbers(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts without the item's number in the condition, if every numbered target does.

    Labels such as "target-12-long" or "it12-long" name the item again, so that no two would share a
    condition.
    """
    parts = [_BETWEEN.split(draft.condition) for draft in drafts]
    targets = [
        (draft, words)
        for draft, words in zip(drafts, parts, strict=True)
        if draft.item and not draft.kind
    ]
    named = [_word_of_number(draft.item, words) for draft, words in targets]
    if not all(named):
        return [*drafts]
    for (_, words), word in zip(targets, named, strict=True):
        words.remove(word)
    return [
        replace(draft, condition="-".join(words)) if draft.item and not draft.kind else draft
        for draft, words in zip(drafts, parts, strict=True)
    ]


def _word_of_number(number: str, words: Sequence[str]) -> str:
    """Return the word of a label that is an item's number, alone or after letters; else empty."""
    if number in words[1:]:
        return number
    after_letters = re.compile(rf"[^\W\d_]+{re.escape(number)}")
    return next((word for word in words if len(words) > 1 and after_letters.fullmatch(word)), "")


def _name_experiments(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with the experiment of each target, if the file holds several.

    Conditions that share an item belong to one experiment; it is named after what they begin with.
    """
    groups: list[set[str]] = []
    conditions_of: dict[str, set[str]] = {}
    for n, draft in enumerate(drafts):
        if not draft.kind:
            conditions_of.setdefault(draft.item or f"row {n}", set()).add(draft.condition)
    for conditions in conditions_of.values():
        joined = [group for group in groups if group & conditions]
        groups = [group for group in groups if group not in joined]
        groups.append(conditions.union(*joined))
    names = {
        condition: "".join(longest_common_prefix(group)).rstrip("0123456789-_. ") or min(group)
        for group in groups
        for condition in group
    }
    if len(groups) < 2:
        return [*drafts]
    return [
        draft if draft.kind else replace(draft, construction=names[draft.condition])
        for draft in drafts
    ]


FORMAT = Format(
    name="a data file of Ibex",
    documentation="| Ibex, PCIbex (`.js`) | an array `items`, or its entries alone | each with a "
    "sentence (`s`) "
    "and its question; labels with filler or practice are such, and nothing is run |",
    recognises=_is_ibex,
    read=_read,
    suffixes=(_SUFFIX,),
)
