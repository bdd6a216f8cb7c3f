"""Sums of the laws over integers, enclosed, at a cost that does not grow with sigma or the scale.

A law gives the integer x the weight exp(-phi(x)), with X = abs(x - mu) and

    phi(x) = X**2/(2 sigma2)    discrete Gaussian
    phi(x) = X/scale            discrete Laplace
    phi(x) = (X/scale)**beta    generalised Gaussian

Each law computes its own: what stands here asks its `Family`, under the law's simplest name.

Sums are returned in units of a weight that the caller knows, so that they neither overflow nor
underflow. ``bits`` is what the relative width of a result aims at, 2**-bits; the result is an
enclosure whatever its width. Who needs a certain width checks it and asks again with more bits.
"""

from __future__ import annotations

from .._law import LawSpec
from .families import family_of
from .family import nearest_integer
from .interval import Arithmetic, Interval


def canonical(spec: LawSpec) -> LawSpec:
    """Return the same law by its simplest name: beta = 1 is the Laplace, beta = 2 the Gaussian."""
    return family_of(spec).simplest(spec)


def phi_at(spec: LawSpec, m: int, at: Arithmetic) -> Interval:
    """Return phi(m)."""
    spec = canonical(spec)
    return family_of(spec).phi(spec, m, at)


def tail_ratio(spec: LawSpec, m: int, bits: int) -> Interval:
    """Return R, the weight of all x >= m in units of that of m.

    Parameters
    ----------
    spec : LawSpec
        A discrete Gaussian, discrete Laplace or generalised Gaussian.
    m : int
        At least mu. (The other side: ``tail_ratio(mirrored(spec), -m, bits)``.)
    bits : int
        The relative width aimed at is 2**-bits.

    Returns
    -------
    Interval
        R with ``sum for x >= m of exp(-phi(x)) = exp(-phi(m)) R``; R >= 1.
    """
    spec = canonical(spec)
    if m < spec.mu:
        raise ValueError("m must be at least mu")
    return family_of(spec).tail_ratio(spec, m, bits)


def normaliser(spec: LawSpec, bits: int) -> tuple[int, Interval]:
    """Return m0 and S, the weight of all integers in units of that of m0, the integer nearest mu.

    Parameters
    ----------
    spec : LawSpec
        A discrete Gaussian, discrete Laplace or generalised Gaussian.
    bits : int
        The relative width aimed at is 2**-bits.

    Returns
    -------
    m0 : int
        The integer nearest to mu; the upper one of two.
    S : Interval
        ``sum over all integers x of exp(-phi(x)) = exp(-phi(m0)) S``; S >= 1.
    """
    spec = canonical(spec)
    m0 = nearest_integer(spec.mu)
    return m0, family_of(spec).normaliser(spec, m0, bits)


def log_weight_ratio(spec: LawSpec, x: int, y: int, bits: int) -> Interval:
    """Return phi(y) - phi(x), the logarithm of the weight of x in units of that of y."""
    spec = canonical(spec)
    return family_of(spec).log_weight_ratio(spec, x, y, bits)


def weight_ratio(spec: LawSpec, x: int, y: int, bits: int) -> Interval:
    """Return exp(phi(y) - phi(x)), the weight of x in units of that of y."""
    spec = canonical(spec)
    return family_of(spec).weight_ratio(spec, x, y, bits)
