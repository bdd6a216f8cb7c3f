"""Rows of people that are taken for counts: columns that read as names of persons."""

from __future__ import annotations

import re
from collections.abc import Iterable

FEWEST_ROWS = 11
"""In a smaller table a column differs in all rows by chance."""

N_LOOKED_AT = 20
"""So many values are looked at for their form."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PEOPLE = frozenset(
    (
        *("client", "customer", "email", "employee", "guid", "mail", "member", "participant"),
        *("passport", "patient", "person", "phone", "respondent", "ssn", "student", "subscriber"),
        *("surname", "user", "username", "uuid"),
    )
)
"""Words for a person, or for what names one."""

_ENDINGS = frozenset(("address", "code", "hash", "id", "ids", "key", "name", "no", "nr", "number"))
"""The last word of a name, after such a word."""

_NAMES = frozenset({"id", "name", "first name", "last name", "full name", "family name"})

_FORMS = (
    re.compile(r"\{?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}?"),
    re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+"),
)
"""Of UUIDs, and of addresses of e-mail."""


def names_people(name: object) -> bool:
    """Return whether the name of a column reads as that of an identifier."""
    words = [word.lower() for word in _WORD.findall(name)] if isinstance(name, str) else []
    if not words:
        return False
    last = words[-1]
    of_person = last in _PEOPLE or (last in _ENDINGS and not _PEOPLE.isdisjoint(words))
    return " ".join(words) in _NAMES or last == "id" or of_person


def look_like_people(values: Iterable[object]) -> bool:
    """Return whether all values, and there is one, are UUIDs or addresses of e-mail."""
    texts = [str(value) for value in values]
    return any(texts and all(map(form.fullmatch, texts)) for form in _FORMS)


def refusal(name: object) -> str:
    """Return the message about a column that differs in all rows and reads as an identifier."""
    return (
        f"each row looks like one person, because column {name!r} reads as an identifier and "
        "no two rows looked at agree in it: count first, so that a row is a group of people; if "
        "the rows are groups, leave the column out, or make a plan whose table has it in by"
    )
