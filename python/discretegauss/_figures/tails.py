"""Figure: the probabilities of each noise, and their tails."""

from __future__ import annotations

import math
from typing import Any

from ..utility import compare_noise, continuous_gaussian_sf, rounded_gaussian_pmf
from .drawing import LINES, Panels, finish

__all__ = ["draw_tails"]

_SIGMA2 = 1
_LAST_BAR = 4
_LAST_TAIL = 8


def draw_tails(figure: Any, panels: Panels) -> None:
    """Draw the probabilities of single values, and of values from k on."""
    noise = compare_noise(_SIGMA2)
    left, right = panels

    integers = range(-_LAST_BAR, _LAST_BAR + 1)
    heights = {
        "discrete Gaussian": [noise.gaussian.pmf(k) for k in integers],
        "rounded Gaussian": [rounded_gaussian_pmf(_SIGMA2, k) for k in integers],
        "discrete Laplace": [noise.laplace.pmf(k) for k in integers],
    }
    for place, (name, probabilities) in enumerate(heights.items()):
        left.bar(
            [k + 0.27 * (place - 1) for k in integers],
            probabilities,
            width=0.25,
            color=LINES[name]["color"],
            hatch=("", "////", "....")[place],
            edgecolor="white",
            linewidth=0,
            label=name,
        )
    x = [i / 25 for i in range(-25 * _LAST_BAR - 12, 25 * _LAST_BAR + 13)]
    density = [math.exp(-t * t / (2 * _SIGMA2)) / math.sqrt(2 * math.pi * _SIGMA2) for t in x]
    left.plot(x, density, **LINES["continuous Gaussian"], label="continuous Gaussian (density)")
    left.set_xticks(list(integers))

    whole = range(_LAST_TAIL + 1)
    tails = [noise.tails(k) for k in whole]
    for name in ("discrete Laplace", "rounded Gaussian", "discrete Gaussian"):
        right.semilogy(list(whole), [t[name] for t in tails], **LINES[name], label=name)
    x = [i / 10 for i in range(10 * _LAST_TAIL + 1)]
    normal = [continuous_gaussian_sf(_SIGMA2, t) for t in x]
    right.semilogy(x, normal, **LINES["continuous Gaussian"], label="continuous Gaussian")
    bound = [t["its bound"] for t in tails]
    look = LINES["bound or conversion"] | {
        "label": "bound for the discrete Gaussian\n(Proposition 25)"
    }
    right.semilogy(list(whole), bound, **look)
    right.set_ylim(1e-16, 3)

    figure.suptitle(
        f"Noise that costs the same, rho = 1/2 in zCDP, at sensitivity 1 (sigma2 = {_SIGMA2})"
    )
    finish(left, "probabilities", "k (counts)", "P(noise = k)", legend_at="upper right")
    left.set_ylim(0, 0.7)
    finish(right, "upper tails", "k (counts)", "P(noise >= k)")
