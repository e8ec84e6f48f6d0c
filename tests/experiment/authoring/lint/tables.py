"""Tables without a mistake, drawn by seed: what people bring to ``parallax study new``."""

import csv
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

Row = dict[str, str]

_NOUNS = ("author", "pilot", "farmer", "surgeon", "teacher", "guard", "dancer", "singer",
          "clerk", "skater", "minister", "officer", "senator", "manager", "consultant",
          "customer")  # fmt: skip
_THINGS = ("key", "label", "door", "picture", "box", "letter", "lamp", "book", "ring", "cup",
          "vase", "poster", "chair", "window", "shelf", "wheel")  # fmt: skip
_PLACES = ("cabinet", "bottle", "room", "table", "garden", "engine", "house", "statue", "tree",
          "desk", "tower", "bridge", "river", "school", "church", "market")  # fmt: skip
_STATES = ("old", "rusty", "broken", "small", "heavy", "dirty", "green", "lost", "new", "cheap")
_VERBS = (
    ("laughs", "laugh"),
    ("waits", "wait"),
    ("sleeps", "sleep"),
    ("smiles", "smile"),
    ("swims", "swim"),
    ("works", "work"),
    ("travels", "travel"),
    ("arrives", "arrive"),
)
_SEEN = ("praised", "followed", "noticed", "called", "visited", "admired", "ignored", "helped")
_NAMES = ("Mary", "Robert", "Derek", "Susan", "Karla", "Martin", "Deborah", "Victor", "Alice",
          "Rachel", "Carlos", "Tiffany")  # fmt: skip
_GERMAN = ("Lehrer", "Pilot", "Bauer", "Arzt", "Schüler", "Tänzer", "Sänger", "Maler", "Fahrer",
          "Koch", "Maurer", "Gärtner")  # fmt: skip
_FILLERS = (("She gave him a {0} yesterday.", "She gave he a {0} yesterday."),
            ("They have seen the {0} twice.", "They have saw the {0} twice."),
            ("Every {0} needs some care.", "Every {0} need some care."),
            ("Nobody bought the {0} in June.", "Nobody buyed the {0} in June."))  # fmt: skip


@dataclass(slots=True)
class Table:
    """A researcher's table.

    Attributes:
        name: What it is.
        rows: Its rows.
        suffix: In which format it is written.
        language: Its language.
        options: What ``study new`` is told of its columns.
        hidden_rows: The rows that the spreadsheet hides, from 0.
        hidden_columns: The columns that it hides.
    """

    name: str
    rows: list[Row]
    suffix: str = ".csv"
    language: str = "en"
    options: dict[str, str] = field(default_factory=dict)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[str] = field(default_factory=list)

    @property
    def good(self) -> str:
        """The header of the good sentences."""
        return next(n for n in ("good", "sentence_good", "gut", "sentence") if n in self.rows[0])

    @property
    def bad(self) -> str:
        """The header of the bad ones; empty where sentences stand alone."""
        return next((n for n in ("bad", "sentence_bad", "falsch") if n in self.rows[0]), "")

    def place(self, row: int) -> str:
        """Return how a message ends that names a row's place."""
        if self.suffix == ".xlsx":
            return f"row {row + 2}"
        return f"line {row + (1 if self.suffix == '.jsonl' else 2)}"

    def write(self, folder: Path) -> Path:
        """Write it into a folder; return the file."""
        path = folder / f"{self.name}{self.suffix}"
        if self.suffix == ".jsonl":
            lines = [json.dumps(row, ensure_ascii=False) for row in self.rows]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        elif self.suffix == ".xlsx":
            self._write_sheet(path)
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(self.rows[0]))
                writer.writeheader()
                writer.writerows(self.rows)
        return path

    def _write_sheet(self, path: Path) -> None:
        from openpyxl import Workbook
        from openpyxl.utils import get_column_letter

        book = Workbook()
        sheet = book.active
        assert sheet is not None
        columns = list(self.rows[0])
        sheet.append(columns)
        for row in self.rows:
            sheet.append(list(row.values()))
        for number in self.hidden_rows:
            sheet.row_dimensions[number + 2].hidden = True
        for name in self.hidden_columns:
            sheet.column_dimensions[get_column_letter(columns.index(name) + 1)].hidden = True
        book.save(path)


def _agreement(thing: str, place: str, state: str, subject: str, attractor: str) -> tuple[str, str]:
    head = thing if subject == "sg" else f"{thing}s"
    near = place if attractor == "sg" else f"{place}s"
    verbs = ("is", "are") if subject == "sg" else ("are", "is")
    good, bad = (f"The {head} near the {near} {verb} {state}." for verb in verbs)
    return good, bad


def latin_square(rng: random.Random) -> Table:
    """Return pairs in a 2x2, with fillers and catch trials."""
    things, places = rng.sample(_THINGS, 12), rng.sample(_PLACES, 12)
    rows = []
    for item, (thing, place) in enumerate(zip(things, places, strict=True), start=1):
        state = rng.choice(_STATES)
        for subject, attractor in product(("sg", "pl"), ("sg", "pl")):
            good, bad = _agreement(thing, place, state, subject, attractor)
            rows.append(
                {"good": good, "bad": bad, "item": str(item), "subject": subject,
                 "attractor": attractor, "kind": "target"}
            )  # fmt: skip
    others = rng.sample(_THINGS, 12)
    for number, thing in enumerate(others):
        good, bad = (text.format(thing) for text in _FILLERS[number % len(_FILLERS)])
        kind = "catch" if number >= 8 else "filler"
        rows.append(
            {"good": good, "bad": bad, "item": str(100 + number), "subject": "", "attractor": "",
             "kind": kind}
        )  # fmt: skip
    return Table("square", rows, options={"condition": "subject+attractor"})


def spreadsheet(rng: random.Random) -> Table:
    """Return pairs of two conditions in a workbook."""
    rows = []
    for item, (thing, place) in enumerate(
        zip(rng.sample(_THINGS, 10), rng.sample(_PLACES, 10), strict=True), start=1
    ):
        state = rng.choice(_STATES)
        for condition, attractor in (("match", "sg"), ("mismatch", "pl")):
            good, bad = _agreement(thing, place, state, "sg", attractor)
            rows.append({"item": str(item), "condition": condition, "good": good, "bad": bad,
                         "kind": "target", "remark": rng.choice(("easy", "hard"))})  # fmt: skip
    for number, thing in enumerate(rng.sample(_THINGS, 8)):
        good, bad = (text.format(thing) for text in _FILLERS[number % len(_FILLERS)])
        rows.append({"item": str(50 + number), "condition": "", "good": good, "bad": bad,
                     "kind": "filler", "remark": "easy"})  # fmt: skip
    return Table("sheet", rows, ".xlsx")


def completions(rng: random.Random) -> Table:
    """Return contexts with two verbs."""
    rows = []
    for item, (thing, place) in enumerate(
        zip(rng.sample(_THINGS, 12), rng.sample(_PLACES, 12), strict=True), start=1
    ):
        good, bad = rng.choice((("is", "are"), ("was", "were"), ("has", "have")))
        rows += [
            {"context": f"The {thing} near the {place}{end}", "good": good, "bad": bad,
             "item": str(item), "condition": condition}
            for condition, end in (("match", ""), ("mismatch", "s"))
        ]  # fmt: skip
    return Table("completion", rows)


def ratings(rng: random.Random) -> Table:
    """Return single sentences of a 2x2, dealt to lists by the table itself."""
    rows = []
    levels = list(product(("short", "long"), ("non", "island")))
    for item, (noun, other) in enumerate(
        zip(rng.sample(_NOUNS, 12), rng.sample(_NOUNS[::-1], 12), strict=True), start=1
    ):
        seen = rng.choice(_SEEN)
        for number, (distance, island) in enumerate(levels):
            claim = "that" if island == "non" else "whether"
            start = "Who thinks" if distance == "short" else "What does she think"
            end = f"the {other} {seen} the {noun}" if distance == "short" else f"the {other} {seen}"
            rows.append(
                {"sentence": f"{start} {claim} {end}?", "item": str(item), "distance": distance,
                 "island": island, "list": str(1 + (item + number) % 4)}
            )  # fmt: skip
    return Table("acceptability", rows, options={"condition": "distance+island"})


def german(rng: random.Random) -> Table:
    """Return German pairs with headers of their own."""
    rows = []
    for item, noun in enumerate(rng.sample(_GERMAN, 12), start=1):
        place = rng.choice(("Garten", "Haus", "Hof", "Zug"))
        good, bad = (f"Der {noun} {verb} heute im {place}." for verb in ("schläft", "schlafen"))
        rows.append({"nr": str(item), "gut": good, "falsch": bad})
    return Table("saetze", rows, language="de", options={"good": "gut", "bad": "falsch"})


def blimp(rng: random.Random, paradigm: str = "") -> Table:
    """Return a paradigm in BLiMP's format."""
    paradigm = paradigm or rng.choice(sorted(PARADIGMS))
    rows = []
    while len(rows) < 20:
        good, bad = PARADIGMS[paradigm](rng)
        if any(good == row["sentence_good"] for row in rows):
            continue
        rows.append({"sentence_good": good, "sentence_bad": bad, "field": "syntax",
                     "UID": paradigm, "pair_id": str(len(rows))})  # fmt: skip
    return Table(paradigm, rows, ".jsonl")


def _two(rng: random.Random) -> tuple[str, str]:
    one, other = rng.sample(_NOUNS, 2)
    return one, other


def _number_agreement(rng: random.Random) -> tuple[str, str]:
    (one, other), (single, plural) = _two(rng), rng.choice(_VERBS)
    start = f"The {one} that the {other}s {rng.choice(_SEEN)}"
    return f"{start} {single}.", f"{start} {plural}."


def _adjunct_island(rng: random.Random) -> tuple[str, str]:
    (name, other), noun = rng.sample(_NAMES, 2), rng.choice(_NOUNS)
    doer = rng.choice((name, f"the {noun}", f"that {noun}"))
    a, b = rng.choice(("hug", "visit", "call")), rng.choice(("shocking", "leaving", "greeting"))
    whom = rng.choice((other, f"some {noun}s", f"the tall {noun}"))
    return f"Who should {doer} {a} after {b} {whom}?", f"Who should {doer} {a} {whom} after {b}?"


def _drop_argument(rng: random.Random) -> tuple[str, str]:
    single, hard = (
        rng.choice(("read", "ate", "sang", "left")),
        rng.choice(("hugged", "took", "saw")),
    )
    who = rng.choice(_NAMES + tuple(f"The {noun}" for noun in _NOUNS))
    return f"{who} {single}.", f"{who} {hard}."


def _npi(rng: random.Random) -> tuple[str, str]:
    noun, (_, verb) = rng.choice(_NOUNS), rng.choice(_VERBS)
    return f"Only {rng.choice(_NAMES)} would ever {verb}.", f"Even the {noun} would ever {verb}."


def _anaphor(rng: random.Random) -> tuple[str, str]:
    noun, seen, other = rng.choice(_NOUNS), rng.choice(_SEEN), rng.choice(_PLACES)
    start = f"The {noun}s near the {other} {seen}"
    return f"{start} themselves.", f"{start} herself."


def _coordination(rng: random.Random) -> tuple[str, str]:
    one, other = rng.sample(_NAMES, 2)
    what, seen = rng.choice(_THINGS), rng.choice(_SEEN)
    return f"What had {one} and {other} {seen}?", f"What had {one} {seen} the {what} and {other}?"


def _passive(rng: random.Random) -> tuple[str, str]:
    one, other = _two(rng)
    a, b = rng.choice(_SEEN), rng.choice(("smiled", "slept", "arrived"))
    return f"The {one} was {a} by the {other}.", f"The {one} was {b} by the {other}."


def _existential(rng: random.Random) -> tuple[str, str]:
    noun, place = rng.choice(_NOUNS), rng.choice(_PLACES)
    return f"There was a {noun} near the {place}.", f"There was each {noun} near the {place}."


PARADIGMS: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "distractor_agreement_relational_noun": _number_agreement,
    "adjunct_island": _adjunct_island,
    "drop_argument": _drop_argument,
    "only_npi_licensor_present": _npi,
    "anaphor_gender_agreement": _anaphor,
    "coordinate_structure_constraint": _coordination,
    "passive_1": _passive,
    "existential_there_quantifiers_1": _existential,
}

TABLES = (latin_square, spreadsheet, completions, ratings, german, blimp)


def suites(rng: random.Random) -> Iterator[dict[str, object]]:
    """Yield suites in SyntaxGym's format: agreement, a garden path, a filler and its gap."""
    kinds = {
        "number_src": (
            ("match", "mismatch"),
            lambda n, o, v: {
                "match": ["The", n, f"that {rng.choice(_SEEN)} the {o}s", v[0], "."],
                "mismatch": ["The", n, f"that {rng.choice(_SEEN)} the {o}s", v[1], "."],
            },
            ("(4;%mismatch%) > (4;%match%)",),
        ),
        "mvrr": (
            ("ambig_reduced", "ambig_full", "clear_reduced", "clear_full"),
            lambda n, o, v: {
                f"{a}_{r}": ["The", n, *(["who was"] if r == "full" else [""]),
                             "brought" if a == "ambig" else "given", f"the {o}'s letter", v[0], "."]
                for a in ("ambig", "clear") for r in ("reduced", "full")
            },
            ("(6;%ambig_reduced%) > (6;%ambig_full%)", "(6;%ambig_reduced%) > (6;%clear_reduced%)"),
        ),
        "fgd": (
            ("that_nogap", "what_nogap", "that_gap", "what_gap"),
            lambda n, o, v: {
                f"{w}_{g}": ["I know", w, f"the {n}", "followed",
                             f"the {o}" if g == "nogap" else "", "yesterday", "."]
                for w in ("that", "what") for g in ("nogap", "gap")
            },
            ("(5;%what_nogap%) > (5;%that_nogap%)", "(6;%that_gap%) > (6;%what_gap%)"),
        ),
    }  # fmt: skip
    for name, (conditions, regions, formulas) in kinds.items():
        items = []
        for number, noun in enumerate(rng.sample(_NOUNS, 12), start=1):
            other = rng.choice(_PLACES)
            state = rng.getstate()
            made = {}
            for condition in conditions:
                rng.setstate(state)
                made[condition] = regions(noun, other, rng.choice(_VERBS))[condition]
            items.append({"item_number": number, "conditions": [
                {"condition_name": condition, "regions": [
                    {"region_number": at, "content": text}
                    for at, text in enumerate(made[condition], start=1)]}
                for condition in conditions]})  # fmt: skip
        length = len(next(iter(made.values())))
        yield {
            "meta": {"name": name, "metric": "sum", "author": "", "reference": ""},
            "region_meta": {str(n): f"region{n}" for n in range(1, length + 1)},
            "predictions": [{"type": "formula", "formula": one} for one in formulas],
            "items": items,
        }
