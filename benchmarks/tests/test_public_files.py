"""Files of others end with the right verdict: here on a clone of three."""

import subprocess

import pandas as pd
import pytest

from benchmarks import public_files

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
