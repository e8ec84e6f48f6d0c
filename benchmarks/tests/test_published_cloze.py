"""The published values of typed answers, computed from files of our own in the same formats."""

import pandas as pd

from benchmarks.published_cloze import compare_values, run_import
from benchmarks.published_sets.cloze import SETS

# Two people name up to three things; one of them names the target.
PRETESTS = """Item,Cond,ProductionPercentage,Target,ProductionQuestion,ProductionList,\
ProductionResponsesAll
1,A,0.5,Key,Somebody opened the door.,1,"Key, lock - Hand, knob, handle"
1,B,,Key,,,
"""


def test_associations_become_the_share_of_people_who_named_the_target(tmp_path):
    [associations] = [one for one in SETS if one.name == "schulz_2023"]
    files = {"pretests": PRETESTS.replace("\\\n", "").encode()}
    [part] = associations.imports(tmp_path, files)
    [value] = associations.values(run_import(part), part).to_dict("records")
    assert (value["answer"], value["ours"], value["published"]) == ("key", 0.5, 0.5)


def test_values_are_equal_if_they_round_to_the_same_published_value():
    values = pd.DataFrame({"published": [0.333, 0.5], "ours": [1 / 3, 0.502]})
    agreement = compare_values(values, 3)
    assert (agreement.n, agreement.n_equal) == (2, 1)
    assert agreement.text == "1 of 2 equal, the largest difference is 0.0020"
