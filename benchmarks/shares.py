"""Epsilon of sampled shares: the table of docs/concepts/shares.md.

    OPENBLAS_NUM_THREADS=1 python benchmarks/shares.py

1000 rounds of 100 shares, 10**6 numbers, a norm of 4000 steps, delta = 1e-6. Beside ours stand
dp-accounting's figures for a trusted centre's continuous noise, and the bound of published code for
distributed discrete Gaussians, with a factor of 3 (Zhu and Wang, ICML 2019, general mechanisms).
"""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction
from typing import Any

from dp_accounting import dp_event, pld, rdp

import discretegauss as dg

ROUNDS, DELTA, NORM, SHARES, DIMENSION = 1000, 1e-6, 4000, 100, 10**6


def with_factor_3(multiplier: float, rate: float) -> float:
    """Return the epsilon of that bound, over whole orders up to 256, in floats."""
    best = math.inf
    for a in range(2, 257):
        logs = [a * math.log1p(-rate) + math.log1p(a * rate / (1 - rate))]
        for k in range(2, a + 1):
            weight = math.lgamma(a + 1) - math.lgamma(k + 1) - math.lgamma(a - k + 1)
            weight += k * math.log(rate) + (a - k) * math.log1p(-rate)
            logs.append(weight + k * (k - 1) / (2 * multiplier**2) + math.log(3 if k > 2 else 1))
        top = max(logs)
        moment = top + math.log(sum(math.exp(x - top) for x in logs))
        divergence = min(moment / (a - 1), a / (2 * multiplier**2))
        cost = ROUNDS * divergence + math.log1p(-1 / a) - math.log(a * DELTA) / (a - 1)
        best = min(best, cost)
    return best


def main() -> None:
    print("| q | multiplier | Gaussian | Skellam | PLD | RDP | factor 3 | not sampled | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for rate, multiplier in itertools.product(("0.001", "0.01", "0.1"), ("0.5", "1", "2")):
        share = Fraction(multiplier) ** 2 * NORM**2 / SHARES
        how: dict[str, Any] = {"sensitivity": NORM, "dimension": DIMENSION, "queries": ROUNDS}
        gaussian, skellam = (kind(share).sum(SHARES) for kind in (dg.DiscreteGaussian, dg.Skellam))
        start = time.process_time()
        found = [dg.privacy.epsilon(gaussian, DELTA, **how, sampling=rate)]
        seconds = time.process_time() - start
        found.append(dg.privacy.epsilon(skellam, DELTA, **how, sampling=rate))
        for accountant in (pld.PLDAccountant(), rdp.RdpAccountant()):
            one = dp_event.GaussianDpEvent(float(multiplier))
            accountant.compose(dp_event.PoissonSampledDpEvent(float(rate), one), ROUNDS)
            found.append(accountant.get_epsilon(DELTA))
        found.append(with_factor_3(float(multiplier), float(rate)))
        texts = [f"{x:.4f}" for x in found]
        texts += [f"{dg.privacy.epsilon(gaussian, DELTA, **how):.1f}", f"{seconds:.2f}"]
        print(f"| {rate} | {multiplier} | " + " | ".join(texts) + " |", flush=True)


if __name__ == "__main__":
    main()
