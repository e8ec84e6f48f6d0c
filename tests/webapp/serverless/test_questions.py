"""A form without a server finds the same mistakes as the server does."""

import json
import subprocess
from pathlib import Path

import webapp
from experiment.studies.question import ComprehensionQuestion, Mistake, ScreeningQuestion
from tests.experiment.studies.test_answers import ANSWERS, question
from tests.prerequisites import NODE
from webapp.serverless.pages import describe_question

PROGRESS = Path(webapp.__file__).parent / "static" / "serverless" / "session_progress.js"
PROGRAM = """
import { findProblems } from %s;
const found = %s.map(([question, answer]) =>
  findProblems([question], { [question.name]: answer }, {}, 5000)[question.name] ?? null);
console.log(JSON.stringify(found));
"""
ADMITTING = """
import { areAnswersAccepted } from %s;
console.log(JSON.stringify(%s.map(([question, answer]) =>
  areAnswersAccepted([question], { [question.name]: answer }))));
"""
WHO = {"name": "who", "label": "Who?"}
SCREENING = [
    ({"accept": ["Straße", "Oslo"]}, ["straße", "STRASSE", " oslo ", "Os lo", "İstanbul"]),
    ({"type": "choice", "options": ["yes", "no"], "accept": ["yes"]}, ["yes", "no"]),
    ({"type": "number", "at_least": 18, "at_most": 30.5}, ["18", "17.9", "30,5", "30.6", "+20"]),
    ({"type": "number", "at_most": 3}, ["-4", "3.0", "4"]),
]
COMPREHENSION = [
    ({"type": "number", "correct": ["1"]}, ["1", "2", "1.0", " 1"]),
    ({"type": "choice", "options": ["a", "B"], "correct": ["B"]}, ["a", "B"]),
    ({"correct": ["Two", "2"]}, ["two", "TWO", "2", "three"]),
]


def test_the_browser_lets_in_whom_the_server_lets_in():
    asked, expected = [], []
    for keys, answers in SCREENING:
        question = ScreeningQuestion(**WHO, **keys)
        asked += [(describe_question(question, question.accept), answer) for answer in answers]
        expected += [question.accepts(answer) for answer in answers]
    for keys, answers in COMPREHENSION:
        right = ComprehensionQuestion(**WHO, **keys)
        asked += [(describe_question(right, right.correct), answer) for answer in answers]
        expected += [right.is_right(answer) for answer in answers]
    assert {True, False} == set(expected)
    assert ran(ADMITTING % (json.dumps(PROGRESS.as_uri()), json.dumps(asked))) == expected


def ran(program: str) -> object:
    done = subprocess.run(
        [str(NODE.require()), "--input-type=module"], input=program, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_browser_finds_the_mistakes_that_the_server_finds(monkeypatch):
    names = {mistake.value: mistake.value for mistake in Mistake}
    monkeypatch.setattr("webapp.serverless.pages.describe_all_mistakes", lambda _: names)
    asked = [(describe_question(question(name)), answer) for name, answer, _ in ANSWERS]
    program = PROGRAM % (json.dumps(PROGRESS.as_uri()), json.dumps(asked))
    assert ran(program) == [wrong and wrong.value for _, _, wrong in ANSWERS]
