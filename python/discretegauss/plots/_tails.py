"""Figure: the probabilities of each noise, and their tails."""

from __future__ import annotations

import math
from typing import Any

from .._inputs.numbers import whole_number
from ..utility import compare_noise, continuous_gaussian_sf, rounded_gaussian_pmf
from .look import LINES, Panels, finish, look_of

_SIGMA2 = 1
_LAST_BAR = 4
_LAST_TAIL = 8


def probabilities(ax: Any, *, sigma2: object = 1, last: object = _LAST_BAR) -> Any:
    """Draw the probabilities of single values, of noises that cost the same in zCDP.

    Parameters
    ----------
    ax : matplotlib axes
        Where to.
    sigma2 : number, optional
        Of the discrete Gaussian, > 0; the others are those of `utility.compare_noise`.
    last : int, optional
        The largest value; from its negative on.

    Returns
    -------
    matplotlib axes
        The same.
    """
    noise, end = compare_noise(sigma2), whole_number(last, "last", minimum=1)
    variance = float(noise.gaussian.sigma2)
    integers = range(-end, end + 1)
    heights = {
        "discrete Gaussian": [noise.gaussian.pmf(k) for k in integers],
        "rounded Gaussian": [rounded_gaussian_pmf(sigma2, k) for k in integers],
        "discrete Laplace": [noise.laplace.pmf(k) for k in integers],
    }
    for place, (name, values) in enumerate(heights.items()):
        ax.bar(
            [k + 0.27 * (place - 1) for k in integers],
            values,
            width=0.25,
            color=LINES[name]["color"],
            hatch=("", "////", "....")[place],
            edgecolor="white",
            linewidth=0,
            label=name,
        )
    x = [i / 25 for i in range(-25 * end - 12, 25 * end + 13)]
    density = [math.exp(-t * t / (2 * variance)) / math.sqrt(2 * math.pi * variance) for t in x]
    ax.plot(x, density, **look_of("continuous Gaussian", "continuous Gaussian (density)"))
    ax.set_xticks(list(integers))
    finish(ax, "probabilities", "k (counts)", "P(noise = k)", legend_at="upper right")
    return ax


def tails(ax: Any, *, sigma2: object = 1, last: object = _LAST_TAIL) -> Any:
    """Draw P(noise >= k) of noises that cost the same in zCDP.

    Parameters
    ----------
    ax : matplotlib axes
        Where to.
    sigma2 : number, optional
        Of the discrete Gaussian, > 0; the others are those of `utility.compare_noise`.
    last : int, optional
        The largest k.

    Returns
    -------
    matplotlib axes
        The same.

    Notes
    -----
    The bound is Proposition 25 of arXiv 2004.00010.
    """
    noise, end = compare_noise(sigma2), whole_number(last, "last", minimum=1)
    whole = range(end + 1)
    found = [noise.tails(k) for k in whole]
    for name in ("discrete Laplace", "rounded Gaussian", "discrete Gaussian"):
        ax.semilogy(list(whole), [t[name] for t in found], **look_of(name, name))
    x = [i / 10 for i in range(10 * end + 1)]
    normal = [continuous_gaussian_sf(sigma2, t) for t in x]
    ax.semilogy(x, normal, **look_of("continuous Gaussian", "continuous Gaussian"))
    label = "bound for the discrete Gaussian\n(Proposition 25)"
    bound = [t["its bound"] for t in found]
    ax.semilogy(list(whole), bound, **look_of("bound or conversion", label))
    finish(ax, "upper tails", "k (counts)", "P(noise >= k)")
    return ax


def draw_tails(figure: Any, panels: Panels) -> None:
    """Draw the probabilities of single values, and of values from k on."""
    left, right = panels
    probabilities(left, sigma2=_SIGMA2)
    tails(right, sigma2=_SIGMA2)
    left.set_ylim(0, 0.7)
    right.set_ylim(1e-16, 3)
    figure.suptitle(
        f"Noise that costs the same, rho = 1/2 in zCDP, at sensitivity 1 (sigma2 = {_SIGMA2})"
    )
