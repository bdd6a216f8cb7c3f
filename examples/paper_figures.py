"""Draw the figures of arXiv 2004.00010, and print its comparison of Gaussian and Laplace noise.

The program computes every number: python examples/paper_figures.py --out figures
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from discretegauss import DiscreteGaussian, privacy, utility
from discretegauss.plots.look import render

EPSILON, DELTA, MARKED = 1, "1e-6", 100
"""The budget of the k queries, and the number of queries that the paper speaks of."""
QUERIES = [1, 2, 3, 4, 5, 6, 8, 10, 13, 18, 24, 32, 42, 56, 75, 100, 133, 178, 237, 316, 562, 1000]
CURVES = ((1, Fraction(8)), (100, Fraction(4, 5)))
"""Of delta: sigma2, and the largest epsilon."""
POINTS = 241

LINES: dict[str, dict[str, Any]] = {
    "discrete Gaussian": {"color": "#0072B2", "linestyle": "-", "linewidth": 2.6},
    "continuous Gaussian": {"color": "black", "linestyle": (0, (4, 2.5)), "linewidth": 1.3},
    "rounded Gaussian": {"color": "#009E73", "linestyle": "-.", "linewidth": 1.8},
    "discrete Laplace": {"color": "#D55E00", "linestyle": ":", "linewidth": 2.4},
    "bound or conversion": {"color": "#CC79A7", "linestyle": "--", "linewidth": 1.8},
    "standard conversion": {"color": "#E69F00", "linestyle": (0, (1, 1)), "linewidth": 2.4},
}
"""Okabe and Ito's colours, for the colour-blind; and no line differs by its colour alone."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("figures"), help="the folder to write to")
    out = parser.parse_args().out
    found = [utility.compare_queries(epsilon=EPSILON, delta=DELTA, queries=k) for k in QUERIES]
    draws = {
        "variance": draw_variance,
        "tails": draw_tails,
        "epsilon_delta": draw_deltas,
        "queries": partial(draw_queries, found=found),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, draw in draws.items():
        path = out / f"{name}.png"
        path.write_bytes(render(draw, panels=2))
        print(f"written to {path}")
    one = found[QUERIES.index(MARKED)]
    zcdp = one.gaussian_by_zcdp
    print(
        f"\nvariance that {MARKED} queries of sensitivity 1 need for "
        f"(epsilon, delta) = ({EPSILON}, {DELTA}):\n"
        f"  discrete Gaussian, by way of zCDP (Corollary 13)      {zcdp.var():.1f}\n"
        f"  discrete Gaussian, tight composition (Theorem 7)      {one.gaussian_tight.var():.1f}\n"
        f"  discrete Laplace, optimal composition (exact for it)  {one.laplace.var():.1f}\n"
        "the Laplace over the Gaussian:\n"
        f"  by way of zCDP, as in the paper                       {one.ratio_by_zcdp():.3f}\n"
        f"  both tight                                            {one.ratio_tight():.3f}"
    )


def draw_variance(figure: Any, panels: Any) -> None:
    """Draw the variance of noises of equal cost in zCDP, and its ratio to sigma2."""
    left, right = panels
    grid = [0.04 * 250 ** (i / 80) for i in range(81)]
    variances = [utility.compare_noise(sigma2).variances() for sigma2 in grid]
    for name in variances[0]:
        y = [v[name] for v in variances]
        left.loglog(grid, y, label=name, **LINES[name])
        relative = [v / sigma2 for v, sigma2 in zip(y, grid, strict=True)]
        right.semilogx(grid, relative, label=name, **LINES[name])
    x = "sigma2 of the discrete Gaussian (squared counts)"
    left.set(title="variance", xlabel=x, ylabel="variance (squared counts)", ylim=(1e-5, 40))
    right.set(title="variance relative to sigma2", xlabel=x, ylim=(0, 2.25))
    right.set_ylabel("variance / sigma2")
    for ax in panels:
        ax.legend(loc="lower right")
    figure.suptitle("Variance of noise that costs the same, rho = 1/(2 sigma2), at sensitivity 1")


def draw_tails(figure: Any, panels: Any) -> None:
    """Draw the probabilities of single values, and P(noise >= k), for sigma2 = 1."""
    left, right = panels
    noise, integers = utility.compare_noise(1), range(-4, 5)
    heights = {
        "discrete Gaussian": [noise.gaussian.pmf(k) for k in integers],
        "rounded Gaussian": [utility.rounded_gaussian_pmf(1, k) for k in integers],
        "discrete Laplace": [noise.laplace.pmf(k) for k in integers],
    }
    for place, (name, values) in enumerate(heights.items()):
        at = [k + 0.27 * (place - 1) for k in integers]
        look = {"color": LINES[name]["color"], "hatch": ("", "////", "....")[place]}
        left.bar(at, values, width=0.25, label=name, edgecolor="white", linewidth=0, **look)
    x = [i / 25 for i in range(-112, 113)]
    density = [math.exp(-t * t / 2) / math.sqrt(2 * math.pi) for t in x]
    left.plot(x, density, label="continuous Gaussian (density)", **LINES["continuous Gaussian"])
    left.set(title="probabilities", xlabel="k (counts)", ylabel="P(noise = k)", ylim=(0, 0.7))
    left.set_xticks(list(integers))
    left.legend(loc="upper right")
    whole = range(9)
    found = [noise.tails(k) for k in whole]
    for name in ("discrete Laplace", "rounded Gaussian", "discrete Gaussian"):
        right.semilogy(whole, [t[name] for t in found], label=name, marker="o", **LINES[name])
    x = [i / 10 for i in range(81)]
    normal = [utility.continuous_gaussian_sf(1, t) for t in x]
    right.semilogy(x, normal, label="continuous Gaussian", **LINES["continuous Gaussian"])
    bound, look = [t["its bound"] for t in found], LINES["bound or conversion"]
    label = "bound for the discrete Gaussian\n(Proposition 25)"
    right.semilogy(whole, bound, label=label, marker="D", **look)
    right.set(title="upper tails", xlabel="k (counts)", ylabel="P(noise >= k)", ylim=(1e-16, 3))
    right.legend(loc="lower left")
    figure.suptitle("Noise that costs the same, rho = 1/2, at sensitivity 1 (sigma2 = 1)")


def draw_deltas(figure: Any, panels: Any) -> None:
    """Draw delta against epsilon for one query, by each method of computing it."""
    for ax, (sigma2, last) in zip(panels, CURVES, strict=True):
        law = DiscreteGaussian(sigma2)
        rho = privacy.rho(law)
        grid = [last * Fraction(i, POINTS - 1) for i in range(POINTS)]
        curves = (
            ("standard conversion", "zCDP, standard", partial(privacy.zcdp_delta_standard, rho)),
            ("bound or conversion", "zCDP (Corollary 13)", partial(privacy.zcdp_delta, rho)),
            ("discrete Gaussian", "tight (Theorem 7)", partial(privacy.delta, law)),
            (
                "continuous Gaussian",
                "continuous Gaussian, tight",
                partial(utility.continuous_gaussian_delta, sigma2),
            ),
        )
        x = [float(epsilon) for epsilon in grid]
        for look, label, delta_at in curves:
            ax.semilogy(x, [delta_at(epsilon) for epsilon in grid], label=label, **LINES[look])
        ax.set(title=f"sigma2 = {sigma2} (rho = {rho})", ylim=(1e-12, 3))
        ax.set(xlabel="epsilon (natural logarithm of a ratio)", ylabel="delta (a probability)")
        ax.legend(loc="lower left")
    figure.suptitle("What the discrete Gaussian costs, one query of sensitivity 1")


def draw_queries(figure: Any, panels: Any, found: list[Any]) -> None:
    """Draw the variance that each of k queries needs, and the ratio of Laplace's to Gaussian's."""
    left, right = panels
    k = [one.queries for one in found]
    for look, law, label in (
        ("discrete Laplace", "laplace", "discrete Laplace,\noptimal composition"),
        ("bound or conversion", "gaussian_by_zcdp", "discrete Gaussian by way of zCDP"),
        ("discrete Gaussian", "gaussian_tight", "discrete Gaussian, tight"),
    ):
        left.loglog(k, [getattr(one, law).var() for one in found], label=label, **LINES[look])
    left.set(title="variance for each query", ylabel="variance (squared counts)")
    for look, ratio, label, offset in (
        ("bound or conversion", "ratio_by_zcdp", "over the Gaussian by way of zCDP", (8, -28)),
        ("discrete Gaussian", "ratio_tight", "over the Gaussian, tight", (-104, 12)),
    ):
        y = [getattr(one, ratio)() for one in found]
        right.semilogx(k, y, label=label, **LINES[look])
        marked = y[k.index(MARKED)]
        text = {"textcoords": "offset points", "fontweight": "bold"}
        right.annotate(f"k = {MARKED}: {marked:.3f}", (MARKED, marked), xytext=offset, **text)
    right.axhline(1, color="0.35", linewidth=1)
    right.axvline(MARKED, color="0.35", linewidth=1, linestyle=":")
    right.text(125, 1.03, "above 1: the Gaussian\nneeds less noise", fontsize=10.5)
    right.set(title="discrete Laplace over discrete Gaussian", ylim=(0, 2.4))
    right.set_ylabel("ratio of the variances")
    for ax in panels:
        ax.set_xlabel("k, the number of queries")
        ax.legend(loc="lower right")
    figure.suptitle(
        f"Noise for k queries that together have (epsilon, delta) = ({EPSILON}, {DELTA})"
    )


if __name__ == "__main__":
    main()
