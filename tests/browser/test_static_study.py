"""A study without a server, from the folder's link to its closing page, and back into a run."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browser_steps import (
    answer_by_key,
    consent,
    expect_page,
    minimal,
    questionnaire,
    start,
)
from tests.browser.static_site import Stores, command, stores, written


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Stores]:
    with stores(tmp_path / "kept") as found:
        yield found


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    return tmp_path / "instance"


def entries(folder: Path) -> list[dict]:
    """Everything that a store was sent, in order."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [entry for file in found for entry in file]


def test_every_answer_goes_to_the_store_as_it_is_given(kept, tmp_path, instance, page: Page):
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    folder = written(minimal(tmp_path), tmp_path / "site", instance, *options)
    link = kept.host("s", folder)
    consent(page, link)
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)
    sent = entries(kept.folder / "post")
    assert [entry["kind"] for entry in sent].count("answer") == 8
    assert sent[-1]["kind"] == "questionnaire"
    assert [entry["n"] for entry in sent] == list(range(1, len(sent) + 1))


def test_what_the_store_kept_becomes_a_run_like_any_other(kept, tmp_path, instance, page: Page):
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    folder = written(minimal(tmp_path), tmp_path / "site", instance, *options)
    consent(page, kept.host("s", folder))
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)
    of_instance = ("--instance", str(instance))
    told = command("import", "sessions", str(kept.folder / "post"), *of_instance)
    assert "1 finished" in told
    again = command("import", "sessions", str(kept.folder / "post"), *of_instance)
    assert "1 finished" in again
    run = told.partition("Run ")[2].split()[0]
    command("exclude", run, *of_instance)
    command("export", run, "--out", str(tmp_path / "export"), *of_instance)
    with (tmp_path / "export" / "responses.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["position"]) for row in rows] == list(range(1, 9))
    assert {row["chose_good"] for row in rows} <= {"true", "false"}


def test_one_file_from_a_disk_hands_the_answers_to_the_person(tmp_path, instance, page: Page):
    file = written(minimal(tmp_path), tmp_path / "study.html", instance)
    consent(page, file.as_uri())
    start(page)
    answer_by_key(page, 3)
    page.reload()
    expect_page(page, "working")
    expect(page.locator("#instructions .notice")).to_contain_text("You have answered 3 of 8")
    start(page)
    answer_by_key(page, 5)
    questionnaire(page)
    with page.expect_download() as download:
        page.locator("#answers-file a").click()
    saved = json.loads(Path(download.value.path()).read_text())
    assert [entry["kind"] for entry in saved].count("answer") == 8
