"""Test the import of judgments: twelve formats, corrupted in all known ways, with no silent change.

``python -m tests.analysis.readers.import_mutations`` writes the same judgments in each format,
corrupts each file in each way of ``MUTATIONS``, imports it without a mapping, and prints the
outcome:

same      the import returned the original judgments
refused   the import returned nothing, and a message explains why
said      the import returned other judgments, and the reconciliation reports it
SILENT    the import returned other judgments without any message

The command fails on SILENT. The ways were written down before any of them was tried.
"""

import csv
import io
import json
import random
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.readers.accounting import Accounting
from analysis.readers.guess import guess_mapping
from analysis.readers.judgments import interpret_source
from analysis.readers.plausibility import check_accuracy, check_key_assignment
from analysis.readers.sources import read_source
from experiment.errors import ParallaxError
from experiment.records import Item, Kind
from tests.analysis.readers.spoilt_files import Outcome, print_outcomes

PEOPLE, ITEMS, WRONG = 12, 10, 7
SIDES = ("left", "right")
_SUBJECTS = ("author", "café owner", "pilot", "surgeon's aunt", "farmer", "dancer", "clerk",
             "skater", "teacher", "guard")  # fmt: skip


def items(start: int = 1) -> list[Item]:
    """Return pairs that differ in their verb."""
    return [
        Item(f"agr-{start + n}", Kind.TARGET, "agreement", f"c{n % 2}", "", "", "", "",
             f"The {who} near the doors laughs.", f"The {who} near the doors laugh.")
        for n, who in enumerate(_SUBJECTS)
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """One judgment."""

    person: str
    item: str
    good: str
    bad: str
    side: str
    right: bool
    rt_ms: int

    @property
    def chosen_side(self) -> str:
        """The side that was chosen."""
        return self.side if self.right else SIDES[self.side == "left"]

    @property
    def chosen(self) -> str:
        """The text that was chosen."""
        return self.good if self.right else self.bad

    @property
    def left(self) -> str:
        """The text on the left."""
        return self.good if self.side == "left" else self.bad

    @property
    def other(self) -> str:
        """The text on the right."""
        return self.bad if self.side == "left" else self.good


def judgments(known: Sequence[Item]) -> list[Judged]:
    """Return everybody's judgments of every item, each person's together."""
    found = []
    for p in range(PEOPLE):
        for n, item in enumerate(known):
            number = p * ITEMS + n
            side = SIDES[(p + n * n) % 2]
            right = number % WRONG != 3
            found.append(
                Judged(f"A{p:02}X", item.item_id, item.good, item.bad, side, right, 700 + number)
            )
    return found


Files = dict[str, bytes]


def _table(rows: Sequence[dict[str, object]], mark: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=mark, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def versions(rows: Sequence[Judged]) -> Files:
    """Our own long form."""
    return {"judgments.csv": _table([
        {"participant": r.person, "item": r.item, "chosen": "good" if r.right else "bad",
         "rt_ms": r.rt_ms} for r in rows])}  # fmt: skip


def texts(rows: Sequence[Judged]) -> Files:
    """A table with the chosen sentence, and whether that was right."""
    return {"results.csv": _table([
        {"subject": r.person, "stimulus_id": r.item, "response": r.chosen,
         "accuracy": int(r.right), "rt": r.rt_ms} for r in rows])}  # fmt: skip


def sides(rows: Sequence[Judged]) -> Files:
    """Sides, and the side of the expected sentence; tabs."""
    return {"results.tsv": _table([
        {"worker_id": r.person, "item": r.item, "left": r.left, "right_text": r.other,
         "correct_side": r.side, "choice": r.chosen_side, "rt": r.rt_ms} for r in rows],
        "\t")}  # fmt: skip


def two_columns(rows: Sequence[Judged]) -> Files:
    """Two sentences without ids, and the judgment; semicolons."""
    return {"results.csv": _table([
        {"who": r.person, "sentence_a": r.left, "sentence_b": r.other, "judgment": r.chosen,
         "rt": r.rt_ms} for r in rows], ";")}  # fmt: skip


def wide(rows: Sequence[Judged]) -> Files:
    """A session per row, as MTurk's batches: numbered columns."""
    lines = []
    for person, own in _by_person(rows):
        line: dict[str, object] = {"HITId": "h", "AssignmentId": f"a{person}", "WorkerId": person,
                                   "AssignmentStatus": "Approved"}  # fmt: skip
        for n, r in enumerate(own, start=1):
            line |= {f"Input.item{n}": r.item, f"Input.good{n}": r.side,
                     f"Answer.choice{n}": r.chosen_side}  # fmt: skip
        lines.append(line)
    columns = dict.fromkeys(name for line in lines for name in line)
    return {"batch.csv": _table([dict.fromkeys(columns, "") | line for line in lines])}


def named_columns(rows: Sequence[Judged]) -> Files:
    """A session per row, a column per item, as surveys write them."""
    lines: list[dict[str, object]] = []
    known = dict.fromkeys(r.item for r in rows)
    for person, own in _by_person(rows):
        line = {"ResponseId": f"R_{person}", "Status": "IP Address"} | dict.fromkeys(known, "")
        lines.append({**line, **{r.item: r.chosen for r in own}})
    return {"survey.csv": _table(lines)}


def jspsych(rows: Sequence[Judged]) -> Files:
    """A file of JSON for each participant."""
    files = {}
    for person, own in _by_person(rows):
        trials: list[dict[str, object]] = [{"trial_type": "instructions", "trial_index": 0}]
        trials += [
            {"trial_type": "html-keyboard-response", "trial_index": n, "item_id": r.item,
             "response": "f" if r.chosen_side == "left" else "j",
             "correct_response": "f" if r.side == "left" else "j", "rt": r.rt_ms}
            for n, r in enumerate(own, start=1)
        ]  # fmt: skip
        files[f"data/{person}.json"] = json.dumps(trials, ensure_ascii=False).encode()
    return files


def json_lines(rows: Sequence[Judged]) -> Files:
    """A file of lines for each participant; each line holds a list of events."""
    return {
        f"data/{person}.jsonl": "".join(
            json.dumps({"block": n, "events": 2, "data": [
                {"item": r.item, "answer": r.chosen, "rt": r.rt_ms}]}, ensure_ascii=False) + "\n"
            for n, r in enumerate(own)
        ).encode()
        for person, own in _by_person(rows)
    }  # fmt: skip


def ibex(rows: Sequence[Judged]) -> Files:
    """Results of Ibex, whose comments name the columns."""
    head = ("# Results on Friday\n# Columns below this comment are as follows:\n"
            "# 1. MD5 hash of participant's IP address.\n# 2. Controller name.\n# 3. item.\n"
            "# 4. Answer.\n# 5. Whether or not answer was correct (NULL if N/A).\n"
            "# 6. Time taken to answer.\n")  # fmt: skip
    lines = [f"{r.person},Question,{r.item},{r.chosen},{int(r.right)},{r.rt_ms}\n" for r in rows]
    return {"results": (head + "".join(lines)).encode()}


def psiturk(rows: Sequence[Judged]) -> Files:
    """Trial data of psiTurk: JSON in the last column, no headers."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [f"{r.person}:H", n, 17000000 + n,
         json.dumps({"phase": "test", "item": r.item, "chosen": r.chosen, "rt": r.rt_ms})]
        for n, r in enumerate(rows)
    )  # fmt: skip
    return {"trialdata.csv": out.getvalue().encode()}


def otree(rows: Sequence[Judged]) -> Files:
    """A table of one app of oTree; times in seconds."""
    return {"app.csv": _table([
        {"participant.code": r.person, "participant._is_bot": "0", "session.code": "s1",
         "player.item": r.item, "player.choice": r.chosen, "player.rt": f"{r.rt_ms / 1000:.3f}"}
        for r in rows])}  # fmt: skip


def jatos(rows: Sequence[Judged]) -> Files:
    """Plain text of JATOS: one participant's list per line."""
    return {"jatos.txt": "".join(
        json.dumps([{"trial_type": "choice", "trial_index": n, "item": r.item,
                     "response": r.chosen, "rt": r.rt_ms} for n, r in enumerate(own)]) + "\n"
        for _, own in _by_person(rows)).encode()}  # fmt: skip


def gorilla(rows: Sequence[Judged]) -> Files:
    """A task of Gorilla, which ends with a line of its own."""
    lines: list[dict[str, object]] = [
        {"Event Index": n, "Participant Private ID": r.person, "Zone Type": "response_button_text",
         "Response": r.chosen, "Correct": int(r.right), "Reaction Time": r.rt_ms, "item": r.item}
        for n, r in enumerate(rows, start=1)
    ]  # fmt: skip
    lines.append({"Event Index": "END OF FILE"})
    return {"task.csv": _table([{**dict.fromkeys(lines[0], ""), **line} for line in lines])}


def _by_person(rows: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    for person in dict.fromkeys(r.person for r in rows):
        yield person, [r for r in rows if r.person == person]


FORMATS: dict[str, Callable[[Sequence[Judged]], Files]] = {
    one.__name__: one
    for one in (
        versions, texts, sides, two_columns, wide, named_columns, jspsych, json_lines, ibex,
        psiturk, otree, jatos, gorilla,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spoilt:
    """What a mutation works on and returns."""

    rows: list[Judged]
    items: list[Item]
    files: Files


def _of_rows(change: Callable[[list[Judged]], list[Judged]]) -> "Mutation":
    def made(write: Callable[[Sequence[Judged]], Files], rows: list[Judged],
             known: list[Item], _: random.Random) -> Spoilt:  # fmt: skip
        return Spoilt(rows, known, write(change(rows)))

    return made


def _of_bytes(change: Callable[[bytes], bytes]) -> "Mutation":
    def made(write: Callable[[Sequence[Judged]], Files], rows: list[Judged],
             known: list[Item], _: random.Random) -> Spoilt:  # fmt: skip
        return Spoilt(rows, known, {name: change(one) for name, one in write(rows).items()})

    return made


def _of_text(change: Callable[[str], str]) -> "Mutation":
    return _of_bytes(lambda content: change(content.decode()).encode())


def _of_items(change: Callable[[list[Item]], list[Item]]) -> "Mutation":
    def made(write: Callable[[Sequence[Judged]], Files], rows: list[Judged],
             known: list[Item], _: random.Random) -> Spoilt:  # fmt: skip
        return Spoilt(rows, change(known), write(rows))

    return made


def _of_both(change: Callable[[str], tuple[str, str]]) -> "Mutation":
    """Change the two texts of each item, in the items and in the judgments alike."""

    def made(write: Callable[[Sequence[Judged]], Files], rows: list[Judged],
             known: list[Item], _: random.Random) -> Spoilt:  # fmt: skip
        pairs = {item.item_id: change(item.good) for item in known}
        changed = [replace(i, good=pairs[i.item_id][0], bad=pairs[i.item_id][1]) for i in known]
        judged = [replace(r, good=pairs[r.item][0], bad=pairs[r.item][1]) for r in rows]
        return Spoilt(judged, changed, write(judged))

    return made


Mutation = Callable[
    [Callable[[Sequence[Judged]], Files], list[Judged], list[Item], random.Random], Spoilt
]


def _exchanged(share: float) -> Callable[[list[Judged]], list[Judged]]:
    def change(rows: list[Judged]) -> list[Judged]:
        people = list(dict.fromkeys(r.person for r in rows))
        those = set(people[: int(len(people) * share)])
        return [replace(r, right=not r.right) if r.person in those else r for r in rows]

    return change


def _shifted(rows: list[Judged]) -> list[Judged]:
    ids = list(dict.fromkeys(r.item for r in rows))
    following = dict(zip(ids, [*ids[1:], ids[0]], strict=True))
    return [replace(r, item=following[r.item]) for r in rows]


def _renumbered(text: str, change: Callable[[int], str]) -> str:
    head, mark, rest = text.partition("\n")
    names = []
    for name in head.split(","):
        number = "".join(c for c in name[-2:] if c.isdigit())
        stem = name[: len(name) - len(number)]
        is_trial = number and stem.startswith(("Input.", "Answer."))
        names.append(stem + change(int(number)) if is_trial else name)
    return ",".join(names) + mark + rest


def _without(text: str, header: str) -> str:
    rows = list(csv.reader(io.StringIO(text)))
    if header not in rows[0]:
        return text
    place = rows[0].index(header)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([c for n, c in enumerate(row) if n != place]
                                                   for row in rows)  # fmt: skip
    return out.getvalue()


def _columns_reversed(text: str) -> str:
    mark = max(",\t;", key=text.split("\n", 1)[0].count)
    rows = list(csv.reader(io.StringIO(text), delimiter=mark))
    if len({len(row) for row in rows}) > 1 or len(rows) < 2:
        return text
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows(row[::-1] for row in rows)
    return out.getvalue()


def _mojibake(text: str) -> str:
    return text.encode().decode("latin-1")


# The ways, by what goes wrong.
MUTATIONS: dict[str, Mutation] = {
    "nothing": _of_rows(lambda rows: rows),
    "rows: every one twice": _of_rows(lambda rows: [r for r in rows for _ in "12"]),
    "rows: file appended to itself": _of_rows(lambda rows: rows + rows),
    "rows: one person twice": _of_rows(lambda rows: rows + rows[:ITEMS]),
    "rows: one twice": _of_rows(lambda rows: [*rows, rows[3]]),
    "rows: another order": _of_rows(lambda rows: random.Random(1).sample(rows, len(rows))),
    "rows: cut in the middle of the last": _of_bytes(lambda one: one[:-20]),
    "rows: a person without a name": _of_rows(
        lambda rows: [replace(r, person="") if r.person == rows[0].person else r for r in rows]
    ),
    "rows: an unknown item": _of_rows(lambda rows: [replace(rows[0], item="zzz-9"), *rows[1:]]),
    "rows: blank lines": _of_text(lambda text: text.replace("\n", "\n\n", 3)),
    "columns: reversed": _of_text(_columns_reversed),
    "columns: numbered from 0": _of_text(lambda t: _renumbered(t, lambda n: str(n - 1))),
    "columns: numbered with a gap": _of_text(
        lambda t: _renumbered(t, lambda n: str(n if n < 3 else n + 1))
    ),
    "columns: numbered 01": _of_text(lambda t: _renumbered(t, lambda n: f"{n:02}")),
    "columns: one number lacks its choice": _of_text(lambda t: _without(t, "Answer.choice3")),
    "columns: one number lacks its item": _of_text(lambda t: _without(t, "Input.item3")),
    "columns: comments before the headers": _of_text(
        lambda text: text if text[0] in "[{#" else "# exported on Friday\n" + text
    ),
    "columns: a title before the headers": _of_text(
        lambda text: text if text[0] in "[{#" else "My experiment\n\n" + text
    ),
    "ids: of the next item": _of_rows(_shifted),
    "ids: in capitals": _of_rows(lambda rows: [replace(r, item=r.item.upper()) for r in rows]),
    "ids: with spaces": _of_rows(lambda rows: [replace(r, item=f" {r.item} ") for r in rows]),
    "ids: items from 0": _of_items(lambda known: [
        replace(one, item_id=f"agr-{n}") for n, one in enumerate(known)]),
    "ids: items lack one": _of_items(lambda known: known[1:]),
    "ids: items in another order of ids": _of_items(lambda known: [
        replace(one, item_id=other.item_id)
        for one, other in zip(known, known[::-1], strict=True)]),
    "choices: good and bad exchanged in the items": _of_items(
        lambda known: [replace(one, good=one.bad, bad=one.good) for one in known]
    ),
    "choices: keys of a quarter exchanged": _of_rows(_exchanged(0.25)),
    "choices: keys of half exchanged": _of_rows(_exchanged(0.5)),
    "choices: keys of all exchanged": _of_rows(_exchanged(1)),
    "choices: a third answer": _of_rows(
        lambda rows: [replace(rows[5], good="timeout", bad="timeout"), *rows[:5], *rows[6:]]
    ),
    "choices: in capitals": _of_rows(
        lambda rows: [replace(r, good=r.good.upper(), bad=r.bad.upper()) for r in rows]
    ),
    "choices: curly apostrophes": _of_rows(
        lambda rows: [replace(r, good=r.good.replace("'", "\u2019"),
                              bad=r.bad.replace("'", "\u2019")) for r in rows]),
    "pairs: differ in a capital": _of_both(lambda good: (good, good.replace("The", "the"))),
    "pairs: differ in the last mark": _of_both(lambda good: (good, good[:-1] + "!")),
    "pairs: differ in nothing": _of_both(lambda good: (good, good)),
    "encoding: UTF-16": _of_bytes(lambda one: one.decode().encode("utf-16")),
    "encoding: Windows-1252": _of_bytes(lambda one: one.decode().encode("cp1252", "replace")),
    "encoding: byte order mark": _of_bytes(lambda one: b"\xef\xbb\xbf" + one),
    "encoding: lines end as on Windows": _of_bytes(lambda one: one.replace(b"\n", b"\r\n")),
    "encoding: UTF-8 read as Latin-1": _of_text(_mojibake),
    "encoding: letters and accents apart": _of_text(
        lambda text: unicodedata.normalize("NFD", text)
    ),
    "times: with decimal commas": _of_text(lambda text: text.replace(".7", ",7")),
    "times: negative": _of_rows(lambda rows: [replace(r, rt_ms=-r.rt_ms) for r in rows]),
    "times: a tenth": _of_rows(lambda rows: [replace(r, rt_ms=r.rt_ms // 10) for r in rows]),
}  # fmt: skip


# Where no text stands in a file, nothing in it says that ids are another item's.
_WITHOUT_TEXTS = ("versions", "wide", "jspsych")
_OF_TEXTS_ALONE = (
    "ids: of the next item", "ids: items in another order of ids",
    "choices: good and bad exchanged in the items",
)  # fmt: skip


def outcomes(names: Sequence[str] = tuple(FORMATS), seed: int = 1) -> Iterator[Outcome]:
    """Yield what becomes of the formats in every way."""
    known = items()
    rows = judgments(known)
    for name in names:
        write = FORMATS[name]
        usual = set[str]()
        plain = write(rows)
        for number, (way, mutation) in enumerate(MUTATIONS.items()):
            spoilt = mutation(write, rows, known, random.Random(seed + number))
            if way != "nothing" and spoilt.files == plain and spoilt.items == known:
                continue
            if name in _WITHOUT_TEXTS and way in _OF_TEXTS_ALONE:
                continue
            outcome, said = _became(spoilt, usual)
            if way == "nothing":
                usual = said
            yield Outcome(name, way, *outcome)


def _became(spoilt: Spoilt, usual: set[str]) -> tuple[tuple[str, str], set[str]]:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in spoilt.files.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        first = Path(next(iter(spoilt.files)))
        place = Path(folder) / (first.parent if first.parent.name else first)
        try:
            source = read_source(place)
            guess = guess_mapping(source, spoilt.items)
            if guess.lacking:
                return ("refused", f"lacks {' and '.join(guess.lacking)}"), set()
            found = interpret_source(source, guess.mapping, spoilt.items)
            check_accuracy(found.run)
            check_key_assignment(found.run)
        except ParallaxError as error:
            return ("refused", str(error).replace(folder, "")), set()
    said = _said(found.account)
    got = found.run.responses
    pair_of = {one.item_id: {one.good, one.bad} for one in spoilt.items}
    truth = Counter((str(sorted({r.good, r.bad})), r.right) for r in spoilt.rows)
    read = zip(got["item_id"], got["chose_good"].map(bool), strict=True)
    same = (
        Counter((str(sorted(pair_of[item])), right) for item, right in read) == truth
        and sorted(got.groupby("participant").size()) == [ITEMS] * PEOPLE
        and _times_are(found.run.responses["rt_ms"].dropna().tolist())
    )
    if same:
        return ("same", ""), said
    news = said - usual
    return ("said" if news else "SILENT", "; ".join(sorted(news))), said


def _times_are(times: Sequence[float]) -> bool:
    return not times or sorted(times) == list(range(700, 700 + PEOPLE * ITEMS))


def _said(account: Accounting) -> set[str]:
    dropped = {**account.before, **account.rows_dropped, **account.trials_dropped}
    return {*account.attention, *(f"{n} dropped: {rule}" for rule, n in dropped.items() if n)}


def main() -> None:
    """Print the table, and fail on anything silent."""
    what = f"{len(FORMATS)} formats in {len(MUTATIONS)} ways"
    print_outcomes(outcomes(), what, about=__doc__)


if __name__ == "__main__":
    main()
