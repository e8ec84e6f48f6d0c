"""One participant's session, from consent to the questionnaire.

Each step takes an open database session and changes it. No step commits and none calls a platform:
who called it commits, once. Answers that come at the same moment share a transaction,
which ``record_batch.record_in_one_transaction`` ends for all of them.
"""
