"""One round of federated learning: each client's real vector, its message, and the noisy sum."""

from __future__ import annotations

from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._certified import moments
from .._certified.floats import float_at_least
from .._certified.interval import arithmetic, fraction_of
from .._inputs.draw_arguments import checked_source
from .._inputs.graphs import outside_of_graphs
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

_AT128 = arithmetic(128)

_WORD = 2**62
"""Two numbers below this add up in 64-bit integers."""

_SHRINK = 1 - 2.0**-30
"""A vector is clipped to this part of its norm, because floats may lengthen it by rounding."""


_LONG, _SHORTER = 2.0**900, 2.0**-200
"""Larger numbers are multiplied by the second, exactly. Then 2**31 of them have a finite sum."""


def least_modulus(
    law: Skellam | DiscreteGaussian,
    *,
    most_clients: int,
    largest: object,
    dimension: int = 1,
    failure: object = 2**-40,
) -> int:
    """Return the least power of two modulo which a sum does not wrap, except in a failure.

    Parameters
    ----------
    law : Skellam or DiscreteGaussian
        The noise of each client in each entry, of mu = 0.
    most_clients : int
        The largest number of clients who send a message.
    largest : number
        The largest absolute value of an entry before noise.
    dimension : int, optional
        The number of entries of a vector.
    failure : number, optional
        The largest probability that noise makes any entry of the sum wrap.

    Returns
    -------
    int
        A power of two. If a sum wraps, it is wrong by a multiple of this, and costs no privacy.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    Let s be the sum of all sigma2, or variances, and m = log(2 dimension/failure). With a
    probability of at most failure, discrete Gaussian noise exceeds sqrt(2 s m), because it is
    sub-Gaussian (arXiv 2004.00010), and Skellam noise exceeds sqrt(2 s m) + 2 m/3 (Bernstein).

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
    m = _AT128.log(_AT128.rational(2 * d / probability))
    reach = _AT128.sqrt(_AT128.scale(m, 2 * spread))
    if isinstance(law, Skellam):
        reach = _AT128.add(reach, _AT128.scale(m, Fraction(2, 3)))
    half = _AT128.shift(reach, n * entry + 1).upper
    whole = int(fraction_of(half))  # int(half) would round to the nearest
    return 2 << whole.bit_length()


def _spread(law: object) -> Fraction:
    """Return the variance, or sigma2, which is no less: the bounds on tails hold with it."""
    if isinstance(law, Skellam):
        return law.variance
    if not isinstance(law, DiscreteGaussian):
        raise refused("law", "be a Skellam or DiscreteGaussian", law, ParameterTypeError)
    if law.mu:
        raise ParameterValueError(f"law must have mu = 0, got mu={describe(law.mu)}")
    return law.sigma2


def _integers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of integers; refuse floats, because rounding is the caller's decision."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "f" and array.size and isinstance(values, list | tuple):
            array = np.asarray(values, dtype=object)  # numpy mixes int64 and uint64 as floats
    except ValueError:  # lists of several lengths
        raise ParameterValueError(f"{name} must all have one length") from None
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


@outside_of_graphs
def share(vector: Any, law: Law, modulus: int, *, source: Source = "chacha20") -> NDArray[Any]:
    """Add a client's noise to its vector and reduce the sum modulo an integer.

    The caller has bounded the norm of the vector, whose integers may have any size. Each entry gets
    an independent draw of the law. The result is in [0, modulus) and has the vector's shape; it is
    int64, or object for a modulus above 2**62. All arguments are checked before anything is drawn.

    Examples
    --------
    >>> import discretegauss as dg
    >>> message = share([3, -1, 0], dg.DiscreteGaussian(4), 2**16)
    >>> message.shape, message.dtype, bool((message < 2**16).all())
    ((3,), dtype('int64'), True)
    """
    bits = checked_source(source)
    if not isinstance(law, Law):
        raise refused("law", "be a law such as Skellam(5)", law, ParameterTypeError)
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


@outside_of_graphs
def total(messages: Any, modulus: int) -> NDArray[Any]:
    """Return the sum of all messages modulo an integer, as the numbers nearest to 0.

    Parameters
    ----------
    messages : array_like of integers, shape (clients, ...)
        One for each client along the first axis.
    modulus : int
        The modulus of the messages, at least 2.

    Returns
    -------
    ndarray
        In [-(modulus // 2), (modulus + 1) // 2), of the shape of one message; int64, or object for
        a modulus above 2**62. It is the sum of vectors and noise if that sum lies in this range.
        Otherwise it is wrong by a multiple of the modulus, and nothing shows that.

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
    half = base // 2
    exact = reduced if (reduced.shape[0] + 1) * base < 2 * _WORD else reduced.astype(object)
    summed = np.asarray((np.asarray(exact.sum(axis=0)) + half) % base - half)
    return summed.astype(np.int64 if base <= _WORD else object)


def _some_are_equal(rows: NDArray[Any]) -> bool:
    texts = ((str(x.tolist()).encode() if x.dtype == object else x.tobytes()) for x in rows)
    return len({blake2b(text).digest() for text in texts}) < len(rows)


class SecureSum:
    """The parameters that all clients of a round share: rotation, clip, lattice, noise and modulus.

    `message` rotates a client's vector, clips it, divides it by the step clip/steps, rounds it
    conditionally, adds noise, and reduces it modulo an integer. `total` adds messages up and undoes
    the rotation.

    **Who sends noise in a round with sampled clients?** Every invited client must, whether or not
    it is sampled: ``message(vector, sampling=q)``. If only sampled clients send, account with
    ``secret_sample=False``.

    Parameters
    ----------
    dimension : int
        The length d of a client's vector.
    clip : number
        The Euclidean norm to which a vector is clipped, from 2**-1000 to 2**1000.
    steps : number
        That norm in steps of the lattice, from 2**-24 to 2**24. More steps make rounding finer and
        messages longer.
    law : Skellam or DiscreteGaussian
        The noise of each client in each entry, in steps.
    most_clients : int
        The largest number of clients who send a message; it decides the modulus.
    fewest_clients : int
        The smallest number of clients whose sum is opened; it decides the cost, as in
        ``privacy.epsilon(law.sum(fewest_clients), ...)``. Pass the ``clients`` of
        `discretegauss.privacy.calibrate`, plus the number of those who may collude. The others of
        ``most_clients`` may drop out.
    modulus : int, optional
        The modulus of the secure sum; by default `least_modulus`, for entries as large as the whole
        norm. A smaller one is refused unless ``wrap`` is True.
    wrap : bool, optional
        True: take any modulus. Rotated sums are mostly far smaller than the largest possible.
    retry : number, optional
        As for `rounded_norm`.
    source : "getrandom", "chacha20" or callable, optional
        The source of the rotation's bits. The rotation is public.

    Attributes
    ----------
    sensitivity : float
        The most that one client's vector changes the sum, in steps, for `discretegauss.privacy`:
        ``rounded_norm(steps, dimension=N)``, whatever the law is.
    rotation : Rotation
        It makes N numbers of d.
    modulus : int

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        If a parameter is wrong, before anything is drawn; or if the source fails.

    Examples
    --------
    >>> import numpy as np
    >>> import discretegauss as dg
    >>> noise = dg.Skellam(40)
    >>> clients = {"most_clients": 100, "fewest_clients": 80}
    >>> secure = dg.distributed.SecureSum(10, clip=1, steps=200, law=noise, **clients)
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
        fewest_clients: int,
        modulus: int | None = None,
        wrap: bool = False,
        retry: object = None,
        source: Source = "chacha20",
    ) -> None:
        bits = checked_source(source)
        d = word_count(dimension, "dimension")
        self.most_clients = word_count(most_clients, "most_clients")
        self.fewest_clients = word_count(fewest_clients, "fewest_clients")
        if self.fewest_clients > self.most_clients:
            raise ParameterValueError(
                f"fewest_clients must be at most most_clients = {self.most_clients}, "
                f"got {self.fewest_clients}"
            )
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
                f"modulus must be at least {least} so that the sum does not wrap (or set "
                f"wrap=True), got {describe(self.modulus)}"
            )
        self.rotation = Rotation(d, source=bits)

    @outside_of_graphs
    def message(
        self, vector: ArrayLike, *, sampling: object = 1, source: Source = "chacha20"
    ) -> NDArray[Any]:
        """Return a client's message to the secure sum.

        Parameters
        ----------
        vector : array_like of float, shape (..., d)
            Finite. A simulation may pass several vectors, one for each client.
        sampling : number, optional
            The exact probability with which the vector is in the message. Otherwise zeros are. The
            client's own secret coin decides. The noise is there in both cases, so every invited
            client must send its message.
        source : "getrandom", "chacha20" or callable, optional
            The source of the bits for the coin, rounding and noise.

        Returns
        -------
        ndarray, shape (..., N)
            Integers in [0, modulus); objects for a modulus above 2**62.

        Notes
        -----
        ``privacy.epsilon(law.sum(n), ..., sampling=q)`` holds for such messages. **It is false if a
        client that is not sampled sends nothing**: then its noise is missing, too, and the variance
        of the sum shows who took part.
        """
        bits, rate = checked_source(source), checked_sampling_rate(sampling)
        vectors = real_floats(vector, "vectors")
        scale: Any = 1.0  # shortens a long vector, so that sums of its numbers are finite
        if vectors.ndim:
            most = np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0)
            scale = np.where(most > _LONG, _SHORTER, 1.0)
        rotated = self.rotation.apply(vectors * scale)
        largest = np.abs(rotated).max(axis=-1, keepdims=True, initial=0.0)
        direction = rotated / np.where(largest > 0, largest, 1.0)
        norm = np.sqrt(np.square(direction).sum(axis=-1, keepdims=True))
        steps = float(self.steps)
        with np.errstate(over="ignore"):  # a length that overflows is clipped, too
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

    @outside_of_graphs
    def total(self, messages: Any, *, clients: int | None = None) -> NDArray[np.float64]:
        """Return the sum of the clients' clipped vectors, with the noise of all.

        Parameters
        ----------
        messages : array_like of integers, shape (clients, N)
            One message of each client. Or their sum modulo the modulus, of shape (N,).
        clients : int, optional
            How many clients' messages are in such a sum; only for a sum.

        Returns
        -------
        ndarray of float64, shape (d,)

        Raises
        ------
        TypeError, ValueError
            If messages have another shape; if there are fewer clients than ``fewest_clients`` or
            more than ``most_clients``; or if two messages are the same, which is one client's
            message twice, as independent noise makes that less likely than 2**-40.

        Notes
        -----
        Not seen: whether `clients` is true, whether two different messages are of one client, and
        whether a client added its noise. Two equal messages of little noise and few numbers may be
        those of two clients, and are added up.
        """
        array, n = _integers(messages, "messages"), self.rotation.padded
        shape = array.shape
        if shape[-1:] != (n,) or len(shape) > 2:
            raise ParameterValueError(
                f"messages must have the shape (clients, {n}), or ({n},) for a sum of them, "
                f"got {shape}"
            )
        if (clients is None) == (len(shape) == 1):
            raise ParameterTypeError(
                "clients must be given with a sum of messages, and only then: the number of them"
            )
        count = shape[0] if clients is None else word_count(clients, "clients")
        if not self.fewest_clients <= count <= self.most_clients:
            raise ParameterValueError(
                "messages must be those of fewest_clients to most_clients, "
                f"{self.fewest_clients} to {self.most_clients}, got {count}"
            )
        rows = _residues(array, self.modulus).reshape(-1, n)
        if self._equal_by_chance(count) < 2.0**-40 and _some_are_equal(rows):
            raise ParameterValueError(
                "messages must be one of each client, but two of them are the same"
            )
        sums = total(rows, self.modulus)
        turned = self.rotation.undo(sums)
        with np.errstate(over="ignore"):  # a number beyond every float is infinite
            return np.asarray(turned * float(self.clip / self.steps))

    def _equal_by_chance(self, clients: int) -> float:
        """Return a bound of the probability that any two of the clients' messages are equal."""
        # 0 has the largest probability, which falls as the noise gets wider
        narrow = type(self.law)(min(_spread(self.law), Fraction(1000)))
        of_one = min(1.0, narrow.pmf(0) * 1.01 + 2 / self.modulus)
        return float(clients) ** 2 * of_one**self.rotation.padded

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in each number of `total`, rounded up.

        It is that of ``most_clients`` messages; n messages have ``sqrt(n/most_clients)`` of it.
        """
        # The variance is not sigma2: it is far below sigma2 if that is small.
        variance = moments.variance(self.law._simplest, _AT128.bits)
        of_sum = _AT128.sqrt(_AT128.scale(variance, self.most_clients))
        return float_at_least(_AT128.scale(of_sum, self.clip / self.steps).upper)
