"""The workers' site: what workers may do, and what they may send."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from marketplace.mturk.question import answer_xml
from tests.marketplace.mturk.market import JSON, question

NAMESPACE = (
    "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01"
    "/QuestionFormAnswers.xsd}"
)
SCRIPT = "<script>alert(1)</script>"


def code(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_the_preview_names_no_worker_and_no_assignment(market):
    hit = market.hit(Question=question("https://study.example/run?list=2", 600))
    frame = market.worker().facts(f"/projects/{hit['HITGroupId']}/tasks")["frame"]
    assert frame["height_px"] == 600
    assert frame["address"].startswith(
        "https://study.example/run?list=2&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId="
    )
    assert "workerId" not in frame["address"]


def test_an_accepted_hit_shows_the_page_with_who_is_working(market):
    hit, worker = market.hit(), market.worker()
    assignment_id = worker.accept(hit)
    facts = worker.facts(f"/assignments/{assignment_id}")
    submit_to = market.url.replace(":", "%3A").replace("/", "%2F")
    assert facts["frame"]["address"] == (
        f"https://study.example/run?assignmentId={assignment_id}&hitId={hit['HITId']}"
        f"&turkSubmitTo={submit_to}&workerId=A1WORKER"
    )
    assert 590 < facts["left_s"] <= 600
    assert (
        "frame-src 'self' https://study.example"
        in (worker.client.get(f"/assignments/{assignment_id}").headers["Content-Security-Policy"])
    )


def test_a_returned_hit_can_be_accepted_again_under_another_assignment(market):
    hit, worker = market.hit(), market.worker()
    first = worker.accept(hit)
    assert worker.groups() == [], "one place, which is taken"
    assert worker.give_back(first).status_code == 303
    second = worker.accept(hit)
    assert second != first
    assert code(worker.submit(first)) == (409, "returned")
    assert code(worker.give_back(first)) == (409, "returned")
    assert worker.submit(second).status_code == 200


def test_nobody_does_the_same_hit_twice_but_another_of_the_listing(market):
    hit, worker = market.hit(2), market.worker()
    worker.work(hit)
    assert code(worker.try_to_accept(hit["HITGroupId"])) == (404, "no_work")
    other = market.hit(1)
    assert other["HITGroupId"] == hit["HITGroupId"]
    worker.accept(other)


def test_the_time_to_submit_ends(market):
    hit, worker = market.hit(), market.worker()
    assignment_id = worker.accept(hit)
    market.go_on(601)
    assert code(worker.submit(assignment_id)) == (409, "abandoned")
    assert market.worker("A2").accept(hit)


def test_a_submission_needs_an_assignment_and_an_answer(market):
    worker = market.worker()
    assignment_id = worker.accept(market.hit())
    send = lambda **form: worker.client.post("/mturk/externalSubmit", data=form, headers=JSON)  # noqa: E731
    assert code(send(receipt="r")) == (400, "no_assignment_id")
    assert code(send(assignmentId=assignment_id)) == (400, "no_answer")
    reserved = {"hitId": "x", "workerId": "A2", "turkSubmitTo": "https://evil.example"}
    assert code(send(assignmentId=assignment_id, **reserved)) == (400, "no_answer")
    assert code(send(assignmentId="3NO", receipt="r")) == (404, "unknown")
    assert code(send(assignmentid=assignment_id, receipt="r")) == (400, "no_assignment_id")
    assert code(send(assignmentId=assignment_id, receipt="r" * 70_000)) == (413, "too_long")
    assert send(assignmentId=assignment_id, receipt="r").status_code == 200
    assert code(send(assignmentId=assignment_id, receipt="r")) == (409, "submitted")


def test_the_frame_submits_without_a_cookie(market):
    assignment_id = market.worker().accept(market.hit())
    form = {"assignmentId": assignment_id, "receipt": "r"}
    assert market.client().post("/mturk/externalSubmit", data=form).status_code == 200


def test_answers_are_kept_in_their_order_with_every_value(market):
    worker, hit = market.worker(), market.hit()
    assignment_id = worker.accept(hit)
    form = {"assignmentId": assignment_id, "b": ["1", "<&\x00>"], "a": "è"}
    worker.client.post("/mturk/externalSubmit", data=form)
    [assignment] = market.mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert fields(assignment["Answer"]) == [("b", "1"), ("b", "<&\ufffd>"), ("a", "è")]


def fields(xml: str) -> list[tuple[str, str]]:
    return [
        (
            answer.findtext(f"{NAMESPACE}QuestionIdentifier"),
            answer.findtext(f"{NAMESPACE}FreeText"),
        )
        for answer in fromstring(xml, forbid_dtd=True)
    ]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_whatever_is_submitted_the_xml_can_be_read(given_fields):
    read = fields(answer_xml(given_fields))
    assert len(read) == len(given_fields)
    for (name, value), (was_name, was_value) in zip(read, given_fields, strict=True):
        assert (len(name), len(value)) == (
            len(was_name.replace("\r\n", "\n")),
            len(was_value.replace("\r\n", "\n")),
        )


@pytest.mark.parametrize("worker_id", ["", "a1", "B1", "A", "A-1", "A1\n", "A" * 65, SCRIPT])
def test_a_worker_id_is_checked(market, worker_id):
    answer = market.client().post("/signin", data={"worker_id": worker_id + " "}, headers=JSON)
    expected = 303 if worker_id == "A1\n" else 400
    assert answer.status_code == expected, "white space around an ID is left away"


def test_nobody_is_sent_elsewhere_after_signing_in(market):
    for wanted in (
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:x",
        "/work\r\nX: y",
    ):
        form = {"worker_id": "A1", "next": wanted}
        answer = market.client().post("/signin", data=form)
        assert answer.headers["location"] == "/projects"
    answer = market.client().post("/signin", data={"worker_id": "A1", "next": "/work"})
    assert answer.headers["location"] == "/work"


def test_a_link_leads_through_the_sign_in_page_to_its_preview(market):
    hit, client = market.hit(), market.client()
    found = client.get(f"/mturk/preview?groupId={hit['HITGroupId']}", follow_redirects=True)
    assert 'name="next" value="/projects/' in found.text
    signed_in = client.post(
        "/signin", data={"worker_id": "A1", "next": f"/projects/{hit['HITGroupId']}/tasks"},
        follow_redirects=True,
    )  # fmt: skip
    assert "This is a preview." in signed_in.text


def test_without_signing_in_nothing_is_shown(market):
    for path in ("/projects", "/work", "/qualifications", "/assignments/3A"):
        answer = market.client().get(path, headers=JSON)
        assert code(answer) == (401, "signed_out")
        assert market.client().get(path).headers["location"].startswith("/?next=")


def test_an_assignment_is_shown_to_its_worker_alone(market):
    assignment_id = market.worker().accept(market.hit())
    other = market.worker("A2")
    answer = other.client.get(f"/assignments/{assignment_id}", headers=JSON)
    assert code(answer) == (404, "unknown")
    assert code(other.give_back(assignment_id)) == (404, "unknown")


def test_what_requesters_write_is_text_and_never_markup(market):
    worker = market.worker()
    hit = market.hit(Title=SCRIPT, Description=SCRIPT)
    done = worker.work(hit)
    market.mturk.approve_assignment(AssignmentId=done, RequesterFeedback=SCRIPT)
    letter = {"Subject": SCRIPT, "MessageText": SCRIPT}
    market.mturk.notify_workers(WorkerIds=["A1WORKER"], **letter)
    other = market.worker("A2")
    market.hit(Title=SCRIPT, Description=SCRIPT)
    pages = (worker.client.get("/work"), other.client.get("/projects"))
    for page in pages:
        assert SCRIPT not in page.text
        assert "&lt;script&gt;" in page.text


def test_work_and_earnings_are_shown(market):
    worker, hit = market.worker(), market.hit()
    done = worker.work(hit)
    market.mturk.approve_assignment(AssignmentId=done, RequesterFeedback="Well done")
    bonus = {"WorkerId": "A1WORKER", "BonusAmount": "0.25", "Reason": "Thank you"}
    market.mturk.send_bonus(AssignmentId=done, **bonus)
    facts = worker.facts("/work")
    assert facts["earned_cents"] == 75
    [row] = facts["assignments"]
    assert (row["status"], row["paid_cents"], row["bonus_cents"]) == ("approved", 50, 25)
    page = worker.client.get("/work").text
    assert "$0.75" in page
    assert "Well done" in page


def test_signing_out_ends_the_session(market):
    worker = market.worker()
    worker.client.post("/signout")
    assert worker.client.get("/work", headers=JSON).status_code == 401


def test_pages_are_not_shown_in_other_sites_frames(market):
    headers = market.client().get("/").headers
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_of_many_who_accept_at_once_only_as_many_as_there_are_places_get_one(market):
    hit = market.hit(3)
    workers = [market.worker(f"A{number}") for number in range(8)]
    with ThreadPoolExecutor(8) as crowd:
        answers = crowd.map(lambda worker: worker.try_to_accept(hit["HITGroupId"]), workers)
        statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [303] * 3 + [404] * 5
    assert market.now(hit)["NumberOfAssignmentsPending"] == 3
