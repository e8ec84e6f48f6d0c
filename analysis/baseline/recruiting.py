"""Answer section 2 of the checklist: participants, recruitment and payment."""

from collections.abc import Callable, Mapping

from analysis.baseline.checklist import Answer, declared, from_run, not_asked, unknown
from analysis.baseline.facts import Facts, paid
from experiment.participation import Ending
from experiment.studies.recruitment import Recruitment

_TERMS = ("filters", "countries", "min_approval_percent", "min_approved", "masters", "require",
          "refuse", "devices")  # fmt: skip


def _population_criteria(facts: Facts) -> Answer:
    if facts.baseline.population in ("no", "not applicable"):
        return not_asked("2.1")
    return declared(facts.baseline.population_criteria, "baseline.population_criteria")


def _sampling(facts: Facts) -> Answer:
    if facts.baseline.sampling_of_people:
        return declared(facts.baseline.sampling_of_people, "baseline.sampling_of_people")
    recruiter = facts.run.facts.recruiter
    if facts.origin.simulated:
        return from_run("nobody: simulated participants", f"recruiter {recruiter}")
    if facts.endings is not None and facts.endings["platform_status"].ne("").any():
        return from_run("crowdsource", f"recruiter {recruiter}: people came by a paying platform")
    return unknown("baseline.sampling_of_people")


def _criteria(facts: Facts) -> list[str]:
    study = facts.run.study
    found = [f"screening question {question.name}" for question in study.screening]
    if study.comprehension is not None:
        found.append(f"comprehension check of {len(study.comprehension.questions)} question(s)")
    terms = study.recruitment
    if terms is not None and facts.recorded and not facts.origin.simulated:
        found += [f"{name}: {value}" for name, value in _terms_set(terms) if value]
    return found


def _terms_set(terms: Recruitment) -> list[tuple[str, object]]:
    return [(name, getattr(terms, name)) for name in _TERMS]


def _controlled(facts: Facts) -> Answer:
    if _criteria(facts):
        return from_run("yes", "study.toml: [[screening]], [comprehension], [recruitment]")
    if facts.baseline.recruitment_criteria:
        return declared("yes", "baseline.recruitment_criteria")
    return unknown("baseline.recruitment_criteria")


def _controls(facts: Facts) -> Answer:
    more = facts.baseline.recruitment_criteria
    found = [*_criteria(facts), *([more] if more else [])]
    if not found:
        return unknown("baseline.recruitment_criteria")
    return declared("; ".join(found), "screening, comprehension, recruitment, baseline")


def _screened_out(facts: Facts) -> Answer:
    if facts.endings is None or not facts.recorded:
        return unknown("baseline.recruitment_criteria")
    ended = facts.endings["ending"].isin([Ending.SCREENED_OUT, Ending.FAILED_CHECK])
    return from_run(int(ended.sum()), "the table of endings: screened_out, failed_check")


def _known_items(facts: Facts) -> Answer:
    if facts.baseline.earlier_exposure_excluded is not None:
        return declared(
            facts.baseline.earlier_exposure_excluded, "baseline.earlier_exposure_excluded"
        )
    terms = facts.run.study.recruitment
    if terms is not None and terms.exclude_earlier_runs and facts.recorded:
        return from_run("partial", "who took part in an earlier run of the study was kept out")
    return unknown("baseline.earlier_exposure_excluded")


def _trained(facts: Facts) -> bool:
    return bool(facts.run.study.trial.practice)


def _training(facts: Facts) -> Answer:
    if not facts.recorded:
        return unknown("trial.practice")
    if _trained(facts):
        return from_run("yes", f"practice trials: {facts.run.study.trial.practice}")
    return from_run("no", "the session had no practice trials")


def _of_training(answer: Callable[[Facts], Answer]) -> Callable[[Facts], Answer]:
    def found(facts: Facts) -> Answer:
        return answer(facts) if _trained(facts) or not facts.recorded else not_asked("2.6")

    return found


def _training_pay(facts: Facts) -> Answer:
    if facts.baseline.training_paid in ("no", "not applicable"):
        return not_asked("2.6.2")
    return declared(facts.baseline.training_pay, "baseline.training_pay")


def _pay(facts: Facts) -> Answer:
    payments = facts.payments
    if payments is not None and len(payments):
        people = payments["participant"].nunique()
        return from_run("yes", f"{len(payments)} payments to {people} participants in the ledger")
    if facts.origin.simulated:
        return from_run("no", "programs took part, and no payment was made")
    if facts.baseline.compensation:
        return declared("yes", "baseline.compensation")
    return unknown("baseline.compensation")


def _amounts(facts: Facts) -> Answer:
    if facts.payments is not None and len(facts.payments):
        parts = [f"{what}: {how}" for what, how in paid(facts.payments).items()]
        minutes = facts.minutes
        time = f"; the median session took {minutes:.1f} minutes" if minutes is not None else ""
        return from_run("; ".join(parts) + time, "the tables of payments and participants")
    if facts.origin.simulated:
        return not_asked("2.7")
    return declared(facts.baseline.compensation, "baseline.compensation")


def _bonus(facts: Facts) -> Answer:
    if facts.payments is None or facts.payments.empty:
        return not_asked("2.7") if facts.origin.simulated else unknown("baseline.compensation")
    rule = facts.run.study.payment.bonus
    if "bonus" not in set(facts.payments["paid_for"]):
        return from_run("no", "no payment of the ledger is a bonus")
    depends = rule in ("kept", "per_correct_catch_trial")
    return from_run("yes" if depends else "no", f"bonuses were paid; payment.bonus is {rule}")


def _bonus_amount(facts: Facts) -> Answer:
    if facts.payments is None or "bonus" not in set(facts.payments["paid_for"]):
        return not_asked("2.7.2")
    payment = facts.run.study.payment
    return from_run(
        paid(facts.payments)["bonus"],
        f"payment.bonus is {payment.bonus}, payment.bonus_amount {payment.bonus_amount}",
    )


def _constant(facts: Facts) -> Answer:
    if facts.payments is None or facts.payments.empty:
        return not_asked("2.7") if facts.origin.simulated else unknown("baseline.compensation")
    rewards = facts.payments[facts.payments["paid_for"] == "reward"]
    same = rewards[["amount_minor", "currency"]].drop_duplicates()
    return from_run("yes" if len(same) <= 1 else "no", "the rewards in the table of payments")


def _differed(facts: Facts) -> Answer:
    if _constant(facts).value != "no":
        return not_asked("2.7.3")
    return declared(facts.baseline.compensation, "baseline.compensation")


RECRUITING: Mapping[str, Callable[[Facts], Answer]] = {
    "2.1": lambda f: declared(f.baseline.population, "baseline.population"),
    "2.1.1": _population_criteria,
    "2.2": _sampling,
    "2.3": _controlled,
    "2.3.1": _controls,
    "2.3.2": _screened_out,
    "2.4": lambda f: declared(f.baseline.author_participants, "baseline.author_participants"),
    "2.5": _known_items,
    "2.6": _training,
    "2.6.1": _of_training(
        lambda f: (
            from_run(f"practice trials from {f.run.study.trial.practice}", "trial.practice")
            if _trained(f)
            else unknown("trial.practice")
        )
    ),
    "2.6.2": _of_training(lambda f: declared(f.baseline.training_paid, "baseline.training_paid")),
    "2.6.2.1": _of_training(_training_pay),
    "2.7": _pay,
    "2.7.1": _amounts,
    "2.7.2": _bonus,
    "2.7.2.1": _bonus_amount,
    "2.7.3": _constant,
    "2.7.3.1": _differed,
}
