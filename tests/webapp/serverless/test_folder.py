"""A static study's folder: whom its page may talk to, its weight, and what it never says."""

import base64
import csv
import gzip
import json
import os
import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.static_study import run_command
from experiment.materials.render import sentence_case
from tests.webapp.once import unchecked

# What a participant may load at most, compressed.
MOST_BYTES = 300_000


def written(out: Path, study: str, *options: str) -> Path:
    run_command(
        "study", "static", study, "--seed", "1", "--simulated", "--out", str(out),
        "--instance", str(out.parent / "instance"), *options,
    )  # fmt: skip
    return out


@pytest.fixture(scope="module")
def founding(tmp_path_factory) -> Path:
    with unchecked():
        return written(tmp_path_factory.mktemp("founding") / "site", "marvin_linzen_2018")


def policy(page: str) -> dict[str, list[str]]:
    text = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    parts = (part.split() for part in text.replace("&#39;", "'").split(";"))
    return {name: sources for name, *sources in parts}


@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        ((), []),
        (("--store", "post", "--url", "https://keep.example/a/b"), ["https://keep.example"]),
        (("--store", "datapipe", "--experiment", "abc"), ["https://pipe.jspsych.org"]),
        (
            ("--store", "datapipe", "--experiment", "abc", "--staging", "https://db.example"),
            ["https://pipe.jspsych.org", "https://db.example"],
        ),
    ],
)
def test_a_page_connects_to_its_own_host_and_to_the_stores_hosts_alone(tmp_path, options, hosts):
    page = (written(tmp_path / "site", "minimal", *options) / "index.html").read_text("utf-8")
    may = policy(page)
    assert may["connect-src"] == ["'self'", *hosts]
    assert may["default-src"] == ["'none'"]
    assert may["form-action"] == ["'self'"]
    assert [source for source in may["script-src"] if not source.startswith("'sha256-")] == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_web_hosts_server_may_read_everything(founding):
    modes = {path.stat().st_mode & 0o777 for path in founding.rglob("*") if path.is_file()}
    folders = [founding, founding / "sessions"]
    assert modes == {0o644}
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o755}


def test_one_file_connects_to_nobody_and_jatos_to_itself_alone(tmp_path):
    one = written(tmp_path / "study.html", "minimal").read_text("utf-8")
    assert policy(one)["connect-src"] == ["'self'"]
    with zipfile.ZipFile(written(tmp_path / "a.jzip", "minimal", "--store", "jatos")) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("index.html")]
        may = policy(archive.read(name).decode())
    assert may["default-src"] == ["'none'"]
    # jatos.js, its libraries and its channel are of the page's own host.
    for what in ("connect-src", "form-action", "worker-src"):
        assert may[what] == ["'self'"]
    assert may["script-src"] == ["'self'", "'unsafe-inline'"]


def test_one_participant_of_the_founding_study_loads_less_than_promised(founding):
    page = gzip.compress((founding / "index.html").read_bytes())
    sessions = [gzip.compress(path.read_bytes()) for path in (founding / "sessions").iterdir()]
    assert len(page) + max(map(len, sessions)) < MOST_BYTES


def items_of(study: str, out: Path) -> dict[str, str]:
    """Each item's sentence that is expected, with the other one, as people see them."""
    run_command("lists", "build", study, "--seed", "1", "--out", str(out))
    with (out / "items.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {sentence_case(row["good"]): sentence_case(row["bad"]) for row in rows}


def test_nothing_in_the_folder_tells_the_expected_sentence_from_the_other(tmp_path):
    folder = written(tmp_path / "site", "minimal")
    items = items_of("minimal", tmp_path / "lists")
    sides = Counter()
    for path in (folder / "sessions").iterdir():
        session = json.loads(path.read_text("utf-8"))
        assert set(session) == {"page", "edition", "pauses", "trials"}
        for trial in session["trials"]:
            assert set(trial) == {"position", "first", "second"}
            sides["first"] += items.get(trial["first"]) == trial["second"]
            sides["second"] += items.get(trial["second"]) == trial["first"]
    # Each side holds the expected one equally often, in the same fields.
    assert sides == {"first": 8 * 4, "second": 8 * 4}


def test_no_byte_of_the_founding_folder_names_what_is_expected(founding):
    """Neither in words, nor in a text in base64, nor in the page beside the sessions."""
    files = {path: path.read_text("utf-8") for path in founding.rglob("*") if path.is_file()}
    sentences = set()
    for path, text in files.items():
        for word in re.findall(r"[A-Za-z0-9+/=]{60,}", text):
            text += base64.b64decode(word + "=" * (-len(word) % 4)).decode("latin-1")
        assert not re.search(r"good_side|good_first|expected_side|is_good|correct_side", text), path
        if path.parent.name == "sessions":
            trials = json.loads(files[path])["trials"]
            sentences |= {trial[side] for trial in trials for side in ("first", "second")}
    assert len(sentences) > 1000
    page = files[founding / "index.html"]
    assert not [sentence for sentence in sentences if sentence in page]
