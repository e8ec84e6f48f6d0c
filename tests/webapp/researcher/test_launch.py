"""Launching from the browser: uploads read with suspicion, checks first, one run."""

import io
import random
import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select

from experiment.studies.load import STUDIES_FOLDER
from webapp.database.models import Run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
MINIMAL = STUDIES_FOLDER / "minimal"


def zipped(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, content in files.items():
            zip_file.writestr(name, content)
    return archive.getvalue()


def folder_files(folder: Path, name: str) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {f"{name}/{path.relative_to(folder)}": path.read_bytes() for path in paths}


@pytest.fixture
def upload(researcher):
    here = researcher(Role.RESEARCHER)

    def send(content: bytes):
        data = {"form_token": here.form_token(), "file": (io.BytesIO(content), "study.zip")}
        return here.client.post("/researcher/launch/upload", data=data)

    return send


def test_an_uploaded_study_is_checked_shown_and_launched(upload, researcher, instance, session):
    sent = upload(zipped(folder_files(MINIMAL, "mine")))
    assert sent.status_code == 303
    here = researcher(Role.OWNER)
    checked = here.client.get(sent.location).text
    assert "the study can be launched" in checked
    assert "participants in all" in checked
    consent = checked.partition('<div class="consent">')[2].partition("<h2>The study</h2>")[0]
    assert "elements of a consent" in consent and "as participants read it" in consent
    built_in = here.get("/launch/check?study=minimal&seed=1&recruiter=direct").text
    assert "texts/en/consent.md, as participants read it" in built_in
    study = checked.partition('name="study" value="')[2].partition('"')[0]
    done = here.post("/launch", study=study, seed="7", recruiter="direct", simulated="yes")
    assert done.status_code == 303, done.text
    run = session.scalars(select(Run)).one()
    assert (run.study, run.seed, run.simulated) == ("minimal", 7, True)
    assert done.location.endswith(run.ref)
    assert "run launched" in here.get("/audit").text


def test_a_study_that_names_code_of_its_own_is_refused(upload, researcher, instance, session):
    files = folder_files(MINIMAL, "mine")
    toml = files["mine/study.toml"].decode()
    assert 'response = "sentence_pair"' in toml
    bad = toml.replace('response = "sentence_pair"', 'response = "os:system"')
    sent = upload(zipped({**files, "mine/study.toml": bad.encode()}))
    here = researcher(Role.OWNER)
    checked = here.client.get(sent.location).text
    assert "would import code that is not installed" in checked
    study = re.search(r'<option value="(mine [^"]+)">mine<', here.get("/launch").text)[1]
    done = here.post("/launch", study=study, seed="1", recruiter="direct")
    assert done.status_code == 409
    assert session.scalar(select(func.count()).select_from(Run)) == 0


BOMB = zipped({"mine/study.toml": b"0" * 61 * 1024 * 1024})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zip",
        zipped({}),
        zipped({"mine/a.csv": b""}),
        zipped({"study.toml": b""}),
        zipped({"mine/study.toml": b"", "other/study.toml": b""}),
        zipped({"mine/study.toml": b"", "../escape.csv": b""}),
        zipped({"mine/study.toml": b"", "mine/../../escape.csv": b""}),
        zipped({"/mine/study.toml": b""}),
        zipped({"mine/study.toml": b"", "mine\\..\\escape.csv": b""}),
        zipped({"mi ne/study.toml": b""}),
        zipped({f"mine/{number}.csv": b"" for number in range(501)}),
        BOMB,
    ],
    ids=range(13),
)
def test_a_file_that_is_no_study_stores_nothing(content, upload, instance, tmp_path):
    before = set(tmp_path.rglob("*"))
    refused = upload(content)
    assert refused.status_code == 400
    assert "Nothing was stored." in refused.text
    assert {path for path in set(tmp_path.rglob("*")) - before if "studies" in str(path)} == set()


@pytest.mark.parametrize(
    "changed",
    [{"study": "/etc"}, {"study": "--help"}, {"seed": "-1"}, {"seed": "x"}, {"recruiter": "os:x"}],
)
def test_only_what_is_offered_can_be_asked_for(changed, researcher, session):
    form = {"study": "minimal", "seed": "1", "recruiter": "direct", **changed}
    assert researcher(Role.RESEARCHER).post("/launch", **form).status_code == 400
    assert session.scalar(select(func.count()).select_from(Run)) == 0


def test_a_damaged_archive_is_refused_whatever_byte_is_wrong(upload):
    sound = zipped(folder_files(MINIMAL, "mine"))
    draw = random.Random(1)
    statuses = Counter()
    for _ in range(60):
        content = bytearray(sound)
        for _ in range(draw.randint(1, 20)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        statuses[upload(bytes(content)).status_code] += 1
    assert set(statuses) <= {303, 400}
    assert statuses[400] > 10


@pytest.mark.parametrize(
    "names",
    [["a", "a/b"], ["a/b", "a"], ["x" * 300], ["."], ["\udcff"], ["a/" * 2000 + "b"]],
    ids=["under a file", "over a folder", "long", "nothing", "no text", "deep"],
)
def test_names_that_no_disk_can_hold_are_refused(names, upload, instance):
    files = folder_files(MINIMAL, "mine")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zip_file:
        for name, content in files.items():
            zip_file.writestr(name, content)
        for number, name in enumerate(names):
            stand_in = f"mine/{number:0{len(name.encode('utf-8', 'surrogateescape'))}d}"
            zip_file.writestr(stand_in, b"")
    content = archive.getvalue()
    for number, name in enumerate(names):
        written = name.encode("utf-8", "surrogateescape")
        content = content.replace(f"{number:0{len(written)}d}".encode(), written)
    sent = upload(content)
    assert sent.status_code in (303, 400), sent.text
    if sent.status_code == 400:
        assert not list((instance / "studies").glob("*/*"))


@pytest.mark.parametrize(
    ("was", "is_"),
    [
        ("lists = ", "lists = 1000000000 # "),
        ("lists = ", "lists = " + "9" * 5000 + " # "),
        ("participants_per_list = ", "participants_per_list = 1000000000 # "),
        ("trials_per_list = ", "trials_per_list = 1000000000 # "),
        ("[design]", "x = " + "[" * 5000 + "]" * 5000 + "\n[design]"),
    ],
    ids=["lists", "digits", "places", "trials", "brackets"],
)
def test_numbers_beyond_all_measure_are_told_at_once_without_a_trace(was, is_, upload, researcher):
    files = folder_files(MINIMAL, "mine")
    toml = files["mine/study.toml"].decode()
    assert was in toml
    files["mine/study.toml"] = toml.replace(was, is_, 1).encode()
    sent = upload(zipped(files))
    checked = researcher(Role.OWNER).client.get(sent.location).text
    assert "Traceback" not in checked and "unexpectedly" not in checked
    assert "/instance/" not in checked
    assert (
        "Expected" in checked or "expected" in checked or "at most" in checked or "less" in checked
    )
