"""From zero-concentrated differential privacy (zCDP) to (epsilon, delta) and back.

The optimal conversion (CKS 2020, Corollary 13):

    delta = inf over alpha > 1 of
            exp((alpha - 1) (alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)**alpha

Every float that leaves this module is rounded the safe way: delta and epsilon never below, rho
never above the exact value of the formula, whatever the size of the numbers. That does not depend
on how well the infimum is found: see "Corollary 13" below.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import ONE, ZERO, Arithmetic, arithmetic
from .._inputs.privacy_arguments import at_least_zero, checked_probability
from ._root_finding import FLOAT_BITS, Balance, turning_point


def zcdp_delta(rho: object, epsilon: object) -> float:
    """Return the smallest delta at which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    rho : number
        The zCDP budget, at least 0; any number type of this package, taken exactly.
    epsilon : number
        At least 0.

    Returns
    -------
    float
        An upper bound on the delta of Corollary 13, and at most 1. What lies below the smallest
        positive float, 5e-324, comes back as 5e-324; only ``rho = 0`` gives 0.

    Raises
    ------
    TypeError, ValueError
        If rho or epsilon is not a number, is negative, infinite or NaN.

    References
    ----------
    C. L. Canonne, G. Kamath, T. Steinke: The Discrete Gaussian for Differential Privacy,
    NeurIPS 2020, arXiv 2004.00010, Corollary 13.

    Examples
    --------
    >>> 1.5e-06 < zcdp_delta("0.1", "2.1") < 1.6e-06
    True
    """
    rho_exact = at_least_zero(rho, "rho")
    epsilon_exact = at_least_zero(epsilon, "epsilon")
    if rho_exact == 0:
        return 0.0
    return float_at_least(_AT_80_BITS.up.exp(log_delta_upper(rho_exact, epsilon_exact)))


def zcdp_delta_standard(rho: object, epsilon: object) -> float:
    """Return the delta of the older conversion, for comparison: ``exp(-(epsilon-rho)**2/(4 rho))``.

    It solves ``epsilon = rho + 2 sqrt(rho log(1/delta))`` and is never below `zcdp_delta`.

    Parameters
    ----------
    rho, epsilon : number
        As for `zcdp_delta`.

    Returns
    -------
    float
        An upper bound on that delta; 1 where epsilon <= rho.

    Raises
    ------
    TypeError, ValueError
        If rho or epsilon is not a number, is negative, infinite or NaN.

    References
    ----------
    M. Bun, T. Steinke: Concentrated Differential Privacy, TCC 2016, arXiv 1605.02065, Lemma 3.5.

    Examples
    --------
    >>> zcdp_delta("0.1", 2) < zcdp_delta_standard("0.1", 2) < 1.3e-4
    True
    """
    rho_exact = at_least_zero(rho, "rho")
    epsilon_exact = at_least_zero(epsilon, "epsilon")
    if rho_exact == 0:
        return 0.0
    if epsilon_exact <= rho_exact:
        return 1.0
    exponent = (epsilon_exact - rho_exact) ** 2 / (4 * rho_exact)
    return float_at_least(UP.exp(UP.add(gmpy2.mpq(-exponent), ZERO)))


def zcdp_epsilon(rho: object, delta: object) -> float:
    """Return the smallest epsilon at which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    rho : number
        The zCDP budget, at least 0; any number type of this package, taken exactly.
    delta : number
        Between 0 and 1, both excluded.

    Returns
    -------
    float
        An upper bound on that epsilon, at least 0; ``inf`` if it exceeds every float.

    Raises
    ------
    TypeError, ValueError
        If rho or delta is not a number of its range.

    Examples
    --------
    >>> 2.1 < zcdp_epsilon("0.1", "1e-6") < 2.2
    True
    """
    rho_exact = at_least_zero(rho, "rho")
    delta_exact = checked_probability(delta, "delta")
    if rho_exact == 0:
        return 0.0
    return float_at_least(epsilon_upper(rho_exact, delta_exact))


def zcdp_rho(epsilon: object, delta: object) -> float:
    """Return the largest rho at which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : number
        At least 0; any number type of this package, taken exactly.
    delta : number
        Between 0 and 1, both excluded.

    Returns
    -------
    float
        A lower bound on that rho; 0 if it lies below every positive float, and never infinite.

    Raises
    ------
    TypeError, ValueError
        If epsilon or delta is not a number of its range.

    Examples
    --------
    >>> rho = zcdp_rho(1, "1e-6")
    >>> zcdp_epsilon(rho, "1e-6") < 1 + 1e-12
    True
    """
    epsilon_exact = at_least_zero(epsilon, "epsilon")
    delta_exact = checked_probability(delta, "delta")
    return float_at_most(rho_lower(epsilon_exact, delta_exact))


# --- Corollary 13
#
# Write s = alpha - 1 > 0 and L = -log(delta). As (1 - 1/alpha)**alpha / (alpha - 1) is
# s**s / (1 + s)**(1 + s), the logarithm of the corollary's expression is
#
#     f(s) = s ((1 + s) rho - epsilon) - s log1p(1/s) - log1p(s).
#
# For every s > 0, rho-zCDP implies (epsilon, exp(f(s)))-differential privacy. Solving
# f(s) = -L for epsilon or for rho gives, again for every s > 0, an epsilon that is enough
#
#     epsilon(s) = (1 + s) rho - log1p(1/s) + L/s - log1p(s)/s
#
# and a rho that is not too much
#
#     rho(s) = (s (epsilon + log1p(1/s)) + log1p(s) - L) / (s (1 + s)).
#
# Only tightness depends on the choice of s, and weakly: near the best s the value is off by the
# square of the error in s. So s is found in ordinary floats (_root_finding.py). Whatever it is, it
# is an exact number, and put into one of the three formulas with every operation rounded the safe
# way. f is strictly convex (f'' = 2 rho + 1/(s (1 + s))), so each has a single turning point:
#
#     f'(s) = 0         <=>  2 s rho = epsilon - rho + log1p(1/s)
#     epsilon'(s) = 0   <=>  rho s**2 + log1p(s) = L
#     rho'(s) = 0       <=>  s**2 (epsilon + log1p(1/s))/(2s + 1) + log1p(s) = L
#
# (the last one: rho(s) turns where f, taken at rho = rho(s), does). Both sides are positive, if
# epsilon - rho stands on the left where it is negative; so the difference of their logarithms, as a
# function of u = log(s), is what is solved for 0; its slope is written beside it. epsilon - rho is
# taken exactly: for a large rho and an epsilon close to it all else would be lost in its rounding.
#
# At the turning point f is -(rho s**2 + log1p(s)) and rho(s) is (epsilon + log1p(1/s))/(2s + 1), so
# both are as large as their terms, up to a logarithm. epsilon(s) is (2s + 1) rho - log1p(1/s),
# and may be next to nothing.


_BITS = 192
_AT = arithmetic(_BITS)
_AT_80_BITS = arithmetic(80)
UP: Any = _AT.up

#: So little is lost when a float is made of it, as the least one is 2**-1074.
_BELOW_FLOATS: Any = UP.div_2exp(ONE, 1140)


def log_delta_upper(rho: Fraction, epsilon: Fraction) -> Any:
    """Return an upper bound on the logarithm of Corollary 13's delta, at most 0; rho > 0."""
    rho_ = gmpy2.mpq(rho)
    gap = gmpy2.mpq(epsilon) - rho_
    s = turning_point(_delta_turns, rho_, gap)
    linear = s * (s * rho_ - gap)
    # Fewer bits do, as exp takes an absolute error: of terms below 2**11, if delta is a float.
    up, down = _AT_80_BITS.up, _AT_80_BITS.down
    s_ = down.add(s, ZERO)  # exact: s has at most 80 bits
    log1p_s, log1p_inverse = _logs_lower(s_, _AT_80_BITS)
    falling = down.add(down.mul(s_, log1p_inverse), log1p_s)
    return min(up.sub(up.add(linear, ZERO), falling), ZERO)


def epsilon_upper(rho: Fraction, delta: Fraction) -> Any:
    """Return an upper bound on the epsilon of Corollary 13 for delta, at least 0; rho > 0."""
    s_bits = FLOAT_BITS
    while True:
        at = arithmetic(max(_BITS, 2 * s_bits + 8))
        up, down = at.up, at.down
        big_l = minus_log_upper(delta, at)
        s = turning_point(_epsilon_turns, rho, big_l, bits=s_bits)
        s_ = down.add(s, ZERO)  # exact
        growing = up.add((1 + s) * gmpy2.mpq(rho), up.div(big_l, s_))
        log1p_s, log1p_inverse = _logs_lower(s_, at)
        found = up.sub(growing, down.add(log1p_inverse, down.div(log1p_s, s_)))
        # about what the choice of s and the rounding have added
        added = up.div_2exp(growing, 2 * s_bits)
        if found <= 0 or found > up.mul_2exp(added, 60) or added < _BELOW_FLOATS:
            return max(found, ZERO)
        s_bits *= 2


def rho_lower(epsilon: Fraction, delta: Fraction) -> Any:
    """Return a lower bound on the rho at which Corollary 13 gives delta, at least 0."""
    s = turning_point(_rho_turns, epsilon, minus_log_upper(delta))
    # For large s and small epsilon what is left of the numerator is about 1/s.
    at = arithmetic(_BITS + gmpy2.mpz(s).bit_length() // 32 * 64)
    up, down = at.up, at.down
    s_ = down.add(s, ZERO)
    log1p_s, log1p_inverse = _logs_lower(s_, at)
    growing = down.mul(s_, down.add(log1p_inverse, gmpy2.mpq(epsilon)))
    numerator = down.sub(down.add(growing, log1p_s), minus_log_upper(delta, at))
    return down.div(numerator, up.add(s * (1 + s), ZERO)) if numerator > 0 else ZERO


def _logs_lower(s: Any, at: Arithmetic = _AT) -> tuple[Any, Any]:
    """Return lower bounds on log1p(s) and log1p(1/s), s > 0.

    They differ by log(s), which saves the one of a large number: MPFR's log1p takes memory for it.
    """
    up, down = at.up, at.down
    if s <= 1:
        log1p_s = down.log1p(s)
        return log1p_s, down.sub(log1p_s, up.log(s))
    log1p_inverse = down.log1p(down.div(1, s))
    return down.add(log1p_inverse, down.log(s)), log1p_inverse


def minus_log_upper(delta: Any, at: Arithmetic = _AT) -> Any:
    """Return an upper bound on -log(delta), for a rational 0 < delta < 1."""
    exact, down = gmpy2.mpq(delta), at.down
    if 2 * exact > 1:  # near 1 only log1p is accurate
        return at.up.minus(down.log1p(down.add(exact - 1, ZERO)))
    return at.up.minus(down.log(down.add(exact, ZERO)))


# What is solved for u = log(s): each returns the balance, with its slope, and a first guess.
# ``ops`` is math or gmpy2; u is at hand, so no logarithm needs the number 1 + s where that is long.


def _log1p(ops: Any, s: Any, u: Any) -> Any:
    return ops.log1p(s) if u < 1 else u + ops.log1p(1 / s)


def _log1p_inverse(ops: Any, s: Any, u: Any) -> Any:
    return ops.log1p(1 / s) if u > -1 else ops.log1p(s) - u


def _delta_turns(ops: Any, rho: Any, gap: Any) -> tuple[Balance, Any]:
    """Balance for f, given rho and gap = epsilon - rho."""
    more, less = max(gap, 0), max(-gap, 0)

    def balance(u: Any) -> tuple[Any, Any]:
        s = ops.exp(u)
        growing = 2 * s * rho
        left, right = growing + less, more + _log1p_inverse(ops, s, u)
        return ops.log(left / right), growing / left + 1 / ((1 + s) * right)

    # Unless s is small, log1p(1/s) is close to 2/(2s + 1), which makes it a quadratic equation.
    # Where s is small, one term on each side is about all there is.
    epsilon = gap + rho
    w = (epsilon + ops.sqrt(epsilon * epsilon + 8 * rho)) / (2 * rho)
    if w > 2:
        return balance, ops.log((w - 1) / 2)
    return balance, ops.log((1 + gap) / (2 * rho)) if gap > 0 else min(gap, -ops.log1p(rho))


def _epsilon_turns(ops: Any, rho: Any, big_l: Any) -> tuple[Balance, Any]:
    def balance(u: Any) -> tuple[Any, Any]:
        s = ops.exp(u)
        square, log = rho * s * s, _log1p(ops, s, u)
        return ops.log((square + log) / big_l), (2 * square + s / (1 + s)) / (square + log)

    # Either term alone would have to be at most L.
    largest = ops.log(big_l / rho) / 2
    return balance, min(largest, big_l if big_l > 1 else ops.log(big_l))


def _rho_turns(ops: Any, epsilon: Any, big_l: Any) -> tuple[Balance, Any]:
    def balance(u: Any) -> tuple[Any, Any]:
        s = ops.exp(u)
        log = _log1p(ops, s, u)
        curved = s * (epsilon + _log1p_inverse(ops, s, u)) * (s / (2 * s + 1))
        slope = (2 * curved + s / (1 + s)) * ((1 + s) / (2 * s + 1)) / (curved + log)
        return ops.log((curved + log) / big_l), slope

    # For large s it is epsilon s = 2L; and log1p(s) stays below L.
    below = big_l - 1 if big_l > 2 else ops.log(big_l / 2)
    return balance, min(below, ops.log(2 * big_l / epsilon)) if epsilon > 0 else below
