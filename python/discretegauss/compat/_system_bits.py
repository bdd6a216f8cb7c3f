"""Secure bits for numpy's ``Generator``: a BitGenerator over the system's bits or ChaCha20."""

from __future__ import annotations

from typing import Any, Literal, NoReturn

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from .._drawing.engines import core
from .._inputs.messages import describe
from ..errors import ParameterTypeError, ParameterValueError

_ANOTHER = "SystemBits has no seed and no state to copy; make another by SystemBits()"


class _NoSeed(ISeedSequence):
    """The seed sequence that numpy's base class requires and never uses."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NoReturn:
        """Raise an error, because there is no state."""
        raise ParameterTypeError(_ANOTHER)


class SystemBits(np.random.BitGenerator):
    """A BitGenerator for ``numpy.random.Generator`` with bits of the operating system.

    Parameters
    ----------
    source : "getrandom" or "chacha20", optional
        The operating system's generator, or ChaCha20, which is several times as fast. Each object
        takes its own key for it from the operating system.

    Raises
    ------
    MissingCoreError
        Without the compiled core.

    Notes
    -----
    Guarantee: no bit is returned twice, in any thread or forked process. Only the object holds bits
    that were read and not used yet. It wipes them when they are used, in the child of a fork, and
    when the object is deleted. There is no seed. Copying or pickling the object is a TypeError.

    If the system gives no bits, numpy's methods raise EntropyError, an OSError, and return nothing.
    Then the contents of an array passed as ``out``, or to ``shuffle``, mean nothing. C functions
    that draw without holding the object's ``lock`` wait until bits arrive.

    Not promised: that numpy's results are exact (see `NumpyNoise` for those that are), or private
    as noise. ``numpy.random.RandomState`` itself stores a normal draw, which a fork copies.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.Generator(SystemBits("chacha20"))
    >>> sorted(rng.permutation(4).tolist())
    [0, 1, 2, 3]
    """

    def __init__(self, source: Literal["getrandom", "chacha20"] = "getrandom") -> None:
        if "_bits" in self.__dict__:  # a second __init__ while generators may draw
            raise ParameterTypeError(_ANOTHER)
        if not isinstance(source, str) or source not in ("getrandom", "chacha20"):
            raise ParameterValueError(
                f"source must be 'getrandom' or 'chacha20', got {describe(source)}; "
                "there is no seed"
            )
        bits_behind = core("SystemBits").bits_behind
        super().__init__(_NoSeed())  # type: ignore[arg-type]
        self._bits = bits_behind(self.capsule, source)

    @property
    def lock(self) -> Any:  # type: ignore[override]
        """The lock to hold while numpy's C functions draw. Its release raises if bits failed."""
        return self._bits

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """Return words of 64 bits, as numpy's BitGenerators do."""
        # numpy's own random_raw holds another lock, which may stay locked in a forked child
        words = np.random.Generator(self).integers(0, 2**64, size, np.uint64)
        if not output:
            return None
        return int(words) if size is None else words

    def _refuse(self, *_arguments: object, **_keywords: object) -> NoReturn:
        """Refuse every operation that would copy or repeat the stream."""
        raise ParameterTypeError(_ANOTHER)

    spawn = jumped = __reduce_ex__ = __getstate__ = __setstate__ = _refuse
    state = seed_seq = property(_refuse, _refuse)
