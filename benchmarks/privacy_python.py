"""The privacy formulas as they are copied from one project to the next: plain Python, floats.

Written here from the published formulas (arXiv 2004.00010, Theorem 7 and Corollary 13), in the form
in which the papers' programs have them: loops over the law, bisections of 1000 steps. They return
estimates, not bounds, and 0 where floats underflow.
"""

from __future__ import annotations

import math

WINDOW = 10**5
"""The published plots sum the law over so many integers on either side, whatever sigma2."""

STEPS = 1000


def delta_over_a_window(sigma2: float, epsilon: float) -> float:
    """Sum of P(x) max(0, 1 - exp(epsilon - loss(x))) over a fixed window, longer if sigma asks."""
    reach = max(WINDOW, math.ceil(12 * math.sqrt(sigma2)))
    norm = total = 0.0
    for x in range(-reach, reach + 1):
        weight = math.exp(-x * x / (2.0 * sigma2))
        norm += weight
        loss = (x + 0.5) / sigma2
        if loss > epsilon:
            total += weight * (1 - math.exp(epsilon - loss))
    return total / norm


def delta_while_it_counts(sigma2: float, epsilon: float) -> float:
    """The same sum as lean as a loop gets: only terms that count, the norm by symmetry."""
    norm, x, weight = 1.0, 0, 1.0
    while weight > 1e-18:
        x += 1
        weight = math.exp(-x * x / (2.0 * sigma2))
        norm += 2 * weight
    x, total, term = math.floor(epsilon * sigma2 - 0.5) + 1, 0.0, 1.0
    while term > 1e-18 * total:
        term = -math.exp(-x * x / (2.0 * sigma2)) * math.expm1(epsilon - (x + 0.5) / sigma2)
        total += term
        x += 1
    return total / norm


def cdp_delta(rho: float, epsilon: float) -> float:
    """Corollary 13, alpha by bisection of the derivative."""
    low, high = 1.01, (epsilon + 1) / (2 * rho) + 2
    for _ in range(STEPS):
        alpha = (low + high) / 2
        if (2 * alpha - 1) * rho - epsilon + math.log1p(-1 / alpha) < 0:
            low = alpha
        else:
            high = alpha
    exponent = (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha)
    return min(1.0, math.exp(exponent) / (alpha - 1))


def cdp_epsilon(rho: float, delta: float) -> float:
    """The inverse: bisection of a bisection."""
    low, high = 0.0, rho + 2 * math.sqrt(rho * math.log(1 / delta))
    for _ in range(STEPS):
        middle = (low + high) / 2
        if cdp_delta(rho, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def cdp_rho(epsilon: float, delta: float) -> float:
    """The other inverse."""
    low, high = 0.0, epsilon + 1
    for _ in range(STEPS):
        middle = (low + high) / 2
        if cdp_delta(middle, epsilon) <= delta:
            low = middle
        else:
            high = middle
    return low


def sigma2_by_cdp(epsilon: float, delta: float, queries: int) -> float:
    """How noise is calibrated with the above."""
    return queries / (2 * cdp_rho(epsilon, delta))
