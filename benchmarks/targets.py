"""The project's targets for speed: what this run measured of each, and whether it is met.

Called by ``throughput.py --developer``. See targets.md in this folder.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import shlex
import sys

import bulk
import report
from bench import machine, rounds
from bench.contenders import (
    CASES,
    CannotRunError,
    Case,
    Contender,
    Draw,
    all_contenders,
)
from options import json_file, positive_int


def main(argv: list[str]) -> int:
    """Measure, print the rows and the verdicts, and write them where --json says."""
    arguments = _parse(argv)
    contenders, missing = all_contenders()
    skipped = [{"case": "all", "contender": peer.name, "reason": peer.reason} for peer in missing]
    cases = [case for case in CASES if arguments.only in case.name and not arguments.bulk]
    in_bulk = bulk.reason_to_skip()
    if in_bulk is not None:
        skipped.append({"case": "bulk", "contender": "discretegauss", "reason": in_bulk})
    if not cases and not any(arguments.only in name for name in bulk.group_names()):
        what = [f"no case has {arguments.only!r} in its name"] if arguments.only else []
        why = [f"the bulk table cannot be measured: {in_bulk}"] if in_bulk is not None else []
        print("; ".join(what + why), file=sys.stderr)
        return 2

    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    command = shlex.join(["python", "benchmarks/throughput.py", "--developer", *arguments.argv])
    description = machine.describe()
    load = machine.load_now()
    print(f"# {command}\n# {date}, {description['cpu']}, one thread; {load}", flush=True)

    rows: list[report.Row] = []
    verdicts: list[report.Verdict] = []
    for case in cases:
        print(f"# measuring {case.name}", file=sys.stderr, flush=True)
        draws, refusals = _prepare(case, contenders)
        skipped += refusals
        rates = rounds.measure(draws, seconds=arguments.seconds, rounds=arguments.rounds)
        case_rows = report.make_rows(case, contenders, rates)
        rows += case_rows
        verdicts.append(report.make_verdict(case, case_rows))

    bulk_rows = bulk.run(arguments.only, quick=arguments.quick)
    skipped += bulk.skipped(bulk_rows)
    if cases:
        print(f"\n{report.rows_text(rows)}\n\n{report.verdicts_text(verdicts)}")
    if bulk_rows:
        print(f"\n{bulk.rows_text(bulk_rows)}\n# {machine.load_now()} at the end")
    print("\nskipped:" if skipped else "\nskipped: none")
    for entry in skipped:
        print(f"  {entry['contender']} ({entry['case']}): {entry['reason']}")

    if arguments.json is not None:
        document = {
            "benchmark": "throughput",
            "date": date,
            "command": command,
            "seconds_per_contender": arguments.seconds,
            "rounds": arguments.rounds,
            "machine": description,
            "skipped": skipped,
            **report.as_json(rows, verdicts),
            "bulk": bulk.as_json(bulk_rows),
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _prepare(
    case: Case, contenders: list[Contender]
) -> tuple[dict[str, Draw], list[dict[str, str]]]:
    """What is drawn in this case, and who sits it out and why."""
    draws: dict[str, Draw] = {}
    refusals: list[dict[str, str]] = []
    for contender in contenders:
        if case.law not in contender.laws or case.shape not in contender.shapes:
            continue
        try:
            draws[contender.name] = contender.prepare(case)
        except CannotRunError as reason:
            refusals.append({"case": case.name, "contender": contender.name, "reason": str(reason)})
    return draws, refusals


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="throughput.py --developer", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "--json", type=json_file, metavar="FILE", help="write everything here as JSON"
    )
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    parser.add_argument(
        "--seconds",
        type=float,
        help="time for each contender in each case (default 1.5); not for the bulk table",
    )
    parser.add_argument(
        "--rounds",
        type=positive_int,
        help="interleaved rounds in that time (default 7); not for the bulk table",
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name has TEXT")
    parser.add_argument("--bulk", action="store_true", help="the bulk engine's targets alone")
    arguments = parser.parse_args(argv)
    if arguments.seconds is None:
        arguments.seconds = 0.15 if arguments.quick else 1.5
    if arguments.rounds is None:
        arguments.rounds = 3 if arguments.quick else 7
    if not (math.isfinite(arguments.seconds) and arguments.seconds > 0):
        parser.error(f"argument --seconds: must be positive and finite, not {arguments.seconds}")
    arguments.argv = argv
    return arguments
