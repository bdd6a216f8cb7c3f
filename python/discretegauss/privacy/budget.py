"""What noise costs in zero-concentrated differential privacy (zCDP): rho, and sums of rho.

*Discrete Gaussian.* rho = sensitivity**2/(2 sigma2) (CKS 2020, Theorem 4), and for several queries
the sum of that over them (Theorem 14): exact rationals.

*Discrete Laplace* of scale t, for a query that changes by D. Noise that is epsilon-differentially
private costs at most epsilon**2/2, epsilon = D/t; the least rho is smaller:

    rho = (D - 2 r (1 - r**D)/(1 - r**2))/t,    r = exp(-1/t),                               (3)

the Kullback-Leibler divergence of the noise P from the noise Q moved by D. *Proof.* rho-zCDP asks
for K(a) <= a (a - 1) rho for all a > 1, K(a) the logarithm of the sum of P**a Q**(1 - a). As K(1)
= 0 and K'(1) is the divergence, none below (3) will do. That it does: with b = a - 1/2, exp(K) is
a sum of w_j cosh(b l_j) over the losses l_j = (D - 2 j)/t, j = 0..D, with equal weights w_j but for
j = 0 and j = D, which have 1/(1 - r) times as much. As a function of v = b**2 it is entire, of
order 1/2; and its zeros are real and negative, because those of f(s) = sum of w_j cos((D - 2 j) s)
are real: with c = r/(1 - r),

    f(s) sin(s) = const ((1 + c) sin((D + 1) s) - c sin((D - 1) s))

has the sign of sin((D + 1) s) where that is 1 or -1, at 2 (D + 1) points of a period, and so as
many zeros in it as a trigonometric polynomial of degree D + 1 can have. So exp(K) is const times a
product of (1 + v/v_i), v_i > 0, and K is concave in v. At v = 1/4, K is 0 and dK/dv is K'(1), hence
K <= K'(1) (v - 1/4) = K'(1) a (a - 1).  (The result is that of Harrison and Manurangsi, arXiv
2510.25746.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .._certified.interval import arithmetic
from .._inputs.numbers import describe
from .._inputs.privacy_arguments import at_least_zero, positive_number, whole_sensitivity
from .._law import Kind
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law, centred

__all__ = ["compose", "rho"]

_MOST_BITS = 10_000

_LAWS = (DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian)


def rho(law: Law | Sequence[Law], sensitivity: object = 1) -> Fraction:
    """Return the rho that noise of this law costs: it is rho-zCDP.

    Parameters
    ----------
    law : DiscreteGaussian or DiscreteLaplace, or a sequence of them
        The noise; its mu must be an integer. A sequence has the noise of each of several queries,
        all of which one person may change.
    sensitivity : number, or a sequence of them
        The most that one person changes the answer, positive: for the discrete Gaussian any number,
        for the discrete Laplace a whole one. A sequence has that of each query; one number is that
        of every query, and with a single Gaussian it may be the Euclidean norm for several queries.

    Returns
    -------
    Fraction
        Exact for the discrete Gaussian; for the discrete Laplace an upper bound, within 1 in 2**60.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong, or nothing is known for the law (a generalised Gaussian, unless
        beta is 1 or 2).

    References
    ----------
    arXiv 2004.00010, Theorems 4 and 14.

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
    laws, changes = _entries(law), _entries(sensitivity)
    if laws is None and changes is None:
        return _rho_of_one(law, sensitivity)
    if laws is None:
        laws = [law] * len(changes or ())
    if changes is None:
        changes = [sensitivity] * len(laws)
    if len(laws) != len(changes) or not laws:
        raise ParameterValueError(
            "law and sensitivity must have as many entries, at least one, "
            f"got {len(laws)} and {len(changes)}"
        )
    total = Fraction(0)
    for place, pair in enumerate(zip(laws, changes, strict=True)):
        try:
            total += _rho_of_one(*pair)
        except (ParameterTypeError, ParameterValueError, ParameterOverflowError) as error:
            # of an entry, which may be data, the place is told
            rule = str(error).partition(", got ")[0]
            raise type(error)(f"{rule}, but entry {place} is not so") from None
    return total


def compose(*parts: object) -> Fraction:
    """Return the rho of several releases about the same people: the sum, exactly.

    Parameters
    ----------
    *parts : number, law, or (law, sensitivity)
        A number is a rho, at least 0; the others are as for `rho`.

    Returns
    -------
    Fraction
        What all of them cost together, also if later ones were chosen in view of earlier answers.

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
    if isinstance(part, _LAWS):
        return rho(part)
    if isinstance(part, tuple):
        if len(part) != 2:
            raise ParameterTypeError(
                f"a part must be a rho, a law, or (law, sensitivity), got {len(part)} entries"
            )
        return rho(*part)
    return at_least_zero(part, "rho")


def _rho_of_one(law: object, sensitivity: object) -> Fraction:
    spec = centred(law)
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return positive_number(sensitivity, "sensitivity") ** 2 / (2 * spec.parameter)
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _laplace_rho(spec.parameter, whole_sensitivity(sensitivity))
    raise ParameterValueError(
        "law must be a discrete Gaussian or Laplace: no rho is known for a generalised Gaussian, "
        f"got beta = {describe(spec.beta)}"
    )


def _laplace_rho(scale: Fraction, change: int) -> Fraction:
    """Return (3), rounded up; at most epsilon**2/2."""
    pure = change / scale
    # The difference in (3) is about change/(2 scale) of its first term.
    bits = 80 + max(0, scale.numerator.bit_length() - scale.denominator.bit_length())
    if bits > _MOST_BITS:  # so wide that nothing tells it from epsilon**2/2
        return pure**2 / 2
    at = arithmetic(bits)
    r = at.exp(at.rational(-1 / scale))
    one_minus_power = at.neg(at.expm1(at.rational(-pure)))
    one_minus_square = at.neg(at.expm1(at.rational(-2 / scale)))
    mean = at.div(at.scale(at.mul(r, one_minus_power), 2), one_minus_square)
    found = at.scale(at.shift(at.neg(mean), change), 1 / scale)
    return min(_short_upper(found.upper), pure**2 / 2)


def _short_upper(value: Any) -> Fraction:
    """Return an upper bound of 64 bits."""
    return Fraction(*map(int, arithmetic(64).up.plus(value).as_integer_ratio()))


def _entries(value: object) -> list[object] | None:
    """Return the entries of a sequence; None for anything else."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0):
        return list(value)
    return None
