"""The field's formats, read as people have them."""

import csv
import io
import json
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from experiment.errors import MaterialsError
from experiment.materials.formats.files import open_materials
from experiment.materials.formats.raw import SUFFIXES
from experiment.materials.formats.read import read_materials
from experiment.records import Kind
from experiment.responses.reading.division import question_of

PAIRS = "good,bad\nIs she rusty?,Is she rust?\nFrançois dort.,François dorment.\n"


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def texts(found):
    return [(item.good, item.bad) for item in found.items]


CROSSED = """\
good,bad,item,when
a,b,1,x
c,d,1,y
e,f,2,x
g,h,2,y
k,l,3,x
i,j,3,y
m,n,4,x
o,p,4,y
"""
WANTED = [("Is she rusty?", "Is she rust?"), ("François dort.", "François dorment.")]


@pytest.mark.parametrize(
    "content",
    [
        PAIRS.encode(),
        PAIRS.encode("utf-8-sig"),
        PAIRS.encode("utf-16"),
        PAIRS.encode("cp1252"),
        PAIRS.replace(",", ";").encode(),
        PAIRS.replace(",", "\t").encode(),
        PAIRS.replace("\n", "\r\n").encode("utf-8-sig"),
        b"sep=;\r\n" + PAIRS.replace(",", ";").replace("\n", "\r\n").encode("cp1252"),
        ("\n" + PAIRS.replace("\n", "\n,\n")).encode(),
        PAIRS.replace("good,bad", " Good , BAD ").encode(),
        PAIRS.replace("good,bad", "sentence_good,sentence_bad").encode(),
        PAIRS.replace("Is she rusty?", '"Is she\n rusty?"').encode(),
    ],
    ids=["UTF-8", "BOM", "UTF-16", "Windows", "semicolons", "tabs", "CRLF", "sep=", "empty lines",
         "headers", "BLiMP's headers", "line break in a cell"],
)  # fmt: skip
def test_two_columns_are_enough_in_any_encoding(tmp_path, content):
    found = read_materials(write(tmp_path / "pairs.csv", content))
    assert texts(found) == WANTED
    assert [item.item_id for item in found.items] == ["pairs-1", "pairs-2"]
    assert {item.kind for item in found.items} == {Kind.TARGET}


def test_a_workbook_of_excel_is_read(tmp_path):
    book = Workbook()
    book.active.append(["good", "bad", "item", "n"])
    for number, (good, bad) in enumerate(WANTED, start=1):
        book.active.append([good, bad, number, 0.5])
    book.save(tmp_path / "pairs.xlsx")
    found = read_materials(tmp_path / "pairs.xlsx")
    assert texts(found) == WANTED
    assert found.items[0].frame == "item=1"
    assert found.items[0].extra == (("n", "0.5"),)


def test_a_table_without_headers_is_read_by_the_names_of_its_columns(tmp_path):
    path = write(tmp_path / "rated.tsv", "a7\t1\tThe cat sleeps.\na7\t0\tThe cat sleep.\n")
    found = read_materials(path, alone=True, columns=["source", "label", "sentence"])
    assert [item.good for item in found.items] == ["The cat sleeps.", "The cat sleep."]
    assert [dict(item.extra)["label"] for item in found.items] == ["1", "0"]
    with pytest.raises(MaterialsError, match="2 columns are named, but the row has 3 cells"):
        read_materials(path, alone=True, columns=["label", "sentence"])
    lines = write(tmp_path / "rated.jsonl", '{"sentence": "The cat sleeps."}\n')
    with pytest.raises(MaterialsError, match="each value of the file has a name already"):
        read_materials(lines, alone=True, columns=["sentence"])


@pytest.mark.parametrize("first", [0, 1])
def test_the_right_answer_may_be_the_number_of_an_option(tmp_path, first):
    header = f"Sentence,Question,Option{first},Option{first + 1},Correct answer"
    rows = f"A cat sleeps.,Who?,Dog,Cat,{first + 1}\nA dog barks.,Who barks?,Dog,Cat,{first}\n"
    found = read_materials(write(tmp_path / "read.csv", f"{header}\n{rows}"), alone=True)
    assert [item.good for item in found.items] == ["A cat sleeps.", "A dog barks."]
    asked = [dict(item.extra) for item in found.items]
    assert [(own["answers"], own["answer"]) for own in asked] == [
        ("Dog|Cat", "Cat"), ("Dog|Cat", "Dog"),
    ]  # fmt: skip
    wrong = f"{header}\nA cat sleeps.,Who?,Dog,Cat,7\n"
    with pytest.raises(MaterialsError, match='"7" in the column "Correct answer" is the number of'):
        read_materials(write(tmp_path / "wrong.csv", wrong), alone=True)


def test_two_targets_after_two_contexts_are_an_item_after_each(tmp_path):
    table = (
        "Context1,Context2,Target1,Target2\nAli helps Mia.,Ali hits Mia.,Mia smiles.,Mia cries.\n"
    )
    found = read_materials(write(tmp_path / "ewok.csv", table))
    assert [(i.context, i.good, i.bad, i.frame) for i in found.items] == [
        ("Ali helps Mia.", "Mia smiles.", "Mia cries.", "item=1"),
        ("Ali hits Mia.", "Mia cries.", "Mia smiles.", "item=1"),
    ]
    assert [item.condition for item in found.items] == ["context_1", "context_2"]


def test_numbers_in_a_column_of_questions_are_no_questions(tmp_path):
    table = "SENTENCE,QUESTION,LEFT\nA cat sleeps.,1,Cat\nA dog barks.,0,\n"
    found = read_materials(write(tmp_path / "read.csv", table), alone=True)
    assert [dict(item.extra)["QUESTION"] for item in found.items] == ["1", "0"]
    assert any('"QUESTION" holds numbers, not questions' in note for note in found.notes)


def test_further_sheets_of_a_workbook_are_named(tmp_path):
    book = Workbook()
    for row in (["good", "bad"], *WANTED):
        book.active.append(row)
    book.create_sheet("Fillers")
    book.save(tmp_path / "pairs.xlsx")
    assert 'not "Fillers".' in read_materials(tmp_path / "pairs.xlsx").notes[0]


@pytest.mark.parametrize(
    ("encoding", "language", "sentence"),
    [("cp1250", "pl", "Córka śpi."), ("cp1251", "ru", "Дочь спит."), ("cp932", "ja", "猫がいる。"),
     ("cp950", "zh-Hant", "貓在這裡。"), ("cp1252", "de-AT", "Sie schläft.")],
)  # fmt: skip
def test_what_excel_writes_is_read_in_the_encoding_of_the_language(
    tmp_path, encoding, language, sentence
):
    path = write(tmp_path / "pairs.csv", f"good,bad\n{sentence},x\n".encode(encoding))
    found = read_materials(path, language=language)
    assert found.items[0].good == sentence
    assert found.notes[0].endswith("is right.")


@pytest.mark.parametrize("encoding", ["cp1250", "mac_roman"])
def test_letters_of_another_encoding_are_refused(tmp_path, encoding):
    path = write(tmp_path / "pairs.csv", "good,bad\nAhí está él śpią.,x\n".encode(
        encoding, "replace"))  # fmt: skip
    with pytest.raises(MaterialsError, match=r"is not Unicode.*UTF-8"):
        read_materials(path, language="es")


def test_json_lines_are_read(tmp_path):
    lines = [json.dumps({"good": good, "bad": bad, "n": 1}) for good, bad in WANTED]
    found = read_materials(write(tmp_path / "pairs.jsonl", "\n".join(lines)))
    assert texts(found) == WANTED
    assert dict(found.items[0].extra) == {"n": "1"}


def test_blimp_and_babylm_say_their_paradigm_and_pair(tmp_path):
    line = {
        "sentence_good": "Who hasn't Meredith visited?", "sentence_bad": "Who hasn't visited?",
        "field": "syntax", "linguistics_term": "island_effects", "UID": "wh_island",
        "pairID": "7", "one_prefix_method": False,
    }  # fmt: skip
    found = read_materials(write(tmp_path / "wh_island.jsonl", json.dumps(line)))
    (item,) = found.items
    assert (item.construction, item.frame, item.item_id) == ("wh_island", "item=7", "wh_island-7")
    assert dict(item.extra)["linguistics_term"] == "island_effects"
    assert "BLiMP" in found.format


def test_multiblimp_is_read_in_its_language(tmp_path):
    line = {"sen": "वह पढ़ता है", "wrong_sen": "वह पढ़ते है", "phenomenon": "SV-#", "lang": "hin"}
    found = read_materials(write(tmp_path / "hin.jsonl", json.dumps(line, ensure_ascii=False)))
    assert (found.items[0].good, found.items[0].construction) == ("वह पढ़ता है", "SV-#")


def test_a_pcibex_table_keeps_its_groups(tmp_path):
    table = (
        "Group,Item,Condition,Type,Good,Bad,Audio\n"
        "A,1,match,test,The key is,The key are,a.mp3\n"
        "B,1,mismatch,test,The key to the cabinets is,The key to the cabinets are,b.mp3\n"
        "A,2,match,filler,It rains,It rain,c.mp3\n"
    )
    found = read_materials(write(tmp_path / "items.csv", table))
    assert [item.kind for item in found.items] == [Kind.TARGET, Kind.TARGET, Kind.FILLER]
    assert [item.template for item in found.items] == ["items", "items", "filler"]
    assert found.items[1].frame == "item=1"
    assert dict(found.items[1].extra) == {"Group": "B", "Audio": "b.mp3"}


def test_one_sentence_in_each_row_becomes_pairs(tmp_path):
    table = (
        "item;condition;grammaticality;sentence\n"
        "1;near;grammatical;The key is here.\n1;near;ungrammatical;The key are here.\n"
        "1;far;ungrammatical;The key to it are here.\n1;far;grammatical;The key to it is here.\n"
    )
    found = read_materials(write(tmp_path / "long.csv", table))
    assert texts(found) == [
        ("The key is here.", "The key are here."),
        ("The key to it is here.", "The key to it are here."),
    ]
    assert [item.condition for item in found.items] == ["near", "far"]


def test_headers_of_any_name_can_be_given(tmp_path):
    path = write(tmp_path / "p.csv", "A,B\nHe sleeps.,He sleep.\n")
    found = read_materials(path, {"good": "A", "bad": "B"})
    assert texts(found) == [("He sleeps.", "He sleep.")]
    with pytest.raises(MaterialsError, match=r'no header "Bb".*Did you mean'):
        read_materials(path, {"good": "A", "bad": "Bb"})


def test_a_table_of_gulordava_is_read(tmp_path):
    header = "pattern\tconstr_id\tsent_id\tcorrect_number\tform\tclass\ttype\tprefix\tn_attr\tsent"
    rows = "".join(
        f"L__NOUN_VERB\t3\t{sent}\tsing\t{form}\t{class_}\t{kind}\tthe idea\t1\tthe idea goes\n"
        for sent, kind in ((0, "original"), (1, "generated"))
        for form, class_ in (("goes", "correct"), ("go", "wrong"))
    )
    found = read_materials(write(tmp_path / "generated.tab", f"{header}\n{rows}"))
    assert [(i.context, i.good, i.bad) for i in found.items] == [("the idea", "goes", "go")] * 2
    assert [item.condition for item in found.items] == ["original", "generated"]


def suite(*formulas):
    conditions = [
        {"condition_name": name, "regions": [{"region_number": 1, "content": "The key"},
                                             {"region_number": 2, "content": verb},
                                             {"region_number": 3, "content": "."}]}
        for name, verb in (("match", "is"), ("mismatch", "are"), ("c", "was"), ("d", "were"))
    ]  # fmt: skip
    return json.dumps(
        {
            "meta": {"name": "number", "metric": "sum"}, "region_meta": {},
            "predictions": [{"type": "formula", "formula": formula} for formula in formulas],
            "items": [{"item_number": n, "conditions": conditions} for n in (1, 2)],
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    "formula",
    [
        "(2;%match%) < (2;%mismatch%)",
        "(2;%mismatch%) > (2;%match%)",
        "((2;%match%) < (2;%mismatch%))",
        "[(2;%match%) + (3;%match%)] < [(2;%mismatch%) + (3;%mismatch%)]",
        "(*;%match%)<(*;%mismatch%)",
        "((2;%match%) < (2;%mismatch%)) & ((3;%match%) < (3;%mismatch%))",
    ],
)
def test_a_prediction_over_two_conditions_is_a_pair(tmp_path, formula):
    found = read_materials(write(tmp_path / "suite.json", suite(formula)))
    assert texts(found) == [("The key is.", "The key are.")] * 2
    assert {item.construction for item in found.items} == {"number"}
    assert found.items[0].condition == "match vs mismatch"
    assert dict(found.items[0].extra)["regions_bad"] == "The key | are | ."


def test_a_prediction_over_more_conditions_is_left_out_and_told(tmp_path):
    four = "[(2;%match%) - (2;%mismatch%)] < [(2;%c%) - (2;%d%)]"
    either = "((2;%match%) < (2;%c%)) | ((2;%match%) < (2;%d%))"
    path = write(tmp_path / "suite.json", suite(four, "(2;%c%) < (2;%d%)", either))
    found = read_materials(path)
    assert texts(found) == [("The key was.", "The key were.")] * 2
    assert [note for note in found.notes if note.startswith("Prediction 1 was left out")]
    assert [note for note in found.notes if note.startswith("Prediction 3 was left out")]
    with pytest.raises(MaterialsError, match="none of the 1 predictions"):
        read_materials(write(path, suite(four)))
    with pytest.raises(MaterialsError, match='a prediction names the condition "mach"'):
        read_materials(write(path, suite("(2;%mach%) < (2;%d%)")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty. Expected a table with headers"),
        ("good,bad\n", "no rows"),
        ("good,gut\na,b\n", "no column holds the bad sentence"),
        ("good,bad\na,\n", "line 2.*|the bad sentence is empty in line 2"),
        ("good,bad\na,a\n", 'both "a"'),
        (
            "good,bad,good\na,b,c\n",
            r'line 1: the header "good" .* Expected each column\'s name once',
        ),
        ("good,bad\na,b,c\n", "has 3 cells, but there are 2 columns"),
        ('good,bad\n"a,b\n', "the table is incomplete .*quotation marks that come in pairs"),
        (
            "good,bad,item\na,b,1\nc,d,1\n",
            "line 3: .* occurs twice in the table; .* Renumber the items, or name the col",
        ),
        (
            "good,bad,item\nA ___ ran.,A ___ run.,1\nA dog ___.,Dogs ___.,1\n",
            "line 3: .* occurs twice in the table; .* write several gaps of one sentence into one",
        ),
        (
            "good,bad,kind\na,b,sample\n",
            'line 2: "sample" in the column "kind" is not a kind of item',
        ),
        ("good,bad,item,condition\na,b,1,x\nc,d,1,y\ne,f,2,x\n", "no row in the condition y"),
        ("good,bad,item,condition\na,b,1,x\nc,d,1,y\ne,f,2,\n", "although others have one"),
        (
            "good,bad,item,condition\na,b,1,far\nc,d,1,near\n"
            "e,f,2,far\ng,h,2,neer\ni,j,3,far\nk,l,3,near\n",
            'line 5: the condition "neer" occurs with 1 of the 3 items of p, and there instead of '
            'near. Expected every item in each of: far, near. Did you mean "near"',
        ),
        (
            CROSSED.replace("i,j,3,y\n", ""),
            'line 6: the item "3" has no row in y of the column "when"',
        ),
        (CROSSED.replace("i,j,3,y", "i,j,3,z"), 'has "z" in the column "when", where most items'),
        ("good,bad,item_id\na,b,1\nc,d,1\n", 'the id "1" occurs twice'),
        ("item,sentence,version\n1,a,good\n", "line 2: a sentence has no counterpart"),
        ("item,sentence,version\n1,a,fine\n", '"fine"'),
        (b"\x00\x01\x02\xff", "not a text"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(tmp_path, content, message):
    path = write(tmp_path / "p.csv", content)
    with pytest.raises(MaterialsError, match=message) as raised:
        read_materials(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".pdf", ""])
def test_a_file_that_is_something_else_is_refused_in_words(tmp_path, suffix):
    with pytest.raises(MaterialsError):
        read_materials(write(tmp_path / f"file{suffix}", b'%PDF-1.4 \x00 {"a": [}'))
    with pytest.raises(MaterialsError):
        read_materials(tmp_path / f"nowhere{suffix}")


def test_conditions_without_shared_items_have_a_template_each(tmp_path):
    table = "good,bad,condition\na,b,x\nc,d,x\ne,f,y\n"
    found = read_materials(write(tmp_path / "p.csv", table))
    assert [item.template for item in found.items] == ["p_x", "p_x", "p_y"]
    assert [item.condition for item in found.items] == ["x", "x", "y"]


def test_a_published_sentence_with_one_form_twice_is_left_out_and_named(tmp_path):
    header = "pattern constr_id sent_id correct_number form class type prefix".replace(" ", "\t")
    rows = [
        ("p", "1", "0", "sing", form, class_, "original", "the walls near the")
        for form, class_ in (("key", "correct"), ("keys", "wrong"))
    ] + [
        ("p", "1", "1", "sing", "sheep", class_, "generated", "the walls near the")
        for class_ in ("correct", "wrong")
    ]
    path = write(tmp_path / "p.tab", "\n".join([header, *map("\t".join, rows)]) + "\n")
    found = read_materials(path)
    assert [item.item_id for item in found.items] == ["p-1-0"]
    assert any("p-1-1" in note and '"sheep"' in note for note in found.notes)
    assert len(read_materials(path, identical=True).items) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n", "the file is empty. Expected one object per line"),
        ('{"good": "a"\n', "line 1: the line is not JSON"),
        ('{"good": "a", "bad": "b"}\n["a", "b"]\n', "line 2: the line is not a JSON object"),
    ],
)
def test_lines_that_are_no_json_objects_are_named_with_their_place(tmp_path, content, message):
    with pytest.raises(MaterialsError, match=message) as raised:
        read_materials(write(tmp_path / "p.jsonl", content))
    assert str(tmp_path / "p.jsonl") in str(raised.value)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"god": "good"}, 'Parallax has no column "god".*Did you mean "good"?'),
        ({"good": "Godo"}, 'p.csv: the table has no header "Godo"'),
        ({"condition": "good+number"}, 'p.csv: there is no column "number" to make conditions of'),
    ],
)
def test_a_header_that_a_researcher_gave_wrongly_is_named(tmp_path, named, message):
    with pytest.raises(MaterialsError, match=message):
        read_materials(write(tmp_path / "p.csv", PAIRS), named)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (["a", "b"], r'p.pickle: the pickle holds \["a", "b"\]. Expected a dictionary'),
        ({"sg": [("a", 7)]}, r'p.pickle, sg, 1: \("a", 7\) is neither a pair nor a triple'),
        ({"sg": [("a", "b"), "abcd"]}, 'p.pickle, sg, 2: "abcd" is neither a pair nor a triple'),
        ({"sg": 3}, "p.pickle, sg, 1: 3 is neither a pair nor a triple"),
        ({7: [("a", "b")]}, r"p.pickle, 7, 1: .* from conditions to lists of pairs"),
    ],
)
def test_a_pickle_of_something_else_is_named(tmp_path, found, message):
    with pytest.raises(MaterialsError, match=message):
        read_materials(write(tmp_path / "p.pickle", pickle.dumps(found)))


def test_a_broken_pickle_is_named(tmp_path):
    with pytest.raises(MaterialsError, match=r"p.pickle: the pickle cannot be read"):
        read_materials(write(tmp_path / "p.pickle", b"no pickle"))


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".csv", 'good,bad\nthe  cat runs,the cat runs\n"a\tb c",a b c\n'),
        (".tsv", 'good\tbad\nthe  cat runs\tthe cat runs\n"a\tb c"\ta b c\n'),
        (".jsonl", '{"good": "the  cat runs", "bad": "the cat runs"}\n'
         '{"good": "a\\tb c", "bad": "a b c"}\n'),
    ],
)  # fmt: skip
def test_versions_that_differ_in_white_space_alone_reach_a_model_as_they_are(
    tmp_path, suffix, content
):
    opened = open_materials(write(tmp_path / f"pairs{suffix}", content))
    assert [(one.good, one.bad) for one in opened.items()] == [
        ("the  cat runs", "the cat runs"), ("a\tb c", "a b c"),
    ]  # fmt: skip


def test_a_column_called_prefix_stands_before_both_options(tmp_path):
    rows = "item,prefix,good,bad\n1,the bakers near the oven,smile,smiles\n"
    (item,) = read_materials(write(tmp_path / "items.csv", rows)).items
    assert item.after_context(item.good) == "the bakers near the oven smile"
    other = read_materials(write(tmp_path / "items.csv", rows.replace("prefix", "lead")))
    assert any("add --column context=lead" in note for note in other.notes)


def test_a_column_of_kinds_is_known_by_its_words_whatever_its_name(tmp_path):
    rows = "1,exp,The boy runs.\n2,exp,The girl sings.\n11,filler,Rain falls.\n"
    for name in ("label", "what", "experiment"):
        table = f"item,{name},sentence\n{rows}91,practice,Warm up one.\n"
        found = read_materials(write(tmp_path / "t.csv", table), alone=True)
        kinds = [Kind.TARGET, Kind.TARGET, Kind.FILLER]
        assert [item.kind for item in found.items] == kinds
        assert [draft.good for draft in found.practice] == ["Warm up one."]


def test_fillers_among_conditions_are_no_targets(tmp_path):
    rows = "1,match,A a.\n1,clash,A b.\n2,match,B a.\n2,clash,B b.\n3,filler,C c.\n"
    path = write(tmp_path / "t.csv", f"item,condition,sentence\n{rows}")
    found = read_materials(path, alone=True)
    assert [item.condition for item in found.items] == ["match", "clash"] * 2 + ["all"]
    assert [item.kind for item in found.items] == [Kind.TARGET] * 4 + [Kind.FILLER]
    # Words that may be conditions of an experiment stay conditions.
    words = rows.replace("match", "control").replace("clash", "test").replace("3,filler,C c.\n", "")
    found = read_materials(write(path, f"item,condition,sentence\n{words}"), alone=True)
    assert {item.kind for item in found.items} == {Kind.TARGET}
    assert {item.condition for item in found.items} == {"control", "test"}


def test_columns_of_questions_are_read_in_any_case(tmp_path):
    table = (
        "Item,Condition,Sentence,Question,Answers,ANSWER\n"
        "1,a,The boy swam here.,Who swam?,the boy|the girl,the boy\n"
        "1,b,The boy swims here.,Who swam?,the boy|the girl,the boy\n"
    )
    found = read_materials(write(tmp_path / "t.csv", table), alone=True, regions=None)
    questions = [question_of(item) for item in found.items]
    assert [(one.text, one.answers) for one in questions] == [
        ("Who swam?", ("the boy", "the girl"))
    ] * 2
    other = table.replace("Question", "column_7")
    found = read_materials(write(tmp_path / "t.csv", other), alone=True, regions=None)
    assert [question_of(item).text for item in found.items] == ["Who swam?"] * 2
    other = other.replace("Answers,ANSWER", "a,b")
    notes = read_materials(write(tmp_path / "t.csv", other), alone=True).notes
    assert any("participants are not asked them" in note for note in notes)


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("Question", '"Option1" and "Option0" hold answers.*no column holds the questions'),
        ("Option0", 'holds the numbers of options, and only "Option1" is a column of options'),
    ],
)
def test_parts_of_questions_without_the_others_are_refused(tmp_path, left_out, message):
    table = "Sentence,Question,Option1,Option0,Correct answer\nA cat sleeps.,Who?,Dog,Cat,0\n"
    rows = [dict(row) for row in csv.DictReader(io.StringIO(table))]
    kept = [name for name in rows[0] if name != left_out]
    text = "\n".join([",".join(kept), ",".join(rows[0][name] for name in kept), ""])
    with pytest.raises(MaterialsError, match=message):
        read_materials(write(tmp_path / "t.csv", text), alone=True)


def test_rows_of_a_filler_differ_in_list_and_place_alone(tmp_path):
    table = (
        "Item,List,Order,Condition,Sentence\n"
        "t1,1,1,match,The baker smiles.\nt1,2,2,clash,The baker smile.\n"
        "t2,1,2,clash,The tailor sing.\nt2,2,3,match,The tailor sings.\n"
        "f1,1,3,filler,Rain fell all day.\nf1,2,1,filler,Rain fell all day.\n"
    )
    found = read_materials(write(tmp_path / "t.csv", table), alone=True)
    assert len(found.items) == 5
    (filler,) = [item for item in found.items if item.kind is Kind.FILLER]
    assert dict(filler.extra) == {"List": "", "Order": "3;1"}


def test_a_list_of_objects_is_a_table_and_other_json_is_refused_in_words(tmp_path):
    rows = [{"item": 1, "good": "The boy runs.", "bad": "The boy run."},
            {"item": 2, "good": "She sings.", "bad": "She sing."}]  # fmt: skip
    found = read_materials(write(tmp_path / "t.json", json.dumps(rows)))
    assert texts(found) == [("The boy runs.", "The boy run."), ("She sings.", "She sing.")]
    for other in ({"good": "a"}, [1], []):
        with pytest.raises(MaterialsError, match=r"neither a list of items|empty"):
            read_materials(write(tmp_path / "t.json", json.dumps(other)))
    totals = json.dumps({"results": {"blimp": {"acc,none": 0.8}}, "configs": {}})
    with pytest.raises(
        MaterialsError, match=r"the totals of lm_eval, .*Expected samples_TASK\.jsonl"
    ):
        read_materials(write(tmp_path / "t.json", totals))
    with pytest.raises(MaterialsError, match=r"t\.json: the file is not JSON \("):
        read_materials(write(tmp_path / "t.json", '[{"good": "a"'))


def test_blimps_columns_are_read_from_parquet(tmp_path):
    columns = {"sentence_good": ["The boy runs."], "sentence_bad": ["The boy run."],
               "UID": ["agreement"], "pairID": [7]}  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "items.parquet")
    (item,) = open_materials(tmp_path / "items.parquet").items()
    assert (item.good, item.bad, item.construction) == (
        "The boy runs.", "The boy run.", "agreement",
    )  # fmt: skip
    with pytest.raises(MaterialsError, match=r"t\.parquet: the file is not Parquet \("):
        read_materials(write(tmp_path / "t.parquet", "good,bad"))


@pytest.mark.parametrize("mark", ["NA", "N/A", "#n/a", "<NA>", "NAN", "nan", "NULL", "-", "--"])
@pytest.mark.parametrize("column", ["good", "bad", "context"])
def test_a_mark_of_a_missing_value_is_no_text(tmp_path, mark, column):
    texts = {"context": "Once more:", "good": "the cat sleeps", "bad": "the cat sleep"}
    lines = [",".join((texts | change).values()) for change in ({}, {}, {column: mark})]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["context,good,bad", *lines]) + "\n")
    with pytest.raises(MaterialsError, match=rf'line 4: the {column} text is "'):
        read_materials(path)


def test_options_of_one_word_may_be_signs(tmp_path):
    (tmp_path / "t.csv").write_text("context,good,bad\nIt rains,.,-\nIt snows,.,-\n")
    assert [item.good for item in read_materials(tmp_path / "t.csv").items] == [".", "."]


@pytest.mark.parametrize("rows", [1, -1])
def test_a_column_that_is_shifted_by_a_row_is_refused(tmp_path, rows):
    words = ["nurse", "clerk", "judge", "pilot", "girl"]
    bad = [f"the {word} sing" for word in words]
    shifted = [*bad[rows:], *bad[:rows]]
    path = tmp_path / "t.csv"
    for texts in (bad, shifted):
        lines = [f"the {w} sings,{text}" for w, text in zip(words, texts, strict=True)]
        path.write_text("\n".join(["good,bad", *lines]) + "\n")
        if texts is bad:
            assert len(read_materials(path).items) == 5
    neighbour = "previous" if rows == 1 else "next"
    with pytest.raises(MaterialsError, match=f"shifted by a row: .* of the {neighbour} row"):
        read_materials(path)


def test_conditions_in_a_row_that_share_a_sentence_are_not_shifted(tmp_path):
    texts = [f"the {word} sings" for word in ("nurse", "clerk", "judge", "pilot", "girl", "boy")]
    path = tmp_path / "t.csv"
    lines = [f"{good},{bad}" for good, bad in zip(texts[1:], texts[:-1], strict=True)]
    path.write_text("\n".join(["good,bad", *lines]) + "\n")
    assert len(read_materials(path).items) == 5


def test_a_condition_that_begins_or_ends_with_filler_holds_fillers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "item,cond,sentence\n1,A,A dog barks.\n2,B,A cat purrs.\n"
        "3,filler_coherent,It rains.\n4,odd-filler,It snows.\n5,fillerless,It hails.\n"
    )
    found = read_materials(path, alone=True)
    kinds = [item.kind for item in found.items]
    assert kinds == [Kind.TARGET, Kind.TARGET, Kind.FILLER, Kind.FILLER, Kind.TARGET]
    assert [item.condition for item in found.items][2:4] == ["filler_coherent", "odd-filler"]


def test_a_factor_with_a_level_called_control_is_no_column_of_kinds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "item,type,sentence\n1,substitution,A dog barks.\n2,reversal,It rains.\n"
        "3,control,It snows.\n"
    )
    found = read_materials(path, alone=True)
    assert {item.kind for item in found.items} == {Kind.TARGET}
    assert any('"type" is not read as kinds' in note for note in found.notes)
    path.write_text(path.read_text().replace("control", "filler"))
    with pytest.raises(MaterialsError, match='"substitution" in the column "type" is not a kind'):
        read_materials(path, alone=True)


def test_a_condition_of_a_third_of_the_items_is_not_called_misspelt(tmp_path):
    rows = [
        f"{n},{cond},Sentence {n} {cond}."
        for n in range(6)
        for cond in (("high", "low") if n < 4 else ("canonical", "reversed"))
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["item,condition,sentence", *rows]))
    with pytest.raises(MaterialsError, match=r"no row in the condition canonical.*designs with"):
        read_materials(path, alone=True)


def test_an_object_a_line_is_read_from_a_file_called_json(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('{"sentence": "A dog barks.", "label": 1}\n{"sentence": "A bark."}\n')
    assert [item.good for item in read_materials(path, alone=True).items] == [
        "A dog barks.", "A bark.",
    ]  # fmt: skip


@pytest.mark.parametrize("mark", ["-", "NA", ""])
def test_a_mark_of_a_missing_value_is_no_question(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text(
        f"item,sentence,question,answer\n1,A dog barks.,{mark},{mark}\n2,It rains.,Does it?,y\n"
    )
    first, second = read_materials(path, alone=True).items
    assert question_of(first) is None and question_of(second).text == "Does it?"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("彼はボストンに来たとき本を読んだ,彼はボストンに来たとき本が読んだ\n彼女は昨日ここで本を買った,N/A\n",
         'the bad text is "N/A"'),
        ("It rains here,It rain here\nThe dog barks,-\n", 'the bad text is "-"'),
    ],
)  # fmt: skip
def test_a_mark_of_a_missing_value_is_no_sentence_in_any_script(tmp_path, rows, message):
    path = write(tmp_path / "t.csv", f"good,bad\n{rows}{rows.splitlines()[0]}a\n")
    with pytest.raises(MaterialsError, match=message):
        read_materials(path)


@pytest.mark.parametrize("words", ["plausible implausible", "licit illicit", "felt un-felt"])
def test_versions_may_be_a_word_and_its_negation(tmp_path, words):
    good, bad = words.split()
    table = f"ItemNum,said,how\n1,The cop left.,{good}\n1,The left copped.,{bad}\n"
    path = write(tmp_path / "pairs.csv", table + f"2,They left.,{good}\n2,Left they.,{bad}\n")
    found = read_materials(path, {"sentence": "said", "version": "how"}, alone=True)
    assert texts(found) == [("The cop left.", "The left copped."), ("They left.", "Left they.")]


def test_versions_that_were_named_without_numbers_of_pairs_are_refused(tmp_path):
    path = write(tmp_path / "pairs.csv", "sentence,how\nThey left.,good\nLeft they.,bad\n")
    with pytest.raises(MaterialsError, match=r"no column numbers the pairs.*--column item=HEADER"):
        read_materials(path, {"version": "how"}, alone=True)


def test_both_headers_of_a_pair_may_hold_the_word_sentence(tmp_path):
    head = "original,sentence_grammatical,sentence_ungrammatical"
    path = write(tmp_path / "pairs.csv", f"{head}\nx,They left.,Left they.\n")
    assert texts(read_materials(path)) == [("They left.", "Left they.")]


@pytest.mark.parametrize(
    "pairs",
    [
        [
            (f"The {n} sees a {n} now.", f"The {n} a {n} sees now.")
            for n in ["cat", "dog", "cow", "pig"]
        ],
        [(f"{n}{n}会本走", f"{n}{n}本会走") for n in "犬猫牛馬"],
    ],
)
def test_a_shift_is_seen_in_any_script_and_where_only_the_order_of_words_differs(tmp_path, pairs):
    rows = [f"{good},{pairs[place - 1][1]}" for place, (good, _) in enumerate(pairs)]
    path = write(tmp_path / "pairs.csv", "\n".join(["good,bad", *rows]))
    with pytest.raises(MaterialsError, match="are shifted by a row"):
        read_materials(path)


def test_a_mark_in_capitals_among_single_words_is_no_option(tmp_path):
    rows = "".join(f"The actor won the,{good},battle\n" for good in ("award", "prize", "NaN"))
    path = write(tmp_path / "pairs.csv", f"context,good,bad\n{rows}")
    with pytest.raises(MaterialsError, match='the good text is "NaN"'):
        read_materials(path)


def test_a_shifted_third_version_is_refused(tmp_path):
    names = ["cat", "dog", "cow", "pig"]
    rows = [
        f"The {n} sees one.,The {n} see one.,The {names[place - 1]} seed one."
        for place, n in enumerate(names)
    ]
    path = write(tmp_path / "items.csv", "\n".join(["good,bad,distractor", *rows]))
    with pytest.raises(MaterialsError, match="the good and the distractor sentences are shifted"):
        read_materials(path)


@pytest.mark.parametrize(
    ("columns", "row", "answers", "answer"),
    [
        ("correct", "yes", "", "yes"),
        ("left,right,target", "Dog,Cat,Cat", "Dog|Cat", "Cat"),
        ("Correct,Wrong", "Dog,Cat", "Dog|Cat", "Dog"),
    ],
)
def test_answers_of_questions_are_known_by_their_cells(tmp_path, columns, row, answers, answer):
    # In the other row the first of two answers is right.
    other = {"left,right,target": "Cat,Dog,Cat"}.get(columns, row)
    table = f"sentence,question,{columns}\nA cat ran.,Ran it?,{row}\nA dog ran.,Did it?,{other}\n"
    first = read_materials(write(tmp_path / "t.csv", table), alone=True).items[0]
    own = dict(first.extra)
    assert (own["question"], own["answers"], own["answer"]) == ("Ran it?", answers, answer)


def test_slashes_and_stars_of_every_sentence_are_not_shown(tmp_path):
    rows = "1,The man/saw/*the dog*.\n2,A boy/saw/*two cats*.\n"
    found = read_materials(write(tmp_path / "t.csv", f"item,sentence\n{rows}"), alone=True,
                           regions=None)  # fmt: skip
    assert [item.good for item in found.items] == [
        "The man saw the dog.",
        "A boy saw two cats.",
    ]
    own = [dict(item.extra) for item in found.items]
    assert [texts["good_regions"] for texts in own] == [
        "The man | saw | the dog.", "A boy | saw | two cats.",
    ]  # fmt: skip
    assert [texts["marked"] for texts in own] == ["the dog", "two cats"]
    # A sentence with a single slash keeps all slashes.
    rows += "3,He/she left.\n"
    found = read_materials(write(tmp_path / "t.csv", f"item,sentence\n{rows}"), alone=True,
                           regions=None)  # fmt: skip
    assert found.items[0].good == "The man/saw/*the dog*."


def test_numbered_columns_of_words_make_the_sentence(tmp_path):
    table = "id,condition,item,w1,w2,w3\n1,a,x1,Cats,sleep,####\n1,b,x2,Cats,often,sleep\n"
    found = read_materials(write(tmp_path / "t.csv", table), alone=True, regions=None)
    assert [(item.item_id, item.good) for item in found.items] == [
        ("x1", "Cats sleep"), ("x2", "Cats often sleep"),
    ]  # fmt: skip
    # Ids repeat, and items do not: the columns have each other's role.
    assert {item.frame for item in found.items} == {"item=1"}
    pictures = "item,image1,image2,image3\n1,a.png,b.png,c.png\n2,d.png,e.png,f.png\n"
    with pytest.raises(MaterialsError, match="no column holds the good or the bad sentence"):
        read_materials(write(tmp_path / "t.csv", pictures), alone=True, regions=None)


def test_a_column_of_marks_names_the_good_one_of_marked_columns(tmp_path):
    table = "id,sentence_A,sentence_B,gold_label\n1,It rains.,It rain.,A\n2,He sing.,He sings.,B\n"
    found = read_materials(write(tmp_path / "t.csv", table))
    assert texts(found) == [("It rains.", "It rain."), ("He sings.", "He sing.")]


def test_a_compressed_file_is_named_as_such(tmp_path):
    with pytest.raises(MaterialsError, match=r'"\.gz" cannot be read.*gunzip --keep t\.csv\.gz'):
        read_materials(write(tmp_path / "t.csv.gz", b"\x1f\x8b\x08"))


def test_rows_of_words_make_sentences(tmp_path):
    words = [("The", 0, "det"), ("cat", 1, "noun"), ("sleeps", 2, "verb"), ("<eos>", 4, "")]
    rows = [
        f"{item},{place},{word.lower() if item > 1 else word},{role},c{item}"
        for item in (1, 2) for word, place, role in words
    ]  # fmt: skip
    table = "\n".join(["sent_index,word_index,word,region,condition", *rows, ""])
    found = read_materials(write(tmp_path / "t.csv", table), alone=True, regions=None)
    assert [(item.good, item.condition) for item in found.items] == [
        ("The cat sleeps", "c1"), ("the cat sleeps", "c2"),
    ]  # fmt: skip
    assert any("are left out: word_index, region" in note for note in found.notes)
    assert dict(found.items[0].extra) == {"sent_index": "1"}


def test_a_column_of_recordings_is_said_to_be_unread(tmp_path):
    table = "sentence,sound\nIt rains.,a.wav\nShe left.,b.WAV\n"
    notes = read_materials(write(tmp_path / "t.csv", table), alone=True).notes
    assert any('"sound" names recordings or pictures ("a.wav")' in note for note in notes)


def test_levels_that_are_called_filler_are_kinds(tmp_path):
    rows = "1,a,x,A cat ran.\n1,b,x,A cat runs.\n2,a,y,It ran.\n2,b,y,It runs.\n"
    table = f"item,tense,verb,sentence\n{rows}f1,filler,filler,Rain fell.\n"
    found = read_materials(write(tmp_path / "t.csv", table), alone=True)
    assert [item.kind for item in found.items] == [Kind.TARGET] * 4 + [Kind.FILLER]
    assert [item.condition for item in found.items][:4] == ["a", "b"] * 2
    # Columns that disagree about the fillers say nothing.
    table += "f2,filler,z,Snow fell.\n"
    with pytest.raises(MaterialsError, match='"f1" has "filler" in the column "tense"'):
        read_materials(write(tmp_path / "t.csv", table), alone=True)


def test_regions_of_a_suite_in_a_table_are_joined_to_sentences(tmp_path):
    table = (
        "item_number,condition_name,region_number,region_name,content\n"
        "1,match,1,Subject,The boys\n1,match,2,Modifier,\n1,match,3,Verb,run.\n"
        "1,clash,1,Subject,The boys\n1,clash,2,Modifier,here\n1,clash,3,Verb,runs.\n"
    )
    found = read_materials(write(tmp_path / "t.csv", table), alone=True, regions=None)
    assert [(item.good, item.condition) for item in found.items] == [
        ("The boys run.", "match"), ("The boys here runs.", "clash"),
    ]  # fmt: skip


def test_comments_may_precede_a_table_but_a_heading_is_no_comment(tmp_path):
    found = read_materials(write(tmp_path / "t.csv", "# Test items\n\ngood;bad\na b;a c\n"))
    assert texts(found) == [("a b", "a c")]
    with pytest.raises(MaterialsError, match="the columns are Grammatical:"):
        read_materials(write(tmp_path / "t.csv", "Grammatical:\na b;a c\n"))


def test_better_and_worse_are_a_pair(tmp_path):
    found = read_materials(write(tmp_path / "t.csv", "Item,Better,Worse\n1,a b,a c\n"))
    assert texts(found) == [("a b", "a c")]


def test_a_column_of_numbers_is_no_context(tmp_path):
    table = "Context,Condition,Sentence\n1,a,The murder was seen.\n1,b,The murder was seeing.\n"
    items = read_materials(write(tmp_path / "t.csv", table), alone=True).items
    assert [(item.context, dict(item.extra)["Context"]) for item in items] == [("", "1")] * 2


def test_true_and_false_answer_a_question_in_a_column_named_as_the_answer(tmp_path):
    table = (
        "sentence;question;qanswer;real\nA b.;Is it a b?;true;false\nA c.;Is it a d?;false;true\n"
    )
    items = read_materials(write(tmp_path / "t.csv", table), alone=True).items
    assert [dict(item.extra)["answer"] for item in items] == ["yes", "no"]
