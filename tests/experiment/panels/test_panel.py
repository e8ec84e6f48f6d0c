"""A panel is described whole before anybody comes by it."""

import pytest
from pydantic import ValidationError

from experiment.panels.panel import Panel, preset
from experiment.panels.signing import UnfilledError, fill, fill_address
from experiment.panels.table import PRESETS
from experiment.participation import Ending

# The few values that are a researcher's own.
OWN: dict[str, dict[str, object]] = {
    "besample": {"values": {"completed_address": "https://besample.example/done?x=1"}},
    "cint": {},
    "classroom": {},
    "connect": {"values": {"completed_address": "https://connect.example/redirect/ABC"}},
    "prolific": {"codes": {"completed": "C1DONE"}},
    "respondent": {"codes": {"completed": "0a1b"}},
    "sample_ninja": {},
    "sona": {"values": {"site": "https://lab.sona-systems.com", "experiment_id": "123"}},
    "sona_redirect": {"values": {"site": "https://lab.sona-systems.com", "experiment_id": "123"}},
    "testable": {"codes": {"completed": "T1"}},
    "toloka": {},
}
OWN_PANEL: dict[str, object] = {
    "parameters": {"who": {}, "project": {"required": False}},
    "person": ["who"],
    "values": {"site": "https://panel.example"},
    "secrets": {"key": "panel_key"},
    "codes": {"completed": "DONE", "screened_out": "OUT"},
    "address": "{site}/back?who={participant}&code={code}",
}


def with_changes(**changes: object) -> Panel:
    return Panel.model_validate({**OWN_PANEL, **changes})


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_and_the_researchers_own_values_are_enough(name):
    panel = Panel.model_validate({"preset": name, **OWN[name]})
    way = panel.way_back(Ending.COMPLETED)
    assert panel.person or panel.access_codes
    assert (
        panel.address_of(Ending.COMPLETED) or panel.code(Ending.COMPLETED) or way.report or way.text
    )


@pytest.mark.parametrize("name", [name for name in PRESETS if OWN[name]])
def test_a_preset_without_the_researchers_own_values_says_which_are_missing(name):
    with pytest.raises(ValidationError, match=r"a (value|code) \".*\" in \[panel"):
        Panel.model_validate({"preset": name})


def test_every_preset_is_a_file_and_every_file_a_preset():
    assert all(preset(name) for name in PRESETS)
    assert set(PRESETS) == set(OWN)


def test_what_a_study_says_comes_on_top_of_the_preset_key_by_key():
    own = {"values": {"site": "http://localhost:8200"}, "parameters": {"AGE": {"required": False}}}
    panel = Panel.model_validate({"preset": "prolific", **OWN["prolific"], **own})
    assert panel.values == {"site": "http://localhost:8200"}
    assert set(panel.parameters) == {"PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "AGE"}


def test_an_ending_without_a_code_does_not_lead_to_where_codes_are_needed():
    panel = with_changes()
    assert panel.address_of(Ending.SCREENED_OUT)
    assert panel.address_of(Ending.FULL) == ""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"address": "{site}/back?who={whom}"}, r"instead of \{whom\}"),
        ({"address": "{site}/back?who={who"}, "no other brace"),
        ({"address": "{who}/back"}, "one site's name"),
        ({"address": "https://{who}.example/back"}, "one site's name"),
        ({"address": "https://panel.example{who}"}, "one site's name"),
        ({"address": "http://panel.example/back"}, "https://"),
        ({"address": "javascript:alert(1)"}, "https://"),
        ({"person": ["whom"]}, r"\[panel.parameters.whom\]"),
        ({"person": ["project"]}, "required = true"),
        ({"parameters": {"who": {}, "site": {}}}, "two meanings"),
        ({"parameters": {"who": {}, "code": {}}}, "two meanings"),
        ({"parameters": {"who": {"pattern": "("}}}, "regular expression"),
        ({"parameters": {"who": {"only": "{whose}"}}}, "only of"),
        ({"codes": {"completed": "{key}"}}, "code of completed"),
        ({"codes": {}}, "a way back for participants who completed"),
        ({"access_codes": True}, "either person or access_codes"),
        ({"endings": {"full": {"fields": {"a": "b"}}}}, 'method = "form"'),
        ({"endings": {"full": {"method": "form"}}}, "an address"),
        ({"signature": {"parameter": "t", "algorithm": "HS256"}}, "panel.secrets"),
        ({"signature": {"parameter": "t", "algorithm": "RS256"}}, "public keys"),
        (
            {"signature": {"parameter": "t", "algorithm": "RS256", "keys": "https://a.example/k"}},
            "a claim",
        ),
        (
            {"signature": {"parameter": "t", "algorithm": "HMAC-SHA256", "secret": "key",
                           "signed": "{project}"}},
            "each parameter of person",
        ),
        (
            {"endings": {"full": {"report": {"address": "https://x.example/{key}", "done": "ok",
                                             "fields": {"a": "b"}}}}},
            'method = "POST"',
        ),
        ({"codes": {"completed": "DONE", "screened_out": "DONE"}}, "who did no work"),
        (
            {"values": {"site": "https://panel.example", "end": "https://panel.example/1"},
             "codes": {}, "endings": {"completed": {"address": "https://panel.example/1"},
                                      "no_consent": {"address": "{end}"}}},
            "another address for no_consent",
        ),
    ],
)  # fmt: skip
def test_a_panel_that_could_fail_somebody_is_refused_before_it_is_used(changes, message):
    with pytest.raises(ValidationError, match=message):
        with_changes(**changes)


def test_who_withdraws_or_fails_a_check_may_be_paid_as_who_completed():
    codes = {"completed": "DONE", "withdrawn": "DONE", "failed_check": "DONE"}
    assert with_changes(codes=codes).code(Ending.WITHDRAWN) == "DONE"


def test_a_value_of_a_link_cannot_change_the_rest_of_an_address():
    known = {"site": "https://panel.example", "who": "a&code=X#/../?"}
    filled = fill_address("{site}/back/{who}?who={who}", known)
    assert filled == (
        "https://panel.example/back/a%26code%3DX%23%2F..%2F%3F?who=a%26code%3DX%23%2F..%2F%3F"
    )


def test_a_template_is_filled_whole_or_not_at_all():
    with pytest.raises(UnfilledError, match="who"):
        fill("{who}", {"who": ""})
