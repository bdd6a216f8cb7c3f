"""What noise costs in zero-concentrated differential privacy (zCDP): rho, and sums of rho.

*Discrete Gaussian.* rho = sensitivity**2/(2 sigma2) (CKS 2020, Theorem 4), and for several queries
the sum of that over them (Theorem 14): exact rationals.

*Discrete Laplace.* The least rho, of which the proof is in _facts.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .._certified.interval import fraction_of
from .._inputs.privacy_arguments import at_least_zero, query_count
from .._law import Kind
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import Law, centred
from ._asked import clients_of, is_vector, refuse_vector
from ._facts import rho_of_law
from ._sum_of_gaussians import SumOfGaussians


def rho(
    law: Law | SumOfDraws | Sequence[Law | SumOfDraws],
    sensitivity: object = 1,
    *,
    queries: int = 1,
    dimension: int = 1,
    sum_norm: object = None,
) -> Fraction:
    """Return the rho that noise of this law costs: it is rho-zCDP.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace or sum of Gaussian shares, or a sequence of them
        The noise; its mu must be an integer. A sequence has the noise of each of several queries,
        all of which one person may change. ``law.sum(n)`` is noise in shares of n clients, the
        fewest who keep theirs to themselves.
    sensitivity : number, or a sequence of them
        The most that one person changes the answer, positive: for the discrete Gaussian any number,
        for the discrete Laplace a whole one. A sequence has that of each query; one number is that
        of every query, and with a single Gaussian it may be the Euclidean norm for several queries.
    queries : int, optional
        How many times all of it is answered, each time with noise of its own.
    dimension, sum_norm : optional
        Of sums of shares, as for `delta`.

    Returns
    -------
    Fraction
        Exact for the discrete Gaussian; for the discrete Laplace an upper bound, within 1 in 2**60.
        For sums of shares the least bound of those below, rounded up.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong, or nothing is known for the law (a generalised Gaussian, unless
        beta is 1 or 2; a Skellam law).

    Notes
    -----
    Of n shares with s = sigma2, D = sensitivity, L = sum_norm, d = dimension: the least of D**2/(2
    s), which holds for anyone who sees that client's message, and if s >= 1/4 of

        D**2/(2 n s) + tau d
        (D**2/(n s) + 2 tau L/sqrt(n s) + tau**2 d)/2

    where tau = 10 sum of exp(-2 pi**2 s k/(k + 1)) over k = 1, ..., n - 1.

    References
    ----------
    arXiv 2004.00010, Theorems 4 and 14; of sums Kairouz, Liu, Steinke, ICML 2021, arXiv 2102.06387,
    Theorem 1 and Proposition 14.

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
    laws, changes = _entries(law), _entries(sensitivity)
    if laws is None and changes is None:
        return count * rho_of_one(law, sensitivity, dimension, sum_norm)
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
            total += rho_of_one(*pair, dimension, sum_norm)
        except (ParameterTypeError, ParameterValueError, ParameterOverflowError) as error:
            # of an entry, which may be data, the place is told
            rule = str(error).partition(", got ")[0]
            raise type(error)(f"{rule}, but entry {place} is not so") from None
    return count * total


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
    if isinstance(part, Law | SumOfDraws):
        return rho(part)
    if isinstance(part, tuple):
        if len(part) != 2:
            raise ParameterTypeError(
                f"a part must be a rho, a law, or (law, sensitivity), got {len(part)} entries"
            )
        return rho(*part)
    return at_least_zero(part, "rho")


def rho_of_one(
    law: object, sensitivity: object, dimension: object = 1, sum_norm: object = None
) -> Fraction:
    """Return the rho of one query."""
    one, clients = clients_of(law)
    spec = centred(one)
    if clients > 1:
        change = SumOfGaussians(clients, sensitivity, dimension, sum_norm)
        return fraction_of(change.cost(spec.parameter))
    if is_vector(dimension, sum_norm) and spec.kind is not Kind.DISCRETE_GAUSSIAN:
        refuse_vector(dimension, sum_norm, "this law")  # of a Gaussian the norm tells all
    return rho_of_law(spec, sensitivity)


def _entries(value: object) -> list[object] | None:
    """Return the entries of a sequence; None for anything else."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0):
        return list(value)
    return None
