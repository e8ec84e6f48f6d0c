"""The grammar that finds the label with which a sampled text answers.

A label is a capital letter or a digit of the prompt. First, every mention of a label is marked: a
letter or digit before an ordinary word ("A native speaker", "2 sentences") is no mention, an option
of the prompt that the text repeats is a mention of its label, other quotations are left out. Then
the rules of ``RULES`` are tried in order; the first that finds labels decides. One label is the
answer, two are "several". Clauses that negate, doubt or contrast a label choose nothing.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

UNREADABLE = ("empty", "several", "none", "refused", "cut")


@dataclass(frozen=True, slots=True)
class LabelReading:
    """A sampled text as read by the grammar.

    Attributes:
        label: The label; empty if the text has none.
        rule: The name of the rule that found it, or the reason why there is none.
    """

    label: str
    rule: str


def read_label(
    text: str, labels: Sequence[str], prompt: str = "", *, cut: bool = False
) -> LabelReading:
    """Return the label that a text answers with, or the reason why it has none.

    Args:
        text: What the model wrote; complete thoughts in ``<think>`` are left out.
        labels: The labels of the prompt.
        prompt: The prompt, whose options the text may repeat.
        cut: Whether the limit of tokens ended the text.
    """
    answer = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL).rpartition("</think>")[2]
    if "<think>" in answer:
        return LabelReading("", "cut")
    marked = _mark_mentions(answer, labels, prompt)
    if cut and re.match(r"\W*⟦1⟧[.)]\s+[^\W\d_]", marked):
        return LabelReading("", "cut")  # a list that had reached its first item
    for name, find_labels in RULES.items():
        if cut and name in _END_RULES:
            continue
        chosen = find_labels(marked)
        if len(chosen) == 1:
            return LabelReading(chosen.pop(), name)
        if chosen:
            return LabelReading("", "cut" if cut else "several")
    return LabelReading("", _explain_unread(marked, cut=cut))


def _any_of(words: str) -> str:
    """Return a pattern of whole words; ``_`` stands for the space inside of a phrase."""
    return rf"\b(?:{'|'.join(words.split())})\b".replace("_", " ")


# What a model puts around a label, and words that name one.
_WRAP_LEFT, _WRAP_RIGHT = r"[\s\"'(\[{<$#]*", r"[\s\"')\]}>$]*"
_LABEL_NOUN = (
    r"(?:nr\.|no\.|#|"
    + _any_of("""
    options? sentences? labels? choices? numbers? answers? satz antwort nummer oración frase
    opción phrase réponse opzione risposta opção resposta
""")
    + ")"
)
# After a letter or a digit, these words show that it is named as a label.
_AFTER_LABEL = _any_of(r"""
    is are isn't aren't doesn't was were has sounds? seems? reads? looks? feels? works?
    flows appears? gets? wins would could can may might (?:best|better)(?=\W*$)
    better_(?:than|because) because since as than over and or rather instead if but not it
    here although while whereas which to ist klingt geben wählen nicht und oder es está
    suena y o est sonne et ou è suona é soa e
""")
_MARKED_LABEL = re.compile(r"⟦(\w)⟧")


def _mark_mentions(answer: str, labels: Sequence[str], prompt: str) -> str:
    """Return a text with each mention of a label as ⟦label⟧, without repeated or quoted texts."""
    text = unicodedata.normalize("NFKC", answer)
    text = re.sub(r"[\u2018\u2019]", "'", re.sub(r"[“”„«»]", '"', text)).strip()
    text = re.sub(r"[*`]+|__|^#+ |\\(?:text|textbf|mathrm|mathbf)\b", "", text, flags=re.MULTILINE)
    one = f"(?:{'|'.join(labels)})"
    # Before a word, these are words themselves: "A native speaker", "2 sentences", "E la frase".
    no_word = r"(?!(?<=[AEIOY\d]) +[^\W\d_]{2})"
    if goes_on := re.match(rf"\W*{one}\W*\n\s*(?={labels[0]}\. )", text):
        text = goes_on[0]
    for line in re.findall(rf"^(?!{one}\. )\w+ .* .+$", prompt, re.MULTILINE):
        # A model that goes on after its answer asks itself the next question.
        before, _, after = text.partition(line)
        text = before if re.search(rf"\b{one}\b", before) and after else before + after
    for option, label in _options_of(prompt, labels):
        start = rf"\A(\W*{label}\W+)(.+)\Z"
        if (begun := re.match(start, text)) and option.startswith(begun[2]):
            text = begun[1]
        # One word of an option can be any word of a sentence.
        end = "" if " " in option else r"(?=\s*(?:[^\w\s]|$|and\b|or\b))"
        text = re.sub(rf"(?<!\w){re.escape(option)}(?!\w){end}", f"⟦{label}⟧", text, flags=re.I)
    text = re.sub(r"\"(\w+)\"\s*:", r"\1:", text)
    unquoted = re.sub(
        r"\"([^\"\n]*)\"",
        lambda match: match[0] if "⟦" in match[1] or len(match[1].strip(" .")) < 2 else "",
        text,
    )
    text = unquoted if re.search(r"\w", unquoted) else text
    if len(labels) > 2:
        low, high = labels[0], labels[-1]
        ends = rf"(?:{low}|{high})(?:\s*\([^)]*\))?"
        text = re.sub(rf"\b(?i:scale )?(?i:from |of ){ends}\s*(?:to|-|\u2013)\s*{ends}", "", text)
        text = re.sub(rf"(?<=\w)\s*(?:/|out of|of)\s*{high}\b", "", text)
        text = re.sub(r"(?<=\d) (?:points?|stars?)\b", "", text)
    text = re.sub(r"\b(?:anything|everything|all|nothing) but\b", "not", text, flags=re.I)
    text = re.sub(r"\bhowever\b,?", "but", text, flags=re.I)
    between = r"[-\u2013/]" if "prefer" in text else r"(?:[-\u2013/]|to)"
    text = re.sub(rf"\b({one})\s*{between}\s*({one})\b", r"⟦\1⟧ or ⟦\2⟧", text)
    text = re.sub(rf"\b(?i:{_LABEL_NOUN})\s+[^\w\s]?({one})\b[\"')\]]?(?=\W|$)", r"⟦\1⟧ ", text)
    text = re.sub(rf"(?<![\w.,'/⟦])({one})[.)]?(?= {_AFTER_LABEL})", r"⟦\1⟧", text)
    text = re.sub(rf"(?<![\w.'/⟦-])({one})(?![\w'⟧])(?!\.\d|/\d){no_word}", r"⟦\1⟧", text)
    # Lower case only where nothing but a label is possible.
    lower = rf"(^(?:[^\w⟦]*[^\w⟦-])?|[:=>]\s*[^\w⟦]?|\bis |\b{_LABEL_NOUN} |\{{)({one})(?=[^\w⟧]*$)"
    text = re.sub(lower, lambda match: f"{match[1]}⟦{match[2].upper()}⟧", text, flags=re.I | re.M)
    text = text.replace("⟦I⟧ would", "I would")
    text = re.sub(r"⟦(\w)⟧\W+⟦\1⟧", r"⟦\1⟧", text)
    return re.sub(r"⟦(\w)⟧\s*,\s*(?=⟦\w⟧(?! (?:is|sounds?|seems?|has|was)\b))", r"⟦\1⟧ and ", text)


def _options_of(prompt: str, labels: Sequence[str]) -> list[tuple[str, str]]:
    """Return the options that a prompt lists last after its labels, the longest first."""
    options = [
        (lines[-1].strip().rstrip(".!?"), label)
        for label in labels
        if (lines := re.findall(rf"^{label}\. (.+)$", prompt, re.MULTILINE))
    ]
    return sorted(options, key=lambda pair: -len(pair[0]))


_NEGATION = r"n't\b|" + _any_of(r"""
    not never neither nobody no_one hardly rarely doubt nor no none cannot nicht kein\w* nie
    nunca nadie ningun\w* pas aucun\w* non nessun\w* não nenhum\w* ni
""")
_DOUBT = r"\?|" + _any_of("""
    if could can might may whether either or both between depends equally at_first
    first_glance some many most_people wenn oder si ou se
""")
_WORSE = _any_of(r"""
    wrong incorrect worse worst bad odd\w* awkward unacceptable ungrammatical un\w*natural
    unusual strange\w* weird\w* clumsy problematic faulty flawed broken confusing ill-formed
    off less least low\w* lacks missing fails avoid reject violat\w+ error\w* mistake\w*
    mismatch falsch schlecht\w* peor mal pire peggio\w* pior
""")
_CHOOSING = _any_of(r"""
    better best prefer\w* preference choos\w+ choice pick\w* select\w* opt vote would_say
    answer_with (?:is|be)_my_answer superior preferable go(?:ing)?_(?:with|for) wins rate
    rating score give gets? earns deserves lean\w* gut
    (?:the|only)_(?:correct|right|acceptable)_(?:one|label|sentence|option)
    (?:more|most)_(?:natural|acceptable|grammatical|correct|idiomatic|fluent|likely|plausible|common)
    besser natürlicher besten beste wähl\w* bevorzug\w* geben mejor elij\w+ prefier\w+ doy
    mieux meilleur\w* chois\w+ préfèr\w+ meglio miglior\w* scelg\w+ preferisc\w+ melhor
    escolh\w+ prefir\w+
""")
_PRAISE = _any_of(r"""
    right correct fine good natural grammatical acceptable okay ok smooth\w* clearer
    idiomatic fluent proper well-formed richtig corrett?[ao]
""")
# Any other word in such a clause could say the opposite: "B is hardly acceptable".
_PRAISED = (
    rf"^(?:\W|{_any_of('so but and also only i_think i_believe here clearly')})*"
    r"⟦\w⟧\W*(?:and\W*⟦\w⟧\W*)?(?::|is|are|sounds?|seems?|reads?|looks?|feels?)"
    rf"(?: {_any_of('both also all the a more most quite very clearly grammatically only')})*"
    rf" {_PRAISE}"
)
_ANNOUNCING = _any_of("""
    answer ans choice selection pick preference rating score response label antwort wahl
    bewertung respuesta opción réponse choix risposta scelta resposta escolha
""")
_ANNOUNCEMENT = re.compile(
    rf"{_ANNOUNCING}\s*(?:[:=→]|-+>?|(?:(?:would|should|must|will) )?be|is|ist|es|est|è|é)\s*"
    r"[^\w⟦]*⟦(\w)⟧(?P<rest>[^\n.]*)",
    re.IGNORECASE,
)
_FILLERS = re.compile(
    _any_of("""
        so therefore thus hence but or and i'd i'll i'm i would think believe say guess it's
        it is c'est that this be must has_to labelled put to me a an the one sentence
        option definitely clearly certainly probably maybe perhaps
        around about rather solid best sounds_like
        leaves at assistant here
    """)
    + r"|\W",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|correction|scratch|second thought|no,)", re.IGNORECASE
)
# A colon directly after a label does not end a clause.
_CLAUSE_END = (
    r",|(?<!⟧)(?=:)|\s[-\u2013\u2014]\s|\b(?=(?:but|while|whereas|although|though|so|because|since)\b)"
    r"|\band(?= ⟦\w⟧ (?:is|isn't|sounds|has|does)\b)"
)
_RETRACTION = re.compile(r"\b(?:wait|actually|maybe|perhaps|possibly|or|no,)", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(i'?m sorry|i am sorry|i can(?:no|')t|i won'?t|as an ai|unable to|no puedo|je ne peux pas|"
    r"ich kann (?:das )?nicht|non posso|não posso)\b",
    re.IGNORECASE,
)


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _mentions(text: str) -> set[str]:
    return set(_MARKED_LABEL.findall(text))


def _clauses(marked: str) -> Iterator[str]:
    """Yield the clauses that can choose: no concessions, and no answers to what is worse."""
    before = ""
    for sentence in re.split(r"(?<=[.!?;])\s+|\n+", marked):
        for part in re.split(_CLAUSE_END, sentence):
            answers_worse = (part[:1] == ":" or before[-1:] == "?") and _says(_WORSE, before)
            conceded = re.match(r"\W*(?:While|Whereas|[Aa]lthough|[Tt]hough)\b", part)
            before = part or before
            if not answers_worse and not conceded:
                yield re.sub(r"^\W*(?:while|whereas|because|since)\b", "", part)


def _find_alone(marked: str) -> set[str]:
    """The whole text is the label."""
    match = re.fullmatch(r"[\W_]*⟦(\w)⟧[\W_]*", marked)
    return {match[1]} if match and "?" not in marked else set()


def _find_boxed(marked: str) -> set[str]:
    r"""The label is in a box, such as ``\boxed{B}``, ``[[B]]`` or ``<answer>B</answer>``."""
    boxed = re.findall(r"\\boxed\W*⟦(\w)⟧|\[\[⟦(\w)⟧\]\]|<answer>\s*⟦(\w)⟧", marked)
    return {label for match in boxed for label in match if label}


def _find_announced(marked: str) -> set[str]:
    """The label follows "answer:", "the answer is" or a similar phrase."""
    announced = set[str]()
    for match in _ANNOUNCEMENT.finditer(marked):
        before = re.split(r"[,.;\n]", marked[: match.start()])[-1]
        if _says(f"{_DOUBT}|{_NEGATION}|{_WORSE}", before.replace("?", "")) or _says(
            _WORSE, re.split(",|:", match["rest"])[0]
        ):
            continue
        announced.add(match[1])
        if taken_back := _TAKEN_BACK.search(marked, match.end()):
            announced |= _find_chosen(marked[taken_back.end() :])
        if other := re.match(r"\W*(?:or|and|oder|o|ou|,)\W*⟦(\w)⟧", match["rest"]):
            announced.add(other[1])
    return announced


def _find_on_last_line(marked: str) -> set[str]:
    """The last line of several is the label."""
    lines = [line for line in marked.splitlines() if line.strip()]
    if len(lines) < 2:
        return set()
    last = _find_alone(lines[-1])
    return last | _find_alone(lines[0]) if last else set()


def _find_leading(marked: str) -> set[str]:
    """The text begins with the label and says nothing against it."""
    match = re.match(
        rf"{_WRAP_LEFT}⟦(\w)⟧{_WRAP_RIGHT}(?:[.,:;=(\n\u2013\u2014-]|because|since|rather|over|$)",
        marked,
    )
    if not match:
        return set()
    rest = marked[match.end() :]
    if set(re.findall(r"(?:\n\s*|[.;]\s+)[^\w⟦\n]*⟦(\w)⟧", rest)) - {match[1]}:
        return set()  # several labels, each with its remark
    doubted = {
        label
        for clause in _clauses(rest)
        if _RETRACTION.search(clause)
        for label in _mentions(clause)
    }
    return {match[1]} | doubted | _find_chosen(rest) | _find_praised(rest)


def _find_chosen(marked: str) -> set[str]:
    """A clause names the label as the choice or the better one, or is nothing but the label."""

    def chooses(clause: str) -> bool:
        praised_after_all = _says(r"^\W*but\b", clause) and _says(_PRAISE, clause)
        return _says(_CHOOSING, clause) or _is_bare(clause) or praised_after_all

    return _choices_of_clauses(marked, chooses)


def _find_praised(marked: str) -> set[str]:
    """A clause calls the label right or natural, and no other label is called so."""
    return _choices_of_clauses(marked, lambda clause: _says(_PRAISED, clause))


def _is_bare(clause: str) -> bool:
    return not _FILLERS.sub("", _MARKED_LABEL.sub("", clause))


def _choices_of_clauses(marked: str, chooses: Callable[[str], bool]) -> set[str]:
    chosen = set[str]()
    for clause in _clauses(marked.replace("not bad", "")):
        if chosen and re.match(r"\W*or\b", clause, re.IGNORECASE):
            chosen |= _mentions(clause)
        if lesser := re.search(
            r"(?:less \w+ than|(?:worse|odder) than|n[o']t as \w+ as)\W+(?=⟦(\w)⟧)", clause
        ):
            chosen.add(lesser[1])
            continue
        kept = re.split(
            r"\b(?:than|als|que|over|not|rather than|instead of)\s+(?=(?:an? |the )?⟦)",
            re.sub(r"(\bprefer.*) to (?=⟦).*", r"\1", clause),
        )[0]
        kept = re.sub(r"(?<!rating )(?<!choice )\b(?:in|of|from|unlike)\s+⟦\w⟧", "", kept)
        if not _says(f"{_NEGATION}|{_DOUBT}|{_WORSE}", kept) and chooses(kept):
            chosen |= _mentions(kept)
    return chosen


def _explain_unread(marked: str, *, cut: bool) -> str:
    if not re.search(r"\w", marked):
        return "cut" if cut else "empty"
    if _REFUSAL.search(marked):
        return "refused"
    if cut:
        return "cut"
    return "several" if len(_mentions(marked)) > 1 and not _says(r"\bneither\b", marked) else "none"


RULES: dict[str, Callable[[str], set[str]]] = {
    "alone": _find_alone,
    "boxed": _find_boxed,
    "announced": _find_announced,
    "last_line": _find_on_last_line,
    "leading": _find_leading,
    "chosen": _find_chosen,
    "praised": _find_praised,
}
# A text that the limit of tokens cut off could still have gone on to choose another label.
_END_RULES = ("last_line", "chosen", "praised")
