"""Two figures: how much snapped noise errs, and what Laplace noise in floats betrays.

    python examples/snapping_figures.py --out FOLDER      # snapping.png and log_artefacts.png

snapping.png is computed from the exact law; nothing in it is simulated. log_artefacts.png counts
which doubles numpy's Laplace noise can reach from two answers.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from laplace_attack import attack, attack_on_snapping, of_uniform

import discretegauss as dg
from discretegauss.plots.look import render

SCALES = (1, 3, 10**6)
DOUBLES = 48
BOUND = 16


def draw_snapping(figure: Any, panels: Any) -> None:
    """Draw quantiles of the error, and the outputs of two neighbours."""
    left, right = panels
    figure.suptitle("Snapping at epsilon = 1/3: the noise has scale 3")
    epsilon, value = "1/3", 0.3
    alphas = [f"1/{n}" for n in (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)]
    x = [1 / int(alpha[2:]) for alpha in alphas]
    bound = 1000
    promised = [dg.snapping.snapping_accuracy(epsilon, bound, alpha) for alpha in alphas]
    left.semilogx(x, promised, "C1:", linewidth=2, label="accuracy promised for any value")
    for grid, label, line in ((None, "grid 4 (default)", "C0-o"), (2.0**-18, "grid 2^-18", "C2-")):
        law = dg.snapping.SnappedLaplace(value, epsilon, bound, grid=grid)
        errors = [law.error_quantile(alpha) for alpha in alphas]
        left.semilogx(x, errors, line, markersize=4, label=label)
    left.semilogx(x, [-3 * np.log(a) for a in x], "k--", linewidth=1, label="Laplace, unrounded")
    left.invert_xaxis()
    left.set(
        title=f"value {value}", xlabel="probability of a larger error", ylabel="size of the error"
    )
    left.legend()
    for answer, look in ((0, "C0o"), (1, "C1^")):
        law = dg.snapping.SnappedLaplace(answer, epsilon, BOUND)
        outputs = np.arange(-BOUND, BOUND + 1, float(law.grid))
        chances = law.pmf(outputs)
        right.plot(outputs, chances, look, label=f"answer {answer}")
    right.set(
        title=f"range -{BOUND} to {BOUND}: one support for all answers",
        xlabel="output",
        ylabel="probability",
        yscale="log",
        xticks=list(range(-BOUND, BOUND + 1, 4)),
    )
    right.legend()


def ways_to(y: float, answer: float) -> int:
    """Return how many uniform doubles numpy's generator turns into y, at scale 1."""
    tail = round(2.0**52 * np.exp(-abs(y - answer)))
    nearest = tail if y < answer else 2**53 - tail
    around = range(nearest - 12, nearest + 13)
    return sum(of_uniform(k, answer, 1.0) == y for k in around)


def draw_log_artefacts(figure: Any, panels: Any) -> None:
    """Draw which doubles numpy's noise reaches, and how much that betrays."""
    left, right = panels
    figure.suptitle("Laplace noise by numpy's generator")
    first = 0.6
    doubles = first + np.arange(DOUBLES) * 2.0**-53
    for answer, sign, colour in ((0.0, 1, "C0"), (1.0, -1, "C1")):
        heights = [sign * ways_to(y, answer) for y in doubles.tolist()]
        left.bar(range(DOUBLES), heights, 0.8, color=colour, label=f"from answer {answer:g}")
    left.set(
        title=f"scale 1: the doubles next to {first}",
        xlabel=f"which double, from {first} on",
        ylabel="uniforms that lead to it (downwards: from 1)",
        ylim=(-1.7, 1.7),
        yticks=(-1, 0, 1),
    )
    left.legend()
    rng = np.random.default_rng()
    places = np.arange(len(SCALES))
    numpys = [attack(float(scale), 0.0, 1.0, rng)[1] for scale in SCALES]
    ours = [attack_on_snapping(scale, 0.0, 1.0) for scale in SCALES]
    right.bar(places - 0.2, numpys, 0.38, color="C1", label="numpy")
    right.bar(places + 0.2, ours, 0.38, color="C0", label="snapping")
    for place, share in zip(places + 0.2, ours, strict=True):
        right.annotate(f"{share:g}", (place, share), ha="center", va="bottom")
    right.set(
        title="outputs that are impossible for the other answer",
        xlabel="scale",
        ylabel="share of the outputs",
        ylim=(0, 1),
        xticks=places,
        xticklabels=[f"{scale:,}" for scale in SCALES],
    )
    right.legend()


def main() -> None:
    """Draw both."""
    parser = argparse.ArgumentParser(description="figures on snapping")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where to")
    folder = Path(parser.parse_args().out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("snapping", draw_snapping), ("log_artefacts", draw_log_artefacts)):
        (folder / f"{name}.png").write_bytes(render(draw, panels=2))


if __name__ == "__main__":
    main()
