"""The laws, each with its formulas: bounds on sums over integers, at a cost independent of scale.

A law gives the integer x the weight exp(-phi(x)), with X = abs(x - mu) and

    phi(x) = X**2/(2 sigma2)    discrete Gaussian
    phi(x) = X/scale            discrete Laplace
    phi(x) = (X/scale)**beta    generalised Gaussian

Every law here is the simplest one (`LawSpec.simplest`), so a generalised Gaussian never has a beta
of 1 or 2. Each kind of law has its `Formulas` in its own file beside this one. A new law needs a
new file, and a line here.

Sums are in units of a weight that the caller knows, so they neither overflow nor underflow.
``bits`` is the aim, a relative width of 2**-bits. The result is an enclosure, whatever its width. A
caller that needs a certain width checks it, and tries again with more bits.
"""

from __future__ import annotations

from .._law import Kind, LawSpec
from .discrete_gaussian import DiscreteGaussianFormulas
from .discrete_laplace import DiscreteLaplaceFormulas
from .formulas import Formulas, nearest_integer
from .generalized_gaussian import GeneralizedGaussianFormulas
from .interval import Arithmetic, Interval
from .skellam import SkellamFormulas

_FORMULAS: dict[Kind, Formulas] = {
    Kind.DISCRETE_GAUSSIAN: DiscreteGaussianFormulas(),
    Kind.DISCRETE_LAPLACE: DiscreteLaplaceFormulas(),
    Kind.GENERALIZED_GAUSSIAN: GeneralizedGaussianFormulas(),
    Kind.SKELLAM: SkellamFormulas(),
}


def formulas_of(spec: LawSpec) -> Formulas:
    """Return the formulas of the law's kind."""
    return _FORMULAS[spec.kind]


def phi_at(spec: LawSpec, m: int, at: Arithmetic) -> Interval:
    """Return phi(m)."""
    return formulas_of(spec).phi(spec, m, at)


def tail_ratio(spec: LawSpec, m: int, bits: int) -> Interval:
    """Return R >= 1, the weight of all x >= m in units of the weight of m; m is at least mu.

    The other side is ``tail_ratio(mirrored(spec), -m, bits)``.
    """
    if m < spec.mu:
        raise ValueError("m must be at least mu")
    return formulas_of(spec).tail_ratio(spec, m, bits)


def normaliser(spec: LawSpec, bits: int) -> tuple[int, Interval]:
    """Return m0 and S >= 1, the weight of all integers in units of the weight of m0.

    m0 is the integer nearest to mu, the upper one of two.
    """
    m0 = nearest_integer(spec.mu)
    return m0, formulas_of(spec).normaliser(spec, m0, bits)


def log_weight_ratio(spec: LawSpec, x: int, y: int, bits: int) -> Interval:
    """Return phi(y) - phi(x), the logarithm of the weight of x in units of that of y."""
    return formulas_of(spec).log_weight_ratio(spec, x, y, bits)


def weight_ratio(spec: LawSpec, x: int, y: int, bits: int) -> Interval:
    """Return exp(phi(y) - phi(x)), the weight of x in units of that of y."""
    return formulas_of(spec).weight_ratio(spec, x, y, bits)
