"""A hundred altered reading tables: none makes a study that compares the wrong words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from experiment.commands import study as commands
from experiment.errors import ParallaxError
from experiment.materials.read import load_items
from experiment.responses.registry import response_of
from experiment.studies.load import load_study

_NOUNS = ("nurse", "pilot", "baker", "judge", "guest", "clerk")
_VERBS = ("hurried", "listened", "smiled", "waited", "argued", "rested")


@dataclass(frozen=True)
class Row:
    """A sentence of a table.

    Attributes:
        words: Its words.
        place: Where the critical word is, from 0.
        critical: What the table says of the critical word; None without such a column.
        space: What is between words.
    """

    item: int
    condition: str
    words: tuple[str, ...]
    place: int
    critical: str | None
    space: str = " "


def _make_table(*, equal: bool, named_by: str) -> list[Row]:
    rows = []
    for number, (noun, verb) in enumerate(zip(_NOUNS, _VERBS, strict=True), 1):
        for condition, before in (("a", ("saw",)), ("b", ("heard",) if equal else ("saw", "that"))):
            words = ("They", *before, "the", noun, verb, "all", "through", "the", "evening.")
            place = words.index(verb)
            critical = {"none": None, "number": str(place + 1), "text": verb}[named_by]
            rows.append(Row(number, condition, words, place, critical))
    return rows


def _insert(row: Row, at: int, word: str) -> Row:
    words = (*row.words[:at], word, *row.words[at:])
    return replace(row, words=words, place=row.place + (at <= row.place))


def _remove(row: Row, at: int) -> Row:
    words = (*row.words[:at], *row.words[at + 1 :])
    return replace(row, words=words, place=row.place - (at < row.place))


# Each alters one row or all rows of a condition; the numbers of critical words stay.
_ALTERATIONS: dict[str, Callable[[Row, Random], Row]] = {
    "kept": lambda row, _: row,
    "word before": lambda row, r: _insert(row, r.randint(1, row.place), "quietly"),
    "word after": lambda row, r: _insert(row, r.randint(row.place + 1, len(row.words) - 1), "long"),
    "word lost": lambda row, r: _remove(row, r.randint(1, row.place - 1)),
    "number off by one": lambda row, r: (
        replace(row, critical=str(int(row.critical) + r.choice((-1, 1))))
        if row.critical and row.critical.isdigit() else _insert(row, 1, "soon")
    ),
    "empty critical": lambda row, _: row if row.critical is None else replace(row, critical=""),
    "white space": lambda row, r: replace(row, space=r.choice(("  ", "\t", "\u00a0"))),
    "repeated critical word": lambda row, _: _insert(row, 1, row.words[row.place]),
}  # fmt: skip


def _alter(seed: int) -> list[Row]:
    random = Random(seed)
    name = list(_ALTERATIONS)[seed % len(_ALTERATIONS)]
    named_by = random.choice(("none", "number", "text"))
    table = _make_table(equal=named_by == "none" or random.random() < 0.5, named_by=named_by)
    whole, only = random.random() < 0.5, random.randint(1, len(_NOUNS))
    return [
        _ALTERATIONS[name](row, Random(seed))
        if row.condition == "b" and (whole or row.item == only)
        else row
        for row in table
    ]


def _compared_words(table: list[Row]) -> dict[tuple[int, str], str]:
    """Return the word that the study compares, of each sentence; of positions, that of a's word."""
    is_named = table[0].critical is not None
    lines = [
        "\t".join((str(row.item), row.condition, row.space.join(row.words).replace("\t", "  "))
                  + ((row.critical or "",) if is_named else ()))
        for row in table
    ]  # fmt: skip
    header = "item\tcondition\tsentence" + ("\tcritical" if is_named else "")
    Path("t.tsv").write_text("\n".join((header, *lines)), encoding="utf-8")
    arguments = ["mine", "--from", "t.tsv", "--response", "self_paced"]
    done = CliRunner().invoke(commands.new, arguments)
    if done.exception is not None:
        raise done.exception
    study = load_study("mine")
    response = response_of(study)
    regions = {
        (int(item.frame.partition("=")[2]), item.condition): response.regions(item, "good")
        for item in load_items(study)
    }
    places = {(row.item, row.condition): row.place for row in table}
    return {
        key: read.texts[read.critical[0] if read.critical else places[key[0], "a"]]
        for key, read in regions.items()
    }


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_an_altered_table_is_refused_or_compares_the_planted_words(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_read = 0
    for seed in range(first, first + 25):
        (folder := tmp_path / str(seed)).mkdir()
        monkeypatch.chdir(folder)
        table = _alter(seed)
        try:
            compared = _compared_words(table)
        except ParallaxError:
            continue
        n_read += 1
        assert compared == {(row.item, row.condition): row.words[row.place] for row in table}, seed
    # Unaltered tables, and those whose white space changed, lose nothing.
    assert n_read >= 6
