"""What a figure was measured on: enough to read it, nothing that names a machine."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from pathlib import Path

from discretegauss._drawing.engines import build_info

PACKAGES: tuple[str, ...] = ("discretegauss", "numpy", "scipy", "gmpy2", "opendp", "diffprivlib")
PACKAGES += ("mkl_random", "dp-accounting")


def describe() -> dict[str, object]:
    """Processor model, cores, load, versions; and how our own build describes itself."""
    description: dict[str, object] = {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {name: _version(name) for name in PACKAGES},
    }
    return description | {"discretegauss_build": dict(build_info())}


def load_now() -> str:
    """How busy the machine is, this program included: a figure from a busy one says little."""
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def cpu_model() -> str:
    """The processor's own name for itself, where the system tells."""
    lines = ""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    for line in lines.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.processor() or "unknown"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
