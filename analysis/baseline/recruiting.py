"""Answer section 2 of the checklist: participants, recruitment and payment."""

from collections.abc import Callable, Mapping

from analysis.baseline.checklist import (
    Answer,
    answer_from_run,
    answer_from_study,
    answer_not_applicable,
    answer_unknown,
)
from analysis.baseline.facts import Facts, summarise_payments
from experiment.participation import Ending
from experiment.studies.recruitment import Recruitment

_FILTERS = ("filters", "countries", "min_approval_percent", "min_approved", "masters", "require",
          "refuse", "devices")  # fmt: skip


def _answer_population_criteria(facts: Facts) -> Answer:
    if facts.baseline.population in ("no", "not applicable"):
        return answer_not_applicable("2.1")
    return answer_from_study(facts.baseline.population_criteria, "baseline.population_criteria")


def _answer_sampling(facts: Facts) -> Answer:
    if facts.baseline.sampling_of_people:
        return answer_from_study(facts.baseline.sampling_of_people, "baseline.sampling_of_people")
    recruiter = facts.run.facts.recruiter
    if facts.origin.simulated:
        return answer_from_run("nobody: simulated participants", f"recruiter {recruiter}")
    if facts.endings is not None and facts.endings["platform_status"].ne("").any():
        return answer_from_run(
            "crowdsource", f"recruiter {recruiter}: people came by a paying platform"
        )
    return answer_unknown("baseline.sampling_of_people")


def _answer_criteria(facts: Facts) -> list[str]:
    study = facts.run.study
    criteria = [f"screening question {question.name}" for question in study.screening]
    if study.comprehension is not None:
        criteria.append(f"comprehension check of {len(study.comprehension.questions)} question(s)")
    terms = study.recruitment
    if terms is not None and facts.recorded and not facts.origin.simulated:
        criteria += [f"{name}: {value}" for name, value in _find_recruitment_terms(terms) if value]
    return criteria


def _find_recruitment_terms(terms: Recruitment) -> list[tuple[str, object]]:
    return [(name, getattr(terms, name)) for name in _FILTERS]


def _answer_quality_control(facts: Facts) -> Answer:
    if _answer_criteria(facts):
        return answer_from_run("yes", "study.toml: [[screening]], [comprehension], [recruitment]")
    if facts.baseline.recruitment_criteria:
        return answer_from_study("yes", "baseline.recruitment_criteria")
    return answer_unknown("baseline.recruitment_criteria")


def _find_controls(facts: Facts) -> Answer:
    more = facts.baseline.recruitment_criteria
    controls = [*_answer_criteria(facts), *([more] if more else [])]
    if not controls:
        return answer_unknown("baseline.recruitment_criteria")
    return answer_from_study("; ".join(controls), "screening, comprehension, recruitment, baseline")


def _answer_screened_out(facts: Facts) -> Answer:
    if facts.endings is None or not facts.recorded:
        return answer_unknown("baseline.recruitment_criteria")
    ended = facts.endings["ending"].isin([Ending.SCREENED_OUT, Ending.FAILED_CHECK])
    return answer_from_run(int(ended.sum()), "the table of endings: screened_out, failed_check")


def _answer_known_items(facts: Facts) -> Answer:
    if facts.baseline.earlier_exposure_excluded is not None:
        return answer_from_study(
            facts.baseline.earlier_exposure_excluded, "baseline.earlier_exposure_excluded"
        )
    terms = facts.run.study.recruitment
    if terms is not None and terms.exclude_earlier_runs and facts.recorded:
        return answer_from_run(
            "partial", "people who took part in an earlier run of the study were kept out"
        )
    return answer_unknown("baseline.earlier_exposure_excluded")


def _answer_training(facts: Facts) -> bool:
    return bool(facts.run.study.trial.practice)


def _answer_kind_of_training(facts: Facts) -> Answer:
    if not facts.recorded:
        return answer_unknown("trial.practice")
    if _answer_training(facts):
        return answer_from_run("yes", f"practice trials: {facts.run.study.trial.practice}")
    return answer_from_run("no", "the session had no practice trials")


def _answer_about_training(answer: Callable[[Facts], Answer]) -> Callable[[Facts], Answer]:
    def answer_if_trained(facts: Facts) -> Answer:
        return (
            answer(facts)
            if _answer_training(facts) or not facts.recorded
            else answer_not_applicable("2.6")
        )

    return answer_if_trained


def _answer_training_pay(facts: Facts) -> Answer:
    if facts.baseline.training_paid in ("no", "not applicable"):
        return answer_not_applicable("2.6.2")
    return answer_from_study(facts.baseline.training_pay, "baseline.training_pay")


def _answer_pay(facts: Facts) -> Answer:
    payments = facts.payments
    if payments is not None and len(payments):
        people = payments["participant"].nunique()
        return answer_from_run(
            "yes", f"{len(payments)} payments to {people} participants in the ledger"
        )
    if facts.origin.simulated:
        return answer_from_run("no", "programs took part, and no payment was made")
    if facts.baseline.compensation:
        return answer_from_study("yes", "baseline.compensation")
    return answer_unknown("baseline.compensation")


def _format_amounts(facts: Facts) -> Answer:
    if facts.payments is not None and len(facts.payments):
        parts = [f"{what}: {how}" for what, how in summarise_payments(facts.payments).items()]
        minutes = facts.minutes
        time = f"; the median session took {minutes:.1f} minutes" if minutes is not None else ""
        return answer_from_run("; ".join(parts) + time, "the tables of payments and participants")
    if facts.origin.simulated:
        return answer_not_applicable("2.7")
    return answer_from_study(facts.baseline.compensation, "baseline.compensation")


def _answer_bonus(facts: Facts) -> Answer:
    if facts.payments is None or facts.payments.empty:
        return (
            answer_not_applicable("2.7")
            if facts.origin.simulated
            else answer_unknown("baseline.compensation")
        )
    rule = facts.run.study.payment.bonus
    if "bonus" not in set(facts.payments["paid_for"]):
        return answer_from_run("no", "no payment of the ledger is a bonus")
    depends = rule in ("kept", "per_correct_catch_trial")
    return answer_from_run(
        "yes" if depends else "no", f"bonuses were paid; payment.bonus is {rule}"
    )


def _answer_bonus_amount(facts: Facts) -> Answer:
    if facts.payments is None or "bonus" not in set(facts.payments["paid_for"]):
        return answer_not_applicable("2.7.2")
    payment = facts.run.study.payment
    return answer_from_run(
        summarise_payments(facts.payments)["bonus"],
        f"payment.bonus is {payment.bonus}, payment.bonus_amount {payment.bonus_amount}",
    )


def _answer_constant_pay(facts: Facts) -> Answer:
    if facts.payments is None or facts.payments.empty:
        return (
            answer_not_applicable("2.7")
            if facts.origin.simulated
            else answer_unknown("baseline.compensation")
        )
    rewards = facts.payments[facts.payments["paid_for"] == "reward"]
    distinct_rewards = rewards[["amount_minor", "currency"]].drop_duplicates()
    return answer_from_run(
        "yes" if len(distinct_rewards) <= 1 else "no", "the rewards in the table of payments"
    )


def _answer_pay_difference(facts: Facts) -> Answer:
    if _answer_constant_pay(facts).value != "no":
        return answer_not_applicable("2.7.3")
    return answer_from_study(facts.baseline.compensation, "baseline.compensation")


RECRUITMENT_ANSWERS: Mapping[str, Callable[[Facts], Answer]] = {
    "2.1": lambda f: answer_from_study(f.baseline.population, "baseline.population"),
    "2.1.1": _answer_population_criteria,
    "2.2": _answer_sampling,
    "2.3": _answer_quality_control,
    "2.3.1": _find_controls,
    "2.3.2": _answer_screened_out,
    "2.4": lambda f: answer_from_study(
        f.baseline.author_participants, "baseline.author_participants"
    ),
    "2.5": _answer_known_items,
    "2.6": _answer_kind_of_training,
    "2.6.1": _answer_about_training(
        lambda f: (
            answer_from_run(f"practice trials from {f.run.study.trial.practice}", "trial.practice")
            if _answer_training(f)
            else answer_unknown("trial.practice")
        )
    ),
    "2.6.2": _answer_about_training(
        lambda f: answer_from_study(f.baseline.training_paid, "baseline.training_paid")
    ),
    "2.6.2.1": _answer_about_training(_answer_training_pay),
    "2.7": _answer_pay,
    "2.7.1": _format_amounts,
    "2.7.2": _answer_bonus,
    "2.7.2.1": _answer_bonus_amount,
    "2.7.3": _answer_constant_pay,
    "2.7.3.1": _answer_pay_difference,
}
