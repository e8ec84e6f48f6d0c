"""One function for each supported operation of the Mechanical Turk and SQS APIs."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy.orm import Session

from marketplace.mturk.operations import (
    assignments,
    bonuses,
    grants,
    hit_lists,
    hit_types,
    hits,
    notifications,
    qualifications,
    workers,
)
from marketplace.mturk.wire import Reply, Request

Operation = Callable[[Session, datetime, Request], Reply]

OPERATIONS: dict[str, Operation] = {
    "CreateHITType": hit_types.create_hit_type,
    "UpdateHITTypeOfHIT": hit_types.update_hit_type_of_hit,
    "CreateHIT": hits.create_hit,
    "CreateHITWithHITType": hits.create_hit_with_hit_type,
    "CreateAdditionalAssignmentsForHIT": hits.create_additional_assignments,
    "UpdateExpirationForHIT": hits.update_expiration,
    "GetHIT": hits.get_hit,
    "UpdateHITReviewStatus": hits.update_review_status,
    "DeleteHIT": hits.delete_hit,
    "ListHITs": hit_lists.list_hits,
    "ListHITsForQualificationType": hit_lists.list_hits_for_qualification_type,
    "ListReviewableHITs": hit_lists.list_reviewable_hits,
    "ListAssignmentsForHIT": assignments.list_assignments,
    "GetAssignment": assignments.get_assignment,
    "ApproveAssignment": assignments.approve_assignment,
    "RejectAssignment": assignments.reject_assignment,
    "SendBonus": bonuses.send_bonus,
    "ListBonusPayments": bonuses.list_bonus_payments,
    "GetAccountBalance": bonuses.get_account_balance,
    "CreateQualificationType": qualifications.create_qualification_type,
    "GetQualificationType": qualifications.get_qualification_type,
    "UpdateQualificationType": qualifications.update_qualification_type,
    "DeleteQualificationType": qualifications.delete_qualification_type,
    "ListQualificationTypes": qualifications.list_qualification_types,
    "AssociateQualificationWithWorker": grants.associate,
    "DisassociateQualificationFromWorker": grants.disassociate,
    "GetQualificationScore": grants.get_score,
    "ListWorkersWithQualificationType": grants.list_workers,
    "ListQualificationRequests": grants.list_requests,
    "AcceptQualificationRequest": grants.accept_request,
    "RejectQualificationRequest": grants.reject_request,
    "CreateWorkerBlock": workers.create_worker_block,
    "DeleteWorkerBlock": workers.delete_worker_block,
    "ListWorkerBlocks": workers.list_worker_blocks,
    "NotifyWorkers": workers.notify_workers,
    "UpdateNotificationSettings": notifications.update_settings,
    "SendTestEventNotification": notifications.send_test_event,
    "ReceiveMessage": notifications.receive_message,
    "DeleteMessage": notifications.delete_message,
}
