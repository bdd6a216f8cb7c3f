"""The version, read by the build (pyproject.toml) and by people."""

__version__ = "0.1.0"
