"""The page of a user's notifications: addresses, and the notices sent to each."""

from urllib.parse import urlsplit

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import Notice, Notification, User
from webapp.errors import RequestError
from webapp.jobs.delivery import DeliveryError, check_mail_address, check_webhook
from webapp.jobs.notices import CAUSE_LABELS, Cause, Channel, get_causes
from webapp.researcher.access import current_user, require_access
from webapp.researcher.template_globals import parse_whole_number
from webapp.services import current_services
from webapp.users.audit_log import record_act
from webapp.users.roles import Role

notification_pages = Blueprint("notifications", __name__)
_MOST_ADDRESSES = 10
_LONGEST_ADDRESS = 500
_DIGITS = 8
_MOST_MINUTES = 1440
_MOST_NOTICES = 20


@notification_pages.get("/notifications")
@require_access(Role.MEMBER)
def show_notifications() -> str:
    """Show the user's addresses, the notices sent to each, and the latest notices."""
    return _render_page()


@notification_pages.post("/notifications")
@require_access(Role.MEMBER)
def add_address() -> ResponseReturnValue:
    """Add the address from the form."""
    services, user, address = current_services(), current_user(), _read_address()
    way = Channel.WEBHOOK if "://" in address else Channel.MAIL
    causes = [cause for cause in Cause if cause in request.form.getlist("cause")]
    minutes = parse_whole_number(request.form.get("quiet", "30"), _DIGITS)
    if not causes:
        raise DeliveryError("nothing is chosen", remedy="Choose what you want notices about")
    if not 1 <= minutes <= _MOST_MINUTES:
        raise DeliveryError("the minutes are not a number from 1 to 1,440")
    check_webhook(address) if way is Channel.WEBHOOK else check_mail_address(address)
    if way is Channel.MAIL and not services.settings.smtp_host:
        raise DeliveryError(
            "this installation sends no mail",
            remedy="An operator sets smtp_host, or give the address of a webhook",
        )
    with services.sessions.begin() as session:
        is_own = Notification.user_id == user.id
        if (session.scalar(select(func.count()).where(is_own)) or 0) >= _MOST_ADDRESSES:
            raise DeliveryError(
                f"you have {_MOST_ADDRESSES} addresses already", remedy="Remove one first"
            )
        session.add(
            Notification(
                user_id=user.id, way=way, address=address, causes=" ".join(causes),
                quiet_minutes=minutes, made_at=services.now(),
            )
        )  # fmt: skip
        _log_act(session, "notification added", way, address)
    return redirect(url_for("notifications.show_notifications"), 303)


@notification_pages.post("/notifications/test")
@require_access(Role.MEMBER)
def send_test_notice() -> ResponseReturnValue:
    """Queue a test notice; a periodic job sends it, so that no participant waits for it."""
    services = current_services()
    with services.sessions.begin() as session:
        notification, now = _find_own_notification(session), services.now()
        about = f"test {now:%Y-%m-%d %H:%M}"
        same_notice = Notice.notification_id == notification.id, Notice.about == about
        if session.scalar(select(Notice.id).where(*same_notice)) is None:
            text = f"This is a test of Parallax at {services.settings.link_base}."
            session.add(
                Notice(notification_id=notification.id, about=about, text=text, at=now, next_at=now)
            )
    return redirect(url_for("notifications.show_notifications"), 303)


@notification_pages.post("/notifications/remove")
@require_access(Role.MEMBER)
def remove_address() -> ResponseReturnValue:
    """Remove an address and its stored notices."""
    with current_services().sessions.begin() as session:
        notification = _find_own_notification(session)
        _log_act(session, "notification removed", Channel(notification.way), notification.address)
        session.execute(delete(Notice).where(Notice.notification_id == notification.id))
        session.execute(delete(Notification).where(Notification.id == notification.id))
    return redirect(url_for("notifications.show_notifications"), 303)


@notification_pages.errorhandler(DeliveryError)
def show_error(error: DeliveryError) -> ResponseReturnValue:
    """Show the error's message above the list."""
    return _render_page(str(error)), 400


def get_masked_address(notification: Notification) -> str:
    """Return an address as pages and the audit log show it; of a webhook, only the host.

    A webhook's path is as secret as a password.
    """
    return _mask_address(Channel(notification.way), notification.address)


def _mask_address(way: Channel, address: str) -> str:
    return f"https://{urlsplit(address).netloc}/…" if way is Channel.WEBHOOK else address


def _read_address() -> str:
    address = request.form.get("address", "").strip()
    if not address or len(address) > _LONGEST_ADDRESS:
        raise DeliveryError(f"an address has from 1 to {_LONGEST_ADDRESS} characters")
    return address


def _find_own_notification(session: Session) -> Notification:
    """Return the notification, owned by the user, that the form names."""
    number = parse_whole_number(request.form.get("number", ""), _DIGITS)
    notification = session.get(Notification, number)
    if notification is None or notification.user_id != current_user().id:
        raise RequestError("You have no such address.", status=404, code="no_notification")
    return notification


def _log_act(session: Session, act: str, way: Channel, address: str) -> None:
    # Of a mail address, only the domain is logged, because the log is never erased.
    destination = address.rpartition("@")[2] if way is Channel.MAIL else _mask_address(way, address)
    now = current_services().now()
    record_act(session, current_user().name, act, now, after={"way": way, "where": destination})


def _render_page(problem: str = "") -> str:
    services, user = current_services(), current_user()
    with reading(services.sessions) as session:
        notifications = _find_notifications(session, user)
        notices = session.scalars(
            select(Notice)
            .where(Notice.notification_id.in_([notification.id for notification in notifications]))
            .order_by(Notice.id.desc())
            .limit(_MOST_NOTICES)
        ).all()
    return render_template(
        "researcher/notifications.html",
        mine=notifications,
        notices=notices,
        addresses={
            notification.id: get_masked_address(notification) for notification in notifications
        },
        causes_of=get_causes,
        causes=CAUSE_LABELS,
        mails=bool(services.settings.smtp_host),
        problem=problem,
    )


def _find_notifications(session: Session, user: User) -> list[Notification]:
    of_user = select(Notification).where(Notification.user_id == user.id)
    return list(session.scalars(of_user.order_by(Notification.id)))
