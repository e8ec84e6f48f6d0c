"""A study from a table is complete: it is sound, launches with no edit, tells what it derived."""

import base64
import json
import re
import tomllib
from collections import Counter

import jsonschema
import pytest
from click.testing import CliRunner

from experiment.authoring.check import check_folder
from experiment.authoring.study_toml import study_schema
from experiment.authoring.words import languages_with_words, words_in
from experiment.commands import study as commands
from experiment.studies.load import STUDIES_FOLDER, built_in_studies, load_study


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(command, *arguments):
        return CliRunner().invoke(getattr(commands, command), list(arguments))

    return call


def table(tmp_path, items, conditions=("",), fillers=0, catch=0):
    lines = ["good,bad,item,condition,kind"]
    lines += [
        f"Good {n} {c}.,Bad {n} {c}.,{n},{c},target" for n in range(items) for c in conditions
    ]
    lines += [f"Filler {n}.,Filler not {n}.,{n},,filler" for n in range(fillers)]
    lines += [f"Catch {n}.,Catch not {n}.,{n},,catch" for n in range(catch)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("items", "conditions", "fillers", "catch"),
    [
        (1, 1, 0, 0), (2, 1, 0, 0), (8, 1, 0, 0), (8, 2, 0, 0), (8, 2, 8, 4), (7, 2, 0, 0),
        (12, 4, 12, 4), (6, 3, 5, 2), (16, 4, 24, 0), (9, 3, 3, 1), (5, 2, 3, 3), (40, 2, 0, 1),
    ],
)  # fmt: skip
def test_any_table_becomes_a_study_without_a_mistake(
    run, tmp_path, items, conditions, fillers, catch
):
    names = [f"c{n}" for n in range(conditions)] if conditions > 1 else [""]
    table(tmp_path, items, names, fillers, catch)
    done = run("new", "mine", "--from", "pairs.csv")
    assert done.exception is None, done.output
    report = check_folder("mine", 1)
    assert report.errors == () and report.built is not None
    for entries in report.built.lists:
        assert len(entries) == report.study.design.trials_per_list
        shown = Counter((entry.item.template, entry.item.frame) for entry in entries)
        assert set(shown.values()) <= {1}, "an item number twice in a list"
        each = Counter(e.item.condition for e in entries if e.item.construction == "pairs")
        assert len(set(each.values())) <= 1, "conditions unevenly"


@pytest.mark.parametrize(("catch", "allowed"), [(1, 0), (2, 1), (4, 1), (8, 2)])
def test_catch_trials_exclude_who_errs_on_more_than_a_quarter_of_them(
    run, tmp_path, catch, allowed
):
    table(tmp_path, 8, catch=catch)
    run("new", "mine", "--from", "pairs.csv")
    (rule,) = load_study("mine").exclusion
    assert (rule.rule, rule.model_extra["max_errors"]) == ("max_errors", allowed)
    assert check_folder("mine", 1).notes == ()


def test_items_of_one_condition_are_shared_out_to_as_many_lists_as_wished(run, tmp_path):
    table(tmp_path, 12, catch=2)
    run("new", "mine", "--from", "pairs.csv", "--lists", "3")
    report = check_folder("mine", 1)
    design, lists = report.study.design, report.built.lists
    assert (design.lists, design.participants_per_list, design.trials_per_list) == (3, 20, 4 + 2)
    targets = [e.item.item_id for entries in lists for e in entries if e.kind == "target"]
    assert len(targets) == len(set(targets)) == 12
    assert [sum(e.kind == "catch" for e in entries) for entries in lists] == [2, 2, 2]


@pytest.mark.parametrize("number", ["1", "9"])
def test_too_few_and_too_many_lists_are_refused(run, tmp_path, number):
    table(tmp_path, 8, ["a", "b"])
    refused = str(run("new", "mine", "--from", "pairs.csv", "--lists", number).exception)
    assert f"{number} list(s) cannot show 8 items in 2 condition(s)" in refused
    assert "a number from 2 to 8" in refused


def test_what_was_derived_and_left_out_is_said(run, tmp_path):
    table(tmp_path, 7, ("a", "b"))
    output = run("new", "mine", "--from", "pairs.csv").output
    assert "14 items read from a table of pairs" in output
    assert "1 of the 7 items of pairs will not be shown" in output
    assert "2 list(s) of 6 trials" in output
    assert "parallax study preview mine" in output


def test_the_text_as_it_was_written_reaches_the_screen(run, tmp_path):
    (tmp_path / "p.csv").write_text("good,bad\nIs she rusty?,Is she rust?\n", encoding="utf-8")
    run("new", "mine", "--from", "p.csv")
    shown = run("show", "mine").output
    assert "+ Is she rusty?\n" in shown
    assert "1, each with 1 trials and 20 participants: 20 participants in all" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("My Study", "--from", "pairs.csv"), 'Call it "my_study"'),
        (("2024", "--from", "pairs.csv"), 'Call it "study_2024"'),
        (("there", "--from", "pairs.csv"), "of that name already exists"),
        (("mine", "--from", "nowhere.csv"), "does not exist"),
        (("mine", "--from", "pairs.csv", "--column", "good"), "names no column"),
        (("mine", "--from", "pairs.csv", "--column", "gud=good"), 'Parallax has no column "gud"'),
        (
            ("mine", "--from", "pairs.csv", "--language", "xx"),
            '--language: "xx" is not a language tag. Expected a tag of BCP 47',
        ),
        (("mine", "--from", "pairs.csv", "--language", "German"), "language"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left(run, tmp_path, arguments, message):
    table(tmp_path, 2)
    (tmp_path / "there").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run("new", *arguments)
    assert message in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("columns", ["good,bad", "good,bad,distractor"])
@pytest.mark.parametrize("language", languages_with_words())
def test_the_question_fits_pictures_and_their_bytes_are_not_printed(
    run, tmp_path, columns, language
):
    picture = base64.b64encode(b"GIF89a\1\0\1\0" + bytes(1489) + b";").decode()  # 1,500 bytes
    lines = [f"context,{columns}"]
    texts = ["A cat sleeps.", "A dog barks.", "A bird sings."][: columns.count(",") + 1]
    rest = ",".join(texts)
    lines += [f'"![animal {n}](data:image/gif;base64,{picture})",{rest}' for n in range(4)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines), encoding="utf-8")
    done = run("new", "mine", "--from", "pairs.csv", "--language", language)
    assert done.exception is None, done.output
    study = load_study("mine")
    assert study.study.title == words_in(language).asked["picture"].title
    assert study.text("instructions") == words_in(language).page("instructions_picture")
    assert "[picture: animal 0, 2 kB]" in done.output
    assert "R0lGOD" not in done.output
    shown = run("show", "mine").output
    assert "[picture: animal " in shown and "R0lGOD" not in shown


def test_an_origin_that_cannot_be_read_is_refused_and_nothing_is_left(run, tmp_path):
    table(tmp_path, 4)
    (tmp_path / "pairs.SOURCES.md").write_bytes("Universität".encode("latin-1"))
    done = run("new", "mine", "--from", "pairs.csv")
    assert "pairs.SOURCES.md" in str(done.exception) and "not UTF-8" in str(done.exception)
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("text", "is_copied"), [("pairs.tsv is mine.", True), ("birdpairs.csv: Anna's birds.", False)]
)
def test_only_an_origin_that_names_the_table_is_copied(run, tmp_path, text: str, is_copied: bool):
    table(tmp_path, 4)
    (tmp_path / "SOURCES.md").write_text(text)
    done = run("new", "mine", "--from", "pairs.csv")
    assert done.exception is None
    assert (tmp_path / "mine" / "SOURCES.md").exists() is is_copied
    note = "SOURCES.md does not name pairs.csv, so it is not copied. If it says where these items"
    assert (note in done.output) is not is_copied


def test_without_a_file_it_is_the_minimal_study_under_a_new_name(run, tmp_path):
    assert run("new", "mine").exception is None
    report = check_folder("mine", 1)
    [told] = report.notes
    assert report.errors == () and "while the run is blind: who is kept" in str(told)
    assert load_study("mine").name == "mine"


def test_show_tells_design_duration_cost_and_every_trial(run):
    output = run("show", "minimal").output
    for words in ("2, each with 8 trials", "about 1 minute", "at most $", "catch", "+ The "):
        assert words in output
    conditions = {e.item.condition for entries in check_folder("minimal", 1).built.lists
                  for e in entries}  # fmt: skip
    assert all(condition in output for condition in conditions)


def test_the_schema_takes_every_built_in_study(run, tmp_path):
    run("schema", "--out", "schema.json")
    schema = json.loads((tmp_path / "schema.json").read_text(encoding="utf-8"))
    assert schema == study_schema()
    for name in built_in_studies():
        text = (STUDIES_FOLDER / name / "study.toml").read_text(encoding="utf-8")
        jsonschema.validate(tomllib.loads(text), schema)


@pytest.mark.parametrize(
    ("old", "new"),
    [("version =", "versoin ="), ("lists = 2", 'lists = "2"'), ("[design]", "[desing]")],
)
def test_the_schema_refuses_what_the_loader_refuses(old, new):
    text = (STUDIES_FOLDER / "minimal" / "study.toml").read_text(encoding="utf-8").replace(old, new)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), study_schema())


@pytest.mark.parametrize("language", [tag for tag in languages_with_words() if tag != "en"])
@pytest.mark.parametrize("presentation", ["sentence_pair", "rating", "option_list"])
def test_a_study_in_another_language_has_its_texts(run, tmp_path, language, presentation):
    table(tmp_path, 4)
    asked = ("--language", f"{language}-CH", "--response", presentation)
    done = run("new", "mine", "--from", "pairs.csv", *asked)
    assert "in English" not in done.output
    report = check_folder("mine", 1)
    assert (report.errors, report.notes) == ((), ())
    texts = [report.study.text(page) for page in report.study.texts]
    assert not [text for text in texts if re.search(r"[{}]", text)], "a gap that is not filled"


def test_what_is_left_in_english_is_said_and_then_named(run, tmp_path):
    table(tmp_path, 4)
    done = run("new", "mine", "--from", "pairs.csv", "--language", "ja", "--response", "rating")
    assert "are in English, because there are none in ja" in done.output
    notes = " ".join(map(str, check_folder("mine", 1).notes))
    for words in ("questionnaire 1.label", "questionnaire 2.label", "study.title", "lowest",
                 "highest", "consent.md", "instructions.md", "debrief.md"):  # fmt: skip
        assert words in notes


def test_marks_of_regions_are_not_shown_in_ratings_either(run, tmp_path):
    rows = [f"A {n}/saw/the b.,{n}" for n in range(4)]
    (tmp_path / "t.csv").write_text("\n".join(["sentence,item", *rows]))
    done = run("new", "mine", "--from", "t.csv", "--response", "rating")
    assert "The slashes divide regions, and are not shown" in done.output
    assert "    t-0: A 0 saw the b." in done.output


def test_the_example_of_a_rule_for_lists_is_one_that_can_exclude(run, tmp_path):
    (tmp_path / "t.csv").write_text("sentence,item\nanimals,1\ntools,2\n")
    run("new", "mine", "--from", "t.csv", "--response", "fluency")
    toml = tmp_path / "mine" / "study.toml"
    text = toml.read_text("utf-8")
    example = text[text.index("# [[exclusion]]") :].partition("\n\n")[0]
    toml.write_text(text.replace(example, re.sub("(?m)^# ", "", example)), "utf-8")
    (rule,) = load_study("mine").exclusion
    assert rule.rule == "unknown_words"  # lists of one participant are hardly ever the same
    assert check_folder("mine", 1).errors == ()
