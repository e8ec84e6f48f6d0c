"""Typed answers in a browser: three scripts, keys and taps, input methods, and what is stored."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browser_steps import (
    assert_good,
    choose,
    consent,
    expect_page,
    let_frames_pass,
    start,
)

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "typed"
# In other scripts: a sentence in place of each of the example's, and an answer.
SENTENCES = {
    "he": ("הציפור הקטנה בנתה קן גבוה על ה___.", "עץ"),
    "ja": ("毎朝、机で熱い___を飲みます。", "お茶"),
}
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


def study(folder: Path, language: str = "en") -> Path:
    copied = shutil.copytree(EXAMPLE, folder / "typed")
    toml = (copied / "study.toml").read_text("utf-8")
    toml = toml.replace("[trial]\n", "[trial]\nlockout_ms = 0\n")
    if language != "en":
        toml = toml.replace('language = "en"', f'language = "{language}"')
        (copied / "texts" / "en").rename(copied / "texts" / language)
        rows = (copied / "items.tsv").read_text("utf-8").splitlines()
        columns = rows[0].split("\t")
        for number, row in enumerate(rows[1:], start=1):
            cells = row.split("\t")
            sentence = SENTENCES[language][0]
            cells[columns.index("good")] = f"{number} {sentence}"
            if cells[columns.index("kind")] == "catch":
                cells[columns.index("accepted")] = SENTENCES[language][1]
            rows[number] = "\t".join(cells)
        (copied / "items.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (copied / "study.toml").write_text(toml, encoding="utf-8")
    return copied


PRACTICE = """
[[practice]]
good = "At night the ___ is full of ___."
columns = { accepted = "sky; stars|star" }

[[practice]]
good = "Night"
columns = { accepted = "Straße" }
"""


def past_practice(page: Page, text: str) -> None:
    page.locator("#typed-text").press_sequentially(text)
    page.keyboard.press("Enter")
    page.locator("#feedback [data-go-on]").click()
    expect(page.locator("#feedback")).to_be_hidden()
    # A press before the trial is painted does not count.
    let_frames_pass(page, 4)


def shoot(page: Page, name: str) -> None:
    if folder := os.environ.get("TYPED_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")


@pytest.mark.parametrize(
    ("anywhere", "language", "size"),
    [("static", "en", "desktop"), ("server", "he", "phone"), ("server", "ja", "phone")],
    indirect=["anywhere"],
)
def test_an_answer_is_typed_seen_and_stored_once(anywhere, page, tmp_path: Path, language, size):
    link = anywhere.launch(study(tmp_path, language))
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    consent(page, link)
    start(page)
    field = page.locator("#typed-text")
    expect(field).to_be_focused()
    shoot(page, f"{language}-{size}-empty")
    if language != "en":
        assert_good(page, f"a typed trial in {language}")
    word = SENTENCES.get(language, ("", "tree"))[1]
    past_practice(page, word)
    if language == "he":
        # The prefix and the full stop that touch the gap stay on its line.
        joined = page.locator(".joined")
        assert joined.inner_text().strip() == "ה."
        assert joined.bounding_box()["height"] < 2 * field.bounding_box()["height"]
    field.press_sequentially(f"{word}x")
    page.keyboard.press("Backspace")
    shoot(page, f"{language}-{size}-typed")
    choose(page, lambda: page.keyboard.press("Enter"))
    choose(page, page.locator("[data-side=none]").click)
    for _ in range(7):
        field.press_sequentially(word)
        choose(page, page.locator("[data-side=typed]").click)
    field.press_sequentially(word)
    choose(page, lambda: page.keyboard.press("Enter"))
    expect_page(page, "questionnaire")
    [stored] = anywhere.stored(link)
    assert stored.positions == [*range(1, 11)] and not stored.late_answers
    details = [json.loads(response.steps)["details"] for response in stored.responses]
    assert [one["text"] for one in details] == [word, "", *[word] * 8]
    first, none = details[:2]
    assert first["n_edits"] == 1 and not first["pasted"] and not first["inserted"]
    assert 0 <= first["first_key_ms"] <= first["last_key_ms"] <= stored.responses[0].rt_ms
    assert none["first_key_ms"] is None
    assert [response.input_method for response in stored.responses[:2]] == ["key", "pointer"]
    # Nothing touches the gap of the Japanese sentence, so that only the paragraph can be timed.
    assert {response.onset_source for response in stored.responses} == {"presentation"}


def test_what_is_no_answer_stays_with_a_hint_and_a_composition_is_not_cut_short(
    site, page, tmp_path: Path
):
    link = site.launch(study(tmp_path))
    consent(page, link)
    start(page)
    past_practice(page, "stars")
    field, hint = page.locator("#typed-text"), page.locator("#typed-hint")
    page.keyboard.press("Enter")
    expect(hint).to_have_text("Please type an answer first.")
    field.press_sequentially("two words")
    page.keyboard.press("Enter")
    expect(hint).to_have_text("Please type one word only.")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("")
    # The Enter that takes a candidate of an input method answers nothing.
    devtools = page.context.new_cdp_session(page)
    devtools.send("Input.imeSetComposition", {"text": "木", "selectionStart": 1, "selectionEnd": 1})
    field.evaluate(
        "field => field.dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'Enter', isComposing: true, bubbles: true}))"
    )
    assert page.locator("#count").inner_text().startswith("1 ")
    devtools.send("Input.insertText", {"text": "木"})
    # What is pasted is taken, without the characters that no keyboard types.
    field.evaluate("""field => {
      field.setRangeText("\\u202e\\u0007🌳", field.value.length, field.value.length, "end");
      field.dispatchEvent(new InputEvent("input", {inputType: "insertFromPaste", bubbles: true}));
    }""")
    choose(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#indicator")).to_have_attribute("data-state", "saved")
    [stored] = site.stored(link)
    details = json.loads(stored.responses[0].steps)["details"]
    assert details["text"] == "木🌳" and details["composed"] and details["pasted"]
    assert not stored.responses[0].trusted


def test_each_of_two_gaps_has_its_field_its_times_and_its_name(site, page, tmp_path: Path):
    folder = study(tmp_path)
    toml = (folder / "study.toml").read_text("utf-8")
    toml = toml.replace("[trial.parameters]\n", "[trial.parameters]\ngaps = 2\n")
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    items = (folder / "items.tsv").read_text("utf-8")
    # The accepted answers are in the last cell, and those of the first gap before a semicolon.
    items = re.sub(r"\tThe (.*)\t(\w+)$", r"\tThe ___ \1\t;\2", items, flags=re.MULTILINE)
    (folder / "items.tsv").write_text(items, encoding="utf-8")
    (folder / "practice.toml").write_text(PRACTICE, encoding="utf-8")
    link = site.launch(folder)
    consent(page, link)
    start(page)
    fields, verdict = page.locator(".typed input:visible"), page.locator("#verdict")
    fields.first.fill("sky")
    fields.last.fill("clouds")
    page.keyboard.press("Enter")
    expect(verdict).to_have_text("No, this one is right: At night the sky is full of stars.")
    page.locator("#feedback [data-go-on]").click()
    let_frames_pass(page, 4)
    fields.fill("“STRASSE”.")
    page.keyboard.press("Enter")
    expect(verdict).to_have_text("Yes, that is right.")
    page.locator("#feedback [data-go-on]").click()
    let_frames_pass(page, 4)
    answered = []
    while page.locator("#typed-text").is_visible():
        if fields.count() == 1:
            # In a study of several gaps, no text has the bar between them.
            fields.press_sequentially("tr|ee")
        else:
            first, second = fields.first, fields.last
            assert "[gap]" in first.get_attribute("aria-label")
            assert "___" in first.get_attribute("aria-label")
            answered.append(int(page.locator("#count").inner_text().split()[0]))
            if len(answered) == 1:
                second.press_sequentially("cat")
                choose(page, page.locator("[data-side=none]").click)
                continue
            first.press_sequentially("dog|")
            page.keyboard.press("Enter")
            expect(second).to_be_focused()
            second.press_sequentially("catx")
            page.keyboard.press("Backspace")
        choose(page, lambda: page.keyboard.press("Enter"))
    [stored] = site.stored(link)
    details = {
        position: json.loads(response.steps)["details"]
        for position, response in zip(stored.positions, stored.responses, strict=True)
    }
    alone, *both = [details[position] for position in answered]
    assert alone["text"] == " | cat" and alone["gaps"][0]["first_key_ms"] is None
    assert both and all(one["text"] == "dog | cat" for one in both)
    dog, cat = both[0]["gaps"]
    assert dog["first_key_ms"] <= dog["last_key_ms"] <= cat["first_key_ms"] <= cat["last_key_ms"]
    assert (dog["n_edits"], cat["n_edits"], both[0]["n_edits"]) == (0, 1, 1)
    single = [one for position, one in details.items() if position not in answered]
    assert single and all(one["text"] == "tree" and "gaps" not in one for one in single)


def fluency_study(folder: Path) -> Path:
    copied = study(folder)
    toml = (copied / "study.toml").read_text("utf-8")
    toml = toml.replace('response = "typed"', 'response = "fluency"')
    toml = toml.replace('accepted = "accepted"', "seconds = 5")
    toml = re.sub(r"\[\[(exclusion|comparisons)\]\]\n(\w.*\n)+", "", toml).replace(
        'practice = "practice', "# "
    )
    (copied / "study.toml").write_text(toml, encoding="utf-8")
    return copied


def test_a_list_grows_until_the_time_is_up_and_is_stored_once(site, page, tmp_path: Path):
    link = site.launch(fluency_study(tmp_path))
    page.set_viewport_size({"width": 390, "height": 844})
    consent(page, link)
    start(page)
    field, entries = page.locator("#typed-entry"), page.locator(".entries li")
    following = page.locator("[data-side=list]")
    expect(field).to_be_focused()
    expect(following).to_be_hidden()
    field.press_sequentially("dog|s")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    field.press_sequentially("polar bearx")
    page.keyboard.press("Backspace")
    page.locator(".adding").click()
    expect(entries).to_have_text(["dog s", "polar bear"])
    expect(field).to_be_focused()
    field.press_sequentially("ca")
    shoot(page, "list-phone")
    expect(page.locator("#typed-hint")).to_have_text("Time is up. Please go on now.")
    expect(entries).to_have_text(["dog s", "polar bear", "ca"])
    expect(page.locator(".remaining")).to_have_text("0:00")
    assert_good(page, "a list whose time is up")
    shoot(page, "list-phone-over")
    # A press that follows the end of the time at once was meant for another entry.
    expect(following).to_be_visible()
    page.wait_for_function(
        "() => (document.querySelector('[data-side=list]').click(),"
        " !document.querySelector('.entries li'))"
    )
    expect(page.locator("#indicator")).to_have_attribute("data-state", "saved")
    [stored] = site.stored(link)
    details = json.loads(stored.responses[0].steps)["details"]
    assert details["text"] == "dog s | polar bear | ca" and details["is_last_unfinished"]
    assert details["entry_ms"] == sorted(details["entry_ms"]) and details["entry_ms"][-1] == 5000
    assert details["n_edits"] == 1 and not details["pasted"]
