"""A coder's page that is one file: it needs no server, and saves the codes as a table."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from flask import Flask, render_template
from markupsafe import Markup

from experiment.coding.rounds import Codes
from experiment.studies.page_files import own_messages
from experiment.studies.study import Study
from webapp.codes.answers import DistinctAnswer
from webapp.coding_pages.cards import Place, describe_page, make_cards
from webapp.core.i18n import set_language, translate_pages

_HERE = Path(__file__).parent
_STYLES = (_HERE.parent / "static" / "parallax.css", _HERE / "static" / "coding.css")
_PROGRAM = _HERE / "static" / "coding.js"


def write_file_page(
    study: Study, answers: Mapping[str, DistinctAnswer], codes: Mapping[str, Codes], who: Place
) -> tuple[str, int]:
    """Return the page of a coder, in the study's language, and the number of its cards.

    Args:
        study: The study, which declares a coding.
        answers: The answers, by digest.
        codes: All codes of each answer, so far.
        who: The coder, or who decides the disagreements.
    """
    assert study.coding is not None
    app = Flask(__name__)
    translate_pages(app)
    with app.test_request_context():
        set_language(study.study.language, own_messages(study))
        cards, n_done = make_cards(study.coding, answers, codes, who, {})
        page = describe_page(study.coding, cards, n_done)
        key = hashlib.sha256(str([who, cards]).encode("utf-8", "replace")).hexdigest()
        task = "decide" if who.decides else "code"
        file = {"coder": str(who.coder), "task": task, "key": f"parallax-coding-{key[:12]}"}
        text = render_template(
            "coding/coder.html",
            **{**page, "work": {**page["work"], "file": file}},
            styles=[Markup(path.read_text(encoding="utf-8")) for path in _STYLES],
            program=Markup(_PROGRAM.read_text(encoding="utf-8")),
        )
    return text, len(cards)
