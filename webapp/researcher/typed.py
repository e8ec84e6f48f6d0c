"""Whole numbers as they are typed in a form or stand in an address."""


def whole_number(typed: str, n_digits: int, otherwise: int = 0) -> int:
    """Return a number of at most so many digits, or another one where the text is none.

    The digits are counted first: Python reads no number of thousands of them.
    """
    good = typed.isascii() and typed.isdigit() and len(typed) <= n_digits
    return int(typed) if good else otherwise
