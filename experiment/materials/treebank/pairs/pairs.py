"""Minimal pairs of a treebank's own sentences, and the counts of what was left out and why."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from experiment.materials.treebank.conllu import ROOT, Sentence, Token
from experiment.materials.treebank.originals import describe_first_letter
from experiment.materials.treebank.pairs.features import (
    are_compatible,
    differ_only_in,
    parse_features,
)
from experiment.materials.treebank.pairs.forms import Disagreement, Forms, word_of
from experiment.materials.treebank.pairs.order import ORDER, Orders, exchange, find_orders
from experiment.materials.treebank.pairs.relations import (
    RELATIONS,
    SUBJECT_VERB,
    Instance,
    Reliability,
    could_be_object,
    could_be_subject,
    could_have_unspoken_subject,
    drops_subjects,
    find_doubt,
    find_instances,
)
from experiment.seeds import generator

# With the full stops of Hindi, Urdu and Armenian.
_ENDS = frozenset(".!?…。؟।\u06d4\u0589")
_BEGINNINGS = frozenset("¿¡")
_ODD_TAGS = frozenset({"X", "SYM"})
_ODD_SIGNS = frozenset('()[]{}<>@#*/\\|"“”„«»`')
_ELISIONS = ("'", "\u2019")
_USUALLY = 0.5
SYNCRETIC = "the wrong form is the right one (syncretism)"
ALSO_RIGHT = "the wrong form is also right (syncretism)"
CUE_FITS = "the wrong form fits another reading of the cue (syncretism)"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a study wants of a treebank.

    Attributes:
        relations: The relations, such as ``subject_verb``.
        features: The agreement features.
        each: At most this many pairs of each relation and feature.
        shortest: The fewest words of a sentence.
        longest: The most words.
    """

    relations: Sequence[str]
    features: Sequence[str]
    each: int = 12
    shortest: int = 4
    longest: int = 14


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, and how it becomes wrong.

    Attributes:
        instance: The two words that are related.
        feature: What is wrong: a feature, or the order of the words.
        changes: The new form at each place that changes.
        right: The right value, such as ``Masc``.
        wrong: The wrong value.
    """

    instance: Instance
    feature: str
    changes: Mapping[int, str]
    right: str
    wrong: str

    @property
    def construction(self) -> str:
        """The construction's name."""
        return f"{self.instance.relation}_{self.feature.lower()}"

    @property
    def rule(self) -> str:
        """The rule in words, without saying which of the two sentences breaks it."""
        return f"{self.feature} of the {RELATIONS[self.instance.relation][1]}"

    @property
    def change(self) -> str:
        """What was changed: ``Masc to Fem``."""
        return f"{self.right} to {self.wrong}"

    @property
    def attractors(self) -> int:
        """The words between cue and target with the cue's tag and another value."""
        if self.feature == ORDER:
            return 0
        first, last = sorted((self.instance.cue, self.instance.target))
        cue = parse_features(self.instance.cue_feats)[self.feature]
        between = self.instance.sentence.tokens[first + 1 : last]
        return sum(
            token.upos == self.instance.cue_token.upos
            and cue.isdisjoint(parse_features(token.feats).get(self.feature, cue))
            for token in between
        )


@dataclass(slots=True)
class PairSet:
    """The pairs of a treebank.

    Attributes:
        pairs: The chosen pairs.
        counts: How many cases remained or were left out at each step, by reason.
        disagreements: Words for which two sources have different forms.
    """

    pairs: list[Pair] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    disagreements: list[Disagreement] = field(default_factory=list)


def make_pairs(sentences: Sequence[Sentence], forms: Forms, wishes: Wishes, seed: int) -> PairSet:
    """Return minimal pairs of the sentences, reproducible by the seed."""
    suitable = [sentence for sentence in sentences if _is_suitable(sentence, wishes)]
    counts = Counter[str]({"sentences": len(sentences), "short whole sentences": len(suitable)})
    reliability = Reliability(chain.from_iterable(map(find_instances, sentences)))
    maker = _Maker(forms, reliability, drops_subjects(sentences), counts)
    orders = Orders(chain.from_iterable(map(find_orders, sentences)), forms)
    found: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in chain(
        _find_disagreeing(suitable, maker, wishes),
        _find_reordered(suitable, orders, wishes, counts),
    ):
        found[pair.construction].append(pair)
    counts["pairs"] = sum(map(len, found.values()))
    chosen = _choose(found, wishes.each, seed)
    counts["pairs chosen"] = len(chosen)
    disagreements = list(dict.fromkeys([*forms.disagreements, *maker.disagreements]))
    return PairSet(chosen, _in_order(counts), disagreements)


def _find_disagreeing(
    sentences: Iterable[Sentence], maker: "_Maker", wishes: Wishes
) -> Iterator[Pair]:
    for instance in chain.from_iterable(map(find_instances, sentences)):
        for feature in wishes.features:
            if (
                instance.relation in wishes.relations
                and feature in RELATIONS[instance.relation][0]
                and (pair := maker.make(instance, feature))
            ):
                yield pair


def _find_reordered(
    sentences: Iterable[Sentence], orders: Orders, wishes: Wishes, counts: Counter[str]
) -> Iterator[Pair]:
    if ORDER not in wishes.features:
        return
    for instance in chain.from_iterable(map(find_orders, sentences)):
        if instance.relation in wishes.relations:
            counts["determiners and adpositions of nouns"] += 1
            if doubt := orders.find_doubt(instance):
                counts[f"order left out: {doubt}"] += 1
                continue
            places = ("before the noun", "after the noun")
            right, wrong = places if instance.target < instance.cue else reversed(places)
            yield Pair(instance, ORDER, exchange(instance), right, wrong)


def _in_order(counts: Counter[str]) -> dict[str, int]:
    ends = ("pairs", "pairs chosen")
    return {name: n for name, n in counts.items() if name not in ends} | {
        name: counts[name] for name in ends
    }


def _is_suitable(sentence: Sentence, wishes: Wishes) -> bool:
    """Return whether a sentence is whole, of the wished length, and free of odd signs."""
    tokens = sentence.tokens
    n_words = sum(token.upos != "PUNCT" for token in tokens)
    if not wishes.shortest <= n_words <= wishes.longest:
        return False
    root = next((index for index, token in enumerate(tokens) if token.head == ROOT), 0)
    has_verb = any(
        token.upos in ("VERB", "AUX") and root in (index, token.head)
        for index, token in enumerate(tokens)
    ) or any(token.head == root and "subj" in token.deprel for token in tokens)
    return (
        has_verb
        and tokens[-1].form[-1:] in _ENDS
        and not tokens[0].form[:1].islower()
        and (tokens[0].upos != "PUNCT" or tokens[0].form in _BEGINNINGS)
        and not any(token.upos in _ODD_TAGS or _ODD_SIGNS & {*token.form} for token in tokens)
    )


class _Maker:
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
        if not (candidates := [c for c in candidates if not self._is_also_right(token, *c)]):
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

    def _is_also_right(self, token: Token, form: str, feats: str) -> bool:
        """Return whether a form also has the right features, so that it would be no error."""
        # Polish "ten", this, and "tym", by this: a determiner that can do without a noun.
        is_alone = token.upos == "DET" and any(self._forms.readings(form, "PRON"))
        if is_alone and (
            parse_features(feats).get("Case") != parse_features(token.feats).get("Case")
            or "Neut" in parse_features(feats).get("Gender", ())
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


_OF_SUBJECTS = frozenset({SUBJECT_VERB, "predicate"})


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


def _choose(found: dict[str, list[Pair]], each: int, seed: int) -> list[Pair]:
    """Return some pairs of each construction, at random, from as many sentences as possible."""
    used: set[tuple[str, ...]] = set()
    chosen: list[Pair] = []
    for construction, pairs in sorted(found.items(), key=lambda entry: (len(entry[1]), entry[0])):
        shuffled = list(pairs)
        generator(seed, "pairs", construction).shuffle(shuffled)
        n_chosen = 0
        for pair in shuffled:
            words = tuple(token.form for token in pair.instance.sentence.tokens)
            if n_chosen < each and words not in used:
                used.add(words)
                chosen.append(pair)
                n_chosen += 1
    order = {relation: number for number, relation in enumerate(RELATIONS)}
    return sorted(chosen, key=lambda p: (order[p.instance.relation], p.feature))
