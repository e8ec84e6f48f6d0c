"""A model's codes: what it reads, which answers it codes, and the category that follows."""

import hashlib
import json
from dataclasses import replace
from math import log
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands import codes as command
from analysis.errors import AnalysisError
from analysis.typed.model_codes import (
    COLUMNS,
    AnswerToCode,
    code_answers,
    get_coding,
    list_answers_to_code,
    write_prompt,
)
from experiment.coding.categories import Coding
from tests.analysis.findings.hand_made_runs import RUN

CODING = Coding.model_validate(
    {
        "question": "What is it?",
        "categories": [
            {"name": "alive", "title": "An animal", "answers": ["dog"]},
            {"name": "thing", "title": "A thing"},
        ],
        "training": [{"answer": "kitten", "category": "alive", "text": "She stroked the ___."}],
    }
)
TEXTS = {"x": "He saw the ___.", "c": "Type two: ___."}


def run_of(typed: dict[str, list[str | None]], response: str = "typed", coding=CODING):
    """A run in which these were typed for each item; the last item is a catch trial."""
    rows = [(item, text) for item, texts in typed.items() for text in texts]
    responses = pd.DataFrame(rows, columns=["item_id", "typed"]).assign(
        version="good", no_answer=lambda own: own["typed"].isna()
    )
    items = pd.DataFrame({"item_id": list(TEXTS), "good": list(TEXTS.values())})
    items = items.assign(kind=["target", "catch"], context="")
    trial = RUN.study.trial.model_copy(update={"parameters": {}})
    study = RUN.study.model_copy(update={"response": response, "trial": trial, "coding": coding})
    return replace(RUN, responses=responses, items=items, study=study)


class Model:
    """A model for which a number is as probable as its table says; by the answer it reads."""

    name = "toy"

    def __init__(self, shares: dict[str, float]) -> None:
        self.shares, self.read = shares, []

    def score(self, requests):
        self.read += [prompt for prompt, _ in requests]
        return [
            SimpleNamespace(logprobs_nats=np.array([log(self._share(*one) / 100)]))
            for one in requests
        ]

    def _share(self, prompt: str, label: str) -> float:
        first = self.shares[prompt.rpartition("Answer: ")[2].partition("\n")[0]]
        return first if label == "1" else 1 - first


def test_a_model_reads_the_question_the_categories_the_training_and_one_answer():
    [answer] = list_answers_to_code(run_of({"x": ["Owl"]}))
    assert write_prompt(CODING, answer) == (
        "What is it?\n\n1: An animal\n2: A thing\n\n"
        "Text: She stroked the ___.\nAnswer: kitten\nCategory: 1\n\n"
        "Text: He saw the ___.\nAnswer: Owl\nCategory:"
    )


def test_each_different_answer_gets_its_most_probable_category_and_equal_ones_get_none():
    # "dog" is on the study's list, and an answer to a catch trial is not coded.
    run = run_of({"x": ["Owl", "owl.", "rock", "dog", "fog", None], "c": ["two"]})
    model = Model({"Owl": 0.75, "rock": 0.25, "fog": 0.5})
    rows = [
        dict(zip(COLUMNS, row, strict=True))
        for row in code_answers(model, CODING, list_answers_to_code(run))
    ]
    assert [(row["typed"], row["category"]) for row in rows] == [
        ("Owl", "alive"),
        ("rock", "thing"),
    ]
    assert [row["probability"] for row in rows] == ["0.7500", "0.7500"]
    assert {(row["item_id"], row["version"], row["gap"]) for row in rows} == {("x", "good", 1)}
    assert len(model.read) == 3 * 2


def test_entries_of_lists_are_coded_one_by_one_and_without_texts_only_once():
    in_lists = run_of({"x": ["owl | rock | owl", "rock"]}, "fluency")
    assert [answer.typed for answer in list_answers_to_code(in_lists)] == ["owl", "rock"]
    alone = CODING.model_copy(update={"show_text": False})
    answers = list_answers_to_code(run_of({"x": ["owl"], "c": []}, coding=alone))
    assert answers == [AnswerToCode("", "", 1, "", "owl")]
    assert "Text:" not in write_prompt(alone, answers[0])


def test_a_study_without_categories_is_refused():
    with pytest.raises(AnalysisError, match="declares no categories"):
        get_coding(run_of({"x": ["owl"]}, coding=None))


def test_the_table_comes_with_a_record_of_the_prompt_and_the_model(tmp_path, monkeypatch):
    model = Model({"Owl": 0.75})
    model.trained_on = "a text"
    monkeypatch.setattr(command, "load_answers", lambda *given: run_of({"x": ["Owl"]}))
    monkeypatch.setattr(command, "load_scorer", lambda *given, how: model)
    monkeypatch.setattr(command, "model_identity", lambda name: f"hash of {name}")
    run = CliRunner().invoke
    out = tmp_path / "proposed.csv"
    options = ["--run", "data", "--dtype", "bfloat16", "--out", str(out)]
    done = run(command.codes, ["hf:toy", *options])
    assert done.output.endswith("codes of 1 of 1 answers by toy\n")
    assert out.read_text("utf-8").splitlines()[1] == "x,good,1,Owl,alive,0.7500,toy"
    record = json.loads(out.with_suffix(".json").read_text("utf-8"))
    assert (record["identity"], record["weights"]) == ("hash of hf:toy", "bfloat16")
    assert record["prompt"].endswith("Text: {text}\nAnswer: {answer}\nCategory:")
    assert record["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    refused = run(command.codes, ["hf:toy", "--run", "data", "--out", "codes.xlsx"])
    assert "codes.xlsx: no table of this format can be written here" in str(refused.exception)
