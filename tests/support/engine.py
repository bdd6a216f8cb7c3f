"""Which engine draws here, and what happens when it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import discretegauss
from discretegauss._drawing import engines

ENGINE = discretegauss.build_info()["engine"]

needs_core = pytest.mark.skipif(ENGINE != "native", reason="the compiled core does not draw here")


def before_noise_is_added(patch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen whenever noise is about to be added, where no source can be given."""
    sampler = type(engines.engine(discretegauss.DiscreteGaussian(1)._spec, "reference"))
    add = sampler.add

    def acting(*arguments: Any, **options: Any) -> None:
        act()
        add(*arguments, **options)

    patch.setattr(sampler, "add", acting)
