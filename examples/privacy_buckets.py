"""What many releases give away: buckets beside other accountants.

    python examples/privacy_buckets.py [--out privacy_buckets.png]      # about a minute

The setting of Meiser and Mohammadi (CCS 2018): Laplace noise of scale 200, cut off at 2500, on an
answer that one person changes by at most 1, released again and again. Four ways to say what delta
is at an epsilon:

- `PrivacyLoss`: proven bounds from below and above;
- dp-accounting, from the probabilities of the outcomes: pessimistic and optimistic, in floats;
- Kairouz, Oh and Viswanath: the worst of all releases that are (1/200, delta0)-private;
- Renyi divergences, the best of some orders.

dp-accounting is optional (pip install dp-accounting); without it its columns are empty.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discretegauss.privacy import PrivacyLoss

SCALE, CUT, CHANGE = 200, 2500, 1
EPSILONS = [0, 4, 8]
RELEASES = [2**9, 2**13, 2**18]

Curve = Callable[[float], Any]
"""Delta at an epsilon, or a pair: a lower and an upper bound."""


def told_for_certain() -> float:
    """Return the probability of an outcome that only one of two neighbours can have."""
    last, end = ((CUT - CHANGE) / SCALE, CUT / SCALE)
    return (math.exp(-last) - math.exp(-end)) / (2 * -math.expm1(-end))


def buckets(releases: int) -> Curve:
    """Return proven bounds."""
    width = Fraction(CHANGE, SCALE) / 32  # finer than needed for the least epsilon
    loss = PrivacyLoss.of_laplace(SCALE, CHANGE, cut=CUT, width=width) ** releases
    return lambda epsilon: loss.delta(epsilon, bounds=True)


def worst_of_its_epsilon(releases: int) -> Curve:
    """Return what Kairouz, Oh and Viswanath say of (1/200, delta0) composed."""
    told = told_for_certain()
    loss = PrivacyLoss.of_pure(f"{CHANGE}/{SCALE}", told) ** releases
    return loss.delta


def by_renyi(releases: int) -> Curve:
    """Return the bound by Renyi divergences of the noise without its ends, and delta0 for these.

    In floats: only a comparison. The divergence of continuous Laplace noise is a closed form
    (Mironov, CSF 2017, Proposition 6).
    """
    t = CHANGE / SCALE
    told = -math.expm1(releases * math.log1p(-told_for_certain()))
    orders = 1 + np.geomspace(1e-3, 1e4, 3000)
    top, low = (orders - 1) * t, -orders * t
    terms = [
        np.log(orders / (2 * orders - 1)) + top,
        np.log((orders - 1) / (2 * orders - 1)) + low,
    ]
    divergences = releases * np.logaddexp(*terms) / (orders - 1)

    def delta(epsilon: float) -> float:
        logs = (orders - 1) * (divergences - epsilon) - np.log(orders - 1)
        logs += orders * np.log1p(-1 / orders)
        return min(1.0, told + math.exp(min(float(logs.min()), 0.0)))

    return delta


def outcomes(parts: int) -> tuple[dict[int, float], dict[int, float]]:
    """Return the logarithms of the probabilities of cells, with the person and without.

    Where the loss varies, on [0, 1], there are so many cells; each of the rest is one outcome.
    """
    log_total = math.log(2 * SCALE * -math.expm1(-CUT / SCALE))

    def mass(low: float, high: float, centre: float) -> float:
        if high <= centre:
            low, high = 2 * centre - high, 2 * centre - low
        return math.exp((centre - low) / SCALE) * -math.expm1((low - high) / SCALE) * SCALE

    cuts = [CHANGE - CUT, *np.linspace(0, CHANGE, parts + 1).tolist(), CUT]
    here, moved = {}, {}
    for i, (low, high) in enumerate(pairwise(cuts)):
        here[i] = math.log(mass(low, high, 0)) - log_total
        moved[i] = math.log(mass(low, high, CHANGE)) - log_total
    here[-1] = moved[-2] = math.log(told_for_certain())
    return here, moved


def of_dp_accounting(releases: int) -> Curve | None:
    """Return dp-accounting's two estimates, from outcomes; None if it is not installed."""
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        return None
    here, moved = outcomes(64)
    pair = [
        pld.from_two_probability_mass_functions(
            here, moved, pessimistic_estimate=pessimistic, value_discretization_interval=5e-5
        ).self_compose(releases)
        for pessimistic in (False, True)
    ]
    return lambda epsilon: tuple(one.get_delta_for_epsilon(float(epsilon)) for one in pair)


WAYS: dict[str, Callable[[int], Curve | None]] = {
    "PrivacyLoss": buckets,
    "dp-accounting": of_dp_accounting,
    "Kairouz-Oh-Viswanath": worst_of_its_epsilon,
    "Renyi": by_renyi,
}


def shown(value: Any) -> str:
    """Return a delta, or a pair of bounds, as text."""
    if isinstance(value, tuple):
        return " to ".join(f"{end:.8f}" for end in value)
    return f"{value:.8f}"


def draw(found: dict[int, dict[str, Curve]], file: str) -> None:
    """Draw delta over epsilon, a panel for each number of releases."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    looks = {"PrivacyLoss": ("C0", "-", 3.0), "dp-accounting": ("C1", "-", 1.2)}
    looks |= {"Kairouz-Oh-Viswanath": ("C2", "--", 1.6), "Renyi": ("C3", ":", 2.0)}
    panels = figure.subplots(1, len(found), squeeze=False)[0]
    for axes, (releases, curves) in zip(panels, found.items(), strict=True):
        end = 3.5 * math.sqrt(releases) * CHANGE / SCALE + releases * (CHANGE / SCALE) ** 2 / 2
        epsilons = np.linspace(0, end, 41)
        for name, curve in curves.items():
            values = [curve(float(epsilon)) for epsilon in epsilons]
            columns = list(zip(*(v if isinstance(v, tuple) else (v,) for v in values), strict=True))
            colour, line, width = looks[name]
            for i, column in enumerate(columns):
                label = f"{name} (both bounds)" if len(columns) == 2 else name
                axes.semilogy(
                    epsilons,
                    np.maximum(column, 1e-300),
                    color=colour,
                    linestyle=line,
                    linewidth=width,
                    label=label if i == 0 else None,
                )
        floor = -math.expm1(releases * math.log1p(-told_for_certain()))
        axes.axhline(floor, color="0.6", linewidth=0.8)
        axes.set(
            title=f"2^{releases.bit_length() - 1} releases",
            xlabel="epsilon",
            ylabel="delta",
            ylim=(floor / 4, 1.5),
        )
        axes.grid(color="0.9")
    figure.axes[0].legend(loc="lower left")
    figure.suptitle(f"Laplace noise of scale {SCALE}, cut off at {CUT}: grey is told for certain")
    figure.savefig(file, dpi=130)


def main() -> None:
    """Print a table, and draw it."""
    parser = argparse.ArgumentParser(description="what many releases give away")
    parser.add_argument("--out", metavar="FILE", help="draw a plot, a PNG file")
    arguments = parser.parse_args()
    found: dict[int, dict[str, Curve]] = {}
    for releases in RELEASES:
        print(f"\n2^{releases.bit_length() - 1} releases")
        print(
            f"{'':22} {'CPU s':>6}" + "".join(f"  {f'delta({e})':<26}" for e in EPSILONS).rstrip()
        )
        found[releases] = {}
        for name, way in WAYS.items():
            start = time.process_time()
            curve = way(releases)
            if curve is None:
                print(f"{name:22} {'not installed':>6}")
                continue
            cells = [shown(curve(epsilon)) for epsilon in EPSILONS]
            took = time.process_time() - start
            found[releases][name] = curve
            row = f"{name:22} {took:6.1f}" + "".join(f"  {cell:<26}" for cell in cells)
            print(row.rstrip(), flush=True)
    if arguments.out:
        draw(found, arguments.out)


if __name__ == "__main__":
    main()
