"""The engine that draws here, and a hook on its draws."""

from __future__ import annotations

from collections.abc import Callable

import parts
import pytest

import discretegauss

ENGINE = discretegauss.build_info()["engine"]

needs_core = pytest.mark.skipif(ENGINE != "native", reason="the compiled core does not draw here")


def before_noise_is_added(patch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Call `act` whenever noise is about to be added, for callers that take no source."""
    parts.before_each_call(patch, "add", lambda *_: act())
