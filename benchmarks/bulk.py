"""The bulk engine's targets: every row of the project's table, measured in one run.

Called by throughput.py. The groups are in bulk_rates.py (rates against peers) and bulk_tables.py
(everything else); bulk_rows.py knows what a row is, bulk_peers.py what we are measured against.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from bulk_rows import MEASUREMENT, QUICK, BulkRow, Group, as_json, rows_text


def group_names() -> list[str]:
    """The groups that there are; empty where the compiled engine is missing."""
    return [] if reason_to_skip() is not None else list(_groups())


def reason_to_skip() -> str | None:
    """Why nothing of this can be measured here, or None."""
    try:
        import discretegauss
    except ImportError as error:
        return str(error)
    engine = discretegauss.build_info()["engine"]
    return None if engine == "native" else f"the engine in use is {engine!r}, not the compiled one"


def _groups() -> dict[str, Group]:
    import bulk_rates
    import bulk_tables

    return bulk_rates.rate_groups() | bulk_tables.GROUPS


def skipped(rows: Iterable[BulkRow]) -> list[dict[str, str]]:
    """The rows that could not be measured, as throughput.py lists them."""
    return [
        {"case": "bulk", "contender": row.case, "reason": row.note}
        for row in rows
        if row.measured is None
    ]


def run(only: str, *, quick: bool) -> list[BulkRow]:
    """The rows of the groups that have this text in their name."""
    if reason_to_skip() is not None:
        return []
    settings = QUICK if quick else MEASUREMENT
    rows: list[BulkRow] = []
    for name, group in _groups().items():
        if only in name:
            print(f"# measuring {name}", file=sys.stderr, flush=True)
            rows += group(settings)
    return rows


__all__ = ["BulkRow", "as_json", "group_names", "reason_to_skip", "rows_text", "run", "skipped"]
