"""The laws whose tables are verified: a fixed list, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from .._law import Kind, LawSpec
from ._laws import LAWS

_Q = Fraction

#: From below the smallest useful noise to far beyond any machine integer.
_SIGMA2 = [
    _Q(1, 10**17), _Q(1, 1000), _Q(1, 10), _Q(1, 4), _Q(1), _Q(355, 113), _Q(10), _Q(100), _Q(900),
    _Q(1000), _Q(2000), _Q(10**4), _Q(10**4) + _Q(1, 7), _Q(10**6), _Q(10**8), _Q(10**12),
    _Q(2**62), _Q(2**90), _Q(10**31, 3), _Q(2**101), _Q(10**50), _Q(10**100), _Q(10**200, 7),
    2**4000 + _Q(1, 3),
]  # fmt: skip
_SCALES = [
    _Q(1, 10**20), _Q(1, 50), _Q(1, 3), _Q(1), _Q(22, 7), _Q(10), _Q(30), _Q(100), _Q(1000),
    _Q(10**6), _Q(10**9, 7), _Q(2**40), _Q(2**64), _Q(10**50), _Q(10**300),
]  # fmt: skip
_BETAS = [
    _Q(1), _Q(11, 10), _Q(6, 5), _Q(3, 2), _Q(2), _Q(5, 2), _Q(3), _Q(4), _Q(10), _Q(17), _Q(50),
    _Q(200), _Q(1000),
]  # fmt: skip
_CENTRES = [_Q(0), _Q(1, 3), _Q(-1, 2), _Q(1, 2), _Q(10**12) + _Q(1, 7), _Q(-5, 7)]


def fixed_cases() -> list[LawSpec]:
    """Return the fixed list."""
    cases = [
        LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2, _CENTRES[shift])
        for i, sigma2 in enumerate(_SIGMA2)
        for shift in {0, 1 + i % 5}
    ]
    cases += [
        LawSpec(Kind.DISCRETE_LAPLACE, scale, _CENTRES[shift])
        for i, scale in enumerate(_SCALES)
        for shift in {0, 1 + i % 5}
    ]
    cases += [
        LawSpec(Kind.GENERALIZED_GAUSSIAN, scale, _CENTRES[(i + j) % 6], beta)
        for i, beta in enumerate(_BETAS)
        for j, scale in enumerate([_Q(10), _Q(1000), _Q(10**6)])
    ]
    # laws whose cells are the hardest to bound
    cases += [
        LawSpec(Kind.GENERALIZED_GAUSSIAN, scale, mu, beta)
        for scale, mu, beta in [
            *((_Q(10**6), _Q(0), _Q(beta)) for beta in (7, 8, 10, 50, 200, 1000)),
            *((_Q(1000), _Q(1, 3), beta) for beta in (_Q(11, 10), _Q(6, 5), _Q(3, 2))),
            (_Q(10**6), _Q(1, 3), _Q(3, 2)),
            (_Q(10**15), _Q(0), _Q(50)),
            (_Q(1, 1000), _Q(1, 3), _Q(17)),
            (_Q(1, 3), _Q(0), _Q(50)),
            (_Q(1, 20), _Q(1, 3), _Q(50)),
            (_Q(10**40), _Q(1, 2), _Q(7, 3)),
            (_Q(2**70), _Q(0), _Q(3)),
            (_Q(10), _Q(0), _Q(10**6)),
            (_Q(1000), _Q(1, 3), _Q(10**30)),
            (_Q(1, 387_761_233), _Q(11_925, 23_909), _Q(27_478)),
            (_Q(1, 9), _Q(1, 2) - _Q(1, 2**200), _Q(10**6)),
        ]
    ]
    return list(dict.fromkeys(cases))


def random_cases(n: int, rng: random.Random) -> Iterator[LawSpec]:
    """Generate n laws: parameters from 2**-90 to 2**230, beta up to 31, centres of any kind."""
    for _ in range(n):
        kind = rng.choice(list(LAWS))
        bits = rng.choice([rng.randint(-8, 40), rng.randint(0, 24), rng.randint(40, 200)])
        denominator = rng.choice([1, rng.randint(1, 1000), 2**52])
        parameter = _Q(rng.getrandbits(60) + 1, denominator) * _Q(2) ** (bits - 30)
        mu = _Q(rng.randint(-(10**6), 10**6), rng.choice([1, 2, rng.randint(1, 10**4)]))
        beta = _Q(1)
        if "beta" in LAWS[kind].parameters:
            low = rng.randint(1, 20)
            beta = 1 + _Q(rng.randint(0, 3 * low * rng.choice([1, 1, 10])), low)
        yield LawSpec(kind, parameter, mu, beta)


def _number(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:18]}...{text[-18:]} ({len(text)} characters)"


def one_line(spec: LawSpec) -> str:
    """Return a law in one line."""
    law = LAWS[spec.kind]
    own = zip(law.parameters, (spec.parameter, spec.beta), strict=False)  # beta, if it has one
    numbers = [*own, ("mu", spec.mu)]
    return ", ".join([law.name, *(f"{name} {_number(value)}" for name, value in numbers)])
