"""Reports as JSON, for programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from .._version import __version__

SCHEMA = 1
"""Grows if a key changes its meaning or goes. A new key does not change it."""


def json_report(fields: dict[str, Any]) -> str:
    """Return the fields as JSON, after the schema's number, the version and the time in UTC."""
    time = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    head = {"schema": SCHEMA, "version": __version__, "time": time}
    return json.dumps(head | fields, allow_nan=False, indent=2)
