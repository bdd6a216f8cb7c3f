"""A random generator with numpy's methods whose noise is exact, for code that takes ``prng=``.

Code such as the mechanisms of private-pgm takes a generator of numpy's and asks it for ``normal``,
``laplace`` and ``choice``. `NumpyNoise` answers with the discrete Gaussian, the discrete Laplace
and an exact choice; the rest is numpy's, over `SystemBits`. There is no seed: every bit comes from
the operating system.

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
from .._inputs.messages import describe
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import positive_number
from .._inputs.source import Source
from ..errors import MissingCoreError, ParameterTypeError, ParameterValueError
from ..sampling import uniform_below
from ._noise_on_a_grid import Grid, gaussian, laplace, noise
from ._system_bits import SystemBits

_SUM_TOLERANCE = 2.0**-26
"""How far from 1 the sum of probabilities may be, as numpy has it: sqrt of a float's spacing."""


class NumpyNoise(np.random.Generator):
    """numpy's ``Generator`` over secure bits, with exact noise.

    Parameters
    ----------
    granularity : number, optional
        The distance of the values that noise can have: a power of two from 2^-500 to 2^500. With 1,
        noise is whole numbers, as counts are. None: 1, but scales below 1 are refused.
    source : "getrandom", "chacha20" or callable, optional
        Where bits come from, as in `discretegauss.discrete_gaussian`.

    Raises
    ------
    ValueError
        If the granularity is no such power of two.

    Notes
    -----
    Guarantee: the noise of `normal` and `laplace` is exactly ``granularity * k``, with k from the
    law that the method names, as float64 without rounding. Your sum ``data + noise`` is private as
    k is if the data are whole multiples of the granularity, too: for counts any granularity up to 1
    is right. `choice` is exact, and so are numpy's ``integers``, ``bytes``, ``permutation``,
    ``permuted``, ``shuffle``, and ``random``, a multiple of 2^-53.

    Not promised: any privacy of data that are no such multiples. The sum shows exactly how far each
    lies from its multiple: 0.4237 with noise of granularity 1 ends in .4237, and by a granularity
    that is smaller the last digits show (Mironov, CCS 2012). So no granularity is chosen from the
    scale. Bring such data to a grid first, with `lattice.to_lattice`.
    **All other methods**, ``standard_normal`` to ``zipf``, are numpy's: floats and rounded laws by
    secure bits, which are no noise for private data.

    numpy's own methods need the compiled core and bits of the system; `normal`, `laplace`,
    `choice` and `spawn` do not. A copy, pickled or not, is another generator with bits of its own.

    Examples
    --------
    >>> import numpy as np
    >>> noise = NumpyNoise(granularity="1/4").normal(loc=0, scale=3, size=1000)
    >>> bool((noise * 4 == np.rint(noise * 4)).all())
    True
    """

    def __init__(self, granularity: object = None, *, source: Source = "getrandom") -> None:
        exact = positive_number(1 if granularity is None else granularity, "granularity")
        exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
        if exact != Fraction(2) ** exponent or abs(exponent) > 500:
            raise ParameterValueError(
                "granularity must be a power of two from 2**-500 to 2**500, "
                f"got {describe(granularity)}"
            )
        self._granularity = None if granularity is None else exact
        self._source = checked_source(source)
        self._grid = Grid(exponent, int(granularity is None), self._source)
        if native is not None and not callable(source):
            super().__init__(SystemBits(source))
        else:  # numpy's methods have no bits, and would draw nothing even if they were reached
            vars(self).update((name, partial(self._refuse, name)) for name in _INHERITED)

    def _refuse(self, name: str, *_given: object, **_named: object) -> NoReturn:
        raise MissingCoreError(
            f"NumpyNoise.{name} needs the compiled core and bits of the system; "
            "normal, laplace, choice and spawn do not"
        )

    def __reduce__(self) -> Any:
        return partial(type(self), source=self._source), (self._granularity,)

    def __repr__(self) -> str:
        given = self._granularity
        return "NumpyNoise()" if given is None else f"NumpyNoise(granularity={str(given)!r})"

    __str__ = __repr__

    def normal(  # type: ignore[override]
        self, loc: object = 0, scale: object = 1, size: Size = None
    ) -> Any:
        """Return loc + granularity * k, k discrete Gaussian with sigma = scale/granularity.

        Parameters
        ----------
        loc : number or array_like, optional
            A whole multiple of the granularity, of at most 2^52 of it.
        scale : number or array_like, optional
            Sigma, at most 2^45 times the granularity; at least 1 if no granularity was given. 0
            adds nothing, as numpy's does. loc and scale broadcast.
        size : int or sequence of int, optional
            Shape of the result; None: that of loc and scale.

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
        The zCDP of counts with this noise is sensitivity**2 / (2 scale**2), as of the continuous
        normal; for k's law see Definition 1 of arXiv 2004.00010.
        """
        return noise(self._grid, gaussian, loc, scale, size)

    def laplace(  # type: ignore[override]
        self, loc: object = 0, scale: object = 1, size: Size = None
    ) -> Any:
        """Return loc + granularity * k, k from the discrete Laplace with scale/granularity.

        Parameters, results and errors are those of `normal`. A whole query of sensitivity s
        costs epsilon = s/scale, as with the continuous Laplace.
        """
        return noise(self._grid, laplace, loc, scale, size)

    def choice(  # type: ignore[override]
        self,
        a: int | ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Return elements of a, each by exactly the probabilities that p says.

        Parameters
        ----------
        a : int or array_like
            What to choose from; an integer stands for the numbers below it.
        size : int or sequence of int, optional
            Shape of the result; None: one element.
        replace : bool, optional
            Whether an element may come more than once; False only without p.
        p : array_like, optional
            As many numbers, none negative, with a sum of 1 up to 2^-26. They mean their binary
            values over their exact sum. All alike by default.
        axis : int, optional
            Along which axis of a its elements lie.
        shuffle : bool, optional
            Accepted for numpy's sake: the order is always random.

        Returns
        -------
        An element of a, or an ndarray of them

        Notes
        -----
        numpy compares a uniform double with sums of floats; this compares integers. What was
        rounded before the call, as a softmax is, stays as it is: for the exponential mechanism
        itself see `selection.exponential`.
        """
        del shuffle
        pool, n = _pool(a, axis)
        shape, count = _shape_of(size)
        if not n and count:
            raise ParameterValueError(_NOTHING)
        if p is not None and not replace:
            raise ParameterValueError("replace must be True where p is given, got False")
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
        """Return a list of other generators like this one, with bits of their own."""
        n = whole_number(n_children, "n_children", minimum=0)
        return [copy(self) for _ in range(n)]

    def __getattr__(self, name: str) -> NoReturn:
        reason = ": there is no seed" if "seed" in name or "state" in name else ""
        raise AttributeError(
            f"NumpyNoise, a numpy.random.Generator, has no {name}{reason}", name=name, obj=self
        )

    def _below(self, end: int, count: int) -> list[int]:
        if count == 1:
            return [uniform_below(end, source=self._source)]
        drawn: NDArray[Any] = uniform_below(end, (count,), dtype=object, source=self._source)
        return [int(x) for x in drawn.tolist()]

    def _by_weight(self, weights: Sequence[int], count: int) -> list[int]:
        """Return the places of the first sums of weights above integers below the whole sum."""
        ends = list(accumulate(weights))
        # searched as Python's integers, which no dtype rounds
        return [bisect_right(ends, x) for x in self._below(ends[-1], count)]

    def _distinct(self, end: int, count: int) -> list[int]:
        """Return the first steps of a shuffle (Fisher and Yates)."""
        found, moved = [], dict[int, int]()  # where a place does not hold its own number
        for i in range(count):
            j = i + int(uniform_below(end - i, source=self._source))
            found.append(moved.get(j, j))
            moved[j] = moved.get(i, i)
        return found


#: What is numpy's: all that is public and not a class's own.
_INHERITED = {x for x in dir(np.random.Generator) if x[0] != "_"} - {*vars(NumpyNoise)}


_NOTHING = "a must be a positive integer below 2**64, or have an axis and at least one element"


def _pool(a: int | ArrayLike, axis: int) -> tuple[NDArray[Any] | None, int]:
    """Return what to choose from, None for the numbers themselves, and how many there are."""
    pool = _array(a, "a", None)
    if pool.ndim == 0:
        if pool.dtype.kind not in "iu":
            raise ParameterValueError(_NOTHING)
        return None, max(0, int(pool))
    place = whole_number(axis, "axis", minimum=-pool.ndim)
    if place >= pool.ndim:
        raise ParameterValueError(f"axis must be one of a's {pool.ndim}, got {describe(axis)}")
    return pool, pool.shape[place]


def _array(values: ArrayLike, name: str, dtype: type | None) -> NDArray[Any]:
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError):  # whose words show elements
        raise ParameterTypeError(
            f"{name} must be an array{' of numbers' if dtype else ''}"
        ) from None


def _shape_of(size: Size) -> tuple[tuple[int, ...] | None, int]:
    """Return the shape, None for one number, and how many numbers that is."""
    shape = checked_size(size)
    return shape, 1 if shape is None else math.prod(shape)


def _weights(p: ArrayLike, count: int) -> list[int]:
    """Return integers in the proportions of p."""
    floats = _array(p, "p", np.float64)
    if floats.shape != (count,):
        raise ParameterValueError(f"p must have shape ({count},) as a, got {floats.shape}")
    if not (np.isfinite(floats).all() and (floats >= 0).all()):
        raise ParameterValueError("p must be finite and not negative")
    exact = [Fraction(x) for x in floats.tolist()]
    if abs(sum(exact, Fraction(-1))) > Fraction(_SUM_TOLERANCE):
        raise ParameterValueError("p must have a sum of 1, up to 2**-26")
    common = max(x.denominator for x in exact)  # powers of two, so all of them divide it
    return [int(x * common) for x in exact]
