"""A random generator with numpy's methods whose noise is exact, for code that takes ``prng=``.

Code such as the mechanisms of private-pgm takes a numpy generator and calls its ``normal``,
``laplace`` and ``choice``. `NumpyNoise` draws the discrete Gaussian, the discrete Laplace and an
exact choice. It has those of numpy's other methods that are exact, over `SystemBits`. There is no
seed: every bit comes from the operating system.

>>> from discretegauss.compat import NumpyNoise
>>> prng = NumpyNoise()
>>> prng.normal(0, 12.5, 3).shape
(3,)
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._drawing.engines import native
from .._inputs.draw_arguments import Size, checked_size, checked_source
from .._inputs.graphs import outside_of_graphs
from .._inputs.keywords import with_hints
from .._inputs.messages import describe
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import positive_number
from .._inputs.source import Source
from ..errors import MissingCoreError, ParameterTypeError, ParameterValueError
from ..sampling import uniform_below
from ._noise_on_a_grid import NoiseGrid, gaussian, laplace, noise
from ._system_bits import SystemBits

_SUM_TOLERANCE = 2.0**-26
"""The distance of the sum of probabilities from 1 that numpy allows: sqrt of a float's spacing."""


class NumpyNoise(np.random.Generator):
    """numpy's ``Generator`` over secure bits, with exact noise.

    Parameters
    ----------
    granularity : number, optional
        The distance between neighbouring values of the noise: a power of two from 2^-500 to 2^500.
        With 1, noise is whole numbers, like counts. None means 1, but refuses scales below 1.
    source : "getrandom", "chacha20" or callable, optional
        The source of bits, as in `discretegauss.discrete_gaussian`.

    Raises
    ------
    ValueError
        If the granularity is not such a power of two.

    Notes
    -----
    Guarantee: the noise of `normal` and `laplace` is exactly ``granularity * k``, with k from the
    law that the method names, as float64 without rounding. The sum ``data + noise`` has the privacy
    of k if the data, too, are whole multiples of the granularity. For counts, every granularity up
    to 1 is right.

    Not promised: any privacy of data that are not such multiples. The sum shows exactly how far
    each is from its multiple: 0.4237 with noise of granularity 1 ends in .4237, and with a smaller
    granularity the last digits show (Mironov, CCS 2012). So no granularity is chosen from the
    scale. First round such data to a grid with `lattice.to_lattice`.

    =====================================================  =======================================
    methods                                                what they are
    =====================================================  =======================================
    normal, laplace, choice, spawn                         exact, this package's
    integers, bytes, permutation, permuted, shuffle        exact, numpy's
    random                                                 numpy's, uniform multiples of 2^-53
    uniform                                                numpy's: ``random``, scaled and rounded
    all others, such as geometric and standard_normal      refused: numpy rounds their laws
    =====================================================  =======================================

    What is refused is an AttributeError. If it is not for noise on private data, call it on
    ``np.random.Generator(SystemBits())``. numpy's methods need the compiled core and bits of the
    system; this package's do not. A copy, pickled or not, is another generator with bits of its
    own.

    Examples
    --------
    >>> import numpy as np
    >>> noise = NumpyNoise(granularity="1/4").normal(loc=0, scale=3, size=1000)
    >>> bool((noise * 4 == np.rint(noise * 4)).all())
    True
    """

    @with_hints
    def __init__(self, granularity: object = None, *, source: Source = "getrandom") -> None:
        exact = positive_number(1 if granularity is None else granularity, "granularity")
        exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
        if exact != Fraction(2) ** exponent or abs(exponent) > 500:
            raise ParameterValueError(
                "granularity must be a power of two from 2**-500 to 2**500, "
                f"got {describe(granularity)}; there is no seed"
            )
        self._granularity = None if granularity is None else exact
        self._source = checked_source(source)
        self._grid = NoiseGrid(exponent, int(granularity is None), self._source)
        if native is not None and not callable(source):
            super().__init__(SystemBits(source))
        else:  # numpy's methods have no bits here, so calls of them must raise an error
            vars(self).update((name, partial(self._refuse, name)) for name in _OF_NUMPY)

    def _refuse(self, name: str, *_arguments: object, **_keywords: object) -> NoReturn:
        raise MissingCoreError(
            f"NumpyNoise.{name} needs the compiled core and bits of the system; "
            "normal, laplace, choice and spawn do not"
        )

    def __reduce__(self) -> Any:
        return partial(type(self), source=self._source), (self._granularity,)

    def __repr__(self) -> str:
        step = self._granularity
        return "NumpyNoise()" if step is None else f"NumpyNoise(granularity={str(step)!r})"

    __str__ = __repr__

    def normal(  # type: ignore[override]
        self, loc: object = 0, scale: object = 1, size: Size = None
    ) -> Any:
        """Return loc + granularity * k, k discrete Gaussian with sigma = scale/granularity.

        Parameters
        ----------
        loc : number or array_like, optional
            A whole multiple of the granularity, at most 2^52 times it.
        scale : number or array_like, optional
            Sigma, at most 2^45 times the granularity, and at least 1 if no granularity was given.
            As in numpy, 0 adds nothing. loc and scale broadcast.
        size : int or sequence of int, optional
            Shape of the result; None means the shape of loc and scale.

        Returns
        -------
        float, or ndarray of float64 with this shape

        Raises
        ------
        TypeError, ValueError, OverflowError
            If one of these is not a number, not a multiple, too small or too large, or the shapes
            do not fit. Nothing was drawn. No message shows loc.

        Notes
        -----
        The zCDP of counts with this noise is sensitivity**2 / (2 scale**2), as with the continuous
        normal law. Definition 1 of arXiv 2004.00010 has the law of k.
        """
        return noise(self._grid, gaussian, loc, scale, size)

    def laplace(  # type: ignore[override]
        self, loc: object = 0, scale: object = 1, size: Size = None
    ) -> Any:
        """Return loc + granularity * k, k discrete Laplace with scale/granularity.

        Parameters, results and errors are those of `normal`. A whole query of sensitivity s
        costs epsilon = s/scale, as with the continuous Laplace.
        """
        return noise(self._grid, laplace, loc, scale, size)

    @outside_of_graphs
    def choice(  # type: ignore[override]
        self,
        a: int | ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Return elements of a, each drawn with exactly the probabilities p.

        Parameters
        ----------
        a : int or array_like
            The elements; an integer stands for the numbers from 0 to a - 1.
        size : int or sequence of int, optional
            Shape of the result; None means one element.
        replace : bool, optional
            True: an element may occur more than once. Must be True if p is given.
        p : array_like, optional
            One number >= 0 for each element, with a sum of 1 up to 2^-26. The probabilities are
            their binary values divided by the exact sum. By default they are equal.
        axis : int, optional
            The axis of a along which its elements lie.
        shuffle : bool, optional
            Ignored, because the order is always random.

        Returns
        -------
        An element of a, or an ndarray of them

        Notes
        -----
        numpy compares a uniform double with sums of floats; this method compares integers. It
        cannot undo earlier rounding, such as that of a softmax: for the exponential mechanism use
        `selection.exponential`.
        """
        del shuffle
        pool, n = _pool(a, axis)
        shape, count = _shape_of(size)
        if not n and count:
            raise ParameterValueError(_NOTHING)
        if p is not None and not replace:
            raise ParameterValueError("replace must be True if p is given, got False")
        if p is not None:
            found = self._by_weight(_weights(p, n), count)
        elif replace:
            found = self._below(n, count) if count else []
        else:
            if count > n:
                raise ParameterValueError(
                    f"size must be at most {n} with replace=False, got {describe(size)}"
                )
            found = self._distinct(n, count)
        places = np.int64(found[0]) if shape is None else np.array(found, np.intp).reshape(shape)
        return places if pool is None else pool.take(places, axis)

    def spawn(self, n_children: int) -> list[NumpyNoise]:  # type: ignore[override]
        """Return a list of new generators like this one, each with its own bits."""
        n = whole_number(n_children, "n_children", minimum=0)
        return [copy(self) for _ in range(n)]

    def __getattr__(self, name: str) -> NoReturn:
        reason = ": there is no seed" if "seed" in name or "state" in name else ""
        if name in _REFUSED:
            instead = _INSTEAD.get(name, "normal or laplace")
            reason = (
                f", because numpy rounds its law: for noise use {instead}, and for anything else "
                "np.random.Generator(SystemBits())"
            )
        raise AttributeError(
            f"NumpyNoise, a numpy.random.Generator, has no {name}{reason}", name=name, obj=self
        )

    def _below(self, end: int, count: int) -> list[int]:
        if count == 1:
            return [uniform_below(end, source=self._source)]
        drawn: NDArray[Any] = uniform_below(end, (count,), dtype=object, source=self._source)
        return [int(x) for x in drawn.tolist()]

    def _by_weight(self, weights: Sequence[int], count: int) -> list[int]:
        """Return places, each drawn with a probability proportional to its weight."""
        ends = list(accumulate(weights))
        # bisect compares Python integers, which no dtype rounds
        return [bisect_right(ends, x) for x in self._below(ends[-1], count)]

    def _distinct(self, end: int, count: int) -> list[int]:
        """Return the first steps of a shuffle (Fisher and Yates)."""
        found, moved = [], dict[int, int]()  # the places that no longer hold their own number
        for i in range(count):
            j = i + int(uniform_below(end - i, source=self._source))
            found.append(moved.get(j, j))
            moved[j] = moved.get(i, i)
        return found


#: numpy's methods that it inherits. `uniform` is the only one of them that rounds.
_OF_NUMPY = {"integers", "bytes", "permutation", "permuted", "shuffle", "random", "uniform"}

#: numpy's methods that it refuses, and those of later versions of numpy.
_REFUSED = {
    *(x for x in dir(np.random.Generator) if x[0] != "_" and x not in vars(NumpyNoise)),
} - {*_OF_NUMPY, "bit_generator"}

_INSTEAD = {
    "geometric": "laplace, or discretegauss.geometric_exp",
    "poisson": "discretegauss.skellam, the difference of two",
    "gumbel": "discretegauss.selection.exponential",
    "standard_normal": "normal",
    "multivariate_normal": "normal",
    "exponential": "laplace",
    "standard_exponential": "laplace",
}


def _is_refused(self: NumpyNoise) -> NoReturn:
    raise AttributeError  # so that Python asks __getattr__


for _name in _REFUSED:
    _doc = "Refused, because numpy rounds this law.\n\n:meta private:"  # not on the site
    setattr(NumpyNoise, _name, property(_is_refused, doc=_doc))


_NOTHING = "a must be a positive integer below 2**64, or have an axis and at least one element"


def _pool(a: int | ArrayLike, axis: int) -> tuple[NDArray[Any] | None, int]:
    """Return the elements, None if `a` is an integer, and their number."""
    pool = _array(a, "a", None)
    if pool.ndim == 0:
        if pool.dtype.kind not in "iu":
            raise ParameterValueError(_NOTHING)
        return None, max(0, int(pool))
    place = whole_number(axis, "axis", minimum=-pool.ndim)
    if place >= pool.ndim:
        raise ParameterValueError(
            f"axis must be one of the {pool.ndim} axes of a, got {describe(axis)}"
        )
    return pool, pool.shape[place]


def _array(values: ArrayLike, name: str, dtype: type | None) -> NDArray[Any]:
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError):  # numpy's messages show elements
        raise ParameterTypeError(
            f"{name} must be an array{' of numbers' if dtype else ''}"
        ) from None


def _shape_of(size: Size) -> tuple[tuple[int, ...] | None, int]:
    """Return the shape, None for one number, and the number of elements."""
    shape = checked_size(size)
    return shape, 1 if shape is None else math.prod(shape)


def _weights(p: ArrayLike, count: int) -> list[int]:
    """Return integers in the proportions of p."""
    floats = _array(p, "p", np.float64)
    if floats.shape != (count,):
        raise ParameterValueError(f"p must have the shape ({count},), as a has, got {floats.shape}")
    if not (np.isfinite(floats).all() and (floats >= 0).all()):
        raise ParameterValueError("p must be finite and not negative")
    exact = [Fraction(x) for x in floats.tolist()]
    if abs(sum(exact, Fraction(-1))) > Fraction(_SUM_TOLERANCE):
        raise ParameterValueError("p must have a sum within 2**-26 of 1")
    common = max(x.denominator for x in exact)  # all are powers of two, so they divide the largest
    return [int(x * common) for x in exact]
