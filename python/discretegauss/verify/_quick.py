"""Check that an installed package draws what its specification says: ``verify --quick``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from .. import privacy, reference
from .._drawing.engines import build_info
from ..laws import DiscreteGaussian
from ..sampling import discrete_gaussian, discrete_laplace, geometric_exp

_N = 200
_LAWS = [
    ("1", "0"),
    ("355/113", "1/3"),
    ("10000", "-7/2"),
    ("1" + "0" * 40, "12345678901234567890"),
]

#: The digest of draws by cell tables (tests/vectors/README.md) from the stream `_fill`, law by law.
_CELLS = "d1f0c90b4731732d2aa07a9836a3630101ece8b48f5f04089cfc097ed3e92d01"


def _fill() -> Callable[[memoryview], None]:
    """Return the stream SHA-256(0), SHA-256(1), ..., from its beginning."""
    position, ready = 0, bytearray()

    def fill(out: memoryview) -> None:
        nonlocal position
        while len(ready) < len(out):
            ready.extend(hashlib.sha256(position.to_bytes(8, "little")).digest())
            position += 1
        out[:] = ready[: len(out)]
        del ready[: len(out)]

    return fill


def _cells_digest() -> str:
    digest = hashlib.sha256()
    for sigma2, mu in _LAWS:
        out = discrete_gaussian(
            sigma2, mu=mu, size=_N, dtype=object, source=_fill(), method="cells"
        )
        digest.update(repr(list(map(int, out))).encode())
    return digest.hexdigest()


def _as_specified() -> bool:
    for parameter, mu in _LAWS:
        p, m = Fraction(parameter), Fraction(mu)
        tape = reference.CallableBytes(_fill())
        expected = [reference.discrete_gaussian(p, m, tape) for _ in range(_N)]
        draws = discrete_gaussian(
            p, mu=m, size=_N, dtype=object, source=_fill(), method="reference"
        )
        if list(draws) != expected:
            return False
        tape = reference.CallableBytes(_fill())
        expected = [reference.discrete_laplace(p, m, tape) for _ in range(_N)]
        draws = discrete_laplace(p, mu=m, size=_N, dtype=object, source=_fill(), method="reference")
        if list(draws) != expected:
            return False
    tape = reference.CallableBytes(_fill())
    expected = [reference.geometric_exp(1, 3, tape) for _ in range(_N)]
    return list(geometric_exp(Fraction(1, 3), size=_N, dtype=object, source=_fill())) == expected


def _system_draws() -> bool:
    """Return whether two fills differ, and no draw is 100 sigma from 0, which has P < 2**-7000."""
    first, second = (discrete_gaussian(100, size=1000, dtype=np.int64) for _ in range(2))
    largest = max(int(np.abs(fill).max()) for fill in (first, second))
    return largest < 1000 and not np.array_equal(first, second)


def quick_checks() -> Iterator[tuple[str, bool]]:
    """Generate each checked statement and whether it holds. All take about a second."""
    yield "draws are the specification's, bit for bit", _as_specified()
    if build_info()["engine"] == "native":
        yield "draws of cell tables are the published protocol's", _cells_digest() == _CELLS
    yield "the system's randomness draws", _system_draws()
    law = privacy.calibrate(DiscreteGaussian, rho="0.1")
    yield "rho = 1/10 asks for sigma2 = 5", law.sigma2 == 5
