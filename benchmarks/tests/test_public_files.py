"""Files of others, and mutations of them, end with the right verdict: here on a clone of three."""

import random
import subprocess
import sys

import pandas as pd
import pytest

from benchmarks import mutations_of_tables, public_files
from benchmarks.mutations_of_tables import Base

PAIRS = [(f"The {n} sees a dog.", f"The {n} see a dog.") for n in ("cat", "cow", "hen", "pig")]
REGISTRY = """
[repositories."owner/name"]
commit = "HEAD"
licence = "none"
"""
ENTRY = '[files.{0}]\nrepository = "owner/name"\npath = "{0}.csv"\nrun = "study"\n{1}\n'
GOOD = 'right = "texts(t.good, t.bad)"'


@pytest.fixture
def clones(tmp_path):
    clone = tmp_path / "owner+name"
    clone.mkdir()
    tables = {
        "pairs": pd.DataFrame(PAIRS, columns=["good", "bad"]),
        "images": pd.DataFrame({"image1": ["a.png"], "image2": ["b.png"]}),
    }
    for name, table in tables.items():
        table.to_csv(clone / f"{name}.csv", index=False)
    who = ["-c", "user.name=n", "-c", "user.email=e@x"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "tables"]):
        subprocess.run(["git", "-C", str(clone), *command], check=True)
    return tmp_path


def verdicts(clones, *entries, registry=REGISTRY):
    path = clones / "files.toml"
    path.write_text(registry + "".join(ENTRY.format(*entry) for entry in entries))
    return [public_files.outcome(file, clones) for file in public_files.files(path)]


def test_a_file_is_read_refused_or_wrong_by_its_own_number(clones):
    read, wrong, refused, needless = (
        verdicts(clones, entry)[0]
        for entry in (
            ("pairs", GOOD),
            ("pairs", 'right = "[4, 1, 1]"'),
            ("images", 'refused = "no column holds the good"'),
            ("images", 'refused = "sliders"'),
        )
    )
    # "The cat sees a dog." has 15 letters and signs without spaces, and its bad version 14.
    assert (read.verdict, read.got) == ("read", "4 / 60 / 56")
    assert (wrong.verdict, refused.verdict, needless.verdict) == ("WRONG", "refused", "not read")


def test_a_file_without_its_clone_is_named(clones):
    (absent,) = verdicts(clones, ("pairs", GOOD), registry=REGISTRY.replace("HEAD", "0" * 40))
    assert absent.verdict == "absent"


def test_every_entry_says_what_is_right():
    for file in public_files.files():
        assert bool(file.right) != bool(file.refused), file.name
        assert len(file.commit) == 40 and file.licence


@pytest.mark.parametrize("operator", mutations_of_tables.OPERATORS)
def test_a_mutation_knows_what_is_right_afterwards(clones, operator):
    path = clones / "files.toml"
    path.write_text(REGISTRY + ENTRY.format("pairs", GOOD))
    base = Base(*public_files.files(path), pd.DataFrame(PAIRS, columns=["good", "bad"]))
    mutation = mutations_of_tables.OPERATORS[operator](base, random.Random(1))
    # No letter is lost but where a column is dropped, a shift shows, or a row has a missing text.
    expected = {
        "column dropped": None,
        "column shifted by a row": None,
        "missing values marked": [3, 45, 42],
    }.get(operator, [4, 60, 56])
    assert mutation.right == expected
    assert not mutation.table.equals(base.table)


@pytest.mark.parametrize(("wrong", "right"), [("1001", [4.0, 0.5]), ("1000", None)])
def test_a_column_whose_opposite_is_left_is_not_lost(clones, wrong, right):
    path = clones / "files.toml"
    mean = "right = \"[len(t), (t.correct == '1').mean()]\""
    path.write_text(REGISTRY + ENTRY.format("pairs", mean))
    table = pd.DataFrame({"correct": [*"0110"], "incorrect": [*wrong]})
    base = Base(*public_files.files(path), table)
    draws = (mutations_of_tables.column_dropped(base, random.Random(n)) for n in range(20))
    assert next(drop for drop in draws if "correct" not in drop.table).right == right


@pytest.mark.parametrize(
    ("mapping", "unread"),
    [("", []), ('duplicates = "keep"', []), ('[columns]\nitem = "good"', ["bad"])],
)
def test_what_a_mapping_does_not_name_is_not_read(clones, mapping, unread):
    path = clones / "files.toml"
    path.write_text(REGISTRY + ENTRY.format("pairs", f"{GOOD}\nmapping = '''{mapping}'''"))
    base = Base(*public_files.files(path), pd.DataFrame(PAIRS, columns=["good", "bad"]))
    assert base.unread == unread
    if unread:
        # A column of a few alike texts that moved is seen, unless it is not read.
        shifts = [mutations_of_tables.rows_shifted(base, random.Random(n)) for n in range(9)]
        assert any(shift.right == [4, 60, 56] for shift in shifts)


def test_the_table_by_operator_counts_every_mutation(clones, monkeypatch, capsys):
    path = clones / "files.toml"
    path.write_text(REGISTRY + ENTRY.format("pairs", GOOD))
    words = ["mutations_of_tables", str(clones), "--files", str(path), "--mutations", "8"]
    monkeypatch.setattr(sys, "argv", words)
    mutations_of_tables.main()
    last = capsys.readouterr().out.strip().splitlines()[-1]
    cells = [int(cell) for cell in last.strip("| ").split("|")[1:]]
    assert sum(cells) == 8
    assert cells[-2:] == [0, 0]
