"""From publishing to the submission, with the marketplace's own pages in between."""

import pytest

from webapp.core.clock import utc_now
from webapp.recruitment.poll import poll_run

pytestmark = pytest.mark.one_database


def test_a_worker_previews_accepts_answers_and_submits(
    publish_run, worker, sessions, platform, run, client, participants, assignments, submit_form_of
):
    [(hit_id, places)] = publish_run()
    assert places == 8
    ann = worker("AANN")
    look = client.get(ann.preview())
    assert 'data-page="consent"' in look.text
    assert "This is a preview: nothing is stored. To take part, accept the task first." in look.text
    assert participants() == []
    form = ann.finish(ann.consent(ann.accept()))
    assert form.action.endswith("/mturk/externalSubmit")
    assert form.fields["assignmentId"] == ann.assignment_id
    assert ann.submit(form).status_code == 200
    assert assignments() == [("AANN", "active")]
    news = poll_run(sessions, platform, run.ref, utc_now())
    assert (news.submitted, news.returned, news.granted) == (1, 0, 0)
    assert poll_run(sessions, platform, run.ref, utc_now()).granted == 1
    assert assignments() == [("AANN", "submitted")]
    assert participants() == [("AANN", "finished")]
    [submission] = platform.submissions(hit_id)
    assert submit_form_of.read_receipt(submission.fields["receipt"]) is not None
