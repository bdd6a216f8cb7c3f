"""The choice of the engine, what the Python engine refuses, and the errors of both."""

from __future__ import annotations

import errno
import importlib
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from engine import needs_core
from parts import python_sampler, without_core

import discretegauss as dg
from discretegauss import errors, reference
from discretegauss.testing import SeededSource, TapeSource


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that hides a module from import."""
    return lambda name: monkeypatch.setitem(sys.modules, name, None)


def imported_anew(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a second copy of a module, beside the one in use."""
    package, _, attribute = name.rpartition(".")
    kept = importlib.import_module(name)
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys.modules[package], attribute, kept)  # the import replaces it until undo
    return importlib.import_module(name)


@pytest.mark.parametrize("missing", ["_native", "_inputs.messages"])
def test_without_the_extension_the_twin_draws(
    missing: str, without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extension the twin draws; any other missing module is an error."""
    monkeypatch.delenv("DISCRETEGAUSS_PURE_PYTHON", raising=False)
    monkeypatch.delitem(sys.modules, "discretegauss._drawing.native", raising=False)
    monkeypatch.delattr("discretegauss._drawing.native", raising=False)
    imported = importlib.import_module("discretegauss._drawing.engines")
    without(f"discretegauss.{missing}")
    if missing == "_native":
        assert imported_anew("discretegauss._drawing.engines", monkeypatch).native is None
    else:
        with pytest.raises(ModuleNotFoundError, match=missing):
            imported_anew("discretegauss._drawing.engines", monkeypatch)
    monkeypatch.undo()
    assert importlib.import_module("discretegauss._drawing.engines") is imported


def test_the_twin_refuses_what_only_the_core_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core alone has cell tables, isochronous draws, generalised laws and seeded sources."""
    without_core(monkeypatch)
    for method in ("cells", "isochronous"):
        with pytest.raises(errors.MissingCoreError, match=method):
            dg.discrete_gaussian("12341/10007", method=method)
    for size in (None, 5):  # nobody asked for method='cells' here
        with pytest.raises(errors.MissingCoreError, match="a generalised Gaussian needs"):
            dg.generalized_gaussian("12347/10007", 3, size)
    with pytest.raises(errors.MissingCoreError, match="seeded_source"):
        SeededSource(1)(memoryview(bytearray(8)))


def test_the_twin_takes_the_kernels_bytes_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin has no ChaCha20, so the default "chacha20" means "getrandom" there."""
    without_core(monkeypatch)
    tape = random.Random(1).randbytes(5000)
    expected = dg.discrete_gaussian("12343/10007", 5, source=TapeSource(tape))
    ways: list[dict[str, Any]] = [{}, {"source": "chacha20"}, {"source": "getrandom"}]
    for how in ways:
        kernel = io.BytesIO(tape)
        monkeypatch.setattr(os, "getrandom", kernel.read)
        assert (dg.discrete_gaussian("12343/10007", 5, **how) == expected).all()


class Wrapping(np.ndarray[Any, Any]):
    """An array of int8 that wraps Python integers, as all did before numpy 2."""

    def __setitem__(self, place: Any, value: int) -> None:  # type: ignore[override]
        super().__setitem__(place, (value + 128) % 256 - 128)


@pytest.mark.parametrize("kind", [np.ndarray, Wrapping])
def test_a_draw_of_the_twin_that_does_not_fit_is_not_told(kind: type[Any]) -> None:
    """It is an error even if numpy would wrap the draw, and the message shows no number."""
    out = np.ones(50, np.int8).view(kind)
    wide = dg.DiscreteGaussian(10**12)  # the package itself refuses it
    with pytest.raises(errors.RangeError) as raised:
        python_sampler(wide).fill(out, TapeSource(random.Random(1).randbytes(20_000)))
    assert not any(character.isdigit() for character in str(raised.value))


@pytest.mark.parametrize("there", ["getrandom", "urandom"])
@pytest.mark.parametrize("failure", [OSError(errno.EPERM, "no"), NotImplementedError(), b""])
def test_randomness_that_fails_is_an_error_of_the_twin(
    failure: Exception | bytes, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error or an empty read is an EntropyError, even if Python has no getrandom."""

    def random_bytes(_n: int) -> bytes:
        if isinstance(failure, Exception):
            raise failure
        return failure

    monkeypatch.delattr(os, "getrandom")
    assert len(reference.SystemBytes().read(8)) == 8
    monkeypatch.setattr(os, there, random_bytes, raising=False)
    with pytest.raises(errors.EntropyError):
        reference.SystemBytes().read(8)


def test_laws_that_fit_one_by_one_are_drawn_together() -> None:
    """int8 holds a wide law and a far one, though no law that is both."""
    draws = dg.discrete_gaussian([20, "1/4"], (100, 2), mu=[0, 100], dtype=np.int8)
    assert draws.dtype == np.int8
    assert (abs(draws[:, 1] - 100) < 20).all()


def test_without_scipy_as_scipy_says_what_to_install(
    without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only as_scipy() needs scipy, and says so."""
    without("scipy.stats")
    with pytest.raises(ImportError, match="pip install scipy"):
        imported_anew("discretegauss._law_functions.scipy_distribution", monkeypatch)


#: A module imported before the package is emptied after it.
_KEPT_TO_THE_END = """
import sys, types
sys.held = sys.modules["held"] = held = types.ModuleType("held")
import discretegauss as dg
held.law, held.other = dg.DiscreteGaussian(10**40), dg.DiscreteLaplace(7)
held.law.sample(), held.other.sample(), held.other.sample(5, method="cells")
"""


@needs_core
def test_what_is_kept_until_python_ends_is_freed_in_silence() -> None:
    """They are freed after the modules of the package have lost their names."""
    ended = subprocess.run(
        [sys.executable, "-c", _KEPT_TO_THE_END], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
