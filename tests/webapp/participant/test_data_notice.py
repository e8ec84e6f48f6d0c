"""The consent page says what is stored, whatever the study's own text says."""

import pytest

from experiment.studies.load import load_study
from experiment.studies.study import Privacy, Rule
from experiment.tables.observation_tables import TIMINGS
from experiment.tables.schemas import ANSWERS, DEVICES, PARTICIPANTS, RESPONSES
from webapp.participant.data_notice import (
    compose_consent_text,
    describe_device_data,
    describe_rights,
    list_responsible_parties,
    list_stored_data,
)

# What the sentences tell of; a new column is told of there and then named here.
TOLD = {
    PARTICIPANTS.name: {
        "participant", "number", "state", "arrived_at", "consented_at", "returned_at",
        "finished_at",
    },
    RESPONSES.name: {
        "chosen_side", "rt_ms", "input_method", "viewport_width_px", "viewport_height_px",
        "was_hidden", "lost_focus", "client_time", "recorded_at",
    },
    TIMINGS.name: {
        "onset_source", "onset_uncertainty_ms", "release_ms", "times_shown", "seen_before_ms",
        "waited_ms", "trusted", "pointer_moves", "pointer_path_px",
        "pointer_stopped_ms", "hidden_ms", "frames_dropped", "pixel_ratio", "round_trip_ms",
    },
    DEVICES.name: {
        "device", "user_agent_family", "refresh_rate_hz", "time_zone_offset_min", "language",
        "automated",
    },
    ANSWERS.name: {"field", "value"},
}  # fmt: skip
# What the study's side adds to a person's rows.
OURS = {"judge", "simulated", "list", "place", "position", "item_id", "chose_good", "participant"}


@pytest.mark.parametrize("table", [PARTICIPANTS, RESPONSES, TIMINGS, DEVICES, ANSWERS])
def test_every_exported_column_about_a_person_is_told_of(table):
    assert set(table.column_names) - OURS == TOLD[table.name] - OURS


def test_the_consent_page_holds_every_sentence(client, run, study):
    page = client.get(f"/run/{run.ref}").get_data(as_text=True)
    sentences = [
        *list_stored_data(study, known_to_platform=False), describe_device_data(), describe_rights()
    ]  # fmt: skip
    assert len(sentences) == 14
    assert all(sentence.replace("'", "&#39;") in page for sentence in sentences)


def test_a_questionnaire_and_a_platform_are_told_of_where_there_is_one():
    study = load_study("minimal")
    notice = "".join(list_stored_data(study, known_to_platform=True))
    assert "questions at the end" in notice and "recruiting platform" in notice
    assert "What you are paid through the platform" in notice
    without = study.model_copy(update={"questionnaire": []})
    assert "questions" not in "".join(list_stored_data(without, known_to_platform=False))


def test_a_score_that_excludes_by_itself_is_told_of_before_anybody_agrees():
    study = load_study("minimal")
    assert "It decides nothing by itself" in "".join(
        list_stored_data(study, known_to_platform=False)
    )
    rule = Rule.model_validate({"rule": "agent_likelihood", "automatic": True})
    either = {"rule": "any", "rules": [rule.model_dump(), {"rule": "same_side", "max_run": 8}]}
    for declared in (rule, Rule.model_validate(either)):
        changed = study.model_copy(update={"exclusion": [declared]})
        notice = "".join(list_stored_data(changed, known_to_platform=False))
        assert "without a person's decision" in notice and "it decides nothing" not in notice


def test_a_static_study_keeps_no_code_of_an_address():
    study = load_study("minimal")
    with_server, static = (
        compose_consent_text(study, known_to_platform=False, serverless=value)
        for value in (False, True)
    )
    of_the_server = (
        "\n\n- For one hour, a code made from your network address, so that nobody can take all "
        "the places.",
        " Also how long each answer took to reach us.",
    )
    expected = with_server
    for sentence in of_the_server:
        assert sentence in expected
        expected = expected.replace(sentence, "")
    assert expected == static


def test_the_legal_basis_and_the_authority_are_named():
    study = load_study("minimal")
    assert "data protection authority" in compose_consent_text(study, known_to_platform=False)
    assert not [line for line in list_responsible_parties(study) if "Legal basis" in line]
    privacy = Privacy(legal_basis="your consent", data_protection_officer="Dr Ames, a@example.org")
    named = study.model_copy(update={"privacy": privacy})
    assert "Legal basis: your consent" in list(list_responsible_parties(named))
    assert "Data protection: Dr Ames, a@example.org" in list(list_responsible_parties(named))


def test_how_long_somebody_stays_known_is_told_where_the_study_says_so():
    study = load_study("minimal")
    assert "days after" not in "".join(list_stored_data(study, known_to_platform=True))
    promised = study.model_copy(update={"privacy": Privacy(keep_identifying_days=90)})
    assert "90 days after the study closes" in "".join(
        list_stored_data(promised, known_to_platform=True)
    )
