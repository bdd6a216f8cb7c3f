"""One round of federated learning: from each client's real vector to the sum of all, with noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._certified import moments
from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._inputs.draw_arguments import checked_source
from .._inputs.messages import describe, refused
from .._inputs.numbers import checked_flag, whole_number
from .._inputs.privacy_arguments import (
    checked_probability,
    checked_sampling_rate,
    length_of_floats,
    positive_number,
    word_count,
)
from .._inputs.source import Source
from .._law import fits_range
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian, Law, Skellam
from ..sampling import bernoulli
from ._rotation import Rotation, real_floats
from ._rounding import round_conditionally, rounded_norm

_AT = arithmetic(128)

_WORD = 2**62
"""Two numbers below this add up in 64-bit integers."""

_SHRINK = 1 - 2.0**-30
"""Far more than floats lose in a clip, and no loss that anybody sees."""


_LONG, _SHORTER = 2.0**900, 2.0**-200
"""Numbers above the first are multiplied by the second, exactly; 2**31 of them have a sum."""


def least_modulus(
    law: Skellam | DiscreteGaussian,
    *,
    most_clients: int,
    largest: object,
    dimension: int = 1,
    failure: object = 2**-40,
) -> int:
    """Return the least power of two modulo which a sum comes back whole, except in a failure.

    Parameters
    ----------
    law : Skellam or DiscreteGaussian
        The noise of each client in each place, of mu = 0.
    most_clients : int
        The most who send a message.
    largest : number
        The largest absolute value of an entry before noise.
    dimension : int, optional
        How many integers a vector has.
    failure : number, optional
        The probability that noise makes a sum too large somewhere, at most.

    Returns
    -------
    int
        A sum beyond it comes back wrong by a multiple of the modulus; that tells nothing more.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    With s the sum of all sigma2, or variances, and m = log(2 dimension/failure), noise exceeds
    sqrt(2 s m) for the discrete Gaussian, which is sub-Gaussian (arXiv 2004.00010), and sqrt(2 s m)
    + 2 m/3 for the Skellam law (Bernstein), with a probability of at most failure.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.distributed.least_modulus(dg.Skellam(40), most_clients=100, largest=100)
    32768
    """
    n, d = word_count(most_clients, "most_clients"), word_count(dimension, "dimension")
    entry = positive_number(largest, "largest")
    probability = checked_probability(failure, "failure")
    spread = n * _spread(law)
    m = _AT.log(_AT.rational(2 * d / probability))
    reach = _AT.sqrt(_AT.scale(m, 2 * spread))
    if isinstance(law, Skellam):
        reach = _AT.add(reach, _AT.scale(m, Fraction(2, 3)))
    half = _AT.shift(reach, n * entry + 1).upper
    return 2 << int(half).bit_length()


def _spread(law: object) -> Fraction:
    """Return what stands for the variance in a bound on tails: never below it."""
    if isinstance(law, Skellam):
        return law.variance
    if not isinstance(law, DiscreteGaussian):
        raise refused("law", "be a Skellam or DiscreteGaussian", law, ParameterTypeError)
    if law.mu:
        raise ParameterValueError(f"law must have mu = 0, got mu={describe(law.mu)}")
    return law.sigma2


def _integers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of integers: rounding is a decision that is not made here."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "f" and array.size and isinstance(values, list | tuple):
            array = np.asarray(values, dtype=object)  # of int64 and uint64 numpy makes floats
    except ValueError:  # lists of several lengths
        raise ParameterValueError(f"{name} must be of one length") from None
    if array.dtype.kind not in "iuO" and array.size:
        raise ParameterTypeError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.dtype != object:
        return array
    listed = array.ravel().tolist()
    for value in listed:
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise ParameterTypeError(f"{name} must hold integers, got a {type(value).__name__}")
    return np.fromiter(map(int, listed), object).reshape(array.shape)


def _residues(values: NDArray[Any], modulus: int) -> NDArray[Any]:
    """Return the numbers modulo an integer, in [0, modulus), as a new array."""
    if modulus <= _WORD and values.dtype.kind == "i":
        return np.asarray(values.astype(np.int64) % modulus)
    reduced = np.asarray(values.astype(object) % modulus, object)
    return reduced.astype(np.int64) if modulus <= _WORD else reduced


def share(vector: Any, law: Law, modulus: int, *, source: Source = "chacha20") -> NDArray[Any]:
    """Add a client's noise to its vector and reduce the sum modulo an integer.

    Parameters
    ----------
    vector : array_like of integers
        What the client contributes, its norm bounded already; integers of any size.
    law : law
        The client's noise: one independent draw for each entry.
    modulus : int
        That of the secure sum, at least 2.
    source : "getrandom", "chacha20" or callable, optional
        Where bits come from, as for `discretegauss.discrete_gaussian`.

    Returns
    -------
    ndarray
        In [0, modulus), of the vector's shape; int64, or object for a modulus above 2**62.

    Raises
    ------
    TypeError, ValueError, OSError
        If a parameter is wrong, before anything is drawn; or no randomness can be had.

    Examples
    --------
    >>> import discretegauss as dg
    >>> message = share([3, -1, 0], dg.DiscreteGaussian(4), 2**16)
    >>> message.shape, message.dtype, bool((message < 2**16).all())
    ((3,), dtype('int64'), True)
    """
    bits = checked_source(source)
    if not isinstance(law, Law):
        raise refused("law", "be a law, as Skellam(5) is", law, ParameterTypeError)
    base = whole_number(modulus, "modulus", minimum=2)
    message = _residues(_integers(vector, "vector"), base)
    words = fits_range(law._spec, -_WORD, _WORD - 1)
    noise = np.asarray(law.sample(message.shape, dtype=np.int64 if words else object, source=bits))
    drawn = [noise]
    try:
        drawn.append(_residues(noise, base))
        message += drawn[1]
        return np.asarray(message % base)
    finally:
        for array in drawn:
            array.fill(0)
        message.fill(0)


def total(messages: Any, modulus: int) -> NDArray[Any]:
    """Return the sum of all messages modulo an integer, as the numbers nearest to 0.

    Parameters
    ----------
    messages : array_like of integers, shape (clients, ...)
        One for each client along the first axis.
    modulus : int
        The same, at least 2.

    Returns
    -------
    ndarray
        In [-(modulus // 2), (modulus + 1) // 2), of the shape of one message; int64, or object for
        a modulus above 2**62. The sum of vectors and noise, if that lies in this range; else wrong
        by a multiple of the modulus, which nothing shows.

    Raises
    ------
    TypeError, ValueError
        If a parameter is wrong.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.distributed.total([[5, 15], [4, 14]], 16).tolist()
    [-7, -3]
    """
    base = whole_number(modulus, "modulus", minimum=2)
    array = _integers(messages, "messages")
    if array.ndim == 0:
        raise ParameterValueError("messages must have an axis of clients, got a single number")
    reduced = _residues(array, base)
    half = base // 2  # is added to the sum of all
    exact = reduced if (reduced.shape[0] + 1) * base < 2 * _WORD else reduced.astype(object)
    summed = np.asarray((np.asarray(exact.sum(axis=0)) + half) % base - half)
    return summed.astype(np.int64 if base <= _WORD else object)


class SecureSum:
    """What all clients of a round agree on: rotation, clip, lattice, noise and modulus.

    A client's vector is rotated, clipped, written in steps of clip/steps, rounded conditionally,
    given noise, and reduced modulo an integer (`message`). The sum of all messages is turned back
    (`total`).

    **Who sends noise in a round with sampled clients?** Every invited client must, whether or not
    it is sampled: ``message(vector, sampling=q)``. If only sampled clients send, account without
    ``sampling=``.

    Parameters
    ----------
    dimension : int
        How many numbers a client's vector has.
    clip : number
        The Euclidean norm to which a vector is clipped, from 2**-1000 to 2**1000.
    steps : number
        That norm in steps of the lattice, from 2**-24 to 2**24: more make rounding finer, and
        messages longer.
    law : Skellam or DiscreteGaussian
        The noise of each client in each place, in steps.
    most_clients : int
        The most who send a message, which the modulus holds; the fewest are a matter of
        accounting, as in ``privacy.epsilon(law.sum(fewest_clients), ...)``.
    modulus : int, optional
        That of the secure sum; by default `least_modulus`, for entries as large as the whole norm.
        A smaller one is refused unless ``wrap`` is True.
    wrap : bool, optional
        True: take any modulus. Rotated sums are mostly far smaller than the largest possible.
    retry : number, optional
        As for `rounded_norm`.
    source : "getrandom", "chacha20" or callable, optional
        Where the bits of the rotation come from, which is public.

    Attributes
    ----------
    sensitivity : float
        The most that one client's vector changes the sum, in steps: for `discretegauss.privacy`.
        The law does not enter it: `rounded_norm(steps, dimension=N)`.
    rotation : Rotation
        Of d numbers to N.
    modulus : int

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        If a parameter is wrong, before anything is drawn; or no randomness can be had.

    Examples
    --------
    >>> import numpy as np
    >>> import discretegauss as dg
    >>> noise = dg.Skellam(40)
    >>> secure = dg.distributed.SecureSum(10, clip=1, steps=200, law=noise, most_clients=100)
    >>> messages = [secure.message(np.full(10, 0.1)) for _ in range(100)]
    >>> bool((abs(secure.total(messages) / 100 - 0.1) < 0.05).all())
    True
    """

    def __init__(
        self,
        dimension: int,
        *,
        clip: object,
        steps: object,
        law: Skellam | DiscreteGaussian,
        most_clients: int,
        modulus: int | None = None,
        wrap: bool = False,
        retry: object = None,
        source: Source = "chacha20",
    ) -> None:
        bits = checked_source(source)
        d = word_count(dimension, "dimension")
        self.most_clients = word_count(most_clients, "most_clients")
        self.clip = length_of_floats(clip, "clip")
        self.steps = positive_number(steps, "steps")
        if not Fraction(1, 2**24) <= self.steps <= 2**24:
            raise refused("steps", "be from 2**-24 to 2**24", steps)
        checked_flag(wrap, "wrap")
        self.law, self.retry = law, retry
        padded = 1 << (d - 1).bit_length()
        self.sensitivity = rounded_norm(self.steps, dimension=padded, retry=retry)
        least = least_modulus(
            law, most_clients=self.most_clients, largest=self.sensitivity, dimension=padded
        )
        self.modulus = least if modulus is None else whole_number(modulus, "modulus", minimum=2)
        if self.modulus < least and not wrap:
            raise ParameterValueError(
                f"modulus must be at least {least} for the sum to come back whole (or say "
                f"wrap=True), got {describe(self.modulus)}"
            )
        self.rotation = Rotation(d, source=bits)

    def message(
        self, vector: ArrayLike, *, sampling: object = 1, source: Source = "chacha20"
    ) -> NDArray[Any]:
        """Return what a client sends into the secure sum.

        Parameters
        ----------
        vector : array_like of float, shape (..., d)
            Finite; of several, as simulations have them, each is a client's.
        sampling : number, optional
            The probability with which the vector is in the message; otherwise zeros stand for it.
            The client's own coin decides, exactly, and nobody sees it. The noise is there in both
            cases, so every invited client must send its message.
        source : "getrandom", "chacha20" or callable, optional
            Where the bits of the coin, rounding and noise come from.

        Returns
        -------
        ndarray, shape (..., N)
            Integers in [0, modulus); objects for a modulus above 2**62.

        Notes
        -----
        ``privacy.epsilon(law.sum(n), ..., sampling=q)`` holds for such messages. **It is false if a
        client that is not sampled sends nothing**: its noise is then missing, too, and the variance
        of the sum shows who took part.
        """
        bits, rate = checked_source(source), checked_sampling_rate(sampling)
        given = real_floats(vector, "vectors")
        scale: Any = 1.0  # what a long vector is made shorter by, before sums of its numbers
        if given.ndim:
            most = np.abs(given).max(axis=-1, keepdims=True, initial=0.0)
            scale = np.where(most > _LONG, _SHORTER, 1.0)
        rotated = self.rotation.apply(given * scale)
        largest = np.abs(rotated).max(axis=-1, keepdims=True, initial=0.0)
        direction = rotated / np.where(largest > 0, largest, 1.0)
        norm = np.sqrt(np.square(direction).sum(axis=-1, keepdims=True))
        steps = float(self.steps)
        with np.errstate(over="ignore"):  # too long to tell is too long
            length = largest * norm * (steps / float(self.clip)) / scale
            length = np.minimum(length, steps * _SHRINK)
        rotated = direction * (length / np.where(norm > 0, norm, 1.0))
        whole = round_conditionally(rotated, self.steps, retry=self.retry, source=bits)
        try:
            if rate != 1:
                coins = np.asarray(bernoulli(rate, whole.shape[:-1] or (1,), source=bits))
                whole *= coins.reshape(*whole.shape[:-1], 1)
                coins.fill(False)
            return share(whole, self.law, self.modulus, source=bits)
        finally:
            whole.fill(0)

    def total(self, messages: Any) -> NDArray[np.float64]:
        """Return the sum of the clients' clipped vectors, with the noise of all.

        Parameters
        ----------
        messages : array_like of integers, shape (clients, N)
            One message a client, ``most_clients`` at most; or ``[s]`` for a sum s of them modulo
            the modulus, whose clients nothing here can count.

        Returns
        -------
        ndarray of float64, shape (d,)

        Raises
        ------
        TypeError, ValueError
            If the messages are of another shape, or too many: their sum might come back wrong.
        """
        sums = total(messages, self.modulus)
        n = self.rotation.padded
        if sums.shape != (n,):
            shape = np.shape(messages)
            raise ParameterValueError(
                f"messages must have the shape (clients, {n}), or (1, {n}) for a sum of them, "
                f"got {shape}"
            )
        if len(messages) > self.most_clients:
            raise ParameterValueError(
                f"messages must be at most most_clients = {self.most_clients}, got {len(messages)}"
            )
        turned = self.rotation.undo(sums)
        with np.errstate(over="ignore"):  # beyond every float is infinite
            return np.asarray(turned * float(self.clip / self.steps))

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in `total`, in each number, rounded up.

        Of ``most_clients`` messages: that of n is ``sqrt(n/most_clients)`` of it.
        """
        # which is not sigma2: far below it where sigma2 is small
        variance = moments.variance(self.law._simplest, _AT.bits)
        of_sum = _AT.sqrt(_AT.scale(variance, self.most_clients))
        return float_at_least(_AT.scale(of_sum, self.clip / self.steps).upper)
