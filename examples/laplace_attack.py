"""Attack Laplace noise in floating point, and snapping, by the doubles that are possible.

    python examples/laplace_attack.py

Two data sets differ in one person: the true answers are 0 and 1. Somebody adds Laplace noise by
numpy's generator and publishes the sum, a double. The noise is scale * log(u) for u on a grid, so
it is easy to find which doubles are possible for an answer. An output of one data set is often
impossible for the other, and then tells for certain which data set it was.

Mironov, On Significance of the Least Significant Bits for Differential Privacy, CCS 2012.
"""

from __future__ import annotations

import math

import numpy as np

import discretegauss as dg

N = 2000


def of_uniform(k: int, answer: float, scale: float) -> float:
    """Return the noise that numpy's generator makes of the uniform double k / 2**53."""
    u = k * 2.0**-53
    if u >= 0.5:
        return answer - scale * math.log(2.0 - u - u)
    return answer + scale * math.log(u + u)


def is_possible(y: float, answer: float, scale: float) -> bool:
    """Return whether numpy's generator can make y of the answer, by trying the nearest uniforms."""
    tail = round(2.0**52 * math.exp(-abs(y - answer) / scale))
    nearest = tail if y < answer else 2**53 - tail
    around = range(max(1, nearest - 6), min(2**53 - 1, nearest + 6) + 1)
    return any(of_uniform(k, answer, scale) == y for k in around)


def attack(
    scale: float, answer: float, other: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the share of outputs that are impossible for another answer."""
    outputs = rng.laplace(answer, scale, N).tolist()
    own = sum(is_possible(y, answer, scale) for y in outputs)
    told = sum(not is_possible(y, other, scale) for y in outputs)
    return own / N, told / N


def attack_on_snapping(scale: int, answer: float, other: float) -> float:
    """Return the share of snapped outputs for an answer that are impossible for another."""
    bound = 64.0 * scale
    law = dg.snapping.SnappedLaplace(other, f"1/{scale}", bound)
    outputs = dg.snapping.snapping_laplace(np.full(N, answer), f"1/{scale}", bound)
    return float((law.pmf(outputs) == 0).mean())


def main() -> None:
    """Print a table."""
    rng = np.random.default_rng()
    print("share of outputs that betray the data set (answers 0 and 1)\n")
    print(f"{'scale':>8} {'epsilon':>8}   numpy, from 0   numpy, from 1   snapping")
    for scale in (1, 3, 10**6):
        shares = [attack(float(scale), *pair, rng)[1] for pair in ((0.0, 1.0), (1.0, 0.0))]
        snapped = max(attack_on_snapping(scale, *pair) for pair in ((0.0, 1.0), (1.0, 0.0)))
        print(f"{scale:8} {1 / scale:8.2g} {shares[0]:15.3f} {shares[1]:15.3f} {snapped:10.3f}")


if __name__ == "__main__":
    main()
