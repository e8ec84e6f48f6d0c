"""The codes of typed answers: coders, what each has coded, and frozen versions.

No code is stored with a text. An answer is known by a keyed digest of its text and of the item, so
that the codes of an erased answer belong to nothing.
"""
