"""What several test files share."""

from __future__ import annotations

import pytest

import discretegauss

ENGINE = discretegauss.build_info()["engine"]


@pytest.fixture(scope="session")
def native_engine() -> None:
    """Skip where the compiled engine is not the one that draws."""
    if ENGINE != "native":
        pytest.skip("the compiled engine is not in use here")
