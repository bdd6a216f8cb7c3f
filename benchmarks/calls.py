#!/usr/bin/env python
"""Calls as users make them (small arrays, arrays of parameters, objects, functions) beside peers.

    python benchmarks/calls.py [--quick] [--only TEXT] [--json FILE]

Processor time of a call (of an item of it, where the row says so; of two threads the time by the
wall clock), medians over interleaved rounds, and the median of the rounds' ratios: so many times
the peer's speed where something is owed "at least", so many times its time where "at most". See
results_calls.md in this folder.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shlex
import sys
from collections.abc import Callable

import bulk
from bench import machine
from bench.rounds import Draw, Rates, measure
from calls_rows import Answer, Question, answers_text, as_json
from options import json_file


def all_questions() -> list[Question]:
    """Every row there is."""
    import calls_draws
    import calls_functions
    import calls_imports

    modules = (calls_draws, calls_functions, calls_imports)
    return [question for module in modules for question in module.questions()]


def repeated(call: Callable[[], object]) -> Draw:
    """Return what makes a call so many times."""

    def draw(n: int) -> None:
        for _ in range(n):
            call()

    return draw


def answered(question: Question, *, seconds: float, rounds: int) -> Answer:
    """Measure a row, or say why it is not."""
    try:
        sides = question.prepare()
    except ImportError as error:
        return Answer(question, skipped=str(error))
    draws = {"ours": repeated(sides.ours), "theirs": repeated(sides.theirs)}
    rates = measure(draws, seconds=seconds, rounds=rounds, clock=question.clock)
    return Answer(
        question,
        _in_items(rates["ours"], sides.our_items),
        _in_items(rates["theirs"], sides.their_items),
    )


def _in_items(rates: Rates, items: int) -> Rates:
    return Rates(rates.draws_per_call, tuple(rate * items for rate in rates.by_round))


def main() -> int:
    """Measure the rows, print them with their verdicts, and write them where --json says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name has TEXT")
    parser.add_argument("--json", type=json_file, metavar="FILE")
    arguments = parser.parse_args()
    reason = bulk.reason_to_skip()
    if reason is not None:
        parser.error(f"nothing can be measured: {reason}")
    questions = [question for question in all_questions() if arguments.only in question.case]
    if not questions:
        parser.error(f"no row has {arguments.only!r} in its name")
    command = shlex.join(["python", "benchmarks/calls.py", *sys.argv[1:]])
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}, {machine.load_now()}", flush=True)
    answers = []
    for question in questions:
        print(f"# measuring {question.case}", file=sys.stderr, flush=True)
        seconds, rounds = (0.1, 3) if arguments.quick else (0.4, 7)
        answers.append(answered(question, seconds=seconds, rounds=rounds))
    print(f"\n{answers_text(answers)}\n# {machine.load_now()} at the end")
    skipped = [answer for answer in answers if answer.skipped]
    print("\nskipped:" if skipped else "\nskipped: none")
    for answer in skipped:
        print(f"  {answer.question.case}: {answer.skipped}")
    if arguments.json is not None:
        document = {
            "benchmark": "calls",
            "date": date,
            "command": command,
            "machine": description,
            "rows": as_json(answers),
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
