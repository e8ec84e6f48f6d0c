"""One signature of a panel is good for one person."""

import pytest
from pydantic import ValidationError

from experiment.panels.panel import find_ambiguous_divisions
from tests.experiment.panels.test_panel import with_changes

ANY, UUID, DIGITS = r"[\w.-]{1,64}", "[0-9a-f-]{36}", "[0-9]+"


@pytest.mark.parametrize(
    ("signed", "patterns", "found"),
    [
        ("{a}{b}", {"a": ANY, "b": ANY}, [("a", "b")]),
        ("{a}-{b}", {"a": ANY, "b": ANY}, [("a", "b")]),
        ("{a}{b}{c}", {"a": ANY, "b": UUID, "c": ANY}, [("a", "c")]),
        ("{a}|{b}", {"a": ANY, "b": ANY}, []),
        ("{a}-{b}", {"a": DIGITS, "b": ANY}, []),
        ("{a}-{b}", {"a": ANY, "b": DIGITS}, []),
        ("{a}{b}", {"a": UUID, "b": ANY}, []),
        ("{a}{b}", {"a": ANY, "b": UUID}, []),
        ("{a}{key}{b}", {"a": ANY, "b": ANY}, []),
        ("{url}", {"a": ANY}, []),
        ("{a}{key}", {"a": ANY}, []),
    ],
)
def test_a_signed_text_is_divided_in_one_way(signed, patterns, found):
    assert list(find_ambiguous_divisions(signed, patterns)) == found


def test_a_study_whose_links_could_be_divided_elsewhere_is_refused():
    signature = {"parameter": "sig", "algorithm": "HMAC-SHA1", "secret": "key"}
    with pytest.raises(ValidationError, match=r"between \{who\} and \{project\} in signed"):
        with_changes(signature={**signature, "signed": "{who}{project}"})
    with_changes(signature={**signature, "signed": "{who}|{project}"})
