"""Secure bits for numpy's ``Generator``: a BitGenerator over the system's bits, or ChaCha20."""

from __future__ import annotations

from typing import Any, Literal, NoReturn

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from .._drawing.engines import core
from .._inputs.messages import describe
from ..errors import ParameterTypeError, ParameterValueError

_ANOTHER = "SystemBits has no seed and no state to copy; make another by SystemBits()"


class _NoSeed(ISeedSequence):
    """What numpy's base class wants, and nobody asks."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NoReturn:
        """Refuse."""
        raise ParameterTypeError(_ANOTHER)


class SystemBits(np.random.BitGenerator):
    """Bits of the system for ``numpy.random.Generator``, and all that takes one.

    Parameters
    ----------
    source : "getrandom" or "chacha20", optional
        The operating system's generator, or ChaCha20 under a key that the object takes from there
        for itself, which is several times as fast.

    Raises
    ------
    MissingCoreError
        Without the compiled core.

    Notes
    -----
    Guarantee: no bit is given twice, in whatever thread or forked process. Bits that are read and
    not used yet stay in the object, and nowhere else. They are wiped as they are used, in the child
    of a fork, and when the object goes. There is no seed; to copy or pickle it is a TypeError.

    If the system gives no bits, numpy's methods raise EntropyError, an OSError, and return nothing;
    what stands then in an array given as ``out``, or to ``shuffle``, is worth nothing. Functions in
    C that draw without the object's ``lock`` wait.

    Not promised: that what numpy makes of the bits is exact (`NumpyNoise` says what is), or private
    as noise. ``numpy.random.RandomState`` keeps a normal draw by itself, which a fork copies.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.Generator(SystemBits("chacha20"))
    >>> sorted(rng.permutation(4).tolist())
    [0, 1, 2, 3]
    """

    def __init__(self, source: Literal["getrandom", "chacha20"] = "getrandom") -> None:
        if "_bits" in self.__dict__:  # generators may be drawing from these
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
        """What to hold while drawing by numpy's C functions: leaving it raises if bits failed."""
        return self._bits

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """Return words of 64 bits, as numpy's BitGenerators do."""
        # not by numpy's own: that holds another lock, which is never free in the child of a fork
        words = np.random.Generator(self).integers(0, 2**64, size, np.uint64)
        if not output:
            return None
        return int(words) if size is None else words

    def _refuse(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse what would copy or repeat a stream: there is none to."""
        raise ParameterTypeError(_ANOTHER)

    spawn = jumped = __reduce_ex__ = __getstate__ = __setstate__ = _refuse
    state = seed_seq = property(_refuse, _refuse)
