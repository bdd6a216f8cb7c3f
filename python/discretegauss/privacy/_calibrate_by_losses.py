"""From (epsilon, delta) to noise by privacy losses: many releases, samples of the people."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from .._certified.euler_maclaurin import log_of
from .._certified.interval import arithmetic, fraction_of
from .._certified.search import crossing, zero_of
from .._inputs.messages import refused
from ..laws import Law, centred
from .costs import cost_of

#: What lies beyond all buckets is less, of one release.
_LEAST_DELTA = Fraction(1, 2**100)

#: What stands for the logarithm of a delta of 0.
_NOTHING = -1e4

#: What stands for one that is too large by less than a rounding.
_TOO_MUCH = 1e-300


def first_crossing(
    law_of: Callable[[Fraction], Law],
    guess: float,
    budget: tuple[Fraction, Fraction],
    change: int,
    queries: int,
    rate: Fraction,
) -> Law:
    """Return a law that meets (epsilon, delta), while one less in its last digit does not.

    Parameters
    ----------
    law_of : callable
        The law of a parameter, which makes it wider.
    guess : float
        About the logarithm of the parameter looked for.
    budget : (Fraction, Fraction)
        epsilon and delta.
    change, queries, rate : int, int, Fraction
        What one person changes, and with which probability in each query.

    Notes
    -----
    Delta need not fall as the parameter grows: where few integers count, the probability of the
    next one grows before it counts for nothing. So this is *a* crossing, at which the budget begins
    to be met, and not always the least. It is met: of one query by the least delta there is, of
    others by the losses' delta, which is never below the truth.
    """
    epsilon, delta = budget
    log_delta = log_of(delta)

    def excess(parameter: Fraction) -> float:
        """Return log(found/delta), at most 0 where the budget is met, and only there."""
        found = cost_of(centred(law_of(parameter)), change, queries, rate).delta(epsilon)
        log = math.log(found) - log_delta if found else _NOTHING
        return min(log, 0.0) if found <= delta else max(log, _TOO_MUCH)

    return law_of(crossing(excess, fraction_of(arithmetic(53).up.exp(guess))))


def log_guess(
    beta: float, epsilon: Fraction, delta: Fraction, change: int, queries: int, rate: Fraction
) -> float:
    """Return about the logarithm of the scale that a budget asks for, where queries are many.

    Their losses add up to nearly normal ones (the central limit theorem): with J/scale**2 the
    Fisher information of one, to those of a normal mean moved by mu deviations,

        mu**2 = rate**2 queries (exp((change/scale)**2 J) - 1),    (change/scale)**2 J queries

    with sampling and without; J = beta**2 G(2 - 1/beta)/G(1/beta), and 1 for a Gaussian's sigma.
    """
    e, log_delta = min(float(epsilon), 700.0), max(log_of(delta), -700.0)

    def excess(log_mu: float) -> float:
        mu = math.exp(log_mu)
        tails = [math.erfc((e / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1)]
        found = tails[0] - math.exp(e) * tails[1]
        return (math.log(found) if found > 0 else _NOTHING) - log_delta

    log_mu = zero_of(excess, 0.0, 14.0)
    if rate != 1:
        share = 2 * log_mu - log_of(rate**2 * queries)  # of exp(mu1**2) - 1
        log_mu1 = math.log(math.log1p(math.exp(share)) if share < 700 else share) / 2
    else:
        log_mu1 = log_mu - log_of(Fraction(queries)) / 2
    log_j = math.log(beta**2 * math.gamma(2 - 1 / beta) / math.gamma(1 / beta))
    return log_of(Fraction(change)) + log_j / 2 - log_mu1


def is_in_reach(delta: Fraction, queries: int) -> bool:
    """Return whether a delta is above what may lie in no bucket."""
    return delta >= queries * _LEAST_DELTA


def require_reach(delta: Fraction, queries: int) -> None:
    """Refuse a delta that what lies in no bucket might exceed."""
    if not is_in_reach(delta, queries):
        rule = "be at least 2**-100 for each query, as what lies in no bucket is below that"
        raise refused("delta", rule, delta)
