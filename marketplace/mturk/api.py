"""The requester API: every call is a POST whose header names the operation."""

from collections.abc import Callable, Collection
from datetime import datetime
from uuid import uuid4

from flask import Blueprint, Response, request
from sqlalchemy.orm import Session

from marketplace.control import FaultPlan, close_connection
from marketplace.mturk.errors import WireError
from marketplace.mturk.operations import assignments, hits, notifications, qualifications
from marketplace.mturk.store import Store
from marketplace.mturk.wire import (
    Call,
    Reply,
    Request,
    content_type,
    read_call,
    read_key,
    serialize_error,
    serialize_reply,
)


def create_requester_api(store: Store, faults: FaultPlan, key_ids: Collection[str]) -> Blueprint:
    """Return the blueprint of the API that boto3 calls.

    Args:
        store: The marketplace's state.
        faults: The planned faults.
        key_ids: The accepted access key ids; empty accepts any.
    """
    api = Blueprint("requester", __name__)

    @api.post("/")
    @api.post("/queue/<name>")
    def call(name: str = "") -> Response:
        try:
            _check_key(key_ids)
            parsed_call = read_call(request.headers.get("X-Amz-Target", ""), request.get_data())
            return _handle_call(store, faults, parsed_call)
        except WireError as error:
            return _build_response(serialize_error(error), error.status, error.kind)

    return api


def _check_key(key_ids: Collection[str]) -> None:
    key = read_key(request.headers.get("Authorization"))
    if key_ids and key not in key_ids:
        raise WireError(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )


def _handle_call(store: Store, faults: FaultPlan, call: Call) -> Response:
    operation = OPERATIONS.get(call.operation)
    if operation is None:
        raise WireError(
            "RequestError",
            f"This marketplace does not do {call.operation}.",
            code="AWS.MechanicalTurk.NotImplemented",
        )
    _fail_before(faults, call)
    with store.moment() as (session, now):
        reply = operation(session, now, call.request)
        _disturb_messages(faults, call, reply)
        answer = serialize_reply(reply, call)
    _fail_after(faults, call)
    return _build_response(answer, 200, media_type=content_type(call.service))


def _disturb_messages(faults: FaultPlan, call: Call, reply: Reply) -> None:
    if not reply.get("Messages"):
        return
    if faults.draw_fault(call.operation, "duplicated"):
        reply["Messages"] = reply["Messages"] * 2
    if faults.draw_fault(call.operation, "reordered"):
        reply["Messages"].reverse()


def _fail_before(faults: FaultPlan, call: Call) -> None:
    fault = faults.draw_fault(call.operation, "throttled", "server_error", "request_lost")
    if fault is None:
        return
    if fault.kind == "throttled":
        raise WireError("ThrottlingException", "Rate exceeded")
    if fault.kind == "request_lost":
        close_connection()
    raise _service_fault()


def _fail_after(faults: FaultPlan, call: Call) -> None:
    faults.delay(call.operation)
    fault = faults.draw_fault(call.operation, "reply_lost", "server_error_after")
    if fault is not None:
        if fault.kind == "reply_lost":
            close_connection()
        raise _service_fault()


def _service_fault() -> WireError:
    return WireError(
        "ServiceFault",
        "Amazon Mechanical Turk is temporarily unable to process your request."
        " Try your call again.",
        code="AWS.ServiceUnavailable",
        status=500,
    )


def _build_response(
    body: bytes, status: int, kind: str = "", media_type: str = "application/x-amz-json-1.1"
) -> Response:
    response = Response(body, status, content_type=media_type)
    response.headers["x-amzn-RequestId"] = str(uuid4())
    if kind:
        response.headers["x-amzn-ErrorType"] = kind
    return response


Operation = Callable[[Session, datetime, Request], Reply]

OPERATIONS: dict[str, Operation] = {
    "CreateHITType": hits.create_hit_type,
    "UpdateHITTypeOfHIT": hits.update_hit_type_of_hit,
    "CreateHIT": hits.create_hit,
    "CreateHITWithHITType": hits.create_hit_with_hit_type,
    "CreateAdditionalAssignmentsForHIT": hits.create_additional_assignments,
    "UpdateExpirationForHIT": hits.update_expiration,
    "GetHIT": hits.get_hit,
    "UpdateHITReviewStatus": hits.update_review_status,
    "DeleteHIT": hits.delete_hit,
    "ListHITs": hits.list_hits,
    "ListHITsForQualificationType": hits.list_hits_for_qualification_type,
    "ListReviewableHITs": hits.list_reviewable_hits,
    "ListAssignmentsForHIT": assignments.list_assignments,
    "GetAssignment": assignments.get_assignment,
    "ApproveAssignment": assignments.approve_assignment,
    "RejectAssignment": assignments.reject_assignment,
    "SendBonus": assignments.send_bonus,
    "ListBonusPayments": assignments.list_bonus_payments,
    "GetAccountBalance": assignments.get_account_balance,
    "CreateQualificationType": qualifications.create_qualification_type,
    "GetQualificationType": qualifications.get_qualification_type,
    "UpdateQualificationType": qualifications.update_qualification_type,
    "DeleteQualificationType": qualifications.delete_qualification_type,
    "ListQualificationTypes": qualifications.list_qualification_types,
    "AssociateQualificationWithWorker": qualifications.associate_qualification,
    "DisassociateQualificationFromWorker": qualifications.disassociate_qualification,
    "GetQualificationScore": qualifications.get_qualification_score,
    "ListWorkersWithQualificationType": qualifications.list_workers,
    "ListQualificationRequests": qualifications.list_requests,
    "AcceptQualificationRequest": qualifications.accept_request,
    "RejectQualificationRequest": qualifications.reject_request,
    "CreateWorkerBlock": qualifications.create_worker_block,
    "DeleteWorkerBlock": qualifications.delete_worker_block,
    "ListWorkerBlocks": qualifications.list_worker_blocks,
    "NotifyWorkers": qualifications.notify_workers,
    "UpdateNotificationSettings": notifications.update_settings,
    "SendTestEventNotification": notifications.send_test_event,
    "ReceiveMessage": notifications.receive_queue_messages,
    "DeleteMessage": notifications.delete_queue_message,
}
