"""Drives Dallinger's Prolific service through a stand-in; run by a Python that has Dallinger.

Usage: python peer_client.py URL. Prints one line of JSON: each call, and whether it succeeded.
"""

import json
import logging
import sys

import dallinger.recruiters
import requests
from dallinger.prolific import ProlificService

CODES = [{"code": "C1", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}]
STUDY = {
    "completion_codes": CODES,
    "completion_option": "code",
    "description": "Which sentence is better?",
    "filters": [],
    "estimated_completion_time": 5,
    "external_study_url": "http://127.0.0.1:1/x?PROLIFIC_PID={{%PROLIFIC_PID%}}",
    "internal_name": "peer",
    "maximum_allowed_time": 40,
    "name": "Peer",
    "project_name": "New project",
    "prolific_id_option": "url_parameters",
    "reward": 100,
    "total_available_places": 3,
}


def fail(error):
    raise error


def main(url):
    logging.disable(logging.CRITICAL)
    dallinger.recruiters.handle_and_raise_recruitment_error = fail
    ProlificService.api_root = property(lambda _: f"{url}/api/v1")
    service, succeeded = ProlificService("token123", "v1", "https://example.org"), {}

    def attempt(name, call):
        try:
            succeeded[name], answer = True, call()
        except Exception:
            succeeded[name], answer = False, None
        return answer

    attempt("who_am_i", service.who_am_i)
    workspace = attempt("get_workspaces", service.get_workspaces)[0]["id"]
    study = {**STUDY, "workspace": workspace}
    draft = attempt("draft_study", lambda: service.draft_study(is_custom_screening=False, **study))
    attempt(
        "draft_study, custom screening",
        lambda: service.draft_study(is_custom_screening=True, **study),
    )
    made = attempt(
        "create_study",
        lambda: service.create_study(
            is_custom_screening=False, publish_experiment=True, mode="live", **study
        ),
    )["id"]
    for name in ("get_studies", "get_hits", "get_unread_messages"):
        attempt(name, getattr(service, name))
    attempt("get_study", lambda: service.get_study(made))
    attempt("add_participants_to_study", lambda: service.add_participants_to_study(made, 2))
    submission, who = take_part(url, made)
    attempt("get_submissions", lambda: service.get_submissions(made))
    attempt("get_assignments_for_study", lambda: service.get_assignments_for_study(made))
    attempt("get_participant_submission", lambda: service.get_participant_submission(submission))
    attempt(
        "approve_participant_submission", lambda: service.approve_participant_submission(submission)
    )
    attempt("pay_session_bonus", lambda: service.pay_session_bonus(made, who, 0.5))
    attempt("get_total_cost", lambda: service.get_total_cost(made))
    attempt("screen_out", lambda: service.screen_out(made, submission, 0.2, True))
    attempt("delete_study, a draft", lambda: service.delete_study(draft["id"]))
    attempt("delete_study, published", lambda: service.delete_study(made))
    print(json.dumps(succeeded))


def take_part(url, study):
    site, who = requests.Session(), "a" * 24
    site.post(f"{url}/signin", data={"participant_id": who}, allow_redirects=False)
    taken = site.post(f"{url}/studies/{study}/take", allow_redirects=False)
    submission = taken.headers["location"].rpartition("/")[2]
    site.post(f"{url}/submissions/{submission}/open", allow_redirects=False)
    site.post(f"{url}/submissions/{submission}/complete", data={"code": "C1"})
    return submission, who


if __name__ == "__main__":
    main(sys.argv[1])
