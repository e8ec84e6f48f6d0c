"""The contract every recruiter keeps."""

import pytest

from experiment.errors import UnknownNameError
from webapp.recruiters.registry import RECRUITERS, load_recruiter


@pytest.fixture(params=list(RECRUITERS))
def name(request) -> str:
    return request.param


def test_a_recruiter_bears_the_name_it_is_registered_under(name):
    assert load_recruiter(name).name == name


def test_the_invitation_leads_to_the_run(name):
    invitation = load_recruiter(name).invitation("https://study.example", "abc")
    assert invitation.startswith("https://study.example/run/abc")


def test_the_closing_text_is_a_sentence(name):
    assert load_recruiter(name).closing.endswith(".")


def test_only_the_simulator_is_simulated(name):
    assert load_recruiter(name).simulated is (name == "simulator")


def test_an_unknown_recruiter_is_answered_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match='Did you mean "direct"'):
        load_recruiter("dirct")
