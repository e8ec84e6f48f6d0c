"""Every route of the researcher's pages against every role: a route without a row fails here."""

import pytest

from tests.webapp.researcher.boundary import without_commands
from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import needed_of
from webapp.users.roles import Right, Role, lowest_in_common

# What each route needs. "nobody" may be seen by whoever comes.
ROUTES = {
    "sign_in.show": ("GET", "nobody"),
    "sign_in.enter": ("POST", "nobody"),
    "sign_in.leave": ("POST", "member"),
    "sign_in.show_sessions": ("GET", "member"),
    "sign_in.leave_everywhere": ("POST", "member"),
    "sign_in.leave_elsewhere": ("POST", "member"),
    "code.show_code": ("GET", "nobody"),
    "code.enter_code": ("POST", "nobody"),
    "second_factor.show_factor": ("GET", "member"),
    "second_factor.start": ("POST", "member"),
    "second_factor.finish": ("POST", "member"),
    "second_factor.make_codes": ("POST", "member"),
    "second_factor.take_away": ("POST", "member"),
    "passwords.show": ("GET", "member"),
    "passwords.change": ("POST", "member"),
    "passwords.show_link": ("GET", "nobody"),
    "passwords.take_link": ("POST", "nobody"),
    "accounts.show": ("GET", "owner"),
    "accounts.add": ("POST", "owner"),
    "accounts.change": ("POST", "owner"),
    "accounts.make_password_link": ("POST", "owner"),
    "accounts.sign_out": ("POST", "owner"),
    "accounts.remove_factor": ("POST", "owner"),
    "elsewhere.ask": ("GET", "nobody"),
    "elsewhere.come_back": ("GET", "nobody"),
    "elsewhere.enter_by_header": ("POST", "nobody"),
    "runs.show_all": ("GET", "member"),
    "runs.show": ("GET", "viewer"),
    "runs.add_places": ("POST", "researcher"),
    "runs.close": ("POST", "researcher"),
    "runs.open_again": ("POST", "researcher"),
    "runs.apply_rules": ("POST", "researcher"),
    "runs.show_results": ("POST", "researcher"),
    "runs.download": ("POST", "researcher"),
    "studies.show_all": ("GET", "researcher"),
    "studies.new": ("POST", "researcher"),
    "studies.copy": ("POST", "researcher"),
    "studies.delete": ("POST", "researcher"),
    "studies.download": ("GET", "researcher"),
    "editor.show": ("GET", "researcher"),
    "editor.save": ("POST", "researcher"),
    "editor.look": ("POST", "researcher"),
    "editor.findings": ("POST", "researcher"),
    "launch.choose": ("GET", "researcher"),
    "launch.upload": ("POST", "researcher"),
    "launch.check": ("GET", "researcher"),
    "launch.launch": ("POST", "researcher"),
    "live.watch": ("GET", "viewer"),
    "charts.show": ("GET", "viewer"),
    "film.show": ("GET", "viewer"),
    "participants.show_all": ("GET", "viewer"),
    "participants.show": ("GET", "viewer"),
    "rights_of_people.keep_unused": ("POST", "researcher"),
    "rights_of_people.use_again": ("POST", "researcher"),
    "rights_of_people.correct_answer": ("POST", "researcher"),
    "money.show": ("GET", "viewer"),
    "money.check": ("POST", "researcher"),
    "money.carry_out": ("POST", "researcher"),
    "reconciling.look": ("POST", "researcher"),
    "reconciling.fix": ("POST", "researcher"),
    "recruitment.look": ("POST", "researcher"),
    "recruitment.hold": ("POST", "researcher"),
    "recruitment.go_on": ("POST", "researcher"),
    "recruitment.write": ("POST", "researcher"),
    "recruitment.plan": ("POST", "researcher"),
    "recruitment.carry_out": ("POST", "researcher"),
    "reports.show_all": ("GET", "researcher"),
    "reports.make": ("POST", "researcher"),
    "reports.cancel": ("POST", "researcher"),
    "reports.delete": ("POST", "researcher"),
    "report_pages.read": ("GET", "researcher"),
    "report_pages.download": ("GET", "researcher"),
    "report_pages.share": ("POST", "researcher"),
    "report_pages.unshare": ("POST", "researcher"),
    "report_pages.read_shared": ("GET", "nobody"),
    "audit.show_log": ("GET", "owner"),
    "audit.download": ("GET", "owner"),
    "audit.download_json": ("GET", "owner"),
    "installation.show": ("GET", "owner"),
    "installation.show_settings": ("GET", "owner"),
    "installation.show_backups": ("GET", "owner"),
    "installation.back_up": ("POST", "owner"),
    "links.show": ("GET", "researcher"),
    "links.make": ("POST", "researcher"),
    "links.end": ("POST", "researcher"),
    "links.table": ("POST", "researcher"),
    "links.whose": ("POST", "researcher"),
    "reconciling.settle": ("POST", "researcher"),
    "projects.show_all": ("GET", "member"),
    "projects.add": ("POST", "owner"),
    "projects.show": ("GET", "viewer"),
    "projects.change_member": ("POST", "owner"),
    "projects.invite_someone": ("POST", "owner"),
    "projects.uninvite": ("POST", "owner"),
    "projects.limit": ("POST", "owner"),
    "projects.end": ("POST", "owner"),
    "joining.ask": ("GET", "nobody"),
    "joining.join": ("POST", "nobody"),
    "archive.put_in": ("POST", "researcher"),
    "archive.take_out": ("POST", "researcher"),
    "power.show": ("GET", "researcher"),
    "power.ask": ("POST", "researcher"),
    "power.cancel": ("POST", "researcher"),
    "power.figure": ("GET", "researcher"),
    "power.download": ("GET", "researcher"),
    "notes.add": ("POST", "researcher"),
    "notes.take_away": ("POST", "researcher"),
    "rehearsing.rehearse": ("POST", "researcher"),
    "notifications.show_all": ("GET", "member"),
    "notifications.add": ("POST", "member"),
    "notifications.try_out": ("POST", "member"),
    "notifications.take_away": ("POST", "member"),
    "tokens.show_all": ("GET", "member"),
    "tokens.add": ("POST", "member"),
    "tokens.end": ("POST", "member"),
}


def researcher_rules(app):
    return [
        rule
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(RESEARCHER_PATH)
        and rule.endpoint != "researcher_files.static"
        # Programs' own: test_boundary tries each with every token.
        and not rule.endpoint.startswith("api.")
    ]


@pytest.mark.one_database
def test_every_route_has_a_row_that_says_what_its_view_says(app):
    with app.app_context():
        found = {
            rule.endpoint: (
                ", ".join(sorted(rule.methods - {"HEAD", "OPTIONS"})),
                _needed_role(rule.endpoint),
            )
            for rule in researcher_rules(app)
        }
        with pytest.raises(KeyError, match="the view static does not say what it needs"):
            needed_of("static")
    assert found == ROUTES


def _needed_role(endpoint: str) -> str:
    needed = needed_of(endpoint)
    return str((lowest_in_common(needed) if isinstance(needed, Right) else needed) or "nobody")


@pytest.mark.one_database
@pytest.mark.parametrize("role", [None, *Role], ids=str)
def test_each_route_lets_in_who_may_see_it_and_nobody_else(
    app, run, role, browser, researcher, monkeypatch
):
    without_commands(monkeypatch)
    here = browser() if role is None else researcher(role)
    token = here.form_token()
    for rule in researcher_rules(app):
        # Signing out would end the walk; test_boundary walks through projects and tokens.
        if rule.endpoint.startswith(("projects.", "joining.", "tokens.")):
            continue
        method, needed = ROUTES[rule.endpoint]
        if needed == "nobody" or rule.endpoint.startswith("sign_in."):
            continue
        path = rule.rule.replace("<ref>", run.ref).replace("<participant_ref>", "nobody")
        response = here.client.open(path, method=method, data={"form_token": token})
        if role is None:
            turned_away = response.status_code == 303 and "/sign-in" in response.location
        else:
            turned_away = response.status_code == 403
            # Who sees no run is told the same as about a run that does not exist.
            unknown = "<ref>" in rule.rule and response.status_code == 404
            turned_away |= role is Role.MEMBER and unknown
        assert turned_away != (role is not None and role.may(Role(needed))), (rule, response.status)
        response.close()


@pytest.mark.one_database
def test_a_form_of_another_site_changes_nothing(run, researcher, sessions):
    here = researcher(Role.OWNER)
    path, token = f"/researcher/runs/{run.ref}/close", here.form_token()
    for page in ("/", f"/runs/{run.ref}"):
        assert f'name="form_token" value="{token}"' in here.get(page).text
    sent = [
        ({}, {}),
        ({"form_token": "0" * 64}, {}),
        ({"form_token": token}, {"Sec-Fetch-Site": "cross-site"}),
        ({"form_token": token}, {"Origin": "https://elsewhere.example"}),
    ]
    for data, headers in sent:
        assert here.client.post(path, data=data, headers=headers).status_code == 403
    assert "Close: let nobody new in" in here.get(f"/runs/{run.ref}").text
    assert here.post(f"/runs/{run.ref}/close").status_code == 303
    assert "Open again" in here.get(f"/runs/{run.ref}").text
