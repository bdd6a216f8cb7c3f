"""The noise of each share that (epsilon, delta) asks for, with sampled clients or without."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import gmpy2

from .._certified.euler_maclaurin import log_of
from .._certified.interval import arithmetic, fraction_of
from ..laws import Law, centred_simplest
from ._known_sample import Sample
from ._search import crossing
from .cost import cost_of_rounds
from .sensitivity import Sensitivity
from .shares import Rounds
from .zcdp import LEAST_FLOAT, is_log_within, rho_lower

#: Floats for an infinite epsilon, and for an epsilon that is too large by less than a rounding.
_LARGEST, _TOO_MUCH = 1e300, 1e-300

_AT64 = arithmetic(64)


def calibrate_shares(
    law_of: Callable[[Fraction], Law],
    epsilon: Fraction,
    delta: Fraction,
    clients: int,
    change: Sensitivity,
    queries: int,
    sample: Sample,
) -> Law:
    """Return the law of a share that meets the budget; one less in its last digit does not.

    `law_of` returns the law of each sigma2, or variance. A sum has the shares of `clients`, who are
    sampled in each of `queries` rounds. `epsilon` may be 0, and `delta` is above 0.

    The result is *a* crossing, at which the budget begins to be met. The first guess takes the
    losses of sampled rounds for normal ones, each of which moves a mean by mu deviations. Then
    rate**2 queries (exp(mu**2) - 1) is 2 rho.
    """
    rate = sample.rate

    def excess(variance: Fraction) -> float:
        """Return how far the budget is missed: at most 0 if it is met, and only then."""
        spec = centred_simplest(law_of(variance))
        cost = cost_of_rounds([Rounds(spec, clients, change, queries)], sample)
        found = Fraction(min(cost.epsilon(delta), _LARGEST)) if epsilon else epsilon
        if found > epsilon:
            return max(log_of(found / epsilon), _TOO_MUCH)
        log = cost.log_delta(epsilon)
        if not (is_log_within(log, delta) if delta < LEAST_FLOAT else cost.delta(epsilon) <= delta):
            return max(log - log_of(delta), _TOO_MUCH)
        return min(log_of(found / epsilon) if found else log - log_of(delta), 0.0)

    two_rho = 2 * fraction_of(max(rho_lower(epsilon, delta), gmpy2.mpfr(2) ** -1000))
    moved = two_rho / (rate**2 * queries)
    if rate != 1:
        moved = fraction_of(_AT64.log1p(_AT64.rational(moved)).lower)
    return law_of(crossing(excess, change.norm2 / (moved * clients), steep=1.0))
