"""CPU time of many sampled releases: `privacy.loss` and `PrivacyLoss`, beside dp-accounting.

    OPENBLAS_NUM_THREADS=1 python benchmarks/sampled_accounting.py [--rounds 5] [--shares]

Each line has our lower and upper bound of epsilon, dp-accounting's value, and the least CPU seconds
of some interleaved rounds: for the upper bound alone, for both, and of dp-accounting with its
default interval. Nothing is kept between rounds but tables that all calls of a process share.

With ``--shares`` the table is that of docs/federated_accounting.md instead: 1000 rounds of 100
shares, 10**6 numbers, a norm of 4000 steps, delta = 1e-6. dp-accounting's figures, of a trusted
centre's continuous noise, stand beside; so does the factor of 3 with which the published code for
distributed discrete Gaussians accounts for samples (Zhu and Wang, ICML 2019, general mechanisms).
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dp_accounting import dp_event, pld, rdp
from dp_accounting.pld import privacy_loss_distribution as theirs

import discretegauss as dg

#: Noise, sigma2, rate of sampling, releases, delta.
CASES: list[tuple[str, float, str, int, float]] = [
    ("Gaussian", 1, "0.01", 10**4, 1e-5),
    ("discrete", 4, "0.01", 10**3, 1e-6),
    ("Gaussian", 0.25, "0.01", 100, 1e-6),
    ("Gaussian", 0.5, "0.001", 10**5, 1e-6),
    ("Gaussian", 1, "0.01", 10**4, 1e-14),
    ("Gaussian", 1, "0.0001", 10**6, 1e-7),
    ("Gaussian", 4, "0.01", 10**6, 1e-10),
    ("discrete", 4, "0.01", 10**6, 1e-6),
    ("discrete", 100, "0.5", 10**3, 1e-6),
]


def ours(noise: str, sigma2: float, rate: str, releases: int) -> Any:
    """Return the loss of all releases."""
    if noise == "Gaussian":
        one = dg.privacy.PrivacyLoss.of_gaussian(sigma2, sampling=rate)
    else:
        one = dg.privacy.loss(dg.DiscreteGaussian(sigma2), sampling=rate)
    return one**releases


def of_dp_accounting(noise: str, sigma2: float, rate: str, releases: int) -> Any:
    """Return the same of dp-accounting."""
    deviation, share = sigma2**0.5, float(rate)
    if noise == "Gaussian":
        one = theirs.from_gaussian_mechanism(deviation, sampling_prob=share, use_connect_dots=True)
    else:
        one = theirs.from_discrete_gaussian_mechanism(deviation, sampling_prob=share)
    return one.self_compose(releases)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return CPU seconds, and the result."""
    begun = time.process_time()
    found = call()
    return time.process_time() - begun, found


def with_factor_3(multiplier: float, rate: float, rounds: int, delta: float) -> float:
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
        cost = rounds * divergence + math.log1p(-1 / a) - math.log(a * delta) / (a - 1)
        best = min(best, cost)
    return best


def print_shares() -> None:
    """Print the table of shares."""
    rounds, delta, norm, shares, dimension = 1000, 1e-6, 4000, 100, 10**6
    print("| q | multiplier | Gaussian | Skellam | CPU s | PLD | RDP | factor 3 | not sampled |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for rate, multiplier in itertools.product(("0.001", "0.01", "0.1"), ("0.5", "1", "2")):
        variance = Fraction(multiplier) ** 2 * norm**2 / shares
        how: dict[str, Any] = {"sensitivity": norm, "dimension": dimension, "queries": rounds}

        def of(kind: Any, how: Any, variance: Fraction = variance, **more: Any) -> Any:
            return dg.privacy.epsilon(kind(variance).sum(shares), delta, **how, **more)

        spent, gaussian = timed(lambda: of(dg.DiscreteGaussian, how, sampling=rate))  # noqa: B023
        found = [gaussian, of(dg.Skellam, how, sampling=rate)]
        theirs_found = []
        for accountant in (pld.PLDAccountant(), rdp.RdpAccountant()):
            one = dp_event.GaussianDpEvent(float(multiplier))
            accountant.compose(dp_event.PoissonSampledDpEvent(float(rate), one), rounds)
            theirs_found.append(accountant.get_epsilon(delta))
        loose = with_factor_3(float(multiplier), float(rate), rounds, delta)
        texts = [f"{x:.4f}" for x in found] + [f"{spent:.2f}"]
        texts += [f"{x:.4f}" for x in (*theirs_found, loose)]
        texts.append(f"{of(dg.DiscreteGaussian, how):.1f}")
        print(f"| {rate} | {multiplier} | " + " | ".join(texts) + " |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="sampled accounting beside dp-accounting")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shares", action="store_true")
    given = parser.parse_args()
    if given.shares:
        print_shares()
        return
    rounds = given.rounds
    print(
        "| noise, sigma2, q, n, delta | from | to | CPU s, upper / both | dp-accounting | CPU s |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for noise, sigma2, rate, releases, delta in CASES:
        how = noise, sigma2, rate, releases
        calls = (
            lambda: ours(*how).epsilon(delta),  # noqa: B023 - called here
            lambda: ours(*how).epsilon(delta, bounds=True),  # noqa: B023
            lambda: of_dp_accounting(*how).get_epsilon_for_delta(delta),  # noqa: B023
        )
        runs = [[timed(call) for call in calls] for _ in range(rounds)]
        upper, both, peer = (min(run[i][0] for run in runs) for i in range(3))
        (low, high), value = runs[0][1][1], runs[0][2][1]
        name = ", ".join(map(str, (*how, delta)))
        print(
            f"| {name} | {low:.5f} | {high:.5f} | {upper:.3f} / {both:.3f} | {value:.5f} "
            f"| {peer:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
