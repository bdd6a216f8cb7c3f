"""Cases of a test whose numbers differ only: most are for the evidence run."""

from __future__ import annotations

from typing import Any

import pytest


def evidence(*cases: Any) -> list[Any]:
    """Return the cases, those of a tuple several arguments, for ``-m evidence`` only."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.evidence)
        for case in cases
    ]
