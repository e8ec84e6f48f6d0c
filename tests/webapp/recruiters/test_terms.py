"""Every key of what a study offers and pays has an answer of every recruiter."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study, load_study
from webapp.errors import RunError
from webapp.recruiters.mturk.requests import offer_request, type_request
from webapp.recruiters.prolific.drafts import build_draft
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.registry import recruiter_classes
from webapp.recruiters.terms import Treatment, list_keys, refuse_unknown_terms, set_aside
from webapp.recruitment.terms import build_offer, build_task

PAGE = Path(__file__).parents[3] / "docs" / "studies.md"
BETWEEN = re.compile(r"(<!-- terms -->\n).*?(<!-- /terms -->)", re.DOTALL)
RECRUITERS = {each.name: each.terms for each in recruiter_classes()}
# A value of each key, as study.toml has it, that is not its default.
OTHER = {
    "recruitment.title": '"Another title"',
    "recruitment.keywords": '["english"]',
    "recruitment.screen_out_reward": '"0.15"',
    "recruitment.screen_out_places": "5",
    "recruitment.withdrawn_percent": "50",
    "recruitment.duration_minutes": "90",
    "recruitment.lifetime_hours": "5",
    "recruitment.auto_approve_days": "9",
    "recruitment.frame_height_px": "700",
    "recruitment.devices": '["desktop"]',
    "recruitment.filters": '[{ filter_id = "age" }]',
    "recruitment.countries": '["GB"]',
    "recruitment.min_approval_percent": "90",
    "recruitment.min_approved": "10",
    "recruitment.masters": "true",
    "recruitment.require": '["ABC"]',
    "recruitment.refuse": '["ABD"]',
    "recruitment.exclude_earlier_runs": "true",
    "recruitment.after": '["part_one"]',
    "recruitment.filter_set": '"5f0c1e2d3b4a59687786a5b4"',
    "recruitment.filter_set_version": "2",
    "recruitment.peripherals": '["audio"]',
    "recruitment.naivety": "0.5",
    "recruitment.most_at_once": "10",
    "recruitment.list_quotas": "true",
    "recruitment.label": '"decision_making_task"',
    "recruitment.group": '"5f0c1e2d3b4a59687786a5b4"',
    "recruitment.content_warning": '"sensitive"',
    "recruitment.content_warning_details": '"Some sentences speak of war."',
}


def matrix() -> str:
    """Return the table of docs/studies.md: keys with the same answers share a row."""
    names = list(RECRUITERS)
    rows: dict[tuple[str, ...], list[str]] = {}
    for key in list_keys():
        table = key.partition(".")[0]
        answers = (table, *(RECRUITERS[name].answer(key).value for name in names))
        rows.setdefault(answers, []).append(f"`{key.partition('.')[2]}`")
    lines = [f"| | key | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    for (table, *answers), same in rows.items():
        lines.append(f"| `[{table}]` | {', '.join(same)} | {' | '.join(answers)} |")
    return "\n".join(lines) + "\n"


def study_with(key: str) -> object:
    study = load_study("marvin_linzen_2018")
    files = study_files(study)
    name, toml = key.partition(".")[2], files["study.toml"].decode()
    before, _, after = toml.partition("[recruitment]\n")
    terms, _, rest = after.partition("\n\n")
    terms = "\n".join(line for line in terms.splitlines() if not line.startswith(f"{name} ="))
    toml = f"{before}[recruitment]\n{name} = {OTHER[key]}\n{terms}\n\n{rest}"
    # The one is nothing without the other.
    other = {"screen_out_places": 'screen_out_reward = "0.15"',
             "screen_out_reward": "screen_out_places = 5",
             "filter_set_version": 'filter_set = "5f0c1e2d3b4a59687786a5b4"',
             "content_warning_details": 'content_warning = "sensitive"'}.get(name, "")  # fmt: skip
    toml = toml.replace("[recruitment]\n", f"[recruitment]\n{other}\n")
    return frozen_study({**files, "study.toml": toml.encode()}, study.folder)


def test_the_page_shows_every_key_and_every_recruiter(request):
    text = PAGE.read_text(encoding="utf-8")
    written = BETWEEN.sub(lambda found: found[1] + matrix() + found[2], text)
    if request.config.getoption("--force-regen"):
        PAGE.write_text(written, encoding="utf-8")
    assert matrix() in text, "pytest --force-regen writes it"


def test_no_cell_is_empty_and_no_answer_names_a_key_that_is_not_there():
    tables = {key.partition(".")[0] for key in list_keys()}
    for terms in RECRUITERS.values():
        assert terms.honoured | terms.set_aside <= {*list_keys(), *tables}
        assert not terms.honoured & terms.set_aside


@pytest.mark.parametrize("name", RECRUITERS)
@pytest.mark.parametrize("key", OTHER)
def test_a_key_is_refused_by_name_said_to_be_set_aside_or_honoured(name, key):
    terms, study = RECRUITERS[name], study_with(key)
    if terms.answer(key) is Treatment.REFUSED:
        said = f"cannot do what these keys ask for: .*{re.escape(key)}"
        with pytest.raises(RunError, match=said):
            refuse_unknown_terms(name, terms, study)
        return
    aside = set_aside(terms, study)
    named = key in aside or f"[{key.partition('.')[0]}]" in aside
    assert named is (terms.answer(key) is Treatment.SET_ASIDE)


def asked_of_mturk(study) -> object:
    task = build_task(study, not_again=["Q"] if study.recruitment.exclude_earlier_runs else [])
    offer = build_offer(study.recruitment, "https://s.example/run/r", 9, "token")
    return type_request(task, "https://m.example"), offer_request("T", offer)


def asked_of_prolific(study) -> object:
    earlier = ["a" * 24] if study.recruitment.exclude_earlier_runs else []
    parts = [["b" * 24]] if study.recruitment.after else []
    task = build_task(study, not_again=[], not_of=earlier, one_of=parts)
    offer = build_offer(study.recruitment, "https://s.example/run/r", 9, "token")
    if task.list_quotas:
        offer = replace(offer, quotas=(("https://s.example/run/r?link=one", 9),))
    return build_draft(task, offer, ProlificSettings())


ASKED = {"mturk": asked_of_mturk, "prolific": asked_of_prolific}


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name in ASKED for key in OTHER
     if RECRUITERS[name].answer(key) is Treatment.HONOURED],
)  # fmt: skip
def test_a_key_that_is_honoured_changes_what_the_platform_is_asked(name, key):
    plain, changed = load_study("marvin_linzen_2018"), study_with(key)
    assert ASKED[name](plain) != ASKED[name](changed)
