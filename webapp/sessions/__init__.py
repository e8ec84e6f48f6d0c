"""One participant's session, from consent to the questionnaire.

Each step takes an open database session and changes it. No step commits or calls a platform: the
caller commits, once. Answers that arrive at the same moment share a transaction, which
``record_batch.record_in_one_transaction`` commits for all of them.
"""
