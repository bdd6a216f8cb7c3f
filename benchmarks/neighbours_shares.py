#!/usr/bin/env python
"""Skellam noise beside numpy's difference of Poisson draws, in one run; and what a round takes.

    python benchmarks/neighbours_shares.py [--quick] [--json FILE]

Draws a second of processor time in arrays of 10**5, one thread, median over interleaved rounds, and
how many times numpy's: the median of the rounds' ratios. numpy's draws come from PCG64 and floats.
The epsilons are those of `privacy.epsilon` beside dp-accounting's conversion of the formula of
arXiv 2110.04995 at the 128 orders that published code takes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import shlex
import sys
from functools import partial
from typing import Any

import numpy as np

import discretegauss as dg
from bench import machine
from bench.rounds import Draw, Rates, seconds_per_call
from discretegauss import Skellam, distributed, privacy
from options import json_file

VARIANCES = {"1/2": 0.5, "100": 100.0, "1000000": 1e6}
PIECE = 10**5


def ours(variance: str, source: Any) -> Draw:
    """Draws of the law; its table is made beforehand."""
    law = Skellam(variance)
    law.sample(1)

    def draw(n: int) -> None:
        for start in range(0, n, PIECE):
            law.sample(min(PIECE, n - start), source=source)

    return draw


def numpys(variance: float) -> Draw:
    """The difference of two arrays of Poisson draws."""
    rng = np.random.default_rng()

    def draw(n: int) -> None:
        for start in range(0, n, PIECE):
            size = min(PIECE, n - start)
            rng.poisson(variance / 2, size) - rng.poisson(variance / 2, size)  # as a user writes

    return draw


def wide() -> Draw:
    """Draws by rejection."""
    law = Skellam(10**12)

    def draw(n: int) -> None:
        law.sample(n)

    return draw


def messages() -> Draw:
    """Whole messages of 1024 numbers, in numbers."""
    law = Skellam(100)
    secure = distributed.SecureSum(1000, clip=1, steps=200, law=law, most_clients=100)
    vectors = np.full((100, 1000), 0.01)

    def draw(n: int) -> None:
        secure.message(vectors[: max(1, n // 1000)])

    return draw


def gaussians() -> Draw:
    """Discrete Gaussian draws of the same variance, for comparison."""
    law = dg.DiscreteGaussian(100)

    def draw(n: int) -> None:
        law.sample(n)

    return draw


def measured(draws: dict[str, Draw], rounds: int, budget: float) -> dict[str, Rates]:
    """Rates in processor time, round by round."""
    order, rates = list(draws), {name: list[float]() for name in draws}
    counts = {name: 10_000 if "1e12" in name else PIECE for name in draws}
    for _ in range(rounds):
        for name in order:
            seconds = seconds_per_call(partial(draws[name], counts[name]), budget)
            rates[name].append(counts[name] / seconds)
        order = order[1:] + order[:1]
    return {name: Rates(counts[name], tuple(rates[name])) for name in draws}


def accounted() -> list[dict[str, Any]]:
    """Epsilons of ours, and of dp-accounting's conversion."""
    try:
        from dp_accounting import rdp
    except ImportError as error:
        print(f"# dp-accounting is not asked: {error}")
        return []
    rows, orders = [], [*range(2, 129), 256]
    for m, norm, d, rounds in ((4000, 10, 1000, 20), (100, 3, 4096, 5), (10**6, 130, 1024, 100)):
        sum_norm = min(math.sqrt(d) * norm, norm**2)
        bounds = [
            order * norm**2 / (2 * m)
            + min(((2 * order - 1) * norm**2 + 6 * sum_norm) / (4 * m**2), 1.5 * sum_norm / m)
            for order in orders
        ]
        theirs, _ = rdp.compute_epsilon(orders, [rounds * bound for bound in bounds], 1e-6)
        law = Skellam(m)
        mine = privacy.epsilon(law, "1e-6", norm, dimension=d, queries=rounds)
        rows.append({"variance": m, "norm": norm, "rounds": rounds, "ours": mine, "peer": theirs})
    return rows


def main() -> int:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, not a measurement")
    parser.add_argument("--json", type=json_file, metavar="FILE")
    arguments = parser.parse_args()
    command = shlex.join(["python", "benchmarks/neighbours_shares.py", *sys.argv[1:]])
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}, {machine.load_now()}\n")
    draws: dict[str, Draw] = {}
    for text, value in VARIANCES.items():
        draws[f"Skellam({text}), getrandom"] = ours(text, "getrandom")
        draws[f"Skellam({text}), chacha20"] = ours(text, "chacha20")
        draws[f"numpy, variance {text}"] = numpys(value)
    draws["Skellam(1e12)"] = wide()
    draws["numbers of SecureSum.message"] = messages()
    draws["discrete Gaussian, sigma2 = 100"] = gaussians()
    rates = measured(draws, *((3, 0.05) if arguments.quick else (7, 0.2)))
    rows = []
    print(f"{'':34} {'draws/s':>10} {'x numpy':>8}")
    for name, rate in rates.items():
        text = name.partition("(")[2].partition(")")[0]
        peer = rates.get(f"numpy, variance {text}")
        ratio = None if peer is None else rate.ratio_to(peer)
        print(f"{name:34} {rate.median:10.3g} {'' if ratio is None else f'{ratio:.2f}':>8}")
        rows.append({"name": name, "rate": rate.median, "ratio": ratio, "by_round": rate.by_round})
    found = accounted()
    print(f"\n{'variance':>8} {'norm':>5} {'rounds':>6} {'epsilon':>9} {'dp-accounting':>14}")
    for row in found:
        print(
            f"{row['variance']:8} {row['norm']:5} {row['rounds']:6} {row['ours']:9.4f} "
            f"{row['peer']:14.4f}"
        )
    print(f"\n# {machine.load_now()}")
    if arguments.json is not None:
        document: dict[str, Any] = {"benchmark": "neighbours_shares", "date": date}
        document |= {"command": command, "machine": description, "rows": rows, "epsilons": found}
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
