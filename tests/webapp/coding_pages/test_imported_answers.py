"""Two people code an import's answers on pages that are files; `compare` uses their codes."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.data.codes import add_codes, read_codes
from analysis.readers.judgments import read_judgments
from tests.analysis.chosen_findings import compare_by
from tests.webapp.coding_pages.conftest import CODING, study_with
from webapp.coding_pages.command import coding as command

ITEMS = ("typed-1-strong", "typed-1-weak")
# Who, item and answer; the second and third are one answer.
ANSWERS = (
    ("a", 0, "cow"), ("b", 0, "Horse"), ("c", 0, "horse."), ("a", 1, "=cow()"), ("b", 1, "house"),
    ("c", 1, ""),
)  # fmt: skip


class Import:
    """An import with its study, and what its coders save."""

    def __init__(self, folder: Path, coding: str = CODING) -> None:
        self.study = study_with(folder, coding).folder
        self.folder, self.work = folder / "imported", folder
        self.folder.mkdir()
        self.write(ANSWERS)

    def write(self, answers) -> None:
        rows = [f"{who},{ITEMS[item]},good,{typed},{not typed}" for who, item, typed in answers]
        (self.folder / "judgments.csv").write_text(
            "\n".join(["participant,item,version,typed,no_answer", *rows]) + "\n", "utf-8"
        )

    def run(self, name: str, *arguments: object):
        whole = [name, str(self.study), str(self.folder), *map(str, arguments)]
        return CliRunner().invoke(command, whole, catch_exceptions=True)

    def refusal(self, name: str, *arguments: object) -> str:
        result = self.run(name, *arguments)
        assert result.exception is not None, result.output
        return str(result.exception)

    def cards(self, coder: str, *arguments: object) -> list[dict]:
        page = self.work / f"{coder}.html"
        result = self.run("page", "--coder", coder, *arguments, "--out", page)
        assert result.exit_code == 0, result.exception
        text = page.read_text("utf-8")
        assert "src=" not in text and 'rel="stylesheet"' not in text
        work = re.search(r'id="work">(.*?)</script>', text, re.DOTALL)
        return json.loads(work[1])["work"]["cards"]

    def save(self, coder: str, categories, *arguments: object, task: str = "code") -> Path:
        """Code all cards of a page, and return the file that it saves."""
        rows = [
            f"{coder},{task},{card['round']},{card['answer']},{categories[card['typed']]}\r\n"
            for card in self.cards(coder, *arguments)
        ]
        path = self.work / f"{coder}.csv"
        path.write_text("".join(["coder,task,round,answer,category\r\n", *rows]), "utf-8")
        return path

    def both(self, **changes: str) -> tuple[object, ...]:
        """Return the options with the files of two coders; the second differs as given."""
        ada = self.save("Ada", RIGHT)
        return "--codes", ada, "--codes", self.save("Ben", RIGHT | changes)

    def judged(self):
        return read_judgments(self.folder / "judgments.csv", self.study)

    def codes(self):
        return read_codes(self.judged())


RIGHT = {"dog": "alive", "cow": "alive", "Horse": "alive", "=cow()": "thing"}


@pytest.fixture
def imported(tmp_path) -> Import:
    return Import(tmp_path)


def test_the_codes_of_two_people_and_a_decision_are_those_of_each_persons_answers(imported):
    assert {card["typed"] for card in imported.cards("Ada")} == set(RIGHT)
    both = imported.both(cow="thing")
    [disputed] = imported.cards("Cy", *both)
    assert disputed["typed"] == "cow" and disputed["codes"] == ["Alive", "A thing"]
    assert "0 have not been coded by both coders, and 1 disagreements" in imported.refusal(
        "freeze", *both
    )
    assert imported.codes().empty
    decided = imported.save("Cy", {"cow": "alive"}, *both, task="decide")
    assert imported.run("freeze", *both, "--decided", decided).exit_code == 0
    codes = imported.codes()
    columns = ["participant", "code", "listed", "coder_1", "coder_2", "decided"]
    assert codes[columns].to_numpy().tolist() == [
        ["p1", "alive", "", "alive", "thing", "alive"],
        ["p2", "alive", "", "alive", "alive", ""],
        ["p3", "alive", "", "alive", "alive", ""],
        ["p1", "thing", "", "thing", "thing", ""],
        ["p2", "thing", "thing", "", "", ""],
    ]
    assert codes["answer"].tolist() == [1, 2, 2, 3, 4]
    # A spreadsheet takes no answer for a formula.
    assert "\ntyped-1-weak,good,'=cow,thing," in (imported.folder / "codes_1.csv").read_text(
        "utf-8"
    )


def test_what_a_model_proposed_is_shown_to_who_decides_alone_and_counted_apart(imported):
    table = imported.work / "model.csv"
    proposed = [("cow", "alive"), ("HORSE", "thing"), ("tree", "alive"), ("'=cow()", "thing")]
    rows = [
        f"{ITEMS[text.endswith(')')]},{text},{category},some-model" for text, category in proposed
    ]
    table.write_text("\n".join(["item_id,typed,category,model", *rows]), "utf-8")
    assert "a page for a coder would have a model's opinion" in imported.refusal(
        "page", "--coder", "Ada", "--proposed", table, "--out", imported.work / "x.html"
    )
    both = imported.both(cow="thing")
    [disputed] = imported.cards("Cy", *both, "--proposed", table)
    assert disputed["proposed"] == {"model": "some-model", "category": "Alive"}
    refusal = imported.refusal("freeze", *both, "--proposed", table)
    assert "1 disagreements are undecided" in refusal
    decided = imported.save("Cy", {"cow": "thing"}, *both, task="decide")
    imported.run("freeze", *both, "--decided", decided, "--proposed", table)
    codes = imported.codes()
    assert codes["code"].tolist() == ["thing", "alive", "alive", "thing", "thing"]
    assert codes["proposed"].tolist() == ["alive", "thing", "thing", "thing", ""]
    assert codes["proposed_by"].tolist() == ["some-model"] * 4 + [""]
    result = compare_by(["typed_answers", "coder_agreement"], imported.judged())
    people = result.statistics["coder_agreement"].set_index("pair")["n_equal"]
    model = result.statistics["model_coder_agreement"].set_index("pair")["n_equal"]
    # Of three answers, the coders differ about the first, and the model about the second.
    assert people.to_dict() == {"the two coders": 2}
    assert model.to_dict() == {
        "the model and the first coder": 2,
        "the model and the second coder": 1,
        "the model and the coders' category": 1,
    }


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("0,cow,fish,m", 'the proposed "fish" is no category of the study'),
        ("0,cow,alive,m\n0,Cow.,thing,m", '"cow" has two proposed categories, alive and thing'),
        ("0,cow,alive,m\n0,horse,alive,n", "the column model names 2 models"),
        ("0,cow,alive,", "the model's name is empty or too long"),
        ("0,zebra,alive,m", "no proposal is for an answer that is coded"),
    ],
)
def test_a_table_of_proposals_that_cannot_be_used_is_refused(imported, rows, says):
    table = imported.work / "model.csv"
    rows = rows.replace("0,", f"{ITEMS[0]},")
    table.write_text(f"item_id,typed,category,model\n{rows}\n", "utf-8")
    assert says in imported.refusal("freeze", *imported.both(), "--proposed", table)


def test_later_answers_have_no_code_and_the_next_version_leaves_the_first(imported):
    both = imported.both()
    imported.run("freeze", *both)
    imported.write([*ANSWERS[:3], ("a", 1, "tree"), ANSWERS[4]])
    assert imported.codes()["participant"].tolist() == ["p1", "p2", "p3", "p2"]
    result = compare_by(["typed_answers", "coder_agreement"], imported.judged())
    assert "1 of 5 answers have no code in the frozen version." in result.left_out
    first = (imported.folder / "codes_1.csv").read_bytes()
    assert "1 have not been coded" in imported.refusal("freeze", *both)
    imported.write([*ANSWERS[:3], ANSWERS[4]])
    frozen = imported.run("freeze", *both)
    assert "1 codes are of answers that the import does not have" in frozen.output
    assert (imported.folder / "codes_1.csv").read_bytes() == first
    assert set(imported.codes()["coding_version"]) == {2}


def test_answers_of_unknown_people_have_their_codes(imported):
    answers = imported.folder / "judgments.csv"
    lines = answers.read_text("utf-8").splitlines()
    answers.write_text("\n".join(line.partition(",")[2] for line in lines) + "\n", "utf-8")
    assert imported.run("freeze", *imported.both()).exit_code == 0
    run = imported.judged()
    coded = add_codes(run.responses, read_codes(run))
    assert coded["code"].tolist() == ["alive", "alive", "alive", "thing", "thing"]
    assert coded["typed"].tolist() == ["cow", "Horse", "horse.", "=cow()", "house"]


def test_a_frozen_version_that_somebody_edited_is_refused(imported):
    imported.run("freeze", *imported.both())
    table = imported.folder / "codes_1.csv"
    table.write_text(table.read_text("utf-8").replace("alive", "thing"), "utf-8")
    with pytest.raises(Exception, match="version 1 of the codes was changed after it was frozen"):
        imported.codes()
    (imported.folder / "codes_1.json").write_text("{}", "utf-8")
    with pytest.raises(Exception, match="version 1 of the codes cannot be read"):
        imported.codes()


def test_a_category_that_was_renamed_after_the_coding_is_named(imported):
    both = imported.both()
    imported.run("freeze", *both)
    settings = imported.study / "study.toml"
    settings.write_text(settings.read_text("utf-8").replace('"alive"', '"living"'), "utf-8")
    with pytest.raises(Exception, match='the frozen codes have the category "alive"'):
        imported.codes()
    assert '"alive" is no category of the study' in imported.refusal("freeze", *both)


def test_what_people_typed_is_a_text_on_the_page_whatever_it_contains(imported):
    texts = ["x" * 5000, "🐮", "</script><b>", "\u202egod\u202c", "=1+1", "a\u0007b", "@SUM"]
    imported.write([("a", 0, text) for text in texts])
    cards = imported.cards("Ada")
    assert {card["typed"] for card in cards} == {*texts, "dog"}
    assert "<b>" not in (imported.work / "Ada.html").read_text("utf-8")


def test_without_texts_equal_answers_to_different_texts_are_coded_once(tmp_path):
    blind = Import(tmp_path, CODING.replace("[coding]", "[coding]\nshow_text = false"))
    blind.write([("a", 0, "cow"), ("b", 1, "cow!"), ("c", 1, "cow")])
    [_, card] = blind.cards("Ada")
    assert card["before"] == card["after"] == ""
    assert blind.run("freeze", *blind.both()).exit_code == 0
    assert blind.codes()["code"].tolist() == ["alive"] * 3


def test_what_is_no_saved_table_of_two_coders_is_refused_in_words(imported):
    both = imported.both()
    ada = both[1]
    decided = imported.save("Cy", RIGHT, task="decide")
    assert "1 tables are given with --codes" in imported.refusal("freeze", "--codes", ada)
    assert "both tables are of Ada" in imported.refusal("freeze", "--codes", ada, "--codes", ada)
    assert "the table of Cy has decisions on disagreements" in imported.refusal(
        "freeze", "--codes", ada, "--codes", decided
    )
    refusal = imported.refusal("freeze", *both, "--decided", ada)
    assert "the table of Ada has codes of all answers" in refusal
    assert "Give the coders' tables with --codes, and the decisions with --decided" in refusal
    assert '"=HYPERLINK(1)" cannot be a coder\'s name' in imported.refusal(
        "page", "--coder", "=HYPERLINK(1)", "--out", imported.work / "x.html"
    )
    assert "there is no such table" in imported.refusal("freeze", "--codes", "no.csv", *both[2:])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Ada,code,1,{digest},fish", '"fish" is no category of the study'),
        ("Ada,code,9,{digest},alive", '"9" is not a round'),
        ("Ada,code,1,{digest},alive", "the answer of this line has a code on an earlier line"),
        ("Ben,code,1,other,alive", "the codes are of 2 coders"),
    ],
)
def test_a_saved_table_that_somebody_edited_is_refused_with_its_line(imported, line, says):
    both = imported.both()
    table: Path = both[1]
    digest = table.read_text("utf-8").splitlines()[-1].split(",")[3]
    with table.open("a", encoding="utf-8") as file:
        file.write(line.format(digest=digest) + "\r\n")
    assert says in imported.refusal("freeze", *both)


def test_a_table_without_typed_answers_or_of_another_study_is_refused(imported):
    answers = imported.folder / "judgments.csv"
    answers.write_text(answers.read_text("utf-8").replace(ITEMS[1], "other-1"), "utf-8")
    assert "belongs to the item other-1, which the study lacks" in imported.refusal(
        "page", "--coder", "Ada", "--out", imported.work / "x.html"
    )
    answers.write_text("participant,item,chosen\na,typed-1-strong,good\n", "utf-8")
    assert 'the table lacks the column "typed"' in imported.refusal("freeze", *["--codes", answers])


def test_a_study_without_categories_has_nothing_to_code(tmp_path):
    refusal = Import(tmp_path, "").refusal("page", "--coder", "Ada", "--out", tmp_path / "x.html")
    assert "the study declares no categories, so answers cannot be coded" in refusal


def test_an_import_has_the_language_of_its_study(imported):
    settings = imported.study / "study.toml"
    settings.write_text(
        settings.read_text("utf-8").replace('language = "en"', 'language = "de"', 1), "utf-8"
    )
    (imported.study / "texts" / "en").rename(imported.study / "texts" / "de")
    run = read_judgments(imported.folder / "judgments.csv", imported.study)
    assert run.study.study.language == "de"
