"""Words that are stored, or made by modules that know no language, and that the room shows.

``language.said`` finds their translations; a test compares them with where they come from. Names
of files, commands, settings, rules' parameters and platforms are no words: they stay as they are.
"""

from webapp.core.i18n import N_

WORDS = (
    # How far a participant has come, and what happened beside the answers.
    N_("arrived"), N_("declined"), N_("working"), N_("answered"), N_("finished"), N_("abandoned"),
    N_("left"), N_("withdrawn"), N_("premature_press"), N_("shown_otherwise"), N_("late_answer"),
    N_("second_device"), N_("comprehension_wrong"), N_("pasted"), N_("assented"), N_("erased"),
    N_("forgotten"), N_("corrected"), N_("restricted"), N_("released"),
    # How a visit ended.
    N_("completed"), N_("no_consent"), N_("failed_check"), N_("full"), N_("too_late"),
    N_("duplicate"), N_("security"),
    # Verdicts, flags, and what a rule found.
    N_("kept"), N_("excluded"), N_("impossible_time"), N_("timing_mismatch"), N_("device_change"),
    N_("agent_likelihood"), N_("copied"),
    N_("made more errors than allowed"), N_("made a larger share of errors than allowed"),
    N_("answered too fast"), N_("answered too slowly"), N_("answered too often after the deadline"),
    N_("chose one side too often"), N_("rated good and other versions too much alike"),
    N_("left out too much"), N_("gave an answer to a question that is not accepted"),
    N_("misunderstood too many questions"), N_("lie too far from everybody else"),
    N_("claim times that are impossible"),
    N_("claim times that do not match the arrival of their answers"),
    N_("used too many devices"), N_("look like a program"), N_("fail one of several rules"),
    N_("fail several rules together"), N_("fail the opposite of a rule"),
    # Where an option stood, and how it was chosen.
    N_("first"), N_("second"), N_("third"), N_("fourth"), N_("fifth"), N_("sixth"), N_("seventh"),
    N_("eighth"), N_("ninth"), N_("First option"), N_("Second option"), N_("Third option"),
    N_("Fourth option"), N_("Fifth option"), N_("Sixth option"), N_("Seventh option"),
    N_("Eighth option"), N_("Ninth option"), N_("key"), N_("pointer"), N_("touch"),
    # Money.
    N_("reward"), N_("bonus"), N_("compensation"), N_("screen_out"), N_("rejection"),
    N_("intended"), N_("calling"), N_("ordered"), N_("unknown"), N_("refused"), N_("done"),
    N_("reserved"), N_("active"), N_("submitted"), N_("approved"), N_("rejected"), N_("returned"),
    N_("timed_out"), N_("screened_out"), N_("partially_approved"),
    N_("Approve everyone who finished and submitted"), N_("Pay the bonuses of the study's rule"),
    N_("Approve: pay the reward"), N_("Undo the rejection: pay the reward after all"),
    N_("Reject: do not pay the reward"), N_("Pay a bonus"),
    N_("Compensate: they worked and could not submit"),
    N_("places to fill"), N_("offered already"), N_("offers to open again"),
    N_("offers to get more places"), N_("new offers of places"),
    N_("reward of each participant"), N_("rewards"), N_("bonuses, at most"),
    N_("paid screen-outs, at most"), N_("the platform's fees"),
    N_("in all, at most"), N_("hourly pay at the median time"),
    N_("people who could take part now"),
    N_("payments"), N_("publishing"), N_("unblinding"),
    # Users, projects and long jobs.
    N_("member"), N_("viewer"), N_("researcher"), N_("owner"), N_("reader"), N_("analyst"),
    N_("finance"), N_("experimenter"), N_("manager"), N_("see"), N_("export"), N_("review"),
    N_("conduct"), N_("unblind"), N_("pay"), N_("manage"), N_("another browser"),
    N_("open runs"), N_("people at work at once"), N_("MB of uploaded studies"),
    N_("checks, launches and reports at once"), N_("waiting"), N_("failed"), N_("cancelled"),
    N_("fault"), N_("warning"), N_("good"),
    # Of what somebody is told.
    N_("recruitment is complete: every place was finished"),
    N_("nobody has answered for a while, though people are at work"),
    N_("a payment waits, or was refused"), N_("a report or another long job ended or failed"),
    N_("the platform's balance is lower than what is still due"),
    # By what the table of participants is sorted.
    N_("arrival"), N_("list"), N_("minutes"), N_("median reaction time"), N_("fast answers"),
    N_("same side"), N_("page hidden"), N_("slowest to be stored"), N_("flags of plausibility"),
    N_("events"),
    # Charts.
    N_("Recruitment"), N_("Time to finish"), N_("Who stays"), N_("Flags"), N_("Money"),
    N_("Accuracy"), N_("time"), N_("minutes, from"), N_("trials answered"), N_("construction"),
    N_("agreed"), N_("planned"), N_("participants"), N_("spent"), N_("% as expected"),
)  # fmt: skip
