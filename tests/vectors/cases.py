"""The laws, tables and tapes of the vectors, written by hand."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from discretegauss import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian
from discretegauss.laws import Bernoulli, BernoulliExp, Geometric, UniformBelow

__all__ = ["ALGORITHMS", "FILLS", "HAND_MADE", "LAWS", "TABLES", "TableCase", "law_of", "shown"]

#: The laws by their names in the file, and the names of their parameters there.
LAWS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "bernoulli": (Bernoulli, ("p",)),
    "uniform_below": (UniformBelow, ("n_values",)),
    "bernoulli_exp": (BernoulliExp, ("gamma",)),
    "geometric_exp": (Geometric, ("gamma",)),
    "discrete_laplace": (DiscreteLaplace, ("scale", "mu")),
    "discrete_gaussian": (DiscreteGaussian, ("sigma2", "mu")),
    "generalized_gaussian": (GeneralizedGaussian, ("scale", "beta", "mu")),
}


def law_of(case: dict[str, Any]) -> Any:
    """Return the law of a vector."""
    law, names = LAWS[case["law"]]
    return law(*(case[name] for name in names))


def shown(law: Any) -> dict[str, str]:
    """Return the law and its parameters as a vector shows them."""
    name, names = next((name, names) for name, (kind, names) in LAWS.items() if kind is type(law))
    values = {own: str(getattr(law, "n" if own == "n_values" else own)) for own in names}
    return {"law": name, **dict(sorted(values.items(), key=lambda item: item[0] == "beta"))}


#: The float 0.1, exactly.
_TENTH = Fraction(0.1)

_BERNOULLIS = [0, 1, "1/2", "2/3", "1/256", "255/256", _TENTH, Fraction(1, 3) + Fraction(1, 2**130)]
_SIZES = [1, 2, 3, 255, 256, 257, 10**9, 2**54 + 1, 2**55, 2**56 + 1, 10**40]
_GAMMAS = [0, "1/3", 1, "17/5", "7/10", 100, Fraction(1, 10**30)]
_GEOMETRICS = [1, 3, "1/10", "22/7", Fraction(1, 10**6), Fraction(1, 10**40), 2**70]
_LAPLACES: list[tuple[object, object]] = [
    *((scale, 0) for scale in [1, 10, 1000, "1/2", "5/2", "1/1000", "3/10", 2**54, 2**150]),
    *[(1, "1/2"), (1, "-1/3"), ("1/100", "-1/2"), (10, "-22/7"), (2**70, "1/3"), (5, 10**12)],
]
_GAUSSIANS: list[tuple[object, object]] = [
    *((sigma2, 0) for sigma2 in ["1/1000", "1/4", "99/100", 1, 2, 3, 99, 100, 101, 10**4, 10**6]),
    *((sigma2, 0) for sigma2 in ["355/113", _TENTH, 2**52, 2**110, 2**200, 10**100]),
    *((sigma2, 0) for sigma2 in [Fraction(2**200 + 1, 3), Fraction(1, 2**130)]),
    *[(1, "1/3"), (1, "-1/2"), (100, "-1/2"), ("1/1000", "1/2"), ("1/50", "-12345/7")],
    *[(_TENTH, "1/3"), (10**6, 10**12), (2**120, "22/7"), (4, Fraction(10**40, 3))],
]

ALGORITHMS = [
    *(Bernoulli(p) for p in _BERNOULLIS),
    *(UniformBelow(n) for n in _SIZES),
    *(BernoulliExp(gamma) for gamma in _GAMMAS),
    *(Geometric(gamma) for gamma in _GEOMETRICS),
    *(DiscreteLaplace(scale, mu) for scale, mu in _LAPLACES),
    *(DiscreteGaussian(sigma2, mu) for sigma2, mu in _GAUSSIANS),
]

# Bernoulli(exp(-1)) succeeds on 00 ff (the count of Algorithm 1 ends at 3) and fails on ff (at 2).
_YES, _NO = b"\x00\xff", b"\xff"

#: One draw each, from bytes that random tapes do not hold.
HAND_MADE: list[tuple[Any, bytes]] = [
    # a byte that equals the next digits of p decides nothing
    *((Bernoulli("1/3"), b"\x55\x55\x55" + last) for last in (b"\x54", b"\x56")),
    *((Bernoulli("1/256"), bytes([byte])) for byte in (0, 1)),
    *((Bernoulli("255/256"), bytes([byte])) for byte in (254, 255)),
    # floor(U n) in doubt: a Bernoulli decides
    *((UniformBelow(3), b"\x55\x55" + byte) for byte in (b"\x00", b"\xff")),
    (UniformBelow(3), b"\x55\x55\x55\xab"),
    (UniformBelow(256), b"\xff\xff"),
    # the count of Algorithm 1 goes past 2**8, and past 2**9
    (BernoulliExp(1), bytes(300) + b"\xff"),
    (BernoulliExp("1/2"), bytes(1200) + b"\xff"),
    # y = -0 is drawn again
    (DiscreteLaplace(1), _NO + b"\x00" + _YES + _NO + b"\x00"),
    # the far side is chosen and not kept, then the near one
    (DiscreteLaplace(1, "1/3"), b"\x00" + b"\x00\xff" + b"\xff" + _YES + _NO),
    # 20 standard deviations out: ten successes for the size, then 190 to accept
    (DiscreteGaussian(1), b"\x00\x00" + _YES * 10 + _NO + b"\x00" + _YES * 190 + b"\xff"),
]


class TableCase(NamedTuple):
    """A table: index_bits is 16 in use; block_bits None: as the core chooses."""

    law: Any
    index_bits: int = 16
    block_bits: int | None = None


TABLES = [
    *(
        TableCase(DiscreteGaussian(sigma2, mu))
        for sigma2, mu in [
            ("1/1000", "1/2"),
            (1, 0),
            (100, 0),
            (100, "1/3"),
            ("355/113", -(10**12)),
            (10**6, "-1/2"),
            (_TENTH * 10**9, 0),
            (10**18, Fraction(10**13, 7)),
            (10**30, 0),
            (10**34, "-1/3"),  # a rest byte, and still fits int64
            (10**100, Fraction(10**60, 3)),
        ]
    ),
    *(
        TableCase(DiscreteLaplace(scale, mu))
        for scale, mu in [("1/10", 0), (10, "1/2"), (1000, 0), (10**9, "-22/7")]
    ),
    *(
        TableCase(GeneralizedGaussian(scale, beta, mu))
        for scale, mu, beta in [
            (10, 0, 4),
            (1000, "-1/2", "3/2"),
            (10**6, "1/3", "11/10"),
            (1000, 0, 1000),  # steep: the heights of its lines leave 64 bits
        ]
    ),
    # small ones, where every other draw is decided
    TableCase(DiscreteGaussian(1, "1/3"), 4, 0),
    TableCase(DiscreteGaussian(10**40, "1/3"), 6, 65),
    TableCase(DiscreteLaplace(10**4, "1/3"), 7, 10),
    TableCase(GeneralizedGaussian(100, 3, "-1/2"), 8, 4),
]

#: Isochronous: blocks of one integer, and of 2^block_bits; mirrored laws.
FILLS = [
    *(
        DiscreteGaussian(sigma2, mu)
        for sigma2, mu in [
            ("1/1000", "1/2"),
            (1, 0),
            (1, "1/3"),
            (100, 0),
            (100, 2**59 + 7),
            (10**4, "-1/2"),
            (_TENTH * 10**9, "22/7"),
            (10**16, 0),
            (10**25, "1/3"),
        ]
    ),
    *(
        DiscreteLaplace(scale, mu)
        for scale, mu in [("1/10", 0), (10, "1/2"), (1000, 0), (10**12, "-22/7")]
    ),
    *(
        GeneralizedGaussian(scale, beta, mu)
        for scale, mu, beta in [
            ("1/3", "1/2", "3/2"),
            (10, 0, 1),
            (10, "1/3", "3/2"),
            (1000, "-1/2", 3),
            (10**6, 0, "127/2"),
            (10**12, "-22/7", "11/10"),
        ]
    ),
]
