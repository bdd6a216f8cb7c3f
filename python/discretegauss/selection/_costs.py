"""The costs of selections.

*Noisy max with Laplace noise of scale s, integer votes, sensitivity D.* Let i be a candidate. Fix
the noise of all others, and add c to that of i: c = 2 D, or D if all votes move in the same
direction. Then no other candidate's sum is nearer to that of i on the other data set, because i
fell by at most D and the others rose by at most D (in the same direction: by at most D between the
two). So a candidate that tied with i still ties with it or is below. i is drawn uniformly among
those that tie, and so is reported with no smaller probability. Noise that is c higher has a
probability at least exp(-c/s) times as large. Hence epsilon = c/s, with any ties (Dwork, Roth 2014,
Claim 3.9, for integers).

*The exponential mechanism in rho.* For the data sets x and y, log(P_x(c)/P_y(c)) is rate
(score_x(c) - score_y(c)) plus a constant, from the normalisers. It lies within an interval of
length epsilon (2 D rate, or D rate if all scores move in the same direction). A loss within such an
interval costs at most epsilon**2/8 in rho (Cesar, Rogers, *Bounding, Concentrating, and
Truncating*, ALT 2021, arXiv:2004.07223, by Hoeffding's lemma). Permute-and-flip has no such
interval; like any epsilon-differentially private mechanism it costs at most epsilon**2/2 (Bun,
Steinke 2016).
"""

from __future__ import annotations

from fractions import Fraction

from .._inputs.messages import describe
from .._inputs.numbers import Number
from .._inputs.privacy_arguments import positive_number, whole_sensitivity
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law


def noisy_max_epsilon(law: Law, sensitivity: Number = 1, *, monotone: bool = False) -> Fraction:
    """Return the exact epsilon of one `report_noisy_max` with Laplace noise; its delta is 0.

    Parameters
    ----------
    law : DiscreteLaplace, or GeneralizedGaussian of beta 1
        The noise of each vote. Others have no finite epsilon at delta = 0
        (docs/noise/selection.md).
    sensitivity : int, optional
        The most by which one person changes any vote.
    monotone : bool, optional
        True: one person moves all votes in the same direction, for example if people are added or
        removed.

    Returns
    -------
    Fraction
        2 sensitivity / scale, or half of it if votes are monotone, for any number of candidates.

    Raises
    ------
    TypeError, ValueError
        The law is not a Laplace law, or sensitivity is not a whole number above 0.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.selection.noisy_max_epsilon(dg.DiscreteLaplace(20))
    Fraction(1, 10)
    """
    change = whole_sensitivity(sensitivity)
    if not isinstance(law, DiscreteGaussian | DiscreteLaplace | GeneralizedGaussian):
        raise ParameterTypeError(f"law must be a DiscreteLaplace, got {describe(law)}")
    if isinstance(law, DiscreteGaussian) or (isinstance(law, GeneralizedGaussian) and law.beta > 1):
        raise ParameterValueError(
            "law must be a DiscreteLaplace: other noise has no finite epsilon at delta = 0"
        )
    scale: Fraction = law.scale
    return (change if monotone else 2 * change) / scale


def exponential_rho(epsilon: Number) -> Fraction:
    """Return the cost of one selection by `exponential` in rho: epsilon**2 / 8.

    Parameters
    ----------
    epsilon : number
        The epsilon of the selection, > 0.

    Returns
    -------
    Fraction
        The cost, which adds to the rho of other releases (`discretegauss.privacy.compose`).

    Raises
    ------
    TypeError, ValueError, OverflowError
        epsilon is not a number above 0.

    Examples
    --------
    >>> exponential_rho("1/2")
    Fraction(1, 32)
    """
    return positive_number(epsilon, "epsilon") ** 2 / 8


def permute_and_flip_rho(epsilon: Number) -> Fraction:
    """Return the most that one selection by `permute_and_flip` costs in rho: epsilon**2 / 2.

    Parameters and errors are those of `exponential_rho`.

    Examples
    --------
    >>> permute_and_flip_rho("1/2")
    Fraction(1, 8)
    """
    return positive_number(epsilon, "epsilon") ** 2 / 2
