"""A study without a server, from the folder's link to its closing page, and back into a run."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from marketplace.stores.datapipe import Experiment, write_partial_files
from tests.browser.browser_steps import (
    answer_by_key,
    assert_good,
    consent,
    expect_page,
    expect_saved,
    minimal,
    questionnaire,
    start,
)
from tests.browser.static_site import Stores, command, stores, written
from tests.browser.store_place import JOURNAL
from webapp.errors import RunError


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


ASKS_BEFORE_IT_CLOSES = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"


def test_one_file_from_a_disk_hands_the_answers_to_the_person(tmp_path, instance, page: Page):
    file = written(minimal(tmp_path), tmp_path / "study.html", instance)
    consent(page, file.as_uri())
    expect(page.locator("#only-here")).to_be_hidden()
    start(page)
    answer_by_key(page, 3)
    expect_saved(page)
    page.reload()
    expect_page(page, "working")
    expect(page.locator("#instructions .notice")).to_contain_text(
        "You will continue where you left off"
    )
    start(page)
    answer_by_key(page, 5)
    questionnaire(page)
    expect(page.locator(".text + #answers-file")).to_be_visible()
    expect(page.get_by_text("You can close this page now")).to_have_count(0)
    # Nobody is told that the answers are stored before they saved them.
    expect(page.locator("h1")).to_be_focused()
    for said in (".done", ".text p"):
        expect(page.locator(said).first).to_be_hidden()
    expect(page.get_by_role("heading", name="One step is left")).to_be_visible()
    expect(page.locator("#file-saved")).to_be_hidden()
    assert page.evaluate(ASKS_BEFORE_IT_CLOSES)
    with page.expect_download() as download:
        page.locator("#answers-file a").click()
    for said in (".done", ".text p"):
        expect(page.locator(said).first).to_be_visible()
    expect(page.locator("#file-saved")).to_contain_text("Please send it to the researchers")
    assert not page.evaluate(ASKS_BEFORE_IT_CLOSES)
    saved = json.loads(Path(download.value.path()).read_text())
    assert [entry["kind"] for entry in saved].count("answer") == 8


def test_a_browser_without_storage_is_told_before_the_first_trial(tmp_path, instance, page: Page):
    file = written(minimal(tmp_path), tmp_path / "study.html", instance)
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    consent(page, file.as_uri())
    expect(page.locator("#only-here")).to_contain_text("please do not close or reload it")
    start(page)
    answer_by_key(page, 1)
    expect(page.locator("#indicator")).to_have_text("Kept on this page only")


def take(page: Page, link: str, trials: int = 8) -> None:
    """Take a session of the minimal study, whole or to some trial."""
    consent(page, link)
    start(page)
    answer_by_key(page, trials)


def imported(kept: Path, instance: Path) -> str:
    """Read what a store kept into its run, and return what is said of it."""
    return command("import", "sessions", str(kept), "--instance", str(instance))


def test_datapipe_stages_each_answer_and_gets_the_whole_at_the_end(
    kept, tmp_path, instance, new_context
):
    pipe = f"{kept.elsewhere}/datapipe"
    options = ("--store", "datapipe", "--url", pipe, "--experiment", "abc123", "--staging", pipe)
    link = kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options))
    page = new_context().new_page()
    take(page, link)
    questionnaire(page)
    other = new_context().new_page()
    take(other, link, 3)
    expect_saved(other)
    assert kept.app.blueprints["datapipe"].experiments["abc123"].next_condition == 2
    assert write_partial_files(kept.app.blueprints["datapipe"], kept.folder / "datapipe") == 1
    told = imported(kept.folder / "datapipe", instance)
    assert "1 finished, 1 working" in told
    assert "given to several people" not in told


def test_jatos_runs_the_archive_and_its_results_become_a_run(kept, tmp_path, instance, new_context):
    archive = written(minimal(tmp_path), tmp_path / "study.jzip", instance, "--store", "jatos")
    jatos = kept.app.blueprints["jatos"].jatos
    code = jatos.import_archive(archive.read_bytes())
    for number in (1, 2):
        page = new_context().new_page()
        take(page, f"{kept.origin}/publix/{code}")
        questionnaire(page)
        assert jatos.studies[code].batch == {"parallax_next": number}
    (tmp_path / "results.jrzip").write_bytes(jatos.results(code))
    told = imported(tmp_path / "results.jrzip", instance)
    assert "2 finished" in told
    assert "given to several people" not in told


def test_a_full_store_is_said_and_the_answers_are_kept_and_can_be_saved(
    kept, tmp_path, instance, page
):
    pipe = f"{kept.origin}/datapipe"
    options = ("--store", "datapipe", "--url", pipe, "--experiment", "abc123")
    kept.app.blueprints["datapipe"].experiments["abc123"] = Experiment(most_sessions=0)
    take(page, kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options)), 7)
    # After the last answer the next page comes at once, and the words are gone with this one.
    expect(page.locator("#indicator")).to_have_text("Kept in this browser")
    answer_by_key(page, 1)
    questionnaire(page)
    expect(page.locator("#kept-here")).to_be_visible()
    expect(page.locator(".text p").first).to_be_hidden()
    with page.expect_download() as download:
        page.locator("#answers-file a").click()
    # The researchers have them only when the file was sent.
    expect(page.locator("#file-saved")).to_be_visible()
    expect(page.locator(".text p").first).to_be_hidden()
    assert "1 finished" in imported(saved_as(download.value, tmp_path / "mailed.json"), instance)


def saved_as(download, path: Path) -> Path:
    download.save_as(path)
    return path


def test_a_withdrawal_is_a_marker_that_every_import_obeys(kept, tmp_path, instance, page):
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    take(page, kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options)))
    questionnaire(page)
    assert "1 finished" in imported(kept.folder / "post", instance)
    page.locator(".way-out a").click()
    page.locator("button[value=erase]").click()
    expect_page(page, "withdrawn")
    told = imported(kept.folder / "post", instance)
    assert "1 withdrawn" in told
    run = told.partition("Run ")[2].split()[0]
    with pytest.raises(RunError, match="no one has answered"):
        command("export", run, "--out", str(tmp_path / "e"), "--instance", str(instance))


def test_which_sentence_is_good_is_not_in_the_folder(tmp_path, instance):
    folder = written(minimal(tmp_path), tmp_path / "site", instance)
    drawn = json.loads((folder / "sessions" / "1.json").read_text())
    assert {frozenset(trial) for trial in drawn["trials"]} == {
        frozenset({"position", "first", "second"})
    }
    study = (folder / "index.html").read_text()
    assert "good_side" not in study


def assert_good_beside_the_note(page: Page, name: str) -> None:
    # The note of a simulated run stands on no page that people see.
    page.evaluate("document.querySelector('.simulated')?.remove()")
    assert_good(page, name)


def test_every_page_is_good_for_everybody(kept, tmp_path, instance, page):
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    link = kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options))
    page.goto(link)
    expect_page(page, "consent")
    assert_good_beside_the_note(page, "consent")
    consent(page, link)
    assert_good_beside_the_note(page, "instructions")
    start(page)
    answer_by_key(page, 8)
    expect_page(page, "questionnaire")
    assert_good_beside_the_note(page, "questionnaire")
    questionnaire(page)
    assert_good_beside_the_note(page, "closing")


KINDS = ["lost_before", "lost_after"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_request_may_fail_and_nothing_acknowledged_is_lost(
    kept, tmp_path, instance, page, kind
):
    """Every third request fails, before or after it is carried out."""
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    link = kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options))
    page.goto(link)
    expect_page(page, "consent")
    kept.faults.plan.update(dict.fromkeys(range(kept.faults.n_requests + 1, 80, 3), kind))
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    start(page)
    answer_by_key(page, 8)
    expect_page(page, "questionnaire")
    questionnaire(page)
    assert kept.faults.failed_requests
    told = imported(kept.folder / "post", instance)
    assert "1 finished" in told
    assert "are not in the files" not in told


def test_two_windows_and_a_closed_browser_are_one_session(kept, tmp_path, instance, new_context):
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    link = kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options))
    context = new_context()
    page = context.new_page()
    take(page, link, 2)
    expect_saved(page)
    other = context.new_page()
    other.goto(page.url)
    expect_page(other, "working")
    start(other)
    answer_by_key(other, 3)
    expect_saved(other)
    page.close()
    other.close()
    back = context.new_page()
    back.goto(link)
    back.locator("#begun-before a").click()
    expect_page(back, "working")
    expect(back.locator("#instructions .notice")).to_contain_text(
        "You will continue where you left off"
    )
    start(back)
    answer_by_key(back, 3)
    questionnaire(back)
    told = imported(kept.folder / "post", instance)
    assert "1 finished" in told
    assert "are not in the files" not in told


HOLD_FRAMES = """
  const held = [], request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (act) =>
    act.name === "recordFrame" ? held.push(act) : request(act);
  window.letFramesGo = () => held.splice(0).forEach((act) => {
    for (let time = 0; time < 31; time += 1) act(time * 16);
  });
"""
HOLD_SESSION = """(session) => new Promise((held) => {
  void navigator.locks.request(`parallax ${session}`, () => new Promise((letGo) => {
    window.letGo = letGo;
    held();
  }));
})"""


def test_what_is_told_of_the_browser_after_the_last_delivery_is_not_kept(
    kept, tmp_path, instance, new_context
):
    # Such an entry lay in the browser for good, unsent, while the page said nothing of it.
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    link = kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options))
    context = new_context()
    page, other = context.new_page(), context.new_page()
    page.add_init_script(HOLD_FRAMES)
    take(page, link, 8)
    expect_page(page, "questionnaire")
    page.locator("textarea[name=native_language]").fill("English")
    other.goto(link)
    other.evaluate(HOLD_SESSION, page.url.split("#p/")[1].split("/")[0])
    page.locator("button.primary").click()
    other.wait_for_function("async () => (await navigator.locks.query()).pending.length === 1")
    page.evaluate("letFramesGo()")
    # It has asked how far the session is before this is answered, and waits behind the form.
    page.evaluate(JOURNAL)
    other.evaluate("letGo()")
    expect_page(page, "closing")
    assert [kind for _, kind, sent in page.evaluate(JOURNAL) if kind == "device" or not sent] == []


def test_a_store_that_is_away_loses_nothing_and_says_so(kept, tmp_path, instance, page):
    options = ("--store", "post", "--url", f"{kept.origin}/keep")
    link = kept.host("s", written(minimal(tmp_path), tmp_path / "site", instance, *options))
    take(page, link, 2)
    expect_saved(page)
    page.route("**/keep", lambda route: route.abort())
    answer_by_key(page, 6)
    expect(page.locator("#offline")).to_be_visible()
    page.reload()
    expect_page(page, "working")
    # Once the store answers, the page may go on by itself.
    page.locator("#instructions [data-go-on]").click()
    page.unroute("**/keep")
    questionnaire(page)
    assert "1 finished" in imported(kept.folder / "post", instance)


@pytest.mark.parametrize("store", ["post", "file"])
def test_a_folder_that_was_published_again_begins_anew_and_keeps_both_apart(
    kept, tmp_path, instance, page, store
):
    options = {
        "post": ("--store", "post", "--url", f"{kept.origin}/keep"),
        "file": (),
    }[store]  # fmt: skip
    study = minimal(tmp_path)
    link = kept.host("s", written(study, tmp_path / "site", instance, *options))
    take(page, link, 2)
    expect_saved(page)
    with (study / "texts" / "en" / "instructions.md").open("a") as text:
        text.write("\nNew instructions.\n")
    kept.host("s", written(study, tmp_path / "again", instance, *options))
    page.reload()
    expect_page(page, "consent")
    expect(page.get_by_text("has changed since you began")).to_be_visible()
    held = kept.folder / store
    expect(page.locator("#answers-file")).to_have_count(int(store == "file"))
    if store == "file":
        with page.expect_download() as first:
            page.locator("#answers-file a").click()
        saved_as(first.value, held / "first.json")
    page.locator("button[value=accept]").click()
    expect(page.get_by_text("New instructions.")).to_be_visible()
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)
    if store == "file":
        with page.expect_download() as second:
            page.locator("#answers-file a").click()
        saved_as(second.value, held / "second.json")
    told = imported(held, instance)
    runs = [line.rpartition("): ")[2] for line in told.splitlines() if line.startswith("Run ")]
    assert sorted(runs) == ["1 finished.", "1 working."]
    assert "not in the files" not in told
