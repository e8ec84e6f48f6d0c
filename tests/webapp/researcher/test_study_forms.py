"""Forms of a study's questions and exclusion rules change their own lines and nothing else."""

import json
import tomllib
from pathlib import Path

import pytest

from experiment.exclusion.rules import RULES
from experiment.studies.study import STUDY_FILE
from webapp.core.subprocesses import CommandResult
from webapp.researcher import rule_forms, study_forms
from webapp.researcher.study_folders import hash_text
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
HOSTILE = "\"]\\ # [x] = 1 ''' \u202e {{7*7}}<script>"


class Editing:
    """A researcher, what their study is called, and its text's file."""

    def __init__(self, here, file) -> None:
        self.here, self.file = here, file
        self.called = f"ours ({file.parent.parent.name})"

    @property
    def text(self) -> str:
        return self.file.read_text("utf-8")

    def page(self, path: str, **more: str):
        query = "&".join(f"{name}={value}" for name, value in more.items())
        return self.here.get(f"/studies/{path}?study={self.called}&{query}")

    def post(self, path: str, **fields):
        form = {"study": self.called, "seen": hash_text(self.text), **fields}
        return self.here.post(f"/studies/{path}", **form)

    def entries(self, table: str):
        return tomllib.loads(self.text).get(table, [])


@pytest.fixture
def editing(researcher, instance):
    here = researcher(Role.RESEARCHER)
    assert here.post("/studies/copy", study="minimal", name="ours").status_code == 303
    [file] = instance.glob(f"studies/*/ours/{STUDY_FILE}")
    return Editing(here, file)


QUESTION = {"name": "age", "label": "How old are you?", "type": "number", "number": ""}


def test_a_question_of_each_kind_is_added_changed_moved_and_removed(editing):
    before = editing.text
    options = {"options": "yes\n no \n", "required": "yes"}
    scale = {"points": "7", "lowest": HOSTILE}
    for kind, more in {
        "text": {}, "long_text": {}, "choice": options, "choices": options | {"most": "1"},
        "number": {}, "scale": scale, "slider": {"to_number": "9.5", "step": "0.5"},
    }.items():  # fmt: skip
        saved = editing.post("questions/save", **QUESTION | {"name": kind, "type": kind} | more)
        assert saved.status_code == 303, saved.text
    asked = {entry["name"]: entry for entry in editing.entries("questionnaire")}
    assert asked["choices"] == {
        "name": "choices", "label": "How old are you?", "type": "choices",
        "options": ["yes", "no"], "required": True, "most": 1,
    }  # fmt: skip
    assert asked["slider"]["to_number"] == 9.5
    assert asked["scale"]["lowest"] == HOSTILE
    assert [line for line in before.splitlines() if line not in editing.text.splitlines()] == []
    page = editing.page("questions").text
    assert "<script>" not in page.partition("<main")[2]
    moved = editing.post("questions/up", number="1")
    assert moved.status_code == 303
    assert [entry["name"] for entry in editing.entries("questionnaire")][:2] == [
        "text", "native_language",
    ]  # fmt: skip
    changed = editing.post("questions/save", **QUESTION | {"number": "1", "name": "tongue"})
    assert changed.status_code == 303
    assert editing.entries("questionnaire")[1] == {
        "name": "tongue", "label": "How old are you?", "type": "number",
    }  # fmt: skip
    for _ in editing.entries("questionnaire"):
        assert editing.post("questions/remove", number="0").status_code == 303
    assert editing.entries("questionnaire") == []
    assert "asked nothing after the last trial" in editing.page("questions").text


def test_every_registered_rule_that_declares_its_parameters_has_a_form(editing):
    page = editing.page("rules").text
    page = page[page.index("Add a rule") :]
    without = {"any", "all", "not"}
    for name in RULES:
        assert (f'value="{name}"' in page) == (name not in without)
        if name not in without:
            form = editing.page("rules/edit", kind=name)
            assert form.status_code == 200
            for parameter in RULES.load(name).model_fields:
                assert f'name="{parameter}"' in form.text


def test_each_parameter_is_typed_as_its_rule_declares_it(editing):
    form = editing.page("rules/edit", number="0").text
    chosen = '<input type="checkbox" name="construction" value="simple_agreement" checked>'
    assert chosen in form and '<input type="checkbox" name="kind" value="catch">' in form
    assert '<textarea name="where"' in form and 'inputmode="decimal"' in form
    form = editing.page("rules/edit", kind="outlier").text
    assert '<select name="measure"' in form and "<option>log_rt</option>" in form
    form = editing.page("rules/edit", kind="agent_likelihood").text
    assert '<input type="checkbox" name="automatic" value="yes">' in form
    assert "0.5 if empty" in form
    form = editing.page("rules/edit", kind="not_native").text
    assert '<select name="question"' in form and "<option>native_language</option>" in form


def test_a_rule_is_changed_in_its_own_lines_and_keeps_its_comment(editing):
    before = editing.text
    form = {"rule": "max_errors", "number": "0", "construction": "simple_agreement"}
    assert editing.post("rules/save", **form, max_errors="2").status_code == 303
    lines = zip(before.splitlines(), editing.text.splitlines(), strict=True)
    assert [pair for pair in lines if pair[0] != pair[1]] == [("max_errors = 1", "max_errors = 2")]
    fast = {"rule": "too_fast", "number": "", "below_ms": "200", "max_share": "0.5"}
    assert editing.post("rules/save", **fast).status_code == 303
    assert editing.entries("exclusion")[1] == {
        "rule": "too_fast", "below_ms": 200, "max_share": 0.5,
    }  # fmt: skip
    assert editing.post("rules/up", number="1").status_code == 303
    assert editing.text.index("too_fast") < editing.text.index("# Whoever errs more than once")
    assert editing.post("rules/remove", number="0").status_code == 303
    assert editing.entries("exclusion")[0]["rule"] == "max_errors"


@pytest.mark.parametrize(
    ("path", "fields", "name", "says"),
    [
        ("rules", {"rule": "max_errors", "max_errors": "-1"}, "max_errors",
         "&#34;-1&#34; cannot be used: Input should be greater than or equal to 0. Nothing was"),
        ("rules", {"rule": "max_errors", "max_errors": "1e3"}, "max_errors",
         "Expected a whole number, such as 3. Nothing was stored."),
        ("rules", {"rule": "max_errors", "max_errors": ""}, "max_errors",
         "The field is empty. Expected a value. Nothing was stored."),
        ("rules", {"rule": "too_fast", "below_ms": "200"}, "",
         "give below_ms and max_share, or min_median_ms alone"),
        ("rules", {"rule": "too_fast", "below_ms": "x" * 30_000}, "below_ms",
         "Expected at most 20,000 characters."),
        ("rules", {"rule": "failed_comprehension", "answers": "capital"}, "answers",
         "Expected lines such as name = value, or name = value | other value."),
        ("rules", {"rule": "max_errors", "max_errors": "1", "construction": "none"}, "construction",
         "Expected some of: simple_agreement, agreement_across_phrase."),
        ("rules", {"rule": "outlier", "measure": "height"}, "measure",
         "Expected one of: log_rt, accuracy."),
        ("questions", {"name": "Old Age", "label": "?"}, "name", "lower-case letters"),
        ("questions", {"name": "a", "label": "two\nlines"}, "label", "Expected one line."),
        ("questions", {"name": "native_language", "label": "?"}, "name",
         "Two questions are called &#34;native_language&#34;."),
        ("questions", {"name": "a", "label": "?", "type": "choice"}, "options",
         "is a choice without options"),
        ("questions", {"name": "a", "label": "?", "type": "number", "only_if": "b = c"}, "only_if",
         "earlier question"),
        ("questions", {"name": "a", "label": "?", "type": "choice", "options": "x\n" * 501},
         "options", "Expected at most 500 lines."),
        ("questions", {"name": "a", "label": "?", "type": "number", "when": "a" * 3}, "when",
         "Expected lines such as"),
        ("questions", {"name": "a", "label": "?", "type": "slider", "step": "much"}, "step",
         "Expected a number, such as 2 or 0.25."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_beside_its_field_and_nothing_is_stored(
    editing, path, fields, name, says
):
    before = editing.text
    refused = editing.post(f"{path}/save", number="", **fields)
    assert refused.status_code == 400
    assert says in refused.text
    if name:
        assert says in refused.text.partition(f'name="{name}"')[2]
    assert editing.text == before


def test_what_was_saved_meanwhile_is_not_lost_and_what_was_typed_stays_in_the_fields(editing):
    editing.file.write_text(editing.text.replace('version = "1.0"', 'version = "2"'), "utf-8")
    late = editing.post("questions/save", seen="x", **QUESTION)
    assert late.status_code == 409
    assert "Somebody else saved study.toml" in late.text and 'value="age"' in late.text
    assert editing.post("rules/remove", seen="x", number="0").status_code == 409
    assert 'version = "2"' in editing.text and "age" not in editing.text.split()


def test_a_page_names_the_text_that_its_fields_show_though_another_was_saved_since(
    editing, monkeypatch
):
    shown = editing.text
    texts = iter([shown])
    monkeypatch.setattr(study_forms, "read_study_text", lambda *_: next(texts, f"{shown}# later"))
    page = editing.page("questions/edit").text
    assert hash_text(shown) in page and hash_text(f"{shown}# later") not in page


def test_a_text_with_the_line_ends_of_windows_is_changed_too(editing):
    written = editing.text.replace("\n", "\r\n")
    editing.file.write_bytes(written.encode())
    assert editing.post("questions/save", **QUESTION).status_code == 303
    assert [entry["name"] for entry in editing.entries("questionnaire")][-1] == "age"


def test_a_text_that_cannot_be_changed_line_by_line_is_left_to_the_editor(editing):
    lines = editing.text.partition("# Whoever errs")
    rest = lines[2].partition("[[questionnaire]]")
    inline = 'exclusion = [{ rule = "max_errors", max_errors = 1 }]\n'
    editing.file.write_text(inline + lines[0] + rest[1] + rest[2], "utf-8")
    refused = editing.post("rules/save", rule="max_errors", number="0", max_errors="2")
    assert refused.status_code == 400
    assert "the form cannot change [[exclusion]]" in refused.text
    assert editing.post("rules/remove", number="0").status_code == 400


@pytest.mark.parametrize("broken", ["a = [", f"a = {'[' * 5_000}", f"a = {'1' * 5_000}"])
def test_a_form_says_that_a_text_cannot_be_read_and_keeps_it(editing, broken):
    editing.file.write_text(broken, "utf-8")
    for page in ("rules", "questions", "questions/edit"):
        assert editing.page(page).status_code == 200
    refused = editing.post("questions/save", **QUESTION)
    assert refused.status_code == 400 and "the form cannot change" in refused.text
    assert editing.text == broken


def test_what_is_not_there_is_not_found(editing):
    assert editing.page("questions/edit", number="9").status_code == 404
    assert "no such question any more" in editing.page("questions/edit", number="9").text
    assert "no form for a rule" in editing.page("rules/edit", kind="any").text
    assert editing.post("rules/up", number="0").status_code == 400
    assert "Nothing was moved" in editing.post("rules/up", number="0").text


def test_other_kinds_of_questions_have_other_fields_and_keep_what_was_typed(editing):
    form = QUESTION | {"type": "scale", "label": HOSTILE}
    fields = editing.post("questions/fields", **form).text
    assert 'name="points"' in fields and 'name="options"' not in fields
    assert "{{7*7}}&lt;script&gt;" in fields


def test_the_counts_are_of_what_is_typed_and_made_in_another_process(editing, monkeypatch):
    commands = []

    def run(_instance, *command):
        file = Path(command[command.index("--rules") + 1])
        commands.append(tomllib.loads(file.read_text("utf-8"))["exclusion"])
        row = {"rule": "too many errors", "excluded": {"accurate": 3, "guessing": 71}, "note": ""}
        counts = {"people": 100, "rules": [row, row]}
        return CommandResult(worked=True, text=json.dumps(counts))

    monkeypatch.setattr(rule_forms, "run_parallax", run)
    typed = {"rule": "max_errors", "number": "0", "max_errors": "3"}
    page = editing.post("rules/counts", **typed)
    assert page.status_code == 200
    assert commands == [[{"rule": "max_errors", "max_errors": 3}]]
    assert "Excluded of 100 each" in page.text and ">71<" in page.text
    waits = editing.post("rules/counts", **typed | {"max_errors": ""})
    assert "The counts appear when every field can be used. Look at: max_errors." in waits.text
    assert len(commands) == 1


def _add_two_rules(editing) -> None:
    """Add one rule of times and one of sides after the rule of errors."""
    for fields in (
        {"rule": "too_fast", "below_ms": "200", "max_share": "0.5"},
        {"rule": "same_side", "max_share": "0.9"},
    ):
        assert editing.post("rules/save", number="", **fields).status_code == 303


FAST = {"rule": "too_fast", "below_ms": 200, "max_share": 0.5}
SIDES = {"rule": "same_side", "max_share": 0.9}


def test_ticked_rules_become_one_where_the_first_of_them_was_and_are_separated_again(editing):
    [errors] = editing.entries("exclusion")
    _add_two_rules(editing)
    before = editing.text
    # The lowest number is the first, in whatever order they are sent.
    combined = editing.post("rules/combine", ticked=["2", "0"], combination="all")
    assert combined.status_code == 303
    assert editing.entries("exclusion") == [{"rule": "all", "rules": [errors, SIDES]}, FAST]
    assert editing.text.index("# Whoever errs more than once") < editing.text.index('"all"')
    assert "several reasons together (too many errors" in editing.page("rules").text
    assert editing.post("rules/separate", number="0").status_code == 303
    assert editing.entries("exclusion") == [errors, SIDES, FAST]
    [comment] = [line for line in before.splitlines() if line.startswith("# Whoever errs")]
    assert editing.text.count(comment) == 1
    assert editing.post("rules/combine", ticked="1", combination="not").status_code == 303
    assert editing.entries("exclusion")[1] == {"rule": "not", "rules": [SIDES]}


@pytest.mark.parametrize(
    ("ticked", "combination"), [("0", "any"), (["0", "1"], "not"), ([], "all"), (["0", "1"], "or")]
)
def test_too_few_or_too_many_ticked_rules_are_combined_to_none(editing, ticked, combination):
    _add_two_rules(editing)
    before = editing.text
    refused = editing.post("rules/combine", ticked=ticked, combination=combination)
    assert refused.status_code == 400
    assert "rules are ticked" in refused.text and "at least two for the others" in refused.text
    assert editing.text == before
    single = editing.post("rules/separate", number="0")
    assert single.status_code == 400 and "The rule combines no others." in single.text


def test_the_counts_are_of_the_combination_of_the_ticked_rules(editing, monkeypatch):
    [errors] = editing.entries("exclusion")
    _add_two_rules(editing)
    tried = []

    def simulate(_study, rules):
        tried.append(rules)
        return {"people": 100, "rules": [{"rule": "r", "excluded": {}, "note": ""}]}, ""

    monkeypatch.setattr(rule_forms, "_simulate", simulate)
    editing.post("rules/counts", number="", ticked=["0", "2"], combination="any")
    editing.post("rules/counts", number="", ticked="0", combination="any")
    assert tried == [[{"rule": "any", "rules": [errors, SIDES]}, FAST], [errors, FAST, SIDES]]


def test_a_form_adds_no_more_than_it_can_show(editing, monkeypatch):
    monkeypatch.setattr(study_forms, "_MOST_ENTRIES", 1)
    refused = editing.post("questions/save", **QUESTION)
    assert "entries of this kind, and a form adds no more" in refused.text
