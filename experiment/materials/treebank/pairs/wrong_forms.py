"""The choice of a word's wrong form, or of the reason why there is none."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from experiment.materials.treebank.conllu import Token
from experiment.materials.treebank.originals import describe_first_letter
from experiment.materials.treebank.pairs.features import (
    are_compatible,
    differ_only_in,
    parse_features,
)
from experiment.materials.treebank.pairs.forms import Disagreement, Forms, word_of
from experiment.materials.treebank.pairs.pair import Pair
from experiment.materials.treebank.pairs.relations import (
    DETERMINER_NOUN,
    PREDICATE,
    RELATIONS,
    SUBJECT_VERB,
    Instance,
    Reliability,
    can_do_without_noun,
    could_be_object,
    could_be_subject,
    could_have_unspoken_subject,
    find_doubt,
)

_ELISIONS = ("'", "\u2019")
_USUALLY = 0.5
SYNCRETIC = "the wrong form is the right one (syncretism)"
ALSO_RIGHT = "the wrong form is also right (syncretism)"
CUE_FITS = "the wrong form fits another reading of the cue (syncretism)"
_OF_SUBJECTS = frozenset({SUBJECT_VERB, PREDICATE})


class PairMaker:
    """Makes the pairs of a treebank in which two words do not agree.

    Args:
        forms: The known forms.
        reliability: How often the kinds of word pairs agree.
        drops: Whether the language drops subjects.
        counts: Counts the cases that are left out, by reason.

    Attributes:
        disagreements: The words for which two sources have different forms.
    """

    def __init__(
        self, forms: Forms, reliability: Reliability, drops: bool, counts: Counter[str]
    ) -> None:
        self._forms, self._reliability = forms, reliability
        self._drops, self._counts = drops, counts
        self.disagreements: list[Disagreement] = []

    def make(self, instance: Instance, feature: str) -> Pair | None:
        """Return the pair of an instance and a feature; None if there is none, which is counted."""
        if instance.agrees(feature) is None:
            return None
        self._counts["word pairs marked for the feature"] += 1
        reason, best = self._choose_form(instance, feature)
        if best is None:
            self._counts[f"left out: {reason}"] += 1
            return None
        form, feats = best
        right, wrong = (
            ",".join(sorted(parse_features(own)[feature]))
            for own in (instance.target_token.feats, feats)
        )
        return Pair(instance, feature, {instance.target: form}, right, wrong)

    def _choose_form(self, instance: Instance, feature: str) -> tuple[str, tuple[str, str] | None]:
        token = instance.target_token
        if not self._reliability.is_reliable(instance, feature):
            return "this kind of word pair does not agree reliably in the treebank", None
        if not instance.agrees(feature):
            return "the two words do not agree", None
        if self._reliability.is_odd(instance, feature):
            return "the cue's lemma does not always agree (collective nouns)", None
        if doubt := find_doubt(instance, feature):
            return doubt, None
        if disagreement := self._forms.find_disagreement(token):
            self.disagreements.append(disagreement)
            return "two sources disagree on the word's forms", None
        candidates = list(self._candidates(instance, feature))
        if not candidates:
            return "no form is known that differs in this feature alone", None
        if not (candidates := [c for c in candidates if self._differs(token, *c)]):
            return SYNCRETIC, None
        if not (candidates := [c for c in candidates if not self._is_also_right(instance, *c)]):
            return ALSO_RIGHT, None
        if not (candidates := [c for c in candidates if not self._cue_fits(instance, feature, c)]):
            return CUE_FITS, None
        if instance.relation == SUBJECT_VERB:
            candidates = [c for c in candidates if not self._has_other_subject(instance, *c)]
            if not candidates:
                return "the wrong form could have another subject", None
        candidates = [c for c in candidates if _can_be_written(c[0], instance)]
        if not candidates:
            return "the wrong form cannot be written in place of the right one", None
        return "", self._most_usual(instance, candidates)

    def _candidates(self, instance: Instance, feature: str) -> Iterator[tuple[str, str]]:
        """Yield the forms, with their features, that differ from the target in a feature alone."""
        token = instance.target_token
        cells = self._forms.cells[word_of(token)]
        right = [
            feats
            for feats, forms in cells.items()
            if feats == token.feats
            or ("UniMorph=" in feats and token.form.lower() in forms
                and are_compatible(feats, token.feats))
        ]  # fmt: skip
        cue = parse_features(instance.cue_feats)
        for feats, forms in cells.items():
            if any(differ_only_in(feature, own, feats) for own in right) and _fits_otherwise(
                feats, feature, cue, instance.relation
            ):
                yield from ((form, feats) for form in forms)

    def _differs(self, token: Token, form: str, feats: str) -> bool:
        """Return whether a form, and usually the form with its features, is not the target's."""
        # Casefolding also makes one of spelling variants such as "groß" and "gross".
        right = token.form.casefold()
        return form.casefold() != right and not (
            token.form.lower() in self._forms.cells[word_of(token)][feats]
            or self._forms.share_alike(token.upos, token.feats, feats) > _USUALLY
        )

    def _is_also_right(self, instance: Instance, form: str, feats: str) -> bool:
        """Return whether a form also has the right features, so that it would be no error."""
        token = instance.target_token
        if instance.relation == DETERMINER_NOUN and can_do_without_noun(
            instance, feats, is_pronoun=any(self._forms.readings(form, "PRON"))
        ):
            return True
        form_of_verb = parse_features(token.feats).get("VerbForm")
        return any(
            parse_features(reading).get("VerbForm") == form_of_verb
            and are_compatible(reading, token.feats)
            for reading in self._forms.possible_readings(word_of(token), form, feats)
        )

    def _cue_readings(self, instance: Instance) -> list[str]:
        return self._readings(instance.cue_token)

    def _readings(self, token: Token) -> list[str]:
        form = token.form.lower()
        return [token.feats, *self._forms.possible_readings(word_of(token), form, token.feats)]

    def _has_other_subject(self, instance: Instance, _form: str, feats: str) -> bool:
        """Return whether a verb's wrong form could have another subject, so that it is no error."""
        if self._drops and (
            could_be_object(instance, self._cue_readings(instance))
            or could_have_unspoken_subject(instance, feats)
        ):
            return True
        objects = [
            index
            for index, token in enumerate(instance.sentence.tokens)
            if token.head == instance.predicate and token.deprel in ("obj", "iobj")
        ]
        return any(
            could_be_subject(
                instance, index, self._readings(instance.sentence.tokens[index]), feats
            )
            for index in objects
        )

    def _cue_fits(self, instance: Instance, feature: str, candidate: tuple[str, str]) -> bool:
        """Return whether the cue's form has another reading that agrees with the wrong form."""
        case = parse_features(instance.cue_token.feats).get("Case")
        for reading in self._cue_readings(instance):
            features = parse_features(reading)
            stays_subject = (
                instance.relation not in _OF_SUBJECTS
                or case is None
                or not case.isdisjoint(features.get("Case", case))
            )
            if feature in features and stays_subject and are_compatible(reading, candidate[1]):
                return True
        return False

    def _most_usual(
        self, instance: Instance, candidates: Sequence[tuple[str, str]]
    ) -> tuple[str, str]:
        """Return the candidate that most often precedes such a word, then the most frequent."""
        token, tokens = instance.target_token, instance.sentence.tokens
        following = tokens[instance.target + 1 : instance.target + 2]
        letter = following[0].form[:1].lower() if following else ""
        cells = self._forms.cells[word_of(token)]
        form, feats = min(
            candidates,
            key=lambda c: (-self._forms.followed_alike(c[0], letter), -cells[c[1]][c[0]], c),
        )
        return (form[:1].upper() + form[1:] if token.form[:1].isupper() else form), feats


def _fits_otherwise(
    feats: str, feature: str, cue: Mapping[str, frozenset[str]], relation: str
) -> bool:
    """Return whether features agree with the cue in all but one feature."""
    return all(
        name == feature or name not in cue or not values.isdisjoint(cue[name])
        for name, values in parse_features(feats).items()
        if name in RELATIONS[relation][0]
    )


def _can_be_written(form: str, instance: Instance) -> bool:
    """Return whether a form fits where the target is written: after ``l'``, or in capitals."""
    right = instance.target_token.form
    before = instance.sentence.tokens[max(instance.target - 1, 0)].form
    if before.endswith(_ELISIONS) and (
        describe_first_letter(form).vowel != describe_first_letter(right).vowel
    ):
        return False
    is_in_capitals = right.isupper() and len(right) > 1
    return not is_in_capitals and form.endswith(_ELISIONS) == right.endswith(_ELISIONS)
