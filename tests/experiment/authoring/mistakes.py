# ruff: noqa: E501
"""What people get wrong in a study folder: each place of the whole study, spoilt in one way."""

from typing import NamedTuple

TOML = "study.toml"


class Mistake(NamedTuple):
    """One thing that somebody gets wrong.

    Attributes:
        file: The file it is in.
        old: What stands there in the whole study; empty to take ``new`` as the file's content.
        new: What stands there instead.
        place: What the message says of the place.
        message: What the message says.
        note: Whether it stops no launch.
    """

    file: str
    old: str
    new: str
    place: str
    message: str
    note: bool = False


_FILLERS = 'templates = ["filler"]\nframes = 4\ncatch_trials = 2\n'

MISTAKES = {
    # The file as a whole.
    "no study.toml": Mistake(TOML, "", "-", "", "no study.toml"),
    "empty study.toml": Mistake(TOML, "", " ", TOML, 'the key "study" is missing'),
    "a bracket left open": Mistake(TOML, "[design]", "[design", "line 14", "not valid TOML"),
    "a quote left open": Mistake(TOML, '"1.0"', '"1.0', "line 6", "not valid TOML"),
    "no quotes": Mistake(TOML, 'name = "whole"', "name = whole", "line 4", "not valid TOML"),
    "typographic quotes": Mistake(TOML, '"en"', "“en”", "line 7", "not valid TOML"),
    "no equals sign": Mistake(TOML, "lists = 2", "lists 2", "line 15", "not valid TOML"),
    "a key twice": Mistake(TOML, "lists = 2", "lists = 2\nlists = 3", "line 16", "not valid TOML"),
    "a table twice": Mistake(TOML, "[trial]", "[design]\n[trial]", "line 34", "not valid TOML"),
    "a decimal comma": Mistake(TOML, "accurate = 0.9", "accurate = 0,9", TOML, "not valid TOML"),
    "Latin-1 text": Mistake(TOML, "sounds better", "sounds b\udce9tter", TOML, "not UTF-8 text"),
    "a key only programs set": Mistake(TOML, "response =", 'folder = "x"\nresponse =',
                                       "folder", 'there is no key "folder'),
    # [study]
    "no name": Mistake(TOML, 'name = "whole"\n', "", "study", 'the key "name" in [study] is missing'),
    "a name with a space": Mistake(TOML, '"whole"', '"my study"', "line 4", 'name is "my study"'),
    "a name with a capital": Mistake(TOML, '"whole"', '"Whole"', "line 4",
                                     "lower-case letters, digits and underscores"),
    "another name than the folder's": Mistake(TOML, '"whole"', '"half"', "line 4",
                                              'its folder is called "whole"', note=True),
    "an empty title": Mistake(TOML, '"Which sentence sounds better?"', '""', "line 5", 'title is ""'),
    "a version that is a number": Mistake(TOML, '"1.0"', "1.0", "line 6", "a text in quotation"),
    "a key misspelt": Mistake(TOML, "version =", "versoin =", "line 6", 'Did you mean "version"?'),
    "a language in words": Mistake(TOML, '"en"', '"english"', "line 7", "language"),
    "a language that does not exist": Mistake(TOML, '"en"', '"xx"', "xx", "missing or empty"),
    "a language without texts": Mistake(TOML, '"en"', '"de"', "texts/de/consent.md", "has en"),
    "a table misspelt": Mistake(TOML, "[study]", "[stduy]", "stduy", 'Did you mean "study"?'),
    # [materials]
    "no items": Mistake(TOML, 'items = "items.tsv"\n', "", "materials", "give either grammar or"),
    "items and grammar": Mistake(TOML, 'items = "items.tsv"', 'items = "i.tsv"\ngrammar = "g"',
                                 "materials", "give either grammar or items"),
    "a file that is not there": Mistake(TOML, '"items.tsv"', '"item.tsv"', "line 10",
                                        'Did you mean "items.tsv"?'),
    "a file outside": Mistake(TOML, '"items.tsv"', '"../items.tsv"', "line 10", "outside the study"),
    "an unknown rendering": Mistake(TOML, '"as_written"', '"as_writen"', "line 11",
                                    'Did you mean "as_written"?'),
    "an unknown rendering for models": Mistake(TOML, '"lower_case_tokens"', '"lowercase"',
                                               "line 12", 'no rendering "lowercase"'),
    "a rendering of one's own that is not there": Mistake(TOML, '"as_written"', '"mine:write"',
                                                          "line 11", "cannot be imported"),
    # [design]
    "no lists": Mistake(TOML, "lists = 2\n", "", "design", 'the key "lists" in [design] is missing'),
    "zero lists": Mistake(TOML, "lists = 2", "lists = 0", "line 15", "lists is 0"),
    "half a list": Mistake(TOML, "lists = 2", "lists = 2.5", "line 15", "lists is 2.5"),
    "lists as text": Mistake(TOML, "lists = 2", 'lists = "two"', "line 15", "a whole number"),
    "a negative number of places": Mistake(TOML, "participants_per_list = 4",
                                           "participants_per_list = -4", "line 16", "is -4"),
    "an odd number of places": Mistake(TOML, "participants_per_list = 4",
                                       "participants_per_list = 5", "line 16", "even", note=True),
    "too many trials expected": Mistake(TOML, "trials_per_list = 10", "trials_per_list = 11",
                                        "line 17", "trials in each list"),
    "no lease": Mistake(TOML, "lease_minutes = 60", "lease_minutes = 0", "line 18", "is 0"),
    "an unknown separation": Mistake(TOML, 'separate = "construction"', 'separate = "conditions"',
                                     "line 19, design.separate", 'Did you mean "condition"?'),
    "three lists for two conditions of four": Mistake(TOML, "lists = 2", "lists = 3", "design",
                                                      "cannot be balanced over 3 lists"),
    "one list for two conditions": Mistake(TOML, "lists = 2", "lists = 1", "design",
                                           "2 conditions do not fit 1 lists"),
    "a key of another table": Mistake(TOML, "lists = 2", "lists = 2\nkeys = []", "line 16",
                                      'there is no key "keys" in [design]'),
    # design.squares
    "no squares": Mistake(TOML, "[[design.squares]]", "[[squares]]", "squares", "squares"),
    "squares as one table": Mistake(TOML, '[[design.squares]]\ntemplates = ["agreement"]',
                                    '[design.squares]\ntemplates = ["agreement"]', TOML,
                                    "not valid TOML"),
    "a template misspelt": Mistake(TOML, 'templates = ["agreement"]', 'templates = ["agrement"]',
                                   "design.squares 1", 'Did you mean "agreement"?'),
    "a template that is text": Mistake(TOML, 'templates = ["agreement"]', 'templates = "agreement"',
                                       "line 22", "a list in square brackets"),
    "no templates": Mistake(TOML, 'templates = ["agreement"]', "templates = []", "line 22",
                            "templates is []"),
    "a template in two squares": Mistake(TOML, '["question"]', '["agreement"]', "design.squares",
                                         "more than once"),
    "more frames than there are": Mistake(TOML, "frames = 4", "frames = 8", "design.squares 1",
                                          "8 frames are needed"),
    "frames that do not divide": Mistake(TOML, "frames = 4", "frames = 3", "design.squares 1",
                                         "cannot be balanced over 2 lists"),
    "pooled templates of other conditions": Mistake(TOML, '["filler"]', '["filler", "question"]',
                                                    "design.squares", "more than once"),
    "more catch trials than items": Mistake(TOML, "catch_trials = 2", "catch_trials = 5",
                                            "design.squares 3", "5 catch trials are asked"),
    "a square's key misspelt": Mistake(TOML, "catch_trials", "catchtrials", "line 32",
                                       'Did you mean "catch_trials"?'),
    "a template that is in no list": Mistake(
        TOML, """\
trials_per_list = 10
lease_minutes = 60
separate = "construction"

[[design.squares]]
templates = ["agreement"]
frames = 4

[[design.squares]]
templates = ["question"]
""", """\
trials_per_list = 6
separate = ""

[[design.squares]]
templates = ["agreement"]
""", "design", "are in no list", note=True),
    "templates kept apart that are in no square": Mistake(
        TOML, "[trial]", '[[design.disjoint]]\ntemplates = ["agreement", "z"]\nslots = ["N"]\n[trial]',
        "design.disjoint", 'no template "z"'),
    "slots that no frame has": Mistake(
        TOML, "[trial]",
        '[[design.disjoint]]\ntemplates = ["agreement", "filler"]\nslots = ["Q"]\n[trial]',
        "design", "no slot Q"),
    "one construction too often": Mistake(
        TOML, '[[design.squares]]\ntemplates = ["filler"]\nframes = 4\ncatch_trials = 2\n', "",
        "design", "trials in each list"),
    # Items shared and given, factors, quotas: the last square becomes one of these.
    "no such template shared": Mistake(
        TOML, f"[[design.squares]]\n{_FILLERS}", '[[design.shared]]\ntemplates = ["filer"]\n', "design.shared 1",
        'Did you mean "filler"?'),
    "more shared items than there are": Mistake(
        TOML, f"[[design.squares]]\n{_FILLERS}", '[[design.shared]]\ntemplates = ["filler"]\nitems = 9\n',
        "design.shared 1", "9"),
    "shared items by number and condition": Mistake(
        TOML, f"[[design.squares]]\n{_FILLERS}",
        '[[design.shared]]\ntemplates = ["filler"]\nitems = 2\nconditions = { all = 2 }\n',
        "design.shared", "give either items or conditions"),
    "a shared condition that no item has": Mistake(
        TOML, f"[[design.squares]]\n{_FILLERS}",
        '[[design.shared]]\ntemplates = ["filler"]\nconditions = { al = 2 }\n', "design.shared 1",
        'Did you mean "all"?'),
    "a column of lists that no item has": Mistake(
        TOML, f"[[design.squares]]\n{_FILLERS}",
        '[[design.given]]\ntemplates = ["filler"]\ncolumn = "liste"\n', "design.given 1", "liste"),
    "a factor's level twice": Mistake(TOML, "lists = 2", 'factors = { group = ["a", "a"] }\nlists = 2',
                                      "line 15", 'the factor "group" lists a level twice: a, a'),
    "a factor of one level": Mistake(TOML, "lists = 2", 'factors = { group = ["a"] }\nlists = 2',
                                     "line 15", "group"),
    "a factor's level that is not there": Mistake(
        TOML, "catch_trials = 2", 'catch_trials = 2\nwhen = { group = "a" }', "design", "group"),
    "a quota of no list": Mistake(
        TOML, "[trial]", "[[design.quotas]]\nlists = [7]\nparticipants_per_list = 2\n[trial]",
        "design.quotas", "quota 1 is for list 7, but there are 2 lists"),
    # [design.order]
    "breaks between blocks that are one": Mistake(
        TOML, "[trial]", "[design.order]\nbreaks = true\n[trial]", "design.order.breaks",
        "never occurs", note=True),
    "a page of no block": Mistake(
        TOML, "[trial]", '[design.order]\npages = { main = "consent" }\n[trial]',
        "design.order.pages", 'no block "main"'),
    "a page that nobody wrote": Mistake(
        TOML, "[trial]", '[design.order]\npages = { "" = "thanks" }\n[trial]',
        "design.order.pages", "Expected the file texts/en/thanks.md. Write the text, or remove the"),
    "a page that is not there": Mistake(
        TOML, "[trial]", '[design.order]\npages = { "" = "instruction" }\n[trial]',
        "design.order.pages", 'Did you mean "instructions"?'),
    "a first block that is not there": Mistake(
        TOML, "[trial]", '[design.order]\nfirst_blocks = ["practice"]\n[trial]', "design.order",
        "practice"),
    "a distance of one": Mistake(TOML, "[trial]", "[design.order]\ndistance = { N = 1 }\n[trial]",
                                 "design.order.distance", "greater than or equal to 2"),
    "blocks in a random order": Mistake(TOML, "[trial]", '[design.order]\nblocks = "random"\n[trial]',
                                        "design.order.blocks", "counterbalanced"),
    # Ratings and three options.
    "a scale of points for pairs": Mistake(TOML, "lockout_ms = 150", "parameters = { points = 1 }",
                                           "line 36", "points is unknown"),
    "errors among ratings": Mistake(TOML, 'response = "sentence_pair"', 'response = "rating"',
                                    "exclusion", "the rule counts answers that are right or wrong"),
    "two keys for a scale of seven": Mistake(TOML, 'response = "sentence_pair"',
                                             'response = "rating"', "trial.keys",
                                             "2 keys choose among 7 answers"),
    "a bonus for correct ratings": Mistake(TOML, 'response = "sentence_pair"',
                                           'response = "rating"', "payment.bonus",
                                           "no answer of the type"),
    "keys for two of three options": Mistake(TOML, 'response = "sentence_pair"',
                                             'response = "option_list"', "trial.keys",
                                             "2 keys choose among 3 answers"),
    "coding of answers that nobody types": Mistake(
        TOML, "[trial]",
        '[coding]\nquestion = "What is it?"\ncategories = [{ name = "a", title = "A" }, { name = "b", title = "B" }]\n[trial]',
        "coding", "but no answer of the type \"sentence_pair\" is typed"),
    # [trial]
    "one key": Mistake(TOML, '["f", "j"]', '["f"]', "line 35", "keys"),
    "two like keys": Mistake(TOML, '["f", "j"]', '["f", "F"]', "line 35", "two keys are the same"),
    "a key of two letters": Mistake(TOML, '["f", "j"]', '["fj", "j"]', "line 35", "one printable"),
    "keys as text": Mistake(TOML, '["f", "j"]', '"fj"', "line 35", "a list in square brackets"),
    "a lockout of a minute": Mistake(TOML, "lockout_ms = 150", "lockout_ms = 60000", "line 36",
                                     "60000"),
    "no lockout": Mistake(TOML, "lockout_ms = 150", "lockout_ms = 0", "line 36",
                          "a press counts from 0 ms after the previous answer", note=True),
    "a lockout and a gap that are shorter": Mistake(TOML, "lockout_ms = 150",
                                                    "lockout_ms = 99\ngap_ms = 50", "line 36",
                                                    "a press counts from 149 ms", note=True),
    "a break that never occurs": Mistake(TOML, "break_every = 5", "break_every = 50", "line 37",
                                        "never occurs", note=True),
    "practice that is not there": Mistake(TOML, '"practice.toml"', '"practise.toml"', "line 38",
                                          "practice trials cannot be read"),
    "parameters that no type of response has": Mistake(TOML, "lockout_ms = 150",
                                                   "parameters = { colour = 1 }", "line 36",
                                                   "colour is unknown"),
    "an unknown type of response": Mistake(TOML, '"sentence_pair"', '"sentence_pairs"', "line 1",
                                       'Did you mean "sentence_pair"?'),
    "a type of response that needs a context": Mistake(TOML, '"sentence_pair"', '"prefix_completion"',
                                                   "items.tsv, line", "no context"),
    "a type of response of one's own that is not there": Mistake(
        TOML, '"sentence_pair"', '"mine:Show"', "line 1", "cannot be imported"),
    # [[exclusion]]
    "an unknown rule": Mistake(TOML, '"max_errors"', '"max_error"', "exclusion 1",
                               'Did you mean "max_error'),
    "a rule without a name": Mistake(TOML, 'rule = "max_errors"\n', "", "exclusion 1",
                                     'the key "rule"'),
    "a rule without its parameter": Mistake(TOML, "max_errors = 0\n", "", "exclusion 1",
                                            "max_errors is missing"),
    "a rule with another's parameter": Mistake(TOML, "max_errors = 0", "max_error_rate = 0.1",
                                               "exclusion 1", "max_error_rate is unknown"),
    "a negative number of errors": Mistake(TOML, "max_errors = 0", "max_errors = -1", "exclusion 1",
                                           "max_errors"),
    "a rate in percent": Mistake(TOML, "max_error_rate = 0.5", "max_error_rate = 50",
                                 "exclusion 2", "max_error_rate"),
    "a rule about no construction": Mistake(TOML, 'construction = "filler"', 'construction = "filer"',
                                            "line 42", 'Did you mean "filler"?'),
    "a rule that excludes nobody": Mistake(TOML, "max_errors = 0", "max_errors = 2", "exclusion 1",
                                           "can never exclude anyone"),
    # [[questionnaire]]
    "a required choice without options": Mistake(
        TOML, 'options = ["English", "another one"]\n', "", "questionnaire 1", "no one could finish"),
    "a choice of nothing": Mistake(TOML, '["English", "another one"]', "[]", "line 54",
                                   "without options"),
    "a choice of empty texts": Mistake(TOML, '["English", "another one"]', '["", " "]', "line 54",
                                       "without options"),
    "an empty answer": Mistake(TOML, '["English", "another one"]', '["English", ""]', "line 54",
                               "an empty answer"),
    "an answer twice": Mistake(TOML, '["English", "another one"]', '["English", "English"]',
                               "line 54", "more than once. Expected each answer only once"),
    "only one answer": Mistake(TOML, '["English", "another one"]', '["English"]', "line 54",
                                "only one answer", note=True),
    "options as text": Mistake(TOML, '["English", "another one"]', '"English"', "line 54",
                               "a list in square brackets"),
    "options of a number": Mistake(TOML, 'type = "number"', 'type = "number"\noptions = ["1"]',
                                   "questionnaire 2", "is of type number but has options"),
    "an unknown type": Mistake(TOML, 'type = "number"', 'type = "sliders"', "line 60", "sliders"),
    "a scale without points": Mistake(TOML, 'type = "number"', 'type = "scale"', "questionnaire 2",
                                      "points of the scale"),
    "a key of another type": Mistake(TOML, 'type = "number"', 'type = "number"\npoints = 5',
                                     "questionnaire 2", "points is a key of type scale"),
    "a slider without room": Mistake(TOML, 'type = "number"',
                                     'type = "slider"\nfrom_number = 5\nto_number = 5',
                                     "questionnaire 2", "to_number greater than from_number by"),
    "a condition on no question": Mistake(TOML, 'type = "number"',
                                          'type = "number"\nonly_if = { nativ_language = "no" }',
                                          "line 61", 'Did you mean "native_language"?'),
    "a condition on an unknown answer": Mistake(TOML, 'type = "number"',
                                                'type = "number"\nonly_if = { native_language = "a" }',
                                                "line 61", "no answer to"),
    "a semicolon among choices": Mistake(TOML, 'type = "number"',
                                         'type = "choices"\noptions = ["a; b", "c"]', "line 61",
                                         "Expected options without a semicolon"),
    "a condition on what people write": Mistake(
        TOML, 'type = "number"\n', 'type = "number"\n\n[[questionnaire]]\nname = "years"\n'
        'label = "How many?"\ntype = "number"\nonly_if = { age = "9" }\n', "line 66",
        'depends on "age", whose answers are not fixed options'),
    "a question twice": Mistake(TOML, 'name = "age"', 'name = "native_language"', "line 58",
                                "two questions"),
    "a question's name with a space": Mistake(TOML, 'name = "age"', 'name = "how old"', "line 58",
                                              "how old"),
    "a question without words": Mistake(TOML, 'label = "How old are you?"', 'label = ""', "line 59",
                                        "label"),
    "required as text": Mistake(TOML, "required = true", 'required = "ja"', "line 55",
                                "true or false"),
    # [simulation]
    "no simulation": Mistake(TOML, "[simulation]\nmix = { accurate = 0.9, guessing = 0.1 }\n"
                             "median_rt_ms = 3000\n", "", TOML, 'the key "simulation" is missing'),
    "shares above one": Mistake(TOML, "guessing = 0.1", "guessing = 0.2", "line 63", "= 1.1"),
    "shares below one": Mistake(TOML, ", guessing = 0.1", "", "line 63", "sum to 1"),
    "shares in percent": Mistake(TOML, "{ accurate = 0.9, guessing = 0.1 }",
                                 "{ accurate = 90, guessing = 10 }", "line 63", "= 100"),
    "a negative share": Mistake(TOML, "{ accurate = 0.9, guessing = 0.1 }",
                                "{ accurate = 1.1, guessing = -0.1 }", "line 63", "0 or more"),
    "nobody simulated": Mistake(TOML, "{ accurate = 0.9, guessing = 0.1 }", "{}", "line 63",
                                "sum to 1"),
    "an unknown responder": Mistake(TOML, "guessing = 0.1", "guesing = 0.1", "line 63",
                                    'Did you mean "guessing"?'),
    "a share as text": Mistake(TOML, "guessing = 0.1", 'guessing = "few"', "line 63", "a number"),
    "no time at all": Mistake(TOML, "median_rt_ms = 3000", "median_rt_ms = 0", "line 64",
                              "greater than 0"),
    "a time without end": Mistake(TOML, "median_rt_ms = 3000", "median_rt_ms = inf", "line 64", "inf"),
    "a date for a version": Mistake(TOML, '"1.0"', "2026-01-01", "line 6", "version is 2026-01-01"),
    # [recruitment]
    "a reward of half a cent": Mistake(TOML, 'reward = "0.50"', 'reward = "0.505"', "", "0.505"),
    "a reward in words": Mistake(TOML, 'reward = "0.50"', "reward = true", "line 68", "an amount"),
    "no reward": Mistake(TOML, 'reward = "0.50"\n', "", "recruitment", 'the key "reward"'),
    "a reward below the minimum wage": Mistake(TOML, 'reward = "0.50"', 'reward = "0.05"',
                                               "line 68", "an hour", note=True),
    "less time than it takes": Mistake(TOML, "duration_minutes = 30", "duration_minutes = 1",
                                       "line 70", "workers have 1 minutes"),
    "a country in words": Mistake(TOML, '["US", "GB"]', '["USA"]', "line 71", "USA"),
    "a country that is none": Mistake(TOML, '["US", "GB"]', '["UK"]', "line 71", 'mean "GB"?'),
    "a country that never was": Mistake(TOML, '["US", "GB"]', '["QX"]', "line 71",
                                        '"QX" is not a country. Expected codes of ISO 3166'),
    "filters beside a filter set": Mistake(
        TOML, 'require = ["AAA"]',
        'filter_set = "0123456789abcdef01234567"\nfilters = [{ name = "age", at_least = 18 }]',
        "recruitment", "filter_set or filters, not both"),
    "the version of no filter set": Mistake(TOML, 'require = ["AAA"]', "filter_set_version = 2",
                                            "recruitment", "filter_set together with filter_set_version"),
    "details of no warning": Mistake(TOML, 'require = ["AAA"]', 'content_warning_details = "Blood"',
                                     "recruitment", '"explicit" together with its details'),
    "a share above a hundred": Mistake(TOML, "min_approval_percent = 95",
                                       "min_approval_percent = 950", "line 72", "950"),
    "required and refused": Mistake(TOML, 'require = ["AAA"]', 'require = ["AAA"]\nrefuse = ["AAA"]',
                                    "recruitment.refuse", "both required and refused"),
    "no words for workers": Mistake(TOML, '"Choose the better sentence of each pair."', '""',
                                    "line 67", "description"),
    # [payment]
    "an unknown bonus": Mistake(TOML, '"per_correct_catch_trial"', '"all"', "line 76", "bonus"),
    "a bonus of nothing": Mistake(TOML, 'bonus_amount = "0.01"', 'bonus_amount = "0"', "payment",
                                  "bonus and bonus_amount belong together"),
    "a bonus for catch trials without any": Mistake(TOML, "catch_trials = 2\n", "", "payment.bonus",
                                                    "the bonus is for correct catch trials, but the"),
    # [[constructions]]
    "a construction that no item has": Mistake(
        TOML, '[[constructions]]\nname = "filler"',
        '[[constructions]]\nname = "agremeent"\ntitle = "A"\n\n[[constructions]]\nname = "filler"',
        "constructions 3", 'Did you mean "agreement"?'),
    "a construction misspelt": Mistake(TOML, '[[constructions]]\nname = "question"',
                                       '[[constructions]]\nname = "questoin"', "items.tsv",
                                       'Did you mean "questoin"?'),
    "a construction twice": Mistake(TOML, '[[constructions]]\nname = "question"',
                                    '[[constructions]]\nname = "agreement"', "constructions 2",
                                    "more than once"),
    "a construction without a title": Mistake(TOML, 'title = "Questions"\n', "", "constructions 2",
                                              'the key "title"'),
    # The items.
    "an empty table": Mistake("items.tsv", "", " ", "items.tsv", "lacks the column"),
    "a column missing": Mistake("items.tsv", "\tgood\t", "\tgut\t", "items.tsv", "column(s) good"),
    "commas for tabs": Mistake("items.tsv", "\t", ",", "items.tsv", "lacks the column"),
    "an unknown kind": Mistake("items.tsv", "filler-1\tfiller", "filler-1\tfiler", "line",
                               '"filer" is not a value'),
    "an unknown contrast": Mistake("items.tsv", "\tbad\t4.1", "\tgood\t4.1", "line 2",
                                   'the column "contrast"'),
    "a row cut short": Mistake("items.tsv", "filler-1\tfiller\tfiller\tall\tfiller\tcondition=all",
                               "filler-1", "line", "is not a value of the column"),
    "an id twice": Mistake("items.tsv", "filler-1\t", "filler-2\t", "items.tsv",
                           "occurs twice. Expected an item_id of its own for each row"),
    "an empty good sentence": Mistake("items.tsv", "It rains in 1.", "", "items.tsv",
                                      "good or bad is empty"),
    "two like sentences": Mistake("items.tsv", "Rains it in 1.", "It rains in 1.", "items.tsv",
                                  "two versions are"),
    "a space too many": Mistake("items.tsv", "It rains in 1.", "It rains  in 1.", "items.tsv",
                                "stray white space", note=True),
    "an unknown construction": Mistake("items.tsv", "filler-1\tfiller\tfiller",
                                       "filler-1\tfiller\tfillers", "items.tsv",
                                       '"fillers" among the constructions of study.toml'),
    "a condition misspelt": Mistake("items.tsv", "\tsg\tquestion\t", "\tsgl\tquestion\t", "design",
                                    "3 conditions do not fit 2 lists"),
    "a frame twice": Mistake("items.tsv", "N=n1\t\tWhich noun sleeps", "N=n2\t\tWhich noun sleeps", "design",
                             "have the same frame and condition"),
    "lost letters": Mistake("items.tsv", "It rains in 1.", "Es fÃ¼hrt in 1.", "items.tsv", "encodings"),
    "an invisible character": Mistake("items.tsv", "It rains in 1.", "It\u200b rains in 1.",
                                      "items.tsv", "invisible"),
    "Latin-1 items": Mistake("items.tsv", "It rains in 1.", "Es f\udcfchrt in 1.", "items.tsv",
                             "not a text table"),
    # The texts and the other files.
    "no consent": Mistake("texts/en/consent.md", "", "-", "consent.md", "missing or empty"),
    "empty instructions": Mistake("texts/en/instructions.md", "", " \n", "instructions.md", "empty"),
    "Latin-1 debrief": Mistake("texts/en/debrief.md", "A text", "Sch\udcf6n", "debrief.md", "UTF-8"),
    "practice that is no TOML": Mistake("practice.toml", "[[practice]]", "[practice", "practice.toml",
                                        "cannot be read"),
    "practice without a bad sentence": Mistake("practice.toml", 'bad = "The dog bark."\n', "",
                                               "practice.toml", "bad is missing"),
    "practice with an unknown key": Mistake("practice.toml", "feedback", "feetback", "practice.toml",
                                            "feetback is unknown"),
    "a published accuracy in percent": Mistake("published.csv", "0.95", "95", "published.csv",
                                               "not a proportion"),
    "a published accuracy in words": Mistake("published.csv", "0.95", "high", "published.csv", "high"),
    "an unknown published construction": Mistake("published.csv", "1,agreement", "1,agrement",
                                                 "published.csv", 'Did you mean "agreement"?'),
    "an accuracy that is not a number": Mistake("published.csv", "0.95", "high", "published.csv",
                                             '"high" in the column "accuracy" is not of the type'),
    "an unknown published condition": Mistake("published.csv", "question,sg", "question,sing",
                                              "published.csv", 'no condition "sing"'),
    "a published row twice": Mistake("published.csv", "1,filler,,people", "1,agreement,,people",
                                     "published.csv", "the row repeats 1, agreement"),
    "a published column missing": Mistake("published.csv", "judge,", "juge,", "published.csv",
                                          "judge"),
    "Latin-1 results": Mistake("published.csv", "0.95,me", "0.95,m\udcfc", "published.csv", "UTF-8"),
    # What a hurried person leaves in a table, or writes of a design.
    "a text of spaces": Mistake("items.tsv", "It rains in 1.", "  ", "items.tsv", "consists of white space"),
    "letters lost another way": Mistake("items.tsv", "It rains in 1.", "C\u00c5\u201aek \u00c4\u2026",
                                        "items.tsv", "between encodings"),
    "an error of a spreadsheet": Mistake("items.tsv", "It rains in 1.", "#REF!", "items.tsv",
                                           "error of a spreadsheet"),
    "a star before the bad sentence": Mistake("items.tsv", "Rains it in 1.", "*Rains it in 1.",
                                              "items.tsv", "shows a judgment"),
    "question marks before the bad sentence": Mistake("items.tsv", "Rains it in 1.", "??Rains it in 1.",
                                                      "items.tsv", "shows a judgment"),
    "an item without an id": Mistake("items.tsv", "filler-1\t", "\t", "items.tsv", "has no item_id"),
    "markup in a sentence": Mistake("items.tsv", "It rains in 1.", "<i>It</i> rains in 1.", "items.tsv",
                                    "see literally", note=True),
    "an entity in a sentence": Mistake("items.tsv", "It rains in 1.", "It rains &amp; in 1.",
                                       "items.tsv", "see literally", note=True),
    "a cell that a program left empty": Mistake("items.tsv", "It rains in 1.", "NaN", "items.tsv",
                                                "empty cell", note=True),
    "a letter that only looks alike": Mistake("items.tsv", "The noun 1", "The n\u043eun 1", "items.tsv",
                                              "Cyrillic and Latin", note=True),
    "one pair in two items": Mistake("items.tsv", "It rains in 1.\tRains it in 1.",
                                     "It rains in 4.\tRains it in 4.", "items.tsv",
                                     "the same texts", note=True),
    "markup in the title": Mistake(TOML, '"Which sentence sounds better?"', '"<b>Which</b>?"', "line 5",
                                   "see literally", note=True),
    "an answer with a space at its end": Mistake(TOML, '["English", ', '["English ", ', "line 54",
                                                 "with spaces that no browser sends back"),
    "a question before the start with a space at its end": Mistake(
        TOML, "[simulation]", '[[screening]]\nname = "try"\nlabel = "X?"\ntype = "choice"\n'
        'options = ["a ", "b"]\naccept = ["b"]\n\n[simulation]', "screening",
        ", with spaces that no browser sends back"),
    "a question with the name of a form's field": Mistake(
        TOML, "[simulation]", '[[screening]]\nname = "try"\nlabel = "X?"\naccept = ["b"]\n\n'
        "[simulation]", "screening", 'a question cannot be called "try"'),
    "answers that differ in capitals": Mistake(TOML, '"another one"', '"english"', "line 54",
                                               "upper and lower case", note=True),
    "forty million places": Mistake(TOML, "participants_per_list = 4", "participants_per_list = 40000000",
                                    "line 16", "because each session is built and audited"),
    "digits of another script": Mistake(TOML, "lists = 2", "lists = \uff12", "line 15", "not valid TOML"),
    "a dash for a minus": Mistake(TOML, "lists = 2", "lists = \u20132", "line 15", "not valid TOML"),
    "True with a capital": Mistake(TOML, "required = true", "required = True", "line 55",
                                   "not valid TOML"),
    "seconds for milliseconds": Mistake(TOML, "median_rt_ms = 3000", "median_rt_ms = 3", "line 64",
                                        "no press counts", note=True),
    "cents for dollars": Mistake(TOML, 'reward = "0.50"', 'reward = "50"', "line 68", "an hour", note=True),
    "a decimal comma in an amount": Mistake(TOML, 'reward = "0.50"', 'reward = "0,50"', "line 68",
                                            "not an amount"),
    "no amount at all": Mistake(TOML, 'reward = "0.50"', 'reward = "0"', "line 68",
                                "recruitment.reward must be more than 0"),
    "an unknown currency": Mistake(TOML, "[payment]", '[payment]\ncurrency = "EURO"', "line 76",
                                   "not a currency"),
    "a rule twice": Mistake(TOML, '[[exclusion]]\nrule = "max_error_rate"',
                            '[[exclusion]]\nrule = "max_errors"\nconstruction = "filler"\nmax_errors = 0\n\n'
                            '[[exclusion]]\nrule = "max_error_rate"', "exclusion 2", "twice", note=True),
    "a column of a rule misspelt": Mistake(TOML, 'construction = "filler"', 'where = { zpf = "4.1" }',
                                           "exclusion 1.where", 'Did you mean "zipf"?'),
    "a quota without a number": Mistake(TOML, "[trial]", "[[design.quotas]]\nlists = [1]\n[trial]",
                                        "design.quotas 1", "sets no number", note=True),
    "a quota of a level that is not there": Mistake(
        TOML, "[trial]", '[[design.quotas]]\nwhen = { g = "a" }\nparticipants_per_list = 2\n[trial]',
        "design.quotas", 'no factor "g"'),
    "a quota of trials that lists have not": Mistake(
        TOML, "[trial]", "[[design.quotas]]\nlists = [1]\ntrials_per_list = 9\n[trial]", "line 17",
        "trials in each list"),
    "one block in counterbalanced order": Mistake(
        TOML, "[trial]", '[design.order]\nblocks = "counterbalanced"\n[trial]', "design.order.blocks",
        "only one block", note=True),
    "targets apart without fillers enough": Mistake(
        TOML, "[trial]", "[design.order]\ntargets_apart = true\n[trial]", "design.order", "too many"),
    "more first fillers than fillers": Mistake(
        TOML, "[trial]", "[design.order]\nfirst_fillers = 9\n[trial]", "design.order",
        "should be fillers"),
    "a distance that no order keeps": Mistake(
        TOML, "[trial]", "[design.order]\ndistance = { construction = 9 }\n[trial]", "design.order",
        "no order"),
    "neighbours apart in what most share": Mistake(
        TOML, 'separate = "construction"', 'separate = "kind"', "line 19", "too many"),
    "levels without items": Mistake(
        TOML, 'templates = ["agreement"]\nframes = 4\n\n[[design.squares]]\ntemplates = ["question"]\n'
        'frames = 4\n\n[[design.squares]]\ntemplates = ["filler"]\nframes = 4\ncatch_trials = 2\n',
        'templates = ["agreement"]\nframes = 4\nwhen = { g = "a" }\n\n[design.factors]\ng = ["a", "b"]\n',
        "design.squares", "some lists would be empty: no items are shown at their levels"),
    "a factor with the name of a column": Mistake(
        TOML, "lists = 2", 'factors = { list = ["a", "b"] }\nlists = 2', "line 15", "column of that name"),
    "a rule of two limits": Mistake(
        TOML, 'rule = "max_errors"\nconstruction = "filler"\nmax_errors = 0',
        'rule = "same_side"\nmax_share = 0.9\nmax_run = 9', "exclusion 1",
        "give either max_share or max_run"),
    "a wording twice": Mistake(
        TOML, "[trial]", '[design.factors]\ng = ["a", "b"]\n\n[[design.wording]]\nwhen = { g = "a" }\n'
        'title = "A"\n\n[[design.wording]]\nwhen = { g = "a" }\ntitle = "B"\n\n[trial]',
        "wording", "is worded twice for participants with"),
}  # fmt: skip
