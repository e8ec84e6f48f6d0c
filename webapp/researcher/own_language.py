"""A user's own choice of the language in which the room speaks to them."""

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from webapp.database.models import User
from webapp.researcher.access import allowed, current_user
from webapp.researcher.language import room_languages
from webapp.services import current_services
from webapp.users.roles import Role

language_pages = Blueprint("language", __name__)


@language_pages.post("/language")
@allowed(Role.MEMBER, before_second_factor=True)
def choose() -> Response:
    """Keep the language with the account; what is none of the room's means the browser's wish."""
    chosen = request.form.get("language", "")
    with current_services().sessions.begin() as session:
        session.get_one(User, current_user().id).language = (
            chosen if chosen in room_languages() else None
        )
    return redirect(url_for("sign_in.show_sessions"), 303)
