"""What is right in the fields of forms and addresses, and studies that ask for more of it."""

from experiment.participation import Ending
from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from experiment.studies.study import Study
from webapp.jobs.notices import Cause

PASSWORD = "a long password"
STUDY, REPORT, JOB = "mine (0a0b0c0d)", "0123456789abcdef", "fedcba9876543210"
_BEFORE_TRIALS = """
[taking_part]
assent = true
[[screening]]
name = "age"
label = "How old are you?"
type = "number"
at_least = 18
[comprehension]
tries = 9
[[comprehension.questions]]
name = "task"
label = "What do you choose?"
type = "text"
correct = ["a"]
"""

_CODES = "\n".join(f'{ending} = "{ending}"' for ending in Ending)
_OF_PANEL = f"""
[taking_part]
devices = ["desktop"]
[panel]
preset = "prolific"
[panel.codes]
{_CODES}
"""
_ARRIVES = {
    "assignmentId": "3ABC", "hitId": "3DEF", "workerId": "A1B2C3",
    "turkSubmitTo": "https://workersandbox.mturk.com", "PROLIFIC_PID": "5f0c1e2d3b4a59687786a5b4",
    "STUDY_ID": "5f0c1e2d3b4a59687786a5b5", "SESSION_ID": "5f0c1e2d3b4a59687786a5b6",
    "device": "desktop",
}  # fmt: skip

RIGHT = {
    "study": STUDY, "text": "study.toml", "sure": "yes", "seed": "1", "recruiter": "direct",
    "report": REPORT, "job": JOB, "number": "1", "note": "1", "name": "anna",
    "password": PASSWORD, "new": PASSWORD, "again": PASSWORD, "code": "000000",
    "reason": "because it is tried", "address": "https://example.org/x", "label": "a label",
    "days": "9", "places": "1", "role": "viewer", "hours": "1", "language": "en", "act": "role",
    "per_list": "5,10", "simulations": "10", "difference": "0.1", "people": "1",
    "cause": str(next(iter(Cause))), "quiet": "30", "codes": "abc", "page": "1", "sort": "ref",
    "search": "a", "tags": "a tag", "content": "text", "decision": "accept", "wish": "keep",
    "project": "", **_ARRIVES,
}  # fmt: skip
# Where a field of that name says something else, by the route's endpoint.
SPECIAL = {
    "rights.send_data": {"_wish": "correct", "wish": "look"},
    "joining.join_project": {"name": "someone"},
    "notes.add_note": {"text": "another note"},
    "notes.remove_note": {"tag": "1"},
    "accounts.add_account": {"name": "bert"},
    "projects.change_member": {"role": "reader"},
    "projects.create_invitation": {"role": "reader"},
    "studies.copy_study": {"name": "another", "study": "minimal"},
    "studies.create_study": {"name": "another"},
    "rights_of_people.correct_answer": {"field": "native_language", "value": "Dutch"},
    "consent.decide": {"link": ""},
    "consent.show": {"link": ""},
}


def of_a_panel(study: Study) -> Study:
    """Return a study that people of a panel may take, on some devices."""
    return _with(study, _OF_PANEL, {})


def asking_first(study: Study) -> Study:
    """Return a study that asks for assent, and questions before its trials."""
    return _with(study, _BEFORE_TRIALS, {"texts/en/assent.md": b"We show you pairs of sentences."})


def _with(study: Study, more: str, texts: dict[str, bytes]) -> Study:
    files = study_files(study) | texts
    files["study.toml"] += more.encode()
    return frozen_study(files, study.folder)
