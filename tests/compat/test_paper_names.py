"""The published code's names work: a project that holds a copy may delete it."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial
from math import exp, isqrt
from types import SimpleNamespace
from typing import Any

import pytest
from law_checks import gaussian_table, rejected

import discretegauss as dg
from discretegauss import compat
from discretegauss.compat import cdp2adp
from discretegauss.testing import NotPrivateWarning


def test_a_star_gives_names_that_draw_and_refuse() -> None:
    """A star import works as docs/elsewhere/migration.md says; the package's gives its names."""
    names: dict[str, Any] = {}
    exec("from discretegauss.compat import *", names)  # noqa: S102
    paper, rng = SimpleNamespace(**names), random.SystemRandom()
    for draw in (paper.sample_dgauss(Fraction(5), rng), paper.sample_dlaplace(2.5, rng=rng)):
        assert type(draw) is int
    assert paper.sample_uniform(7) in range(7)
    assert {paper.sample_bernoulli(Fraction(1, 3)), paper.sample_bernoulli_exp(1, rng)} <= {0, 1}
    for geometric in (paper.sample_geometric_exp_slow, paper.sample_geometric_exp_fast):
        assert geometric(1, rng) >= 0
    assert paper.sample_dgauss(0) == 0
    assert [paper.floorsqrt(n) for n in range(50)] == [isqrt(n) for n in range(50)]
    assert paper.floorsqrt(Fraction(35, 4)) == 2
    weights = [exp(-x * x / 2) for x in range(-40, 41)]
    assert paper.normalizing_constant(1) == pytest.approx(sum(weights))
    assert paper.variance(4) == dg.DiscreteGaussian(4).var()
    assert not [name for name in dir(dg) if name.startswith("sample_")]
    for refused in (partial(paper.sample_dgauss, -1), partial(paper.sample_bernoulli, 2)):
        with pytest.raises(ValueError, match="must"):
            refused()


def test_rng_gives_every_bit() -> None:
    """The draws follow the law, and are the same for the same seed."""
    with pytest.warns(NotPrivateWarning):
        one = [compat.sample_dgauss(4, random.Random(i)) for i in range(3000)]
    with pytest.warns(NotPrivateWarning):
        assert one[:20] == [compat.sample_dgauss(4, random.Random(i)) for i in range(20)]
    assert rejected(one, gaussian_table(Fraction(4))) == []
    with pytest.raises(TypeError, match="rng must have a method randrange, got int"):
        compat.sample_dgauss(4, 3)  # type: ignore[arg-type]


def test_cdp2adp_gives_what_theirs_gives() -> None:
    """Figures agree with their code, also at the edges, on the safe side of the exact value."""
    assert cdp2adp.cdp_rho(1, 1e-6) == pytest.approx(0.024355970359538372, rel=1e-12)
    assert cdp2adp.cdp_delta(0.1, 0) == pytest.approx(0.26678032454734957, rel=1e-12)
    assert cdp2adp.cdp_delta_standard(0.1, 2) == pytest.approx(1.2036280516721338e-4, rel=1e-12)
    assert cdp2adp.cg_delta(10, 1) == pytest.approx(1.0981048091928411e-4, rel=1e-9)
    assert cdp2adp.cdp_eps(0.1, 1) == cdp2adp.cdp_eps(0, 0.5) == cdp2adp.cdp_rho(1, 2) == 0
    assert cdp2adp.cdp_delta(0, 1) == 0
    assert cdp2adp.dg_delta(1, 0) == dg.privacy.delta(dg.DiscreteGaussian(1), 0)
    assert cdp2adp.cdp_eps(cdp2adp.cdp_rho(1, 1e-6), 1e-6) <= 1 + 1e-12
    with pytest.raises(ValueError, match="delta"):
        cdp2adp.cdp_eps(0.1, 0)
