"""``parallax import scores``, ``lm export`` and the schema of score files."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from analysis.commands.export_scores import export, schema
from analysis.commands.import_scores import scores
from analysis.commands.score import score
from analysis.data.join import decisions
from analysis.data.load import load_scores, read_score_facts
from analysis.errors import AnalysisError
from analysis.scores.scoring_inputs import find_materials
from tests.lm.blimp_shaped import PEERS, pairs, write_gpt2, write_pairs
from tests.synthetic_publication import write_publication

ROOT = Path(__file__).parents[3]
ITEMS = "item_id,good,bad\na,It is.,It are.\nb,We are.,We is.\n"


def run(command, *arguments):
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def imported(tmp_path, content, *options, items=ITEMS):
    (tmp_path / "items.csv").write_text(items)
    (tmp_path / "found.csv").write_text(content)
    given = ("--items", tmp_path / "items.csv") if items else ()
    said = run(scores, tmp_path / "found.csv", *given, "--out", tmp_path / "out", *options)
    return said, sorted((tmp_path / "out").glob("scores_*.parquet"))


def by_version(path):
    rows = pq.read_table(path).to_pylist()
    return {(row["item_id"], row["variant"]): row for row in rows}


def test_samples_of_lm_evaluation_harness_bring_their_items_and_scores(tmp_path):
    run(scores, PEERS / "samples_toy_blimp.jsonl", "--out", tmp_path / "out", "--model", "m")
    loaded = load_scores(tmp_path / "out" / "scores_m.parquet")
    samples = map(json.loads, (PEERS / "samples_toy_blimp.jsonl").read_text().splitlines())
    chosen = decisions(loaded)
    theirs = [[float(answer[0][0]) for answer in sample["resps"]] for sample in samples]
    own = chosen[["logprob_good_nats", "logprob_contrast_nats"]].to_numpy()
    np.testing.assert_array_equal(own, theirs)
    assert loaded.facts.rendering == "after_space"
    found = find_materials(str(tmp_path / "out" / "items.csv"))
    assert (found.hash, found.n_items) == (loaded.facts.materials_hash, len(pairs()))


@pytest.mark.parametrize(
    ("context", "choices", "wholes", "rendering"),
    [
        # lm-evaluation-harness scores the second argument behind the first, joined as they are.
        ("Q: a\nA:", [" the  dog", " a dog"], ["Q: a\nA: the  dog", "Q: a\nA: a dog"], "as_pub"),
        ("Q: a", ["\nthe dog", "\na\tdog"], ["Q: a\nthe dog", "Q: a\na\tdog"], "as_pub"),
        ("Q:\n", ["the dog ", "a dog"], ["Q:\nthe dog ", "Q:\na dog"], "as_pub"),
        ("Q: ", [" the dog", " a dog"], ["Q:  the dog", "Q:  a dog"], "as_pub"),
        ("", ["\nthe dog", "\na dog"], ["\nthe dog", "\na dog"], "as_pub"),
        ("", [" the  dog", " a dog"], ["the  dog", "a dog"], "after_space"),
    ],
)
def test_samples_keep_the_white_space_that_was_scored(
    tmp_path, context, choices, wholes, rendering
):
    sample = {
        "doc_id": 0, "doc": {}, "target": "0", "resps": [[["-1.5", "False"]], [["-2.5", "False"]]],
        "arguments": [[context, choice] for choice in choices],
    }  # fmt: skip
    (tmp_path / "samples_t.jsonl").write_text(json.dumps(sample) + "\n")
    run(scores, tmp_path / "samples_t.jsonl", "--out", tmp_path / "out", "--model", "m")
    materials = find_materials(str(tmp_path / "out" / "items.csv"))
    (item,) = materials.items()
    assert [item.after_context(item.good), item.after_context(item.bad)] == wholes
    facts = load_scores(tmp_path / "out" / "scores_m.parquet").facts
    assert materials.hash == facts.materials_hash
    assert (facts.rendering == "after_space") == (rendering == "after_space")


def test_samples_are_matched_to_items_that_are_given(tmp_path):
    lines = write_pairs(tmp_path)
    file = PEERS / "samples_toy_blimp.jsonl"
    run(scores, file, "--items", lines, "--out", tmp_path / "out", "--model", "m")
    path = tmp_path / "out" / "scores_m.parquet"
    assert read_score_facts(path).materials_hash == find_materials(str(lines)).hash
    assert not (tmp_path / "out" / "items.csv").exists()
    assert len(by_version(path)) == 2 * len(pairs())


def test_a_table_of_minicons_tokens_gives_what_our_own_scoring_gives(tmp_path):
    lines, model = write_pairs(tmp_path), write_gpt2(tmp_path / "gpt2")
    run(scores, PEERS / "minicons.csv", "--items", lines, "--out", tmp_path / "out")
    run(score, f"hf:{model}", lines, "--out", tmp_path / "own.parquet")
    theirs = by_version(tmp_path / "out" / "scores_minicons.parquet")
    ours = by_version(tmp_path / "own.parquet")
    assert theirs.keys() == ours.keys()
    for key, row in theirs.items():
        for name in ("logprob_nats", "logprob_from_difference_nats"):
            assert row[name] == pytest.approx(ours[key][name], abs=1e-4)
        for name in ("n_tokens", "difference_at"):
            assert row[name] == ours[key][name]


@pytest.mark.parametrize(
    "content",
    [
        "item_id,variant,logprob_nats\na,good,-1\na,bad,-2\nb,good,-4\nb,bad,-3\n",
        "item_id,version,surprisal\na,grammatical,1\na,ungrammatical,2\nb,1,4\nb,0,3\n",
        "sentence,score\nIt is.,-1\nIt are.,-2\nWe are.,-4\nWe is.,-3\n",
        "Sentence;Log-Prob\nit is .;-1\nit are .;-2\nwe are .;-4\nwe is .;-3\n",
        "item_id,logprob_good,logprob_bad\na,-1,-2\nb,-4,-3\n",
        "id,good_surprisal_nats,bad_surprisal_nats\na,1,2\nb,4,3\n",
        "item_id,variant,logprob_log10\na,good,-0.4342944819\na,bad,-0.8685889638\n"
        "b,good,-1.7371779276\nb,bad,-1.3028834457\n",
        "sentence_id,token_id,token,logprob\n1,2, is.,-0.5\n1,1,It,-0.5\n2,1,It,-1\n2,2,are.,-1\n"
        "3,1,<s>,\n3,2,We,-2\n3,3,are.,-2\n4,1,\u2581We,-1\n4,2,\u2581is,-1\n4,3,.,-1\n",
        "text,token,surprisal\nIt is.,It,.5\nIt is.,is.,.5\nIt are.,x,2\nWe are.,y,4\nWe is.,z,3\n",
    ],
)
def test_tables_of_many_shapes_say_the_same(tmp_path, content):
    _, (path,) = imported(tmp_path, content)
    found = {key: row["logprob_nats"] for key, row in by_version(path).items()}
    expected = {("a", "good"): -1, ("a", "bad"): -2, ("b", "good"): -4, ("b", "bad"): -3}
    assert found == pytest.approx(expected)


def test_units_and_columns_can_be_named(tmp_path):
    content = "stimulus,S\nIt is.,1\nIt are.,2\nWe are.,4\nWe is.,3\n"
    _, (path,) = imported(tmp_path, content, "--column", "surprisal=S", "--unit", "bits")
    assert by_version(path)["a", "bad"]["logprob_nats"] == pytest.approx(-2 * np.log(2))


def test_a_column_of_models_gives_a_file_for_each(tmp_path):
    content = "model,item_id,logprob_good,logprob_bad\nx/1,a,-1,-2\ny,a,-3,-1\n"
    said, paths = imported(tmp_path, content, "--trained-on", "a newspaper")
    assert [path.name for path in paths] == ["scores_x_1.parquet", "scores_y.parquet"]
    assert (read_score_facts(paths[0]).model, read_score_facts(paths[0]).trained_on) == (
        "x/1",
        "a newspaper",
    )
    assert "1 of 2 items have no score; the first: b." in said


def test_a_table_of_pairs_with_scores_is_its_own_items(tmp_path):
    content = "good,bad,logprob_good,logprob_bad,item_id\nIt is.,It are.,-1,-2,a\n"
    _, (path,) = imported(tmp_path, content, items="")
    assert by_version(path)["a", "good"]["logprob_nats"] == -1
    assert (tmp_path / "out" / "items.csv").is_file()


@pytest.mark.parametrize("mark", ["", "None", "NaN", "NA", "NULL", "N/A", "#N/A", "<NA>"])
def test_first_tokens_without_a_score_and_strange_texts_are_told(tmp_path, mark):
    content = (
        f"sentence_id,token,logprob\n1,It,{mark}\n1,is.,-1\n2,It,{mark}\n2,are.,-2\n"
        "3,Nobody,-1\n3,knows.,-2\n"
    )
    said, (path,) = imported(tmp_path, content)
    assert "2 tokens have no score" in said
    assert '1 scores belong to no item; the first: "Nobodyknows."' in said
    assert by_version(path)["a", "bad"]["n_tokens"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sentence,x\nIt is.,1\n", "no column holds scores"),
        ("model,logprob\nx,-1\n", "no column says which"),
        ("sentence,logprob\nIt is.,1\n", '"1" in the column "logprob" is not a log-probability'),
        ("sentence,logprob\nIt is.,high\n", '"high" in the column'),
        ("sentence,logprob\nIt is.,-inf\n", '"-inf" in the column'),
        ("sentence,surprisal\nIt is.,-1\n", '"-1" in the column "surprisal"'),
        ("sentence,logprob\nIt is.,-1\n", r"have a version without a score: a \(bad\)"),
        ("sentence,logprob\nIt is.,-1\nIt is.,-2\nIt are.,-1\n", "good version of .* a has two"),
        ("sentence,logprob\nNobody knows.,-1\n", "no score belongs to any of the items"),
        ("item_id,variant,logprob\nx,good,-1\n", "no score belongs to any of the items"),
        ("sentence_id,token,logprob\n1,It,\n", "no score at all"),
        ("sentence_id,token_id,token,logprob\n1,x,It,-1\n", "not the position of a token"),
    ],
)
def test_what_cannot_be_a_score_is_refused_with_its_place(tmp_path, content, message):
    with pytest.raises(AnalysisError, match=message):
        imported(tmp_path, content)
    assert not (tmp_path / "out").exists()


def test_a_published_table_of_models_brings_its_items(tmp_path):
    folder = write_publication(tmp_path / "published")
    said = run(scores, folder / "all_models.tab", "--out", tmp_path / "out")
    assert "items.csv" in said and "scores_unigram.parquet" in said
    items = find_materials(str(tmp_path / "out" / "items.csv"))
    facts = read_score_facts(tmp_path / "out" / "scores_unigram.parquet")
    assert facts.materials_hash == items.hash


def test_a_published_table_that_lacks_a_form_is_refused(tmp_path):
    table = write_publication(tmp_path / "published") / "all_models.tab"
    table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(AnalysisError, match="has not exactly one correct and one wrong form"):
        run(scores, table, "--out", tmp_path / "out")


def test_scores_without_items_ask_for_them(tmp_path):
    with pytest.raises(AnalysisError, match="does not contain the items' texts"):
        imported(tmp_path, "sentence,logprob\nIt is.,-1\n", items="")
    with pytest.raises(AnalysisError, match='there is no column "S"'):
        imported(tmp_path, "sentence,logprob\nIt is.,-1\n", "--column", "logprob=S")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "2"}, "not one of its choices"),
        ({"resps": [["x"]]}, "are not log-likelihoods"),
        ({"resps": [[["-1", "False"]]]}, "its log-likelihoods are"),
        (
            {"resps": [[["-inf", "False"]], [["-1", "False"]]]},
            "gave a choice no probability at all",
        ),
        ({"resps": [[["-1", "False"]], [["nan", "False"]]]}, "gave a choice no probability at all"),
        ({"arguments": [["", " a"]]}, "it has 1 choices"),
        ({"arguments": [[], []]}, "the sample cannot be read: its arguments are not texts"),
    ],
)
def test_a_sample_of_another_kind_of_task_is_refused(tmp_path, changes, message):
    first = json.loads((PEERS / "samples_toy_blimp.jsonl").read_text().splitlines()[0])
    (tmp_path / "samples_x.jsonl").write_text(json.dumps(first | changes) + "\n")
    with pytest.raises(AnalysisError, match=message):
        run(scores, tmp_path / "samples_x.jsonl", "--out", tmp_path / "out")


@pytest.mark.parametrize("form", ["plain", "minicons", "lm_eval"])
def test_what_is_exported_can_be_imported_again(tmp_path, form):
    lines = write_pairs(tmp_path)
    run(scores, PEERS / "minicons.csv", "--items", lines, "--out", tmp_path / "in", "--model", "m")
    first = tmp_path / "in" / "scores_m.parquet"
    out = tmp_path / ("samples_x.jsonl" if form == "lm_eval" else "x.csv")
    said = run(export, first, lines, "--out", out, "--format", form)
    assert f"{len(pairs()) * (1 if form == 'lm_eval' else 2)} rows of m" in said
    run(scores, out, "--items", lines, "--out", tmp_path / "again", "--model", "m")
    one, other = (by_version(path) for path in (first, tmp_path / "again" / "scores_m.parquet"))
    for key, row in one.items():
        assert other[key]["logprob_nats"] == pytest.approx(row["logprob_nats"], rel=1e-7)


def test_an_export_needs_the_items_that_were_scored(tmp_path):
    lines = write_pairs(tmp_path)
    run(scores, PEERS / "minicons.csv", "--items", lines, "--out", tmp_path / "in", "--model", "m")
    (tmp_path / "items.csv").write_text(ITEMS)
    with pytest.raises(AnalysisError, match="not among the items"):
        run(export, tmp_path / "in/scores_m.parquet", tmp_path / "items.csv", "--out", tmp_path)


def test_the_published_schema_is_that_of_the_code_and_score_files_fit_it(tmp_path):
    published = json.loads((ROOT / "docs" / "score_schema.json").read_text("utf-8"))
    assert json.loads(run(schema)) == published
    lines, model = write_pairs(tmp_path), write_gpt2(tmp_path / "gpt2")
    run(score, f"hf:{model}", lines, "--out", tmp_path / "own.parquet")
    metadata = read_score_facts(tmp_path / "own.parquet").model_dump()
    rows = pq.read_table(tmp_path / "own.parquet").to_pylist()
    jsonschema.validate({"metadata": metadata, "rows": rows}, published)
    rows[0]["contrast"] = "best"
    with pytest.raises(jsonschema.ValidationError, match="'best'"):
        jsonschema.validate({"metadata": metadata, "rows": rows}, published)


def two_contexts(folder: Path, *, mutual: bool = False, **changes: object) -> Path:
    """Write samples of WinoGrande's shape: two contexts, one continuation, three of four right."""
    lines = []
    for number in range(4):
        answer = number % 2
        contexts = [f"The {who} {number} saw the other because" for who in ("cat", "dog")]
        nats = [-9.0, -9.0]
        nats[answer if number else 1 - answer] = -5.0
        pairs_ = [[one, " it was small."] for one in contexts]
        pairs_ += [["", f" {one}"] for one in contexts] if mutual else []
        sample = {
            "doc_id": number, "doc": {"answer": str(answer + 1)}, "target": "it was small.",
            "arguments": pairs_, "acc": float(number > 0),
            "resps": [[[str(one), "False"]] for one in (*nats, *([-9.5, -9.5] * mutual))],
        }  # fmt: skip
        lines.append(json.dumps(sample | changes) + "\n")
    path = folder / "samples_wino.jsonl"
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("mutual", [False, True])
def test_two_contexts_of_one_continuation_are_right_as_the_document_says(tmp_path, mutual):
    file = two_contexts(tmp_path, mutual=mutual)
    run(scores, file, "--out", tmp_path / "out", "--model", "m")
    chosen = decisions(load_scores(tmp_path / "out" / "scores_m.parquet"))
    better = chosen["logprob_good_nats"] > chosen["logprob_contrast_nats"]
    assert better.tolist() == [False, True, True, True]
    assert (
        "The dog 1 saw the other because it was small."
        in (tmp_path / "out" / "items.csv").read_text()
    )


def test_a_sample_whose_own_accuracy_says_otherwise_is_refused(tmp_path):
    file = two_contexts(tmp_path, acc=1.0)
    with pytest.raises(AnalysisError, match="its acc is 1, and its log-likelihoods"):
        run(scores, file, "--out", tmp_path / "out")


def test_contexts_of_which_nothing_says_which_is_right_are_refused(tmp_path):
    file = two_contexts(tmp_path, doc={}, acc=None)
    with pytest.raises(AnalysisError, match="nothing says which of its two contexts is right"):
        run(scores, file, "--out", tmp_path / "out")


NAMED = "item_id,variant,sentence,logprob\n"


@pytest.mark.parametrize(
    "rows",
    [
        "a,good,It are.,-9\na,bad,It is.,-5\n",
        "a,good,We are.,-5\na,bad,We is.,-9\nb,good,It is.,-5\nb,bad,It are.,-9\n",
        "a,good,It is.,-5\na,bad,We is.,-9\n",
    ],
    ids=["good and bad exchanged", "another item's", "another item's bad one"],
)
def test_ids_that_contradict_the_text_of_their_row_are_refused(tmp_path, rows):
    with pytest.raises(AnalysisError, match="but its text"):
        imported(tmp_path, NAMED + rows)


def test_ids_that_count_from_elsewhere_are_refused(tmp_path):
    items = "item_id,good,bad\n1,It is.,It are.\n2,We are.,We is.\n"
    rows = "".join(f"{n},{v},-{5 + n}\n" for n in (0, 1) for v in ("good", "bad"))
    with pytest.raises(AnalysisError, match="2 scores are of unknown items"):
        imported(tmp_path, "item_id,variant,logprob\n" + rows, items=items)


def test_scores_without_headers_are_read_by_their_names(tmp_path):
    content = "a,good,-1.5\na,bad,-2.5\nb,good,-3\nb,bad,-4\n"
    _, (path,) = imported(tmp_path, content, "--columns", "item_id,variant,logprob")
    scored = {key: row["logprob_nats"] for key, row in by_version(path).items()}
    assert scored == {("a", "good"): -1.5, ("a", "bad"): -2.5, ("b", "good"): -3, ("b", "bad"): -4}
