"""Groups that nobody knew beforehand: which of them may be named, and their noisy counts.

A group is a row that exists because somebody is in it. Its count n >= 1 gets noise X, and it is
kept if n + X > threshold. A group of nobody is never kept.

*One group a person.* X is the discrete Laplace of scale 1/epsilon on -k..k, the threshold k. For
counts n >= 1 and n + 1, the probabilities of a noisy count differ by a factor of at most
exp(epsilon), unless one is 0: a mass of delta_k = P(X = k). A group of 1 is kept with that
probability, and without the person it does not exist. So the mechanism is (epsilon, delta_k),
noisy counts included. No such mechanism keeps a group with a larger probability (Desfontaines,
Voss, Gipson, Mandayam, arXiv:2006.03684). k is the least with delta_k <= delta. For a delta between
two of them the best mechanism is at most one count earlier, up to n = k.

*m groups a person, Laplace.* epsilon/m and delta/m for each: basic composition.

*m groups a person, Gaussian.* X is discrete Gaussian with a threshold t >= 1. One more person makes
u new groups, each kept with probability 1 - p, p = P(1 + X <= t), and adds 1 to m - u others, whose
noisy counts have h(m - u, e) = delta of m - u discrete Gaussian queries at e. A new group is kept
with probability 1 - p**u, which is impossible without the person; if none is kept, the loss of the
others is shifted by u log(p). So the mechanism is (epsilon, delta) if for u = 0, ..., m

    1 - p**u + p**u h(m - u, epsilon - u log(p)) <= delta,
    h(m - u, epsilon + u log(p)) <= delta.

m (1 - p) + h(m, epsilon - m (1 - p)/p) <= delta suffices. The code uses p**u >= 1 - u (1 - p) and
1 - p <= -log(p) <= (1 - p)/p.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2
import numpy as np

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._certified.search import first_true
from .._inputs.budget import Budget
from .._inputs.draw_arguments import checked_source, checked_threads
from .._inputs.graphs import outside_of_graphs
from .._inputs.keywords import with_hints
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import checked_probability, positive_number
from .._inputs.source import Source
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy import delta as delta_of
from ..privacy.calibration import law_of_budget
from ._groups import open_groups
from ._truncated_laplace import LARGEST, TruncatedLaplace, last_mass

_MOST = 10**4

_MOST_EACH = 64
"""Up to this many groups a person, every u is computed."""

_LARGEST = 2**62

_STEP, _STEPS = Fraction(101, 100), 16
"""Factor and number of the sigma2 tried, from the least that suffices for known groups."""


@dataclass(frozen=True)
class KeepRule:
    """Keep a group of n >= 1 people if n + X > threshold, for a draw X from the law."""

    law: TruncatedLaplace | DiscreteGaussian
    threshold: int
    delta: float
    """The spent delta, rounded up to a float. The spent delta itself is within the budget."""

    def keep_probability(self, n: Any) -> Any:
        """Return the probability that a group of n people is kept, for one n or an array."""
        people = np.asarray(n)
        if people.dtype.kind not in "iu":
            raise ParameterTypeError(f"n must be integers, got {people.dtype}")
        probability = np.where(
            people > 0, self.law.sf(self.threshold - people.astype(np.int64)), 0.0
        )
        return probability if probability.shape else float(probability)


@with_hints
def keep_rule(epsilon: object, delta: object, groups_per_person: int = 1) -> KeepRule:
    """Return the noise and the threshold by which `keep_groups` keeps groups.

    Parameters
    ----------
    epsilon, delta : number
        The budget; delta below 1/4.
    groups_per_person : int, optional
        The most groups that one person is in.

    Returns
    -------
    KeepRule
        Truncated Laplace or discrete Gaussian noise, whichever keeps smaller groups with
        probability 1/2.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter breaks its rule.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.selection.keep_rule(1, "1e-6").threshold
    14
    >>> dg.selection.keep_rule(1, "1e-6", groups_per_person=16).law
    DiscreteGaussian(sigma2=...)
    """
    most = whole_number(groups_per_person, "groups_per_person", minimum=1)
    if most > _MOST:
        raise ParameterOverflowError(f"groups_per_person must be at most {_MOST}")
    miss = checked_probability(delta, "delta")
    if miss >= Fraction(1, 4):
        raise ParameterValueError(
            "delta must be below 1/4, because 1/4 would often name a group of one"
        )
    return _rule(positive_number(epsilon, "epsilon"), miss, most)


@lru_cache(maxsize=32)
def _rule(epsilon: Fraction, delta: Fraction, most: int) -> KeepRule:
    laplace = _laplace_rule(epsilon / most, delta / most, most)
    gaussian = None if most == 1 else _gaussian_rule(epsilon, delta, most, laplace.threshold)
    return gaussian or laplace


def _laplace_rule(epsilon: Fraction, delta: Fraction, most: int) -> KeepRule:
    """Return the rule of the least k with delta_k <= delta, proven; delta_k falls as k grows."""
    scale = 1 / epsilon
    level = Fraction(delta)

    def enough(k: int) -> bool:
        return bool(last_mass(scale, k).upper <= level)

    k = first_true(enough, 2, low=1)
    if k > LARGEST:
        raise ParameterOverflowError(
            "epsilon and delta must be met by a threshold of at most 2**54"
        )
    law = TruncatedLaplace(scale, k)
    return KeepRule(law, k, float_at_least(arithmetic(128).up.mul(last_mass(scale, k).upper, most)))


def _gaussian_rule(epsilon: Fraction, delta: Fraction, most: int, below: int) -> KeepRule | None:
    """Return the rule with the least threshold below `below`, or None if none is found."""
    budget = Budget(epsilon=epsilon, delta=delta)
    least = law_of_budget(DiscreteGaussian, budget, queries=most).sigma2
    rule = None
    for step in range(1, _STEPS + 1):
        law = DiscreteGaussian(_rounded_up(least * _STEP**step))
        left = delta  # for groups of one that are kept
        if most > _MOST_EACH:  # by the bound that adds both terms
            left -= Fraction(delta_of(law, max(epsilon - 2 * delta, 0), queries=most))
        threshold = int(law.isf(left / most)) + 1 if left > 0 else below
        if threshold < below and (spent := _gaussian_delta(law, threshold, epsilon, most)) <= delta:
            rule, below = KeepRule(law, threshold, float_at_least(gmpy2.mpq(spent))), threshold
    return rule


def _rounded_up(sigma2: Fraction) -> Fraction:
    """Return a decimal of about 6 digits, so that machine words hold its draws."""
    return Fraction(-(-sigma2 * 10**6 // 1), 10**6) if sigma2 < 10**3 else Fraction(-(-sigma2 // 1))


def _gaussian_delta(
    law: DiscreteGaussian, threshold: int, epsilon: Fraction, most: int
) -> Fraction:
    """Return a delta that the module's docstring proves."""
    shown = Fraction(law.sf(threshold - 1, bounds=True)[1])  # 1 - p
    shift = shown / (1 - shown)  # at least -log(p)

    def stick(queries: int, at: Fraction) -> Fraction:
        if at < 0:
            return Fraction(1)
        return Fraction(delta_of(law, at, queries=queries)) if queries else Fraction(0)

    if most > _MOST_EACH:
        return most * shown + stick(most, epsilon - most * shift)
    worst = Fraction(0)
    for new in range(most + 1):
        hidden = stick(most - new, epsilon + new * shown)  # -log(p) >= 1 - p
        worst = max(worst, new * shown + hidden, stick(most - new, epsilon - new * shift))
    return worst


@outside_of_graphs
@with_hints
def keep_groups(
    counts: Any,
    epsilon: object,
    delta: object,
    groups_per_person: int = 1,
    *,
    columns: object = None,
    source: Source = "chacha20",
    threads: int = 1,
) -> Any:
    """Return the groups that may be named, with their noisy counts: (epsilon, delta) in all.

    If a table has a group only because people are in it, the group's name gives one of them away. A
    group is named if its count plus noise is above a threshold, which is rare for a group of one.

    Parameters
    ----------
    counts : dict, column or frame of pandas, polars or pyarrow, or list or array
        How many people are in each group: integers >= 0 without nulls, each group once (which is
        not checked), each person counted once in a group. A Series has its groups in the index.
    epsilon, delta : number
        The cost of the whole result; delta below 1/4.
    groups_per_person : int, optional
        The most groups that one person is in. Drop people's other groups before you count.
    columns : label, optional
        The column of counts of a frame; the other columns say which group it is, and the levels of
        a pandas index that have a name.
    source : "getrandom", "chacha20" or callable, optional
        The source of bits, as for `discretegauss.discrete_gaussian`.
    threads : int, optional
        The most threads that draw; 1 with your own source.

    Returns
    -------
    As `counts`
        The groups that are kept, with noisy counts, in the order of their keys. For a list, array
        or column without keys: noisy counts alone, the least first.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        If counts are not such integers, or a parameter breaks its rule; nothing is returned.

    Notes
    -----
    Guaranteed and proven: (epsilon, delta)-differential privacy for one person more or less, noisy
    counts included. `keep_rule` returns the noise, the threshold and the spent delta. With
    truncated Laplace noise, n + X is within threshold of n. Only counts that came out large are
    published: for a small group they are too high on average, and an interval around one holds the
    true count more rarely than it says.

    The result is built anew from the kept keys and their noisy counts, so that no place, order,
    type, category or metadata tells about the groups that are dropped. Whole floats become
    integers, categories lose their order (those of polars become text), and times have microseconds
    unless a kept one has nanoseconds. An index of pandas without a name may hold places. So it is
    dropped if the frame has other columns of keys, or if a kept label is a number: name the index
    if its numbers are groups. In polars and pyarrow, whether keys are text, numbers or times is
    taken as known beforehand. If you do not declare it as the data are read, a single odd cell can
    change it.

    References
    ----------
    Desfontaines, Voss, Gipson, Mandayam, *Differentially private partition selection*,
    arXiv:2006.03684. The docstring of ``_keep_groups.py`` has the proofs.

    Examples
    --------
    >>> import discretegauss as dg
    >>> visits = {"Aix": 812, "Bex": 1, "Cut": 96}
    >>> list(dg.selection.keep_groups(visits, 1, "1e-6"))
    ['Aix', 'Cut']
    """
    bits = checked_source(source)
    n_threads = checked_threads(threads, bits)
    rule = keep_rule(epsilon, delta, groups_per_person)
    groups = open_groups(counts, columns)
    integers, nulls = groups.cells.integers, groups.cells.nulls
    if nulls is not None and nulls.any():
        raise ParameterValueError("counts must have no nulls")
    if integers.size and not 0 <= int(integers.min()) <= int(integers.max()) <= _LARGEST:
        raise ParameterValueError("counts must be from 0 to 2**62")
    exact = integers.astype(np.int64, copy=False)
    noisy = rule.law.sample(exact.size, source=bits, threads=n_threads)
    np.add(noisy, exact, out=noisy)
    kept = np.flatnonzero((noisy > rule.threshold) & (exact > 0))
    return groups.build(kept, noisy[kept])
