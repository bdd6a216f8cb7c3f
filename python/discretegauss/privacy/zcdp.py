"""Zero-concentrated differential privacy (zCDP): the rho of noise, and (epsilon, delta) for a rho.

A release is rho-zCDP if for every order alpha > 1 its Renyi divergence is at most alpha rho. Rho of
several releases add up, also if later ones depend on earlier answers.

*Discrete Gaussian.* rho = D**2/(2 sigma2) for a query of sensitivity D (CKS 2020, Theorem 4). D may
be the Euclidean norm of the change of several answers (Theorem 14).

*Discrete Laplace.* Its scale is t. The least rho is

    rho = (D - 2 r (1 - r**D)/(1 - r**2))/t,    r = exp(-1/t),                               (1)

the Kullback-Leibler divergence of the noise P from the noise Q moved by D. It is below
epsilon**2/2, epsilon = D/t. *Proof.* rho-zCDP asks for K(a) <= a (a - 1) rho for all a > 1, K(a)
the logarithm of the sum of P**a Q**(1 - a). K(1) = 0 and K'(1) is the divergence, so no rho below
(1) is enough. (1) is enough: with b = a - 1/2, exp(K) is a sum of w_j cosh(b l_j) over the losses
l_j = (D - 2 j)/t, j = 0..D. The weights w_j are equal except for j = 0 and j = D, whose weights are
1/(1 - r) times as large. As a function of v = b**2, exp(K) is entire, of order 1/2. Its zeros are
real and negative, because those of f(s) = sum of w_j cos((D - 2 j) s) are real: with c = r/(1 - r),

    f(s) sin(s) = const ((1 + c) sin((D + 1) s) - c sin((D - 1) s))

has the sign of sin((D + 1) s) wherever that is 1 or -1. These are 2 (D + 1) points of a period, so
f(s) sin(s) has as many zeros in it as a trigonometric polynomial of degree D + 1 can have. So
exp(K) is const times a product of (1 + v/v_i), v_i > 0, and K is concave in v. At v = 1/4, K is 0
and dK/dv is K'(1), hence K <= K'(1) (v - 1/4) = K'(1) a (a - 1). (The result is that of Harrison
and Manurangsi, arXiv 2510.25746.)

*Sums of discrete Gaussian shares.* n draws of N_Z(0, s) sum to nearly N_Z(0, n s). With

    tau = 10 sum of exp(-2 pi**2 s k/(k + 1)) over k = 1, ..., n - 1,    s >= 1/4,

D and L the Euclidean and the sum norm of what one person changes, of d integers, and alpha > 1, the
Renyi divergence of the sum from the shifted sum is at most each of (Kairouz, Liu, Steinke, The
Distributed Discrete Gaussian Mechanism for Federated Learning with Secure Aggregation, ICML 2021,
arXiv 2102.06387, Proposition 14)

    alpha D**2/(2 n s) + tau d                                                               (2)
    alpha/2 (D**2/(n s) + 2 tau L/sqrt(n s) + tau**2 d)                                      (3)
    alpha/2 (D/sqrt(n s) + tau sqrt(d))**2                                                   (4)

so, as alpha > 1, rho is at most each of these with alpha = 1. (3) is (4) if L = sqrt(d) D, its
largest value, and less otherwise; so (4) is not computed. L <= D**2 as well, for integers. And

    rho <= D**2/(2 s)                                                                        (5)

for all s > 0, which is the rho of the one client's own share: its message is one factor of a
product whose other factors do not depend on that person, and the sum is a function of all messages.
Each bound falls as s grows. So does the least of them, because (2) and (3) join at s = 1/4.

*(epsilon, delta).* The optimal conversion is CKS 2020, Corollary 13:

    delta = inf over alpha > 1 of
            exp((alpha - 1) (alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)**alpha

Every float that leaves this module is rounded the safe way, whatever the size of the numbers: delta
and epsilon are never below the exact value of the formula, rho never above it as a budget and never
below it as a cost. That does not depend on how well the infimum is found ("Corollary 13" below).

References
----------
CKS 2020: C. L. Canonne, G. Kamath, T. Steinke, *The Discrete Gaussian for Differential Privacy*,
NeurIPS 2020, arXiv 2004.00010.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np

from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import ONE, ZERO, Arithmetic, Interval, arithmetic, fraction_of
from .._inputs.keywords import with_hints
from .._inputs.messages import describe, refused
from .._inputs.privacy_arguments import (
    at_least_zero,
    checked_probability,
    checked_sampling_rate,
    integer_sensitivity,
    query_count,
    whole_sensitivity,
)
from .._law import Kind, LawSpec
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import Law, centred_simplest
from .sensitivity import Sensitivity, clients_of, is_vector, refuse_vector


@with_hints
def rho(
    law: Law | SumOfDraws | Sequence[Law | SumOfDraws],
    sensitivity: object = 1,
    *,
    queries: int = 1,
    sampling: object = 1,
    dimension: int = 1,
    sum_norm: object = None,
) -> Fraction:
    """Return the rho at which noise of this law is rho-zCDP.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace or sum of Gaussian shares, or a sequence of them
        The noise; its mu must be an integer. A sequence holds the noise of each of several queries,
        all of which one person may change. ``law.sum(n)`` is noise in shares; at least n clients
        keep their shares to themselves.
    sensitivity : number, or a sequence of them
        The largest change of the answer by one person, at least 1. For the discrete Laplace it is
        a whole number. A sequence has one for each query, and a number holds for every query. With
        a single Gaussian it may be the Euclidean norm of the changes of several queries.
    queries : int, optional
        The number of times that all queries are answered, each time with new noise.
    sampling : number, optional
        1, and no other: queries on a sample have no rho that says what sampling gains. Their Renyi
        divergence leaps at some order, and a rho must be above all orders. Use `epsilon`, `delta`
        or `renyi`.
    dimension, sum_norm : optional
        As for `delta`, for sums of shares.

    Returns
    -------
    Fraction
        Exact for the discrete Gaussian. For the discrete Laplace an upper bound, too large by at
        most 1 in 2**60. For sums of shares the least of the bounds below, rounded up.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong. Also if no rho is known for the law: for a Skellam law, and for a
        generalised Gaussian unless beta is 1 or 2.

    Notes
    -----
    For n shares let s = sigma2, D = sensitivity, L = sum_norm and d = dimension. D**2/(2 s) is a
    bound even for an observer of that client's message. If s >= 1/4, these are bounds, too:

        D**2/(2 n s) + tau d
        (D**2/(n s) + 2 tau L/sqrt(n s) + tau**2 d)/2

    with tau = 10 sum of exp(-2 pi**2 s k/(k + 1)) over k = 1, ..., n - 1.

    References
    ----------
    arXiv 2004.00010, Theorems 4 and 14. For sums: Kairouz, Liu, Steinke, ICML 2021, arXiv
    2102.06387, Theorem 1 and Proposition 14.

    Examples
    --------
    >>> import discretegauss as dg
    >>> rho(dg.DiscreteGaussian(5))
    Fraction(1, 10)
    >>> rho([dg.DiscreteGaussian(5), dg.DiscreteGaussian(10)], [1, 2])
    Fraction(3, 10)
    >>> rho(dg.DiscreteLaplace(1)) < Fraction(1, 2)
    True
    """
    count = query_count(queries)
    if (sampling_rate := checked_sampling_rate(sampling)) != 1:
        rule = (
            "be 1 for a rho, which bounds divergences of all orders: sampling reduces only those "
            "of low orders; epsilon, delta and renyi accept sampling"
        )
        raise refused("sampling", rule, sampling_rate)
    laws, sensitivities = _entries(law), _entries(sensitivity)
    if laws is None and sensitivities is None:
        return count * rho_of_one(law, sensitivity, dimension, sum_norm)
    if laws is None:
        laws = [law] * len(sensitivities or ())
    if sensitivities is None:
        sensitivities = [sensitivity] * len(laws)
    if len(laws) != len(sensitivities) or not laws:
        raise ParameterValueError(
            "law and sensitivity must have the same number of entries, at least one, "
            f"got {len(laws)} and {len(sensitivities)}"
        )
    total = Fraction(0)
    for place, pair in enumerate(zip(laws, sensitivities, strict=True)):
        try:
            total += rho_of_one(*pair, dimension, sum_norm)
        except (ParameterTypeError, ParameterValueError, ParameterOverflowError) as error:
            # an entry may be data, so the message tells its place alone
            rule = str(error).partition(", got ")[0]
            raise type(error)(f"{rule}, but entry {place} breaks it") from None
    return count * total


def compose(*parts: object) -> Fraction:
    """Return the rho of several releases about the same people: the sum, exactly.

    Parameters
    ----------
    *parts : number, law, or (law, sensitivity)
        A number is a rho, at least 0. A law, or a law with its sensitivity, is as for `rho`.

    Returns
    -------
    Fraction
        The rho of all of them together. Queries may depend on earlier answers. If the noise or the
        number of releases does, fix a rho beforehand that no path exceeds: the rho spent on the
        path that was taken may be too small.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a part is wrong.

    Examples
    --------
    >>> import discretegauss as dg
    >>> compose("0.1", dg.DiscreteGaussian(5), (dg.DiscreteGaussian(50), 2))
    Fraction(6, 25)
    """
    return sum((_rho_of_part(part) for part in parts), Fraction(0))


def _rho_of_part(part: object) -> Fraction:
    if isinstance(part, Law | SumOfDraws):
        return rho(part)
    if isinstance(part, tuple):
        if len(part) != 2:
            raise ParameterTypeError(
                f"a part must be a rho, a law, or (law, sensitivity), got {len(part)} entries"
            )
        return rho(*part)
    if hasattr(part, "compose"):  # a PrivacyLoss, which is above this file
        raise ParameterTypeError("a part must be a rho or a law; of privacy losses write a @ b")
    return at_least_zero(part, "rho")


def _entries(value: object) -> list[object] | None:
    """Return the entries of a sequence; None for anything else."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0):
        return list(value)
    return None


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
        An upper bound on the delta of Corollary 13, at most 1. A delta below the smallest positive
        float, 5e-324, comes back as 5e-324. Only ``rho = 0`` gives 0.

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
        An upper bound on that delta; 1 if epsilon <= rho.

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


# --- rho of one query

_MOST_LAPLACE_BITS = 10_000
"""Wider noise than this precision resolves gets the rho epsilon**2/2, which is as close."""


def rho_of_one(
    law: object, sensitivity: object, dimension: object = 1, sum_norm: object = None
) -> Fraction:
    """Return the rho of one query."""
    one, clients = clients_of(law)
    spec = centred_simplest(one)
    if clients > 1:
        change = Sensitivity.of_vector(sensitivity, dimension, sum_norm)
        return fraction_of(rho_of_shares(spec.parameter, clients, change))
    if is_vector(dimension, sum_norm) and spec.kind is not Kind.DISCRETE_GAUSSIAN:
        refuse_vector(dimension, sum_norm, "this law")  # a Gaussian needs the norm alone
    return rho_of_law(spec, sensitivity)


def rho_of_law(spec: LawSpec, sensitivity: object) -> Fraction:
    """Return the rho of a centred law, rounded up; ``sensitivity`` is as the user gives it."""
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return integer_sensitivity(sensitivity) ** 2 / (2 * spec.parameter)
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _rho_of_laplace(spec.parameter, whole_sensitivity(sensitivity))
    law_text = f"generalised Gaussian, got beta = {describe(spec.beta)}"
    if spec.kind is Kind.SKELLAM:
        law_text = f"Skellam law, got variance = {describe(spec.parameter)}"
    raise ParameterValueError(
        f"law must be a discrete Gaussian or Laplace: no rho is known for a {law_text}"
    )


def _rho_of_laplace(scale: Fraction, sensitivity: int) -> Fraction:
    """Return (1), rounded up; at most epsilon**2/2."""
    pure = sensitivity / scale
    # The difference in (1) is about sensitivity/(2 scale) times its first term.
    bits = 80 + max(0, scale.numerator.bit_length() - scale.denominator.bit_length())
    if bits > _MOST_LAPLACE_BITS:
        return pure**2 / 2
    at = arithmetic(bits)
    r = at.exp(at.rational(-1 / scale))
    one_minus_power = at.neg(at.expm1(at.rational(-pure)))
    one_minus_square = at.neg(at.expm1(at.rational(-2 / scale)))
    mean = at.div(at.scale(at.mul(r, one_minus_power), 2), one_minus_square)
    found = at.scale(at.shift(at.neg(mean), sensitivity), 1 / scale)
    return min(fraction_of(arithmetic(64).up.plus(found.upper)), pure**2 / 2)


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return epsilon tanh(epsilon/2), the least rho of all epsilon-DP releases, rounded up.

    It is that of the discrete Laplace at sensitivity 1 (docs/concepts/over_time.md).
    """
    return _rho_of_laplace(1 / epsilon, 1)


LEAST_SIGMA2 = Fraction(1, 4)
_EACH = 512
"""tau takes its first _EACH terms one by one. Later terms are taken in blocks, each longer by 1 for
every _EACH terms before it, until the exponent of all later terms changes by less than 1/_EACH."""

_ALIKE_FROM = 16
"""Above this sigma2 every term of tau is below exp(-157), so the first one stands for all."""


def tau_upper(sigma2: Fraction, clients: int) -> Interval:
    """Return an interval whose upper end is at least tau.

    The terms fall, so the first term of a block is its largest.
    """
    at = arithmetic(128)
    total = at.rational(0)
    exponent = at.scale(at.power(at.pi(), 2), -2 * sigma2)
    if sigma2 > _ALIKE_FROM:
        first = at.exp(at.scale(exponent, Fraction(1, 2)))
        return at.scale(first, 10 * (clients - 1))
    # from k on, the exponent changes by at most 20 sigma2/(k + 1) in all
    last = int(20 * sigma2 * _EACH)
    k = 1
    while k < clients:
        length = clients - k
        if k <= last:
            length = min(1 if k < _EACH else k // _EACH + 1, length)
        term = at.exp(at.scale(exponent, Fraction(k, k + 1)))
        total = at.add(total, at.scale(term, length))
        k += length
    return at.scale(total, 10)


def rho_of_shares(sigma2: Fraction, clients: int, change: Sensitivity) -> Any:
    """Return an upper bound on the rho of a sum of discrete Gaussian shares: (2), (3) or (5)."""
    at = arithmetic(128)
    alone = at.rational(change.norm2 / (2 * sigma2)).upper
    if sigma2 < LEAST_SIGMA2:
        return alone
    tau = tau_upper(sigma2, clients)
    limit = change.norm2 / (clients * sigma2)
    first = at.shift(at.scale(tau, change.counts), limit / 2)
    root = at.sqrt(at.rational(clients * sigma2))
    mixed = at.div(at.mul(at.scale(tau, 2), at.rational(change.l1)), root)
    square = at.scale(at.power(tau, 2), change.counts)
    second = at.scale(at.shift(at.add(mixed, square), limit), Fraction(1, 2))
    return min(alone, first.upper, second.upper)


# --- Proposition 12 and Corollary 13
#
# Write s = alpha - 1 > 0 and L = -log(delta). A Renyi divergence R of order 1 + s implies (epsilon,
# delta)-differential privacy if (CKS 2020, Proposition 12)
#
#     log(delta) = s (R - epsilon) - s log1p(1/s) - log1p(s),                                  (6)
#     epsilon = R - log1p(1/s) + (L - log1p(s))/s.                                             (7)
#
# rho-zCDP is R = (1 + s) rho for every s. So Corollary 13 is the least value over s of
#
#     f(s) = s ((1 + s) rho - epsilon) - s log1p(1/s) - log1p(s),
#     epsilon(s) = (1 + s) rho - log1p(1/s) + (L - log1p(s))/s,
#
# and the largest value over s of the rho that solves f(s) = -L,
#
#     rho(s) = (s (epsilon + log1p(1/s)) + log1p(s) - L) / (s (1 + s)).
#
# Every s > 0 gives a bound that holds. Only tightness depends on the choice of s, and weakly: near
# the best s the value is off by the square of the error in s. So s is found without bounds
# (`turning_point`). The result is an exact number. It goes into one of the three formulas, where
# every operation is rounded the safe way. f is strictly convex (f'' = 2 rho + 1/(s (1 + s))), so
# each formula has a single turning point:
#
#     f'(s) = 0         <=>  2 s rho = epsilon - rho + log1p(1/s)
#     epsilon'(s) = 0   <=>  rho s**2 + log1p(s) = L
#     rho'(s) = 0       <=>  s**2 (epsilon + log1p(1/s))/(2s + 1) + log1p(s) = L
#
# (rho(s) turns at the s at which f turns if rho = rho(s).) Both sides are positive, if a negative
# epsilon - rho moves to the left. So the search solves "the difference of the sides' logarithms is
# 0" for u = log(s). epsilon - rho is taken exactly: if rho is large and epsilon close to it,
# rounding would lose all else.
#
# At the turning point f is -(rho s**2 + log1p(s)) and rho(s) is (epsilon + log1p(1/s))/(2s + 1), so
# both are as large as their terms, up to a logarithm. epsilon(s) is (2s + 1) rho - log1p(1/s),
# and may be next to nothing.
#
# If a bound on R holds for whole orders alone, the best one is next to the turning point. If R is
# at most alpha rho + c, then epsilon - c takes the place of epsilon.


_BITS = 192
_AT192 = arithmetic(_BITS)
_AT_80_BITS = arithmetic(80)
UP: Any = _AT192.up

_NOTHING = Fraction(0)

_S_BITS = 48
"""How many bits of s the search finds, at least."""

#: A float loses nothing by an error below this, because the least one is 2**-1074.
_BELOW_FLOATS: Any = UP.div_2exp(ONE, 1140)


def log_delta_at(s: Any, divergence: Any, epsilon: Any, at: Arithmetic) -> Any:
    """Return an upper bound on (6) of an exact s, divergence and epsilon."""
    down, exact = at.down, gmpy2.mpq(s)
    s_ = down.add(exact, ZERO)  # s log1p(1/s) and log1p(s) rise with s
    log1p_s, log1p_inverse = _logs_lower(s_, at)
    falling = down.add(down.mul(s_, log1p_inverse), log1p_s)
    linear = exact * (gmpy2.mpq(divergence) - gmpy2.mpq(epsilon))
    return at.up.sub(at.up.add(linear, ZERO), falling)


def epsilon_at(s: Any, divergence: Any, big_l: Any, at: Arithmetic) -> tuple[Any, Any]:
    """Return an upper bound on (7), and its positive terms, of an s of at most ``at.bits`` bits."""
    up, down = at.up, at.down
    s_ = down.add(gmpy2.mpq(s), ZERO)  # exact
    log1p_s, log1p_inverse = _logs_lower(s_, at)
    growing = up.add(divergence, up.div(big_l, s_))
    return up.sub(growing, down.add(log1p_inverse, down.div(log1p_s, s_))), growing


def log_delta_upper(rho: Fraction, epsilon: Fraction, *, whole: bool = False) -> Any:
    """Return an upper bound on the logarithm of Corollary 13's delta, at most 0; rho > 0.

    ``whole``: by whole orders alone. A negative epsilon is allowed.
    """
    exact, gap = gmpy2.mpq(rho), gmpy2.mpq(epsilon) - gmpy2.mpq(rho)
    s = turning_point(_delta_turns, exact, gap)
    # 80 bits are enough: if delta is a float, all terms are below 2**11, and exp needs no more than
    # a small absolute error.
    each = (log_delta_at(x, (1 + x) * exact, epsilon, _AT_80_BITS) for x in _tried(s, whole=whole))
    return min(*each, ZERO)


def epsilon_upper(
    rho: Fraction, delta: Fraction, more: Fraction = _NOTHING, *, whole: bool = False
) -> Any:
    """Return an upper bound on the epsilon of Corollary 13 for delta, at least 0; rho > 0.

    The divergence of order alpha is alpha rho + ``more``. ``whole``: by whole orders alone.
    """
    s_bits = _S_BITS
    exact, offset = gmpy2.mpq(rho), gmpy2.mpq(more)
    while True:
        at = arithmetic(max(_BITS, 2 * s_bits + 8))
        big_l = minus_log_upper(delta, at)
        s = turning_point(_epsilon_turns, exact, big_l, bits=s_bits)
        found, growing = min(
            epsilon_at(x, (1 + x) * exact + offset, big_l, at) for x in _tried(s, whole=whole)
        )
        # about the error that the choice of s and the rounding add
        added = at.up.div_2exp(growing, 2 * s_bits)
        if found <= 0 or found > at.up.mul_2exp(added, 60) or added < _BELOW_FLOATS:
            return max(found, ZERO)
        s_bits *= 2


def _tried(s: Any, *, whole: bool) -> list[Any]:
    """Return s; or the whole numbers next to it, at least 1."""
    if not whole:
        return [s]
    below = s.numerator // s.denominator
    return [max(below, 1)] + ([below + 1] if 0 < below < s else [])


def rho_lower(epsilon: Fraction, delta: Fraction) -> Any:
    """Return a lower bound on the rho at which Corollary 13 gives delta, at least 0."""
    s = turning_point(_rho_turns, epsilon, minus_log_upper(delta))
    # If s is large and epsilon small, the numerator is about 1/s after its terms cancel.
    at = arithmetic(_BITS + gmpy2.mpz(s).bit_length() // 32 * 64)
    up, down = at.up, at.down
    s_ = down.add(s, ZERO)
    log1p_s, log1p_inverse = _logs_lower(s_, at)
    growing = down.mul(s_, down.add(log1p_inverse, gmpy2.mpq(epsilon)))
    numerator = down.sub(down.add(growing, log1p_s), minus_log_upper(delta, at))
    return down.div(numerator, up.add(s * (1 + s), ZERO)) if numerator > 0 else ZERO


def _logs_lower(s: Any, at: Arithmetic = _AT192) -> tuple[Any, Any]:
    """Return lower bounds on log1p(s) and log1p(1/s), s > 0.

    They differ by log(s). This avoids log1p of a large number, for which MPFR takes much memory.
    """
    up, down = at.up, at.down
    if s <= 1:
        log1p_s = down.log1p(s)
        return log1p_s, down.sub(log1p_s, up.log(s))
    log1p_inverse = down.log1p(down.div(1, s))
    return down.add(log1p_inverse, down.log(s)), log1p_inverse


def minus_log_upper(delta: Any, at: Arithmetic = _AT192) -> Any:
    """Return an upper bound on -log(delta), for a rational 0 < delta < 1."""
    exact, down = gmpy2.mpq(delta), at.down
    if 2 * exact > 1:  # near 1 only log1p is accurate
        return at.up.minus(down.log1p(down.add(exact - 1, ZERO)))
    return at.up.minus(down.log(down.add(exact, ZERO)))


#: No float tells whether a delta below this is met.
LEAST_FLOAT = math.ulp(0.0)


def is_log_within(log: float, delta: Fraction) -> bool:
    """Return whether an upper bound on a logarithm proves that the number is at most delta."""
    return bool(log <= _AT192.down.minus(minus_log_upper(delta)))


# --- the search for s: without bounds, in mpfr numbers

Balance = Callable[[Any], tuple[Any, Any]]
"""An increasing function of u = log(s), and its slope."""

_LAST_STEP = 1e-9
"""Newton's method ends after a step in u of this length. The next step is about its square."""

_FARTHEST_LOG_S = 10**5
"""No s beyond exp(10**5) is searched: parameters and their quotients are within 2**(2**17)."""

_MOST_STEPS = 300
_GUARD = 32
_SEARCH = gmpy2.context(emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min())


def turning_point(
    problem: Callable[..., tuple[Balance, Any]], *values: Any, bits: int = _S_BITS
) -> Any:
    """Return about exp(u) at the u where the balance is 0, to some ``bits`` bits: an mpq > 0.

    It has at most 32 bits more than that. ``problem(*values)`` gets the values as mpfr numbers and
    returns the balance and a first guess of u. Newton's method is kept inside the bracket that the
    signs give, by halving.
    """
    with gmpy2.context(_SEARCH, precision=bits + _GUARD):
        balance, guess = problem(*map(gmpy2.mpfr, values))
        low, high = gmpy2.mpfr(-_FARTHEST_LOG_S), gmpy2.mpfr(_FARTHEST_LOG_S)
        u = min(max(gmpy2.mpfr(guess), low), high)
        close = _LAST_STEP / 2.0 ** ((bits - _S_BITS) // 2)
        for _ in range(_MOST_STEPS):
            value, slope = balance(u)
            low, high = (u, high) if value < 0 else (low, u)
            before, u = u, u - value / slope
            if abs(u - before) <= close * max(1, abs(before)):
                break
            if not low < u < high:
                u = (low + high) / 2
            if u == before:  # no number is left between the ends
                break
        return gmpy2.mpq(gmpy2.exp(u))


# Each of the three problems returns its balance, with the slope, and a first guess of u. As
# functions of u the balances are nearly straight lines, so 0 is a good guess. The one exception is
# the balance of f for gap <= 0, which is nearly flat below its root.


def _logs(s: Any) -> tuple[Any, Any]:
    """Return about log1p(s) and log1p(1/s)."""
    return _logs_lower(s, arithmetic(s.precision))


def _delta_turns(rho: Any, gap: Any) -> tuple[Balance, Any]:
    """Balance for f, given rho and gap = epsilon - rho."""
    more, less = max(gap, 0), max(-gap, 0)

    def balance(u: Any) -> tuple[Any, Any]:
        s = gmpy2.exp(u)
        growing = 2 * s * rho
        left, right = growing + less, more + _logs(s)[1]
        return gmpy2.log(left / right), growing / left + 1 / ((1 + s) * right)

    return balance, 0 if gap > 0 else min(gap, -gmpy2.log1p(rho))


def _epsilon_turns(rho: Any, big_l: Any) -> tuple[Balance, Any]:
    def balance(u: Any) -> tuple[Any, Any]:
        s = gmpy2.exp(u)
        square, log = rho * s * s, _logs(s)[0]
        return gmpy2.log((square + log) / big_l), (2 * square + s / (1 + s)) / (square + log)

    return balance, 0


def _rho_turns(epsilon: Any, big_l: Any) -> tuple[Balance, Any]:
    def balance(u: Any) -> tuple[Any, Any]:
        s = gmpy2.exp(u)
        log, inverse = _logs(s)
        curved = s * (epsilon + inverse) * (s / (2 * s + 1))
        slope = (2 * curved + s / (1 + s)) * ((1 + s) / (2 * s + 1)) / (curved + log)
        return gmpy2.log((curved + log) / big_l), slope

    return balance, 0
