"""A form without a server finds the same mistakes as the server does."""

import json
import subprocess
from pathlib import Path

import webapp
from experiment.studies.answers import Mistake
from tests.experiment.studies.test_answers import ANSWERS, question
from tests.prerequisites import NODE
from webapp.serverless.questions import question_data

PROGRESS = Path(webapp.__file__).parent / "static" / "serverless" / "progress.js"
PROGRAM = """
import { problemsOf } from %s;
const found = %s.map(([question, answer]) =>
  problemsOf([question], { [question.name]: answer }, {}, 5000)[question.name] ?? null);
console.log(JSON.stringify(found));
"""


def test_the_browser_finds_the_mistakes_that_the_server_finds(monkeypatch):
    names = {mistake.value: mistake.value for mistake in Mistake}
    monkeypatch.setattr("webapp.serverless.questions.every_word", lambda _: names)
    asked = [(question_data(question(name)), answer) for name, answer, _ in ANSWERS]
    program = PROGRAM % (json.dumps(PROGRESS.as_uri()), json.dumps(asked))
    ran = subprocess.run(
        [str(NODE.require()), "--input-type=module"], input=program, capture_output=True, text=True
    )
    assert json.loads(ran.stdout) == [wrong and wrong.value for _, _, wrong in ANSWERS], ran.stderr
