"""The engine that draws here, and a hook on its draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import discretegauss
from discretegauss._drawing import engines

ENGINE = discretegauss.build_info()["engine"]

needs_core = pytest.mark.skipif(ENGINE != "native", reason="the compiled core does not draw here")


def before_noise_is_added(patch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Call `act` whenever noise is about to be added, for callers that take no source."""
    sampler = type(engines.engine(discretegauss.DiscreteGaussian(1)._spec, "reference"))
    add = sampler.add

    def acting(*arguments: Any, **options: Any) -> None:
        act()
        add(*arguments, **options)

    patch.setattr(sampler, "add", acting)
