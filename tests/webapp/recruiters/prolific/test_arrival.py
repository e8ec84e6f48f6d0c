"""Arrivals: ids, signatures, clocks and keys."""

import jwt
import pytest

from tests.webapp.recruiters.prolific.conftest import LINK
from webapp.recruiters.prolific import signature
from webapp.recruiters.prolific.client import ProlificClient

pytestmark = pytest.mark.one_database
SIGNED = "prolific_signed_arrivals = true\n"
OTHER = "0" * 24


@pytest.fixture
def way(lab, stand_in) -> str:
    """Somebody's way to our page."""
    return lab.arrive(stand_in.person(), lab.publish())[1]


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """Return the submissions that the platform was asked for."""
    found, ask = list[str](), ProlificClient.submission
    monkeypatch.setattr(
        ProlificClient, "submission", lambda self, id_: (found.append(id_), ask(self, id_))[1]
    )
    return found


def opened(lab, way: str, at: str = LINK) -> int:
    return lab.app.test_client().get(way, base_url=at).status_code


def pressed(lab, way: str, at: str = LINK) -> int:
    agreed = {"decision": "accept"}
    return lab.app.test_client().post(way, data=agreed, base_url=at).status_code


@pytest.mark.parametrize("more_settings", [SIGNED])
class TestSigned:
    def test_what_the_platform_signed_is_let_in(self, lab, way):
        assert opened(lab, way) == 200

    def test_the_clock_may_differ_by_the_leeway_and_no_more(self, lab, way, clock):
        clock.go_on(seconds=175)
        assert opened(lab, way) == 200
        clock.go_on(seconds=10)
        assert opened(lab, way) == 400
        clock.go_on(seconds=-260)
        assert opened(lab, way) == 400

    @pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
    def test_another_id_than_the_signed_one_is_turned_away(self, lab, way, name):
        start = way.index(f"{name}=") + len(name) + 1
        assert opened(lab, f"{way[:start]}{OTHER}{way[start + 24 :]}") == 400

    def test_a_link_without_a_token_or_with_a_forged_one_is_turned_away(self, lab, way):
        link, _, token = way.partition("&prolific_token=")
        head, body, _ = token.split(".")
        unsigned = jwt.encode(jwt.decode(token, options={"verify_signature": False}), None, "none")
        for forged in ("", "x", f"{head}.{body}.", unsigned, token[:-8] + "AAAAAAAA"):
            assert opened(lab, f"{link}&prolific_token={forged}") == 400
        assert opened(lab, link) == 400

    def test_a_token_of_another_address_is_turned_away(self, lab, way):
        assert opened(lab, way.replace("?", "?preview=0&", 1)) == 400

    def test_a_new_key_of_the_platform_is_asked_for(self, lab, stand_in, way, monkeypatch):
        monkeypatch.setattr(signature, "_UNKNOWN_KEY_CACHE_S", 0)
        assert opened(lab, way) == 200
        study = stand_in.call("GET", "/studies/")["results"][0]["id"]
        stand_in.control("keys")
        assert opened(lab, lab.arrive(stand_in.person(), study)[1]) == 200

    def test_keys_that_cannot_be_had_are_no_fault_of_whoever_comes(self, lab, stand_in, way):
        stand_in.faults({"kind": "server_error", "operation": "get-study-jwks"})
        assert opened(lab, way) == 503


class TestLeftOut:
    """No setting: signatures count where there are any, and else the platform is asked."""

    def test_who_comes_by_a_signed_link_is_not_asked_about(self, lab, way, asked):
        assert "&prolific_token=" in way
        assert pressed(lab, way) == 303
        assert asked == []

    def test_a_link_that_is_old_or_unsigned_or_of_another_address_is_asked_about(
        self, lab, stand_in, way, asked, clock
    ):
        link, _, token = way.partition("&prolific_token=")
        session = link[-24:]
        clock.go_on(seconds=600)
        assert (opened(lab, way), pressed(lab, way), asked) == (200, 303, [session])
        study = stand_in.call("GET", "/studies/")["results"][0]["id"]
        session, other = lab.arrive(stand_in.person(), study)
        assert pressed(lab, other, "https://127.0.0.1:8000") == 303
        assert asked[1:] == [session]
        assert pressed(lab, f"{link[:-24]}{OTHER}&prolific_token={token}") == 400
        assert pressed(lab, f"{link}&prolific_token={token[:-8]}AAAAAAAA") == 400
        assert pressed(lab, f"{link[:-24]}{OTHER}") == 400
        assert asked[2:] == [OTHER]

    def test_while_the_keys_cannot_be_had_the_platform_is_asked(self, lab, stand_in, way, asked):
        stand_in.faults({"kind": "server_error", "operation": "get-study-jwks"})
        assert pressed(lab, way) == 303
        assert len(asked) == 1

    def test_where_the_workspace_cannot_sign_the_study_is_published_and_people_are_asked_about(
        self, lab, stand_in, asked
    ):
        stand_in.control("workspace", features=[])
        session, way = lab.arrive(stand_in.person(), lab.publish())
        assert "prolific_token" not in way
        assert pressed(lab, way) == 303
        assert asked == [session]


@pytest.mark.parametrize("more_settings", ["prolific_signed_arrivals = false\n"])
def test_an_installation_that_wants_none_gets_unsigned_links(lab, way):
    assert "prolific_token" not in way
    assert opened(lab, way) == 200


def test_ids_that_are_missing_or_not_filled_in_get_a_page_that_says_so(lab, way):
    pages = lab.app.test_client()
    path = way.partition("?")[0]
    for query in (
        "PROLIFIC_PID=x&STUDY_ID=x&SESSION_ID=x",
        f"PROLIFIC_PID={OTHER}&STUDY_ID={OTHER}",
        f"PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={OTHER}&SESSION_ID={OTHER}",
    ):
        assert pages.get(f"{path}?{query}").status_code == 400
    assert pages.get(f"{path}?preview=1").status_code == 200
    assert opened(lab, way) == 200
