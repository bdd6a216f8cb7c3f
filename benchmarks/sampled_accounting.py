"""CPU time of many sampled releases: `privacy.loss` and `PrivacyLoss`, beside dp-accounting.

    OPENBLAS_NUM_THREADS=1 python benchmarks/sampled_accounting.py [--rounds 5]

Each line has our lower and upper bound of epsilon, dp-accounting's value, and the least CPU seconds
of some interleaved rounds: for the upper bound alone, for both, and of dp-accounting with its
default interval. Nothing is kept between rounds but tables that all calls of a process share.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

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


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="sampled accounting beside dp-accounting")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
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
