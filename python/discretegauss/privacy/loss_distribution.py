"""The privacy loss distribution of one release or of many, with proven bounds on delta."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import ZERO, Interval, arithmetic
from .._certified.laws_of_integers import formulas_of
from .._inputs.decimal_text import rounded_up
from .._inputs.foreign_arrays import single
from .._inputs.keywords import with_hints
from .._inputs.messages import describe, number_of, refused
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import (
    at_least_zero,
    checked_sampling_rate,
    positive_number,
    whole_sensitivity,
)
from .._law import Kind, LawSpec
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import Law, centred_simplest
from ._known_sample import KnownSample, Sample
from ._laplace import OneLaplace
from ._least_bounds import LeastBounds
from ._loss_bounds import AdjacencyBounds
from ._mixture import mixture_of_moves
from ._noise_of_sum import noise_of_sum
from ._noise_outcomes import GaussianNoise, IntegerNoise, LaplaceNoise
from ._outcomes import Outcome, Outcomes, RandomOutcome, mirrored
from .hockey_stick import HockeyStick, as_one_query
from .normal import OneGaussian
from .sensitivity import LIKE_A_PURE_ONE
from .zcdp import epsilon_upper, log_delta_upper, rho_of_law

#: The most buckets of a sum, by default and at all.
_MOST = 2**20
_MOST_OF_ALL = 2**32

_AT192 = arithmetic(192)

#: Floats give no bound for more releases than fit these bits.
MOST_COUNT_BITS = 64

#: Wider buckets give no bound.
_LARGEST_WIDTH = Fraction(2**40)


class Query(NamedTuple):
    """Integer noise on one query: the centred law, the change, and who is in it."""

    spec: LawSpec
    sensitivity: int
    sample: Sample = Sample(Fraction(1))


class Known(NamedTuple):
    """Other bounds on the cost of queries: exactly, as one query; a pure epsilon; rho.

    rho is that without sampling, which never costs less: a divergence of two mixtures is at most
    the mixture of the divergences.
    """

    one: HockeyStick | OneLaplace | OneGaussian | None = None
    pure: Any = None
    rho: Fraction | None = None

    @classmethod
    def of(cls, queries: Mapping[Query, int]) -> Known:
        """Return what is known of queries of these numbers together."""
        one: HockeyStick | None = None
        pure: Any = gmpy2.mpq(0)
        rho: Fraction | None = Fraction(0)
        for (spec, change, sample), count in queries.items():
            secret = sample.secret and sample.rate < 1  # then the pure epsilon is less
            own = None if secret else formulas_of(spec).pure_epsilon(spec, change)
            pure = None if pure is None or own is None else pure + count * own
            if spec.kind not in (Kind.DISCRETE_GAUSSIAN, Kind.DISCRETE_LAPLACE):
                rho = None
            if rho is not None:
                rho += count * rho_of_law(spec, change)
        if len(queries) == 1 and next(iter(queries)).sample.rate == 1:
            [(query, count)] = queries.items()
            if query.spec.kind is Kind.DISCRETE_GAUSSIAN:
                found = as_one_query(query.spec, query.sensitivity, count)
                one = found and HockeyStick(*found, rho)
            elif count == 1:
                one = HockeyStick(query.spec, query.sensitivity)
        return cls(one, pure, rho)

    @classmethod
    def of_releases(cls, releases: Mapping[RandomOutcome, int]) -> Known:
        """Return what is known of releases that are not all integer noise."""
        [(release, count), *others] = _as_one(releases).items()
        if others or count > 1 or not isinstance(release, LaplaceNoise | GaussianNoise):
            return cls()
        one = release.closed()
        return cls(one, one.pure() if isinstance(one, OneLaplace) else None)


class PrivacyLoss:
    """The privacy loss distribution of one release or of many: proven bounds on delta and epsilon.

    `loss` makes one of integer noise; `of_pair`, `of_pure`, `of_laplace`, `of_gaussian` and
    `of_mixture` make others. ``loss ** n`` is the loss of n such releases, ``a @ b`` that of both.
    Objects are immutable.

    Nothing is computed before a question is asked. Then all losses are put in buckets, whose width
    fits the question, and all releases are composed at once, by Fourier transforms of floats with
    proven error bounds. Every rounding is on the safe side, so the upper bound on delta is never
    below delta, and the lower bound never above. The upper bound also holds if queries depend on
    earlier answers. The list of releases, each with its noise, must be fixed beforehand. It covers
    both adjacencies, a person removed and a person added.

    Sources: Koskela, Jalko and Honkela, *Computing Tight Differential Privacy Guarantees Using FFT*
    (AISTATS 2020); Meiser and Mohammadi, *Tight on Budget? Tight Bounds for r-Fold Approximate
    Differential Privacy* (CCS 2018); connect-the-dots by Doroshenko et al., arXiv 2207.04380.

    Examples
    --------
    >>> import discretegauss as dg
    >>> loss = dg.privacy.loss(dg.DiscreteGaussian(100))
    >>> loss.delta(1) == dg.privacy.delta(dg.DiscreteGaussian(100), 1)
    True
    >>> lower, upper = (loss ** 1000).delta(8, bounds=True)
    >>> lower <= upper < lower * 1.001
    True
    """

    __slots__ = ("_adjacencies", "_known", "_most", "_queries", "_releases", "_width")

    _releases: dict[RandomOutcome, int]
    _width: Fraction | None
    _most: int
    _adjacencies: list[AdjacencyBounds]
    _queries: Mapping[Query, int]
    """The queries, if all releases are integer noise; else empty."""
    _known: Known

    def __init__(self) -> None:
        raise TypeError(
            "make a PrivacyLoss by privacy.loss, or by of_pair, of_pure, of_laplace, of_gaussian, "
            "of_mixture"
        )

    @classmethod
    def _of(
        cls,
        releases: dict[RandomOutcome, int],
        width: Fraction | None,
        most: int,
        queries: Mapping[Query, int],
    ) -> PrivacyLoss:
        if max(releases.values()).bit_length() > MOST_COUNT_BITS:
            raise ParameterOverflowError(f"releases must be fewer than 2**{MOST_COUNT_BITS}")
        found = object.__new__(cls)
        kinds = list((_as_one(releases) if width is None else releases).items())
        sides = [False] if all(release.symmetric for release in releases) else [False, True]
        for name, value in (
            ("_releases", releases),
            ("_width", width),
            ("_most", most),
            ("_queries", queries),
            ("_known", Known.of(queries) if queries else Known.of_releases(releases)),
            (
                "_adjacencies",
                [LeastBounds.of(kinds, adding=s, width=width, most=most) for s in sides],
            ),
        ):
            object.__setattr__(found, name, value)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a PrivacyLoss is immutable; cannot set {name}")

    @classmethod
    def _of_one(
        cls, release: RandomOutcome, width: object, most: object, query: Query | None = None
    ) -> PrivacyLoss:
        checked_most = whole_number(most, "most", minimum=16)
        if checked_most > _MOST_OF_ALL:
            raise refused("most", "be at most 2**32", most)
        with np.errstate(all="ignore"):
            exact = None if width is None else _width(width, release.span, checked_most)
        return cls._of({release: 1}, exact, checked_most, {query: 1} if query else {})

    @classmethod
    def of_gaussian(
        cls,
        sigma2: object,
        sensitivity: object = 1,
        *,
        sampling: object = 1,
        width: object = None,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the loss of continuous Gaussian noise of variance sigma2, as `loss` does.

        All such releases that everybody is in are one release, whose delta has a closed form.
        """
        variance = gmpy2.mpq(positive_number(sigma2, "sigma2"))
        exact_sensitivity = gmpy2.mpq(positive_number(sensitivity, "sensitivity"))
        noise = GaussianNoise.of(variance, exact_sensitivity, checked_sampling_rate(sampling))
        return cls._of_one(noise, width, most)

    @classmethod
    def of_laplace(
        cls,
        scale: object,
        sensitivity: object = 1,
        *,
        cut: object = None,
        sampling: object = 1,
        width: object = None,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the loss of continuous Laplace noise, which may be cut off at a distance.

        Parameters
        ----------
        scale : number
            The scale of the noise, positive.
        sensitivity : number, optional
            The most that one person changes the answer, positive.
        cut : number, optional
            The noise is conditioned on being at most this far from 0. At least the sensitivity.
        sampling, width, most : optional
            As for `loss`.
        """
        exact_scale = positive_number(scale, "scale")
        exact_sensitivity = positive_number(sensitivity, "sensitivity")
        exact_cut = None if cut is None else positive_number(cut, "cut")
        if exact_cut is not None and exact_cut < exact_sensitivity:
            raise refused("cut", "be at least the sensitivity", cut)
        loss = gmpy2.mpq(exact_sensitivity / exact_scale)
        reach = None if exact_cut is None else gmpy2.mpq(exact_cut / exact_scale)
        noise = LaplaceNoise.of(loss, reach, checked_sampling_rate(sampling))
        return cls._of_one(noise, width, most)

    @classmethod
    def of_pure(
        cls,
        epsilon: object,
        delta: object = 0,
        *,
        sampling: object = 1,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the largest loss of an (epsilon, delta)-private release, also on a Poisson sample.

        It is that of a mechanism that reveals everything with probability delta, and else tells the
        truth with odds of exp(epsilon). No (epsilon, delta)-private mechanism loses more, also in
        composition (Kairouz, Oh and Viswanath, arXiv 1311.0776). A `selection.TruncatedLaplace` on
        a count that a person changes by 1 loses this, with 1/scale and at least its last pmf.
        """
        exact = at_least_zero(epsilon, "epsilon")
        exact_delta = at_least_zero(delta, "delta")
        if exact_delta > 1:
            raise refused("delta", "be at most 1", delta)
        remainder, known, none = (
            _AT192.rational(1 - exact_delta),
            _AT192.rational(exact_delta),
            _AT192.rational(0),
        )
        loss = _AT192.rational(exact)
        low = _AT192.div(remainder, _AT192.shift(_AT192.exp(loss), 1))
        high = _AT192.sub(remainder, low)
        outcomes = mirrored(known, none) + mirrored(high, low, loss)
        release = Outcomes(
            outcomes, checked_sampling_rate(sampling), unit=_unit(exact), symmetric=True
        )
        return cls._of_one(release, None, most)

    @classmethod
    def of_pair(
        cls,
        p: object,
        q: object,
        *,
        bounds: bool = False,
        sampling: object = 1,
        width: object = None,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the loss of a mechanism with few outcomes, given their probabilities.

        Parameters
        ----------
        p, q : mapping or sequence of numbers
            The probability of each outcome with a person, and without. Mappings are by outcome;
            sequences have the same order. Each must sum to 1 exactly, which fractions, decimals and
            texts do. Floats mean their exact binary value.
        bounds : bool, optional
            If True, each probability is a pair of a lower and an upper bound, and 1 must lie
            between their sums. ``zip(*law.pmf(k, bounds=True))`` gives such pairs.
        sampling, width, most : optional
            As for `loss`. On a sample the probabilities are s P + (1 - s) Q, and Q.

        Examples
        --------
        >>> from discretegauss import privacy
        >>> response = privacy.PrivacyLoss.of_pair(["3/4", "1/4"], ["1/4", "3/4"])
        >>> round(response.delta(0), 12)
        0.5
        """
        release = Outcomes(_outcomes(p, q, bounds), checked_sampling_rate(sampling))
        return cls._of_one(release, width, most)

    @classmethod
    def of_mixture(
        cls,
        law: Law,
        changes: object,
        *,
        width: object = None,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the loss of integer noise on an answer that a person changes by a random number.

        So do several records of a person, each of which is sampled by its own secret coin
        (docs/concepts/accounting.md).

        Parameters
        ----------
        law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
            The noise; its mu must be an integer.
        changes : mapping of int to number
            The probability of each size of the change, a whole number of at least 0. They must sum
            to 1 exactly. For m records, each of which changes the answer by D at most and is
            sampled with probability q, size j D has ``math.comb(m, j) * q**j * (1 - q)**(m - j)``.
        width, most : optional
            As for `loss`.

        Notes
        -----
        Time: 0.1 ms for each integer within 12 standard deviations and each change.

        Examples
        --------
        >>> import discretegauss as dg
        >>> two = {0: "0.81", 1: "0.18", 2: "0.01"}  # two records, sampled with 0.1 each
        >>> rounds = dg.privacy.PrivacyLoss.of_mixture(dg.DiscreteGaussian(4), two) ** 100
        >>> round(rounds.epsilon("1e-6"), 3)
        5.845
        """
        if not isinstance(law, Law):
            raise ParameterTypeError(f"law must be one law, got {type(law).__name__}")
        if not isinstance(changes, Mapping):
            rule = "changes must be a mapping of sizes to probabilities"
            raise ParameterTypeError(f"{rule}, got {type(changes).__name__}")
        sizes = [whole_number(size, "changes", minimum=0) for size in changes]
        chances = dict(zip(sizes, _exactly(list(changes.values()), "changes"), strict=True))
        release = mixture_of_moves(centred_simplest(law), chances)
        return cls._of_one(release, width, most)

    def compose(self, *others: PrivacyLoss) -> PrivacyLoss:
        """Return the loss of this release and the others together, as ``a @ b`` does for two."""
        found = self
        for other in others:
            if not isinstance(other, PrivacyLoss):
                raise ParameterTypeError(f"others must be PrivacyLoss, got {type(other).__name__}")
            found = found._composed(other)
        return found

    def _composed(self, other: PrivacyLoss) -> PrivacyLoss:
        releases = dict(self._releases)
        for release, count in other._releases.items():
            releases[release] = releases.get(release, 0) + count
        widths = [width for width in (self._width, other._width) if width is not None]
        queries = Counter(self._queries) + Counter(other._queries)
        if not (self._queries and other._queries):
            queries.clear()
        most = max(self._most, other._most)
        return PrivacyLoss._of(releases, min(widths, default=None), most, queries)

    def __matmul__(self, other: object) -> PrivacyLoss:
        return self.compose(other) if isinstance(other, PrivacyLoss) else NotImplemented

    def __pow__(self, releases: object) -> PrivacyLoss:
        n = whole_number(releases, "releases", minimum=1)
        found = {release: n * count for release, count in self._releases.items()}
        queries = {query: n * count for query, count in self._queries.items()}
        return PrivacyLoss._of(found, self._width, self._most, queries)

    def delta(self, epsilon: object, *, bounds: bool = False) -> Any:
        """Return the least delta at an epsilon >= 0, or an upper bound close to it.

        Parameters
        ----------
        epsilon : number
            At least 0.
        bounds : bool, optional
            If True, a lower bound is returned, too.

        Returns
        -------
        float or (float, float)
            A number never below delta. With ``bounds``, a number never above it comes first.
        """
        exact = at_least_zero(epsilon, "epsilon")
        upper, one = self._delta(exact), self._known.one
        if not bounds:
            return upper
        if isinstance(one, OneLaplace | OneGaussian):
            return one.delta_below(exact), upper
        with np.errstate(all="ignore"):  # the caller's settings do not apply
            return max(float_at_most(one.delta_below(exact)) for one in self._adjacencies), upper

    def _delta(self, epsilon: Fraction) -> float:
        one, pure, rho = self._known
        if one is not None:
            return one.delta(epsilon)
        if pure is not None and epsilon >= pure:
            return 0.0
        with np.errstate(all="ignore"):
            upper = max(float_at_least(one.delta_above(epsilon)) for one in self._adjacencies)
        if rho is None:
            return upper
        return min(upper, float_at_least(_AT192.up.exp(log_delta_upper(rho, epsilon))))

    def log_delta(self, epsilon: object) -> float:
        """Return an upper bound on the logarithm of delta, at most 0; -inf if delta is 0."""
        exact = at_least_zero(epsilon, "epsilon")
        if self._known.one is not None:
            return self._known.one.log_delta(exact)
        found, rho = self._delta(exact), self._known.rho
        log = _AT192.up.log(_AT192.up.add(found, ZERO)) if found else -gmpy2.inf()
        return float_at_least(log if rho is None else min(log, log_delta_upper(rho, exact)))

    def epsilon(self, delta: object, *, bounds: bool = False) -> Any:
        """Return the least epsilon >= 0 at a delta, or an upper bound close to it.

        Parameters
        ----------
        delta : number
            From 0 to 1.
        bounds : bool, optional
            If True, a lower bound is returned, too.

        Returns
        -------
        float or (float, float)
            A number never below epsilon, infinite if delta is below the probability of an infinite
            loss. With ``bounds``, a number never above epsilon comes first.
        """
        exact = at_least_zero(delta, "delta")
        if exact > 1:
            raise refused("delta", "be at most 1", delta)
        upper, one = self._epsilon(exact), self._known.one
        if not bounds:
            return upper
        if isinstance(one, OneLaplace | OneGaussian) and 0 < exact < 1:
            return one.epsilon_below(exact), upper
        with np.errstate(all="ignore"):
            return max(one.epsilon_below(exact) for one in self._adjacencies), upper

    def _epsilon(self, delta: Fraction) -> float:
        one, pure, rho = self._known
        if one is not None and 0 < delta < 1:
            return one.epsilon(delta)
        least = math.inf if pure is None else float_at_least(_AT192.up.add(pure, ZERO))
        if delta == 0 and pure is not None:
            return least
        with np.errstate(all="ignore"):
            upper = max(one.epsilon_above(delta) for one in self._adjacencies)
        if rho is not None and 0 < delta < 1:
            upper = min(upper, float_at_least(epsilon_upper(rho, delta)))
        return min(upper, least)

    def pure(self) -> float:
        """Return an upper bound on epsilon at delta = 0."""
        return self._epsilon(Fraction(0))

    @property
    def infinite(self) -> tuple[float, float]:
        """Bounds on the probability of an infinite loss. No smaller delta has an epsilon."""
        with np.errstate(all="ignore"):
            lower, upper = zip(*(one.infinite() for one in self._adjacencies), strict=True)
        return float_at_most(max(lower)), float_at_least(max(upper))

    def to_dp_accounting(self) -> Any:
        """Return the upper bounds as a PrivacyLossDistribution of dp-accounting.

        Raises
        ------
        ImportError
            If dp-accounting is not installed.

        Notes
        -----
        It has both adjacencies. Every probability is rounded up. dp-accounting then computes in
        floats, without bounds on their errors.

        One release is for composition there: unless its losses are multiples of one number, its
        buckets are about as wide as dp-accounting's own, 1e-4, or 4096 in number. If there are many
        releases, ``(loss ** 1000).to_dp_accounting()`` is proven further.
        """
        return self._for_dp_accounting(0.0)

    def _for_dp_accounting(self, cut: float) -> Any:
        """Return `to_dp_accounting`, with the largest losses, of mass ``cut`` at most, infinite."""
        try:
            from dp_accounting.pld import pld_pmf, privacy_loss_distribution
        except ImportError as error:
            raise ImportError("this needs dp-accounting: pip install dp-accounting") from error
        pmfs = []
        for one in self._adjacencies:
            with np.errstate(all="ignore"):
                masses, width, infinite = _cut_off(*one.masses(), cut)
            pmfs.append(pld_pmf.create_pmf(masses, width, infinite, pessimistic_estimate=True))
        return privacy_loss_distribution.PrivacyLossDistribution(*pmfs)

    def __repr__(self) -> str:
        return f"PrivacyLoss({number_of(sum(self._releases.values()), 'release')})"


@with_hints
def loss(
    law: Law | SumOfDraws,
    sensitivity: object = 1,
    *,
    sampling: object = 1,
    secret_sample: bool = True,
    width: object = None,
    most: object = _MOST,
) -> PrivacyLoss:
    """Return the privacy loss of integer noise on a query that one person changes.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, or a sum of shares
        The noise; its mu must be an integer. ``law.sum(n)`` is noise in shares of n clients.
    sensitivity : number, optional
        The largest change of the answer by one person, a whole number.
    sampling : number, optional
        The probability with which each person takes part, independently (Poisson sampling): in (0,
        1]. Neighbours differ by one person, added or removed. **All noise must be in the answer
        whether or not that person is sampled**: a client that adds its share only if it is sampled
        shows by it that it is there, and the figure is false.
    secret_sample : bool, optional
        False: an observer may know who is sampled, as for `delta`.
    width : number, optional
        The width of the buckets, positive. The default fits each question. A width that makes more
        than ``most`` buckets of one release is refused.
    most : int, optional
        The most buckets of a sum, at least 16. If releases make more, buckets become wider.

    Returns
    -------
    PrivacyLoss
        ``loss(...) ** n`` is the loss of n such releases.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    Time: about 10 ms. Very many releases, and noise that reaches over more than 131 072 integers,
    take up to 1 s, and parameters beyond floats take seconds.

    Losses beyond 4096 count as infinite, unless all are multiples of one number. Of a steep
    generalised Gaussian, losses beyond 600 may count as infinite.

    Sums of about 10**9 releases or more may need more than ``most`` buckets. Upper bounds on delta
    and epsilon then come from Renyi divergences, or from rho, if these give less: epsilon is up to
    8 % larger than the least if rho is known, and may be more without. Lower bounds may be 0, and
    the result of `PrivacyLoss.to_dp_accounting` may have no finite epsilon. A larger ``most``
    helps.

    Examples
    --------
    >>> import discretegauss as dg
    >>> thousand = dg.privacy.loss(dg.DiscreteGaussian(100)) ** 1000
    >>> thousand.epsilon("1e-6") < 20
    True
    """
    if not isinstance(law, Law | SumOfDraws):
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, or a "
            f"sum of shares, got {type(law).__name__}; {LIKE_A_PURE_ONE}"
        )
    sample = Sample.of(sampling, secret_sample)
    exact_sensitivity = whole_sensitivity(sensitivity)
    sampling_rate, query = sample.rate if sample.secret else Fraction(1), None
    if not isinstance(law, SumOfDraws):
        noise: RandomOutcome = IntegerNoise.of(
            centred_simplest(law), exact_sensitivity, sampling_rate
        )
        if width is None:
            query = Query(centred_simplest(law), exact_sensitivity, sample)
    else:
        if law.law._spec.kind is not Kind.DISCRETE_GAUSSIAN:
            raise ParameterValueError(
                "law must be a sum of discrete Gaussian or Skellam shares: no cost is known for "
                f"other sums, got {law!r}"
            )
        of_sum = noise_of_sum(
            centred_simplest(law.law), law.clients, exact_sensitivity, sampling_rate
        )
        if of_sum is None:
            raise ParameterOverflowError(
                "clients must be fewer, the law narrower, or the sensitivity smaller, for the loss "
                f"of {describe(repr(law))}; privacy.epsilon and delta need no loss"
            )
        noise = of_sum
    if not sample.secret:
        noise = KnownSample(noise, sample.rate)
    return PrivacyLoss._of_one(noise, width, most, query)


def loss_of_release(release: RandomOutcome, query: Query | None = None) -> PrivacyLoss:
    """Return the loss of a release, with the default number of buckets."""
    return PrivacyLoss._of_one(release, None, _MOST, query)


@lru_cache(maxsize=4)
def loss_of_queries(
    spec: LawSpec, sensitivity: int, queries: int, sampling_rate: Fraction, secret: bool = True
) -> PrivacyLoss:
    """Return the loss of several queries with the noise of a centred law.

    The last few losses are cached, with their sums.
    """
    if queries.bit_length() > MOST_COUNT_BITS:
        rule = f"be below 2**{MOST_COUNT_BITS} for this noise"
        raise refused("queries", rule, queries, ParameterOverflowError)
    release = IntegerNoise.of(spec, sensitivity, sampling_rate if secret else Fraction(1))
    query = Query(spec, sensitivity, Sample(sampling_rate, secret))
    made = release if secret else KnownSample(release, sampling_rate)
    return loss_of_release(made, query) ** queries


def _as_one(releases: Mapping[RandomOutcome, int]) -> Mapping[RandomOutcome, int]:
    """Return the releases with all continuous Gaussian noise on everybody as one release.

    The loss of N(0, 1), moved by mu, is a normal one of mean mu**2/2 and variance mu**2. So such
    losses sum to the loss of a move by the root of the sum of all mu**2.
    """
    found, mu2, number = dict[RandomOutcome, int](), gmpy2.mpq(0), 0
    for release, count in releases.items():
        if isinstance(release, GaussianNoise) and release.rate == 1:
            mu2, number = mu2 + count * release.mu2, number + count
        else:
            found[release] = count
    if number < 2 or mu2 > GaussianNoise.MOST_MU2:
        return releases
    return found | {GaussianNoise(mu2, Fraction(1)): 1}


def _cut_off(
    masses: dict[int, float], width: float, infinite: float, cut: float
) -> tuple[dict[int, float], float, float]:
    """Move the last masses, of up to ``cut`` in all, to the mass of infinite losses."""
    remainder = sorted(masses.items())
    while remainder and (more := math.nextafter(infinite + remainder[-1][1], math.inf)) <= cut:
        infinite = more
        remainder.pop()
    return dict(remainder), width, infinite


def _unit(loss: Fraction) -> Fraction | None:
    """Return a unit of a loss and its negative; None if the loss is extreme."""
    if loss == 0:
        return Fraction(1)
    return loss if Fraction(1, 2**500) < loss < 2**40 else None


def _width(value: object, span: float, most: int) -> Fraction:
    """Return the checked width of buckets over a span of losses."""
    exact = positive_number(value, "width")
    if Fraction(span) > most * exact:
        least, farthest = rounded_up(Fraction(span) / most), rounded_up(Fraction(span))
        raise ParameterValueError(
            f"width must be at least {least}, or most larger than {describe(most)}, for losses "
            f"that differ by up to {farthest}, got {describe(single(value))}"
        )
    return min(exact, _LARGEST_WIDTH)


def _outcomes(p: object, q: object, bounds: bool) -> list[Outcome]:
    """Return each outcome. If its two probabilities are exactly equal, its loss is 0."""
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        outcomes = list(dict.fromkeys([*p, *q]))
        none = (0, 0) if bounds else 0
        p, q = [p.get(x, none) for x in outcomes], [q.get(x, none) for x in outcomes]
    if not (_is_sequence(p) and _is_sequence(q)):
        raise ParameterTypeError(
            "p and q must be two mappings or two sequences of numbers, "
            f"got {type(p).__name__} and {type(q).__name__}"
        )
    read: Callable[[Any, str], list[Any]] = _enclosed if bounds else _exactly
    found_p, found_q = read(p, "p"), read(q, "q")
    if len(found_p) != len(found_q):
        raise ParameterValueError(
            f"p and q must have the same number of outcomes, got {len(found_p)} and {len(found_q)}"
        )
    pairs = zip(found_p, found_q, strict=True)
    if bounds:
        return [Outcome(a, b) for a, b in pairs]
    equal = _AT192.rational(0)
    return [
        Outcome(_AT192.rational(a), _AT192.rational(b), equal if a == b else None) for a, b in pairs
    ]


def _exactly(values: Sequence[object], name: str) -> list[Fraction]:
    numbers = [at_least_zero(value, name) for value in values]
    if sum(numbers) != 1:
        raise ParameterValueError(
            f"{name} must sum to 1 exactly (floats mean their exact binary value; fractions "
            "and text such as '1/3' mean what they say; bounds=True takes pairs of bounds)"
        )
    return numbers


def _enclosed(values: Sequence[object], name: str) -> list[Interval]:
    found = []
    for place, pair in enumerate(values):
        if not _is_pair(pair):
            raise ParameterTypeError(
                f"{name} must hold pairs, a lower and an upper bound, but has "
                f"{type(pair).__name__} at place {place}"
            )
        lower, upper = (at_least_zero(end, name) for end in pair)  # type: ignore[attr-defined]
        if lower > upper:
            raise ParameterValueError(
                f"{name} must have lower bounds that are at most the upper ones, but does not "
                f"at place {place}"
            )
        found.append((lower, upper))
    if not sum(lower for lower, _ in found) <= 1 <= sum(upper for _, upper in found):
        raise ParameterValueError(f"{name} must have bounds between which a sum of 1 lies")
    return [Interval(_AT192.rational(low).lower, _AT192.rational(up).upper) for low, up in found]


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_pair(value: object) -> bool:
    return _is_sequence(value) and len(value) == 2  # type: ignore[arg-type]
