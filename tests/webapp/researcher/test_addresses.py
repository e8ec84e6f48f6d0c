"""Addresses that people open though no page has them: the bare server's, and those of forms."""

import pytest

from webapp.core.addresses import RESEARCHER_PATH
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


def test_the_bare_address_says_where_studies_and_the_researchers_pages_are(app):
    reply = app.test_client().get("/")
    assert reply.status_code == 200
    assert "please open the whole link that you were given" in reply.text
    assert '<a href="/researcher/">For researchers: sign in</a>' in reply.text
    german = app.test_client().get("/", headers={"Accept-Language": "de"})
    assert "Hier finden Studien statt" in german.text


def test_the_address_of_a_form_opened_again_leads_to_the_page_of_the_form(run, researcher):
    owner = researcher(Role.OWNER)
    reply = owner.get(f"/runs/{run.ref}/money/pay")
    assert (reply.status_code, reply.location) == (303, f"/researcher/runs/{run.ref}/money")
    assert owner.get(f"/runs/{run.ref}/money").status_code == 200


def test_every_form_of_researchers_has_a_page_above_it(app, researcher):
    owner = researcher(Role.OWNER)
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith(RESEARCHER_PATH)]
    read = {rule.rule for rule in rules if "GET" in (rule.methods or ())}
    forms = [rule for rule in rules if rule.rule not in read and "/api/" not in rule.rule]
    assert len(forms) > 20
    for rule in forms:
        values = dict.fromkeys(rule.arguments, "1") | {"part_name": "rules"}
        reply = owner.client.get(rule.build(values, append_unknown=False)[1])
        assert reply.status_code in (303, 404), rule.rule
        if reply.status_code == 303:
            assert reply.location.startswith(RESEARCHER_PATH)
