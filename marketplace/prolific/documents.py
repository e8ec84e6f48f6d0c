"""Study documents as researchers send them: validation and default values."""

from collections.abc import Mapping
from math import sqrt
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from marketplace.errors import describe_problem
from marketplace.prolific.errors import RefusedError
from marketplace.prolific.money import SCREEN_OUT
from marketplace.prolific.store import Account

# The least fixed screen-out reward by currency, in minor units.
_LEAST_SCREEN_OUT_MINOR = {"GBP": 10, "USD": 14}
_LONGEST_MINUTES = 24 * 60
SIGNED, SCREENING, DYNAMIC, AUTO_REJECTION = (
    *("signed_arrivals", "screen_outs", "dynamic_payment", "auto_rejection"),
)
FEATURES = (SIGNED, SCREENING, DYNAMIC, AUTO_REJECTION)
_CHANGEABLE_FIELDS = {
    *("internal_name", "total_available_places", "access_details", "submissions_config"),
    *("completion_codes", "data_collection_metadata"),
}


def _check_url(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise ValueError("an address begins with https:// or http://")
    return text


class _Document(BaseModel):
    # The service ignores unknown fields.
    model_config = ConfigDict(extra="ignore")


class _PlainAction(_Document):
    action: Literal["AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "DYNAMIC_PAYMENT"]


class _GroupAction(_Document):
    action: Literal["ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"]
    participant_group: str


class _ReturnAction(_Document):
    action: Literal["REQUEST_RETURN"]
    return_reason: str = Field(min_length=1)


class _ScreenOutAction(_Document):
    action: Literal["FIXED_SCREEN_OUT_PAYMENT"]
    fixed_screen_out_reward: int = Field(gt=0)
    slots: int = Field(gt=0)


_Action = Annotated[
    _PlainAction | _GroupAction | _ReturnAction | _ScreenOutAction, Field(discriminator="action")
]


class _Code(_Document):
    code: str | None
    code_type: str = Field(min_length=1)
    actions: list[_Action]
    actor: Literal["participant", "researcher"] = "participant"


class _Config(_Document):
    max_submissions_per_participant: int | None = 1
    max_concurrent_submissions: int | None = -1
    auto_rejection_categories: list[Literal["EXCEPTIONALLY_FAST"]] = []


class _AccessDetail(_Document):
    external_url: Annotated[str, AfterValidator(_check_url)]
    total_allocation: int = Field(gt=0)


class StudyDocument(_Document):
    """A study, with default values for omitted fields."""

    name: str = Field(min_length=1)
    internal_name: str | None = None
    description: str = Field(min_length=1)
    external_study_url: str = ""
    prolific_id_option: Literal["question", "url_parameters", "not_required"]
    completion_codes: list[_Code] = Field(min_length=1)
    total_available_places: int = Field(gt=0)
    estimated_completion_time: float = Field(gt=0)
    maximum_allowed_time: float = _LONGEST_MINUTES
    reward: int = Field(ge=0)
    device_compatibility: list[Literal["desktop", "tablet", "mobile"]] = []
    peripheral_requirements: list[Literal["audio", "camera", "download", "microphone"]] = []
    filters: list[dict[str, Any]] = []
    filter_set_id: str | None = None
    filter_set_version: int | None = None
    naivety_distribution_rate: float | None = Field(default=None, ge=0, le=1)
    project: str = ""
    submissions_config: _Config = _Config()
    study_labels: list[str] = []
    content_warnings: list[Literal["sensitive", "explicit"]] = []
    content_warning_details: str = ""
    metadata: str | None = None
    access_details: list[_AccessDetail] | None = None
    is_external_study_url_secure: bool = False
    is_custom_screening: bool = Field(default=False, exclude=True)

    @model_validator(mode="after")
    def _check_document(self) -> "StudyDocument":
        if self.is_custom_screening:
            raise ValueError("is_custom_screening: custom screening studies cannot be created")
        if self.filter_set_id and self.filters:
            raise ValueError("filter_set_id: it cannot be combined with filters")
        for name, values in (("study_labels", self.study_labels),
                            ("content_warnings", self.content_warnings)):  # fmt: skip
            if len(values) > 1:
                raise ValueError(f"{name}: only one can be selected")
        addressed = self.external_study_url.startswith(("https://", "http://"))
        if not (addressed or self.access_details):
            raise ValueError("external_study_url: an address is needed")
        if self.access_details and self.total_available_places != sum(
            detail.total_allocation for detail in self.access_details
        ):
            raise ValueError("access_details: the allocations must sum to the places")
        self._check_times()
        self._check_codes()
        return self

    def _check_times(self) -> None:
        estimated = self.estimated_completion_time
        least_minutes = 2 + 2 * estimated + 2 * sqrt(estimated)
        if self.maximum_allowed_time < int(least_minutes):
            raise ValueError(f"maximum_allowed_time: at least {int(least_minutes)} minutes")

    def _check_codes(self) -> None:
        codes = [code.code for code in self.completion_codes if code.code is not None]
        if len(set(codes)) < len(codes):
            raise ValueError("completion_codes: each code must be unique")
        for code in self.completion_codes:
            names = {action.action for action in code.actions}
            if code.code is None and (code.actor != "participant" or names):
                raise ValueError("completion_codes: a code without actions may be null, no other")
            if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= names:
                raise ValueError("completion_codes: these actions exclude each other")
            if "DYNAMIC_PAYMENT" in names and code.actor != "researcher":
                raise ValueError("completion_codes: a dynamic payment is the researcher's")


def read_study(document_fields: Mapping[str, Any], account: Account) -> dict[str, Any]:
    """Return a study's validated fields.

    Raises:
        RefusedError: A field is invalid, or the workspace lacks a feature that it needs.
    """
    document_fields = {name: value for name, value in document_fields.items() if value is not None}
    try:
        document = StudyDocument.model_validate(document_fields)
    except ValidationError as error:
        raise RefusedError(_group_problems(error)) from error
    fields = document.model_dump(mode="json")
    if fields["access_details"] is None:
        del fields["access_details"]
    _check_features(fields, account)
    return fields


def change_study(
    fields: Mapping[str, Any], changes: Mapping[str, Any], account: Account, *, published: bool
) -> dict[str, Any]:
    """Return a study's fields after some changes.

    Raises:
        RefusedError: A change is invalid, or the field can no longer be changed.
    """
    if published:
        fixed_fields = sorted(set(changes) - _CHANGEABLE_FIELDS)
        if fixed_fields:
            raise RefusedError({name: ["It cannot be changed any more."] for name in fixed_fields})
        _refuse_other_codes(fields, changes)
    changed_fields = {**fields, **changes}
    if "access_details" in changes and published:
        further = changes["access_details"]
        changed_fields["access_details"] = [*fields.get("access_details", []), *further]
        changed_fields["total_available_places"] = sum(
            detail["total_allocation"] for detail in changed_fields["access_details"]
        )
    return read_study(changed_fields, account)


def _refuse_other_codes(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    if "completion_codes" not in changes:
        return
    old_codes, new_codes = (
        _remove_slots(source["completion_codes"]) for source in (fields, changes)
    )
    if old_codes != new_codes:
        raise RefusedError({"completion_codes": ["Only slots can be changed any more."]})


def _remove_slots(codes: list[dict[str, Any]]) -> list[Any]:
    return [
        {
            **{name: code[name] for name in ("code", "code_type")},
            "actor": code.get("actor", "participant"),
            "actions": [
                {name: value for name, value in action.items() if name != "slots"}
                for action in code["actions"]
            ],
        }
        for code in codes
    ]


def _check_features(fields: Mapping[str, Any], account: Account) -> None:
    actions = [action for code in fields["completion_codes"] for action in code["actions"]]
    names = {action["action"] for action in actions}
    config = fields["submissions_config"]
    needed_features = {
        SIGNED: fields["is_external_study_url_secure"],
        SCREENING: SCREEN_OUT in names,
        DYNAMIC: "DYNAMIC_PAYMENT" in names,
        AUTO_REJECTION: bool(config["auto_rejection_categories"]),
    }
    missing = [
        name
        for name, is_needed in needed_features.items()
        if is_needed and name not in account.features
    ]
    if missing:
        raise RefusedError(
            f"Your workspace does not have access to this feature: {missing[0]}.",
            code=140021,
            title="Feature not available",
        )
    fewest_screen_outs = _LEAST_SCREEN_OUT_MINOR.get(account.currency, 10)
    for action in actions:
        if action["action"] == SCREEN_OUT:
            amount = action["fixed_screen_out_reward"]
            if not fewest_screen_outs <= amount < fields["reward"]:
                raise RefusedError(
                    {
                        "completion_codes": [
                            f"A screen-out pays {fewest_screen_outs} or more, below the reward."
                        ]
                    }
                )


def _group_problems(error: ValidationError) -> dict[str, list[str]]:
    problems: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False):
        location = ".".join(str(part) for part in problem["loc"])
        if location:
            message = f"It {describe_problem(problem)}."
        else:  # an error of the study as a whole: its message begins with the field
            location, _, message = problem["msg"].removeprefix("Value error, ").partition(": ")
        problems.setdefault(location, []).append(message)
    return problems
