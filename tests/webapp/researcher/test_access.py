"""Every route of the researcher's pages against every role: a route without a row fails here."""

import pytest

from tests.webapp.researcher.boundary import without_commands
from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import get_required_access
from webapp.users.roles import Right, Role, find_lowest_role

# What each route needs. "nobody" may be seen by whoever comes.
ROUTES = {
    "sign_in.show_sign_in_form": ("GET", "nobody"),
    "sign_in.sign_in_by_password": ("POST", "nobody"),
    "sign_in.end_this_session": ("POST", "member"),
    "sign_in.show_sessions": ("GET", "member"),
    "sign_in.end_all_sessions": ("POST", "member"),
    "sign_in.end_other_session": ("POST", "member"),
    "code.show_code_form": ("GET", "nobody"),
    "code.sign_in_by_code": ("POST", "nobody"),
    "second_factor.show_second_factor": ("GET", "member"),
    "second_factor.start_second_factor": ("POST", "member"),
    "second_factor.confirm_second_factor": ("POST", "member"),
    "second_factor.replace_recovery_codes": ("POST", "member"),
    "second_factor.remove_second_factor": ("POST", "member"),
    "passwords.show_password_form": ("GET", "member"),
    "passwords.change_password": ("POST", "member"),
    "passwords.show_password_link": ("GET", "nobody"),
    "passwords.set_password_by_link": ("POST", "nobody"),
    "passwords.show_first_owner_form": ("GET", "nobody"),
    "passwords.make_first_owner": ("POST", "nobody"),
    "accounts.show_accounts": ("GET", "owner"),
    "accounts.add_account": ("POST", "owner"),
    "accounts.change_account": ("POST", "owner"),
    "accounts.make_password_link": ("POST", "owner"),
    "accounts.sign_user_out": ("POST", "owner"),
    "accounts.remove_second_factor": ("POST", "owner"),
    "elsewhere.redirect_to_provider": ("GET", "nobody"),
    "elsewhere.sign_in_from_provider": ("GET", "nobody"),
    "elsewhere.sign_in_by_header": ("POST", "nobody"),
    "runs.show_runs": ("GET", "member"),
    "runs.show_run": ("GET", "viewer"),
    "runs.add_places": ("POST", "researcher"),
    "runs.close_to_newcomers": ("POST", "researcher"),
    "runs.reopen_run": ("POST", "researcher"),
    "runs.apply_exclusion_rules": ("POST", "researcher"),
    "runs.unblind_run": ("POST", "researcher"),
    "runs.download_export": ("POST", "researcher"),
    "studies.show_studies": ("GET", "researcher"),
    "studies.create_study": ("POST", "researcher"),
    "studies.copy_study": ("POST", "researcher"),
    "studies.delete_study": ("POST", "researcher"),
    "studies.download_study": ("GET", "researcher"),
    "editor.show_editor": ("GET", "researcher"),
    "editor.save_edited_text": ("POST", "researcher"),
    "editor.save_settings": ("POST", "researcher"),
    "editor.preview_text": ("POST", "researcher"),
    "editor.show_check_findings": ("POST", "researcher"),
    "launch.choose_study": ("GET", "researcher"),
    "launch.upload_study": ("POST", "researcher"),
    "launch.check_study": ("GET", "researcher"),
    "launch.launch_study": ("POST", "researcher"),
    "live.stream_live_part": ("GET", "viewer"),
    "charts.send_charts": ("GET", "viewer"),
    "film.show_film": ("GET", "viewer"),
    "participants.show_participants": ("GET", "viewer"),
    "participants.show_participant": ("GET", "viewer"),
    "rights_of_people.restrict_data": ("POST", "researcher"),
    "rights_of_people.release_data": ("POST", "researcher"),
    "rights_of_people.correct_answer": ("POST", "researcher"),
    "coding.show_coding": ("GET", "researcher"),
    "coding.make_coder_link": ("POST", "researcher"),
    "coding.end_coder_link": ("POST", "researcher"),
    "coding.freeze_codes": ("POST", "researcher"),
    "money.show_payments": ("GET", "viewer"),
    "money.preview_payments": ("POST", "researcher"),
    "money.make_payments": ("POST", "researcher"),
    "reconciling.compare_payments": ("POST", "researcher"),
    "reconciling.fix_safe_discrepancies": ("POST", "researcher"),
    "recruitment.show_offer_progress": ("POST", "researcher"),
    "recruitment.pause_recruitment": ("POST", "researcher"),
    "recruitment.extend_recruitment": ("POST", "researcher"),
    "recruitment.message_participants": ("POST", "researcher"),
    "recruitment.show_publish_plan": ("POST", "researcher"),
    "recruitment.publish_run": ("POST", "researcher"),
    "reports.show_reports": ("GET", "researcher"),
    "reports.start_report": ("POST", "researcher"),
    "reports.cancel_report": ("POST", "researcher"),
    "reports.delete_report": ("POST", "researcher"),
    "report_pages.read_report": ("GET", "researcher"),
    "report_pages.download_report": ("GET", "researcher"),
    "report_pages.share_report": ("POST", "researcher"),
    "report_pages.unshare_report": ("POST", "researcher"),
    "report_pages.read_shared_report": ("GET", "nobody"),
    "audit.show_audit_log": ("GET", "owner"),
    "audit.download_audit_csv": ("GET", "owner"),
    "audit.download_audit_json": ("GET", "owner"),
    "installation.show_doctor_findings": ("GET", "owner"),
    "installation.show_settings": ("GET", "owner"),
    "installation.show_backups": ("GET", "owner"),
    "installation.start_backup": ("POST", "owner"),
    "links.show_links": ("GET", "researcher"),
    "links.create_links": ("POST", "researcher"),
    "links.end_link": ("POST", "researcher"),
    "links.download_link_table": ("POST", "researcher"),
    "links.look_up_codes": ("POST", "researcher"),
    "reconciling.settle_payment": ("POST", "researcher"),
    "projects.show_projects": ("GET", "member"),
    "projects.create_project": ("POST", "owner"),
    "projects.show_project": ("GET", "viewer"),
    "projects.change_member": ("POST", "owner"),
    "projects.create_invitation": ("POST", "owner"),
    "projects.revoke_invitation": ("POST", "owner"),
    "projects.change_limits": ("POST", "owner"),
    "projects.close_project": ("POST", "owner"),
    "joining.show_join_form": ("GET", "nobody"),
    "joining.join_project": ("POST", "nobody"),
    "archive.archive_run": ("POST", "researcher"),
    "archive.unarchive_run": ("POST", "researcher"),
    "forms.show_entries": ("GET", "researcher"),
    "forms.show_entry": ("GET", "researcher"),
    "forms.show_fields": ("POST", "researcher"),
    "forms.save_entry": ("POST", "researcher"),
    "forms.remove_from_study": ("POST", "researcher"),
    "forms.move_up": ("POST", "researcher"),
    "rules.count_excluded": ("POST", "researcher"),
    "rules.combine_rules": ("POST", "researcher"),
    "rules.separate_rules": ("POST", "researcher"),
    "power.show_simulations": ("GET", "researcher"),
    "power.start_simulation": ("POST", "researcher"),
    "power.cancel_simulation": ("POST", "researcher"),
    "power.send_figure": ("GET", "researcher"),
    "power.download_simulation": ("GET", "researcher"),
    "notes.add_note": ("POST", "researcher"),
    "notes.remove_note": ("POST", "researcher"),
    "rehearsing.start_rehearsal": ("POST", "researcher"),
    "notifications.show_notifications": ("GET", "member"),
    "notifications.add_address": ("POST", "member"),
    "notifications.send_test_notice": ("POST", "member"),
    "notifications.remove_address": ("POST", "member"),
    "tokens.show_tokens": ("GET", "member"),
    "tokens.create_token": ("POST", "member"),
    "tokens.revoke_token": ("POST", "member"),
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
            get_required_access("static")
    assert found == ROUTES


def _needed_role(endpoint: str) -> str:
    needed = get_required_access(endpoint)
    return str((find_lowest_role(needed) if isinstance(needed, Right) else needed) or "nobody")


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
        path = path.replace("<any(questions, rules):part_name>", "questions")
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
