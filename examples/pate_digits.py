"""Labels from noisy votes (PATE) on scikit-learn's digits, with generalised Gaussian noise.

    python examples/pate_digits.py [--out pate_digits.png]      # about two minutes

A hundred teachers have 13 private images each, of which they know the nearest neighbour. They vote
on public images, every vote gets integer noise, and the digit with the largest noisy vote is the
label. A person whose image is another one may change the vote of one teacher: two counts by 1.
So a label costs what two releases of sensitivity 1 cost, whatever beta is.

All noise is calibrated to the same budget, with proven bounds. What differs is the deviation, and
with it how many labels are right. At many labels the ratio of deviations has a closed form.

Papernot et al., Scalable Private Learning with PATE, ICLR 2018; Rinberg et al., arXiv 2506.12553.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from math import gamma, sqrt
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import discretegauss as dg

TEACHERS, IMAGES_EACH, PUBLIC, DIGITS = 100, 13, 500, 10
DELTA = "1e-5"
BETAS = [Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4)]
FEW_BETAS = [Fraction(1), Fraction(3, 2), Fraction(2)]
NUMBERS_OF_LABELS = [1, 4, 10, 50]
LABELS_DRAWN = 200_000


class Row(NamedTuple):
    """Noise at a budget, and how often the label with it is right."""

    beta: Fraction
    labels: int
    law: dg.GeneralizedGaussian
    accuracy: float


def votes_and_labels() -> tuple[Any, Any]:
    """Return the teachers' votes on the public images, an array (images, digits), and the truth."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    public, private = order[-PUBLIC:], order[:-PUBLIC]
    votes = np.zeros((PUBLIC, DIGITS), np.int64)
    for teacher in range(TEACHERS):
        own = private[teacher * IMAGES_EACH : (teacher + 1) * IMAGES_EACH]
        model = KNeighborsClassifier(1).fit(images[own], labels[own])
        votes[np.arange(PUBLIC), model.predict(images[public])] += 1
    return votes, labels[public]


def limit(beta: Fraction) -> float:
    """Return sd(beta)/sd(2) at equal budget and very many releases: a matter of information.

    The loss of many releases is normal, with a variance that is D**2 times the Fisher information
    of the noise. That of generalised Gaussian noise of deviation 1 is beta**2 G(3/beta)
    G(2 - 1/beta)/G(1/beta)**2, the least for beta = 2.
    """
    b = float(beta)
    return sqrt(b**2 * gamma(3 / b) * gamma(2 - 1 / b)) / gamma(1 / b)


def measured(beta: Fraction, labels: int, epsilon: object, votes: Any, truth: Any) -> Row:
    """Calibrate noise for so many labels, and label the public images with it, again and again."""
    law = dg.privacy.calibrate(
        dg.GeneralizedGaussian, beta=beta, epsilon=epsilon, delta=DELTA, queries=2 * labels
    )
    repetitions = LABELS_DRAWN // PUBLIC
    found = dg.selection.report_noisy_max(np.tile(votes, (repetitions, 1)), law)
    return Row(beta, labels, law, float((found == np.tile(truth, repetitions)).mean()))


def deviation(row: Row) -> float:
    """Return the standard deviation of the noise."""
    return float(row.law.std())


def print_by_beta(rows: list[Row]) -> None:
    """Print the table at many labels."""
    normal = next(deviation(row) for row in rows if row.beta == 2)
    print(f"\n{'beta':>6} {'scale':>8} {'deviation':>10} {'/ beta 2':>9} {'limit':>7} {'right':>7}")
    for row in rows:
        ratio = deviation(row) / normal
        print(
            f"{float(row.beta):6g} {float(row.law.scale):8.2f} {deviation(row):10.2f} "
            f"{ratio:9.3f} {limit(row.beta):7.3f} {row.accuracy:7.3f}"
        )


def print_by_labels(rows: list[Row]) -> None:
    """Print which beta is best for how many labels."""
    print(f"\n{'labels':>7}" + "".join(f"  sd, beta {float(b):<4g} right" for b in FEW_BETAS))
    for labels in NUMBERS_OF_LABELS:
        here = [row for row in rows if row.labels == labels]
        best = min(here, key=deviation)
        cells = "".join(
            f"  {deviation(row):10.2f}{'*' if row is best else ' '}   {row.accuracy:.3f}"
            for row in here
        )
        print(f"{labels:7}{cells}")


def draw(by_beta: dict[str, list[Row]], by_labels: list[Row], file: str) -> None:
    """Draw accuracy over beta, and deviations over the number of labels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for (epsilon, rows), marker in zip(by_beta.items(), "os", strict=True):
        x, y = [float(row.beta) for row in rows], [row.accuracy for row in rows]
        left.plot(x, y, marker=marker, label=f"epsilon = {epsilon}")
    left.set(title=f"{PUBLIC} labels", xlabel="beta", ylabel="labels that are right", ylim=(0, 1))
    for beta, marker in zip(FEW_BETAS, "^so", strict=True):
        rows = [row for row in by_labels if row.beta == beta]
        normal = [row for row in by_labels if row.beta == 2]
        x = [float(row.labels) for row in rows]
        y = [deviation(a) / deviation(b) for a, b in zip(rows, normal, strict=True)]
        (line,) = right.plot(x, y, marker=marker, label=f"beta = {float(beta):g}")
        right.axhline(limit(beta), color=line.get_color(), linestyle=":", linewidth=1)
    right.set(
        title="epsilon = 1 (dotted: the limit of many labels)",
        xlabel="labels",
        ylabel="deviation / that of beta = 2",
        xscale="log",
    )
    for axes in (left, right):
        axes.grid(color="0.9")
        axes.legend()
    figure.savefig(file, dpi=130)


def main() -> None:
    """Print two tables, and draw them."""
    parser = argparse.ArgumentParser(description="PATE on scikit-learn's digits")
    parser.add_argument("--out", metavar="FILE", help="draw a plot, a PNG file")
    arguments = parser.parse_args()
    votes, truth = votes_and_labels()
    margins = np.sort(votes, axis=1)
    print(f"{TEACHERS} teachers, {PUBLIC} public images; (epsilon, {DELTA}) for all labels")
    print(f"without noise {(votes.argmax(axis=1) == truth).mean():.3f} of the labels are right,")
    print(f"the mean margin of votes is {(margins[:, -1] - margins[:, -2]).mean():.0f}")
    by_beta = {}
    for epsilon in ("5", "10"):
        by_beta[epsilon] = [measured(beta, PUBLIC, epsilon, votes, truth) for beta in BETAS]
        print(f"\nepsilon = {epsilon} for {PUBLIC} labels", end="")
        print_by_beta(by_beta[epsilon])
    by_labels = [
        measured(beta, labels, 1, votes, truth)
        for labels in NUMBERS_OF_LABELS
        for beta in FEW_BETAS
    ]
    print("\nepsilon = 1 for few labels (*: the least deviation)", end="")
    print_by_labels(by_labels)
    if arguments.out:
        draw(by_beta, by_labels, arguments.out)


if __name__ == "__main__":
    main()
