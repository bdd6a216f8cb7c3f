"""What hardly ever happens, made to happen in this process: forks, failing cores, missing modules.

Most of it is tested elsewhere, too, in processes and threads that coverage.py does not follow
(tools/coverage): here each path is walked by itself, and what it must lead to is asked.
"""

from __future__ import annotations

import errno
import importlib
import math
import os
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from engine import ENGINE

import discretegauss as dg
from discretegauss import errors, reference
from discretegauss._certified import floats as _floats
from discretegauss._certified.interval import Interval
from discretegauss._drawing import engines as _engine
from discretegauss._drawing.python_engine import PythonSampler
from discretegauss._law import Kind, LawSpec, fits_range
from discretegauss.testing import SeededSource, TapeSource

needs_the_core = pytest.mark.skipif(ENGINE != "native", reason="needs the compiled core")

# --- modules that are not there


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Hide a module from import."""
    return lambda name: monkeypatch.setitem(sys.modules, name, None)


def imported_anew(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module once more, beside the one that everything else uses."""
    package, _, attribute = name.rpartition(".")
    kept = importlib.import_module(name)
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys.modules[package], attribute, kept)  # put back what the import replaces
    return importlib.import_module(name)


def test_without_scipy_as_scipy_says_what_to_install(
    without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """as_scipy() is the one thing that needs scipy, and says so."""
    without("scipy.stats")
    with pytest.raises(ImportError, match="pip install scipy"):
        imported_anew("discretegauss._law_functions.scipy_distribution", monkeypatch)


@pytest.mark.parametrize("missing", ["_native", "_inputs.messages"])
def test_without_the_extension_the_twin_draws(
    missing: str, without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no extension was built the engine is the twin; any other module missing is an error."""
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


def test_the_variable_of_the_engine_takes_no_other_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is neither 0 nor 1 is refused before the engine is chosen."""
    monkeypatch.setenv("DISCRETEGAUSS_PURE_PYTHON", "2")
    with pytest.raises(errors.ParameterValueError, match=r"DISCRETEGAUSS_PURE_PYTHON .* got '2'"):
        _engine._plain_python_is_forced()


# --- the twin


GAUSSIAN = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100))


def test_the_twin_refuses_what_only_the_core_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """ChaCha20, cell tables, generalised Gaussians and seeded sources are the compiled core's."""
    monkeypatch.setattr(_engine, "native", None)
    monkeypatch.setattr("discretegauss._drawing.engines.native", None)
    with pytest.raises(errors.MissingCoreError, match="chacha20"):
        PythonSampler(GAUSSIAN).draw("chacha20")
    out = np.full(100, 7)
    with pytest.raises(errors.MissingCoreError, match="chacha20"):
        dg.discrete_gaussian("12347/10007", out=out, source="chacha20")
    assert (out == 7).all()  # it was not drawn into
    with pytest.raises(errors.MissingCoreError, match="cells"):
        PythonSampler(GAUSSIAN).require("cells")
    with pytest.raises(errors.MissingCoreError, match="generalised"):
        PythonSampler(LawSpec(Kind.GENERALIZED_GAUSSIAN, Fraction(10), Fraction(0), Fraction(3)))
    for size in (None, 5):  # nobody asked for method='cells' here
        with pytest.raises(errors.MissingCoreError, match="a generalised Gaussian needs"):
            dg.generalized_gaussian("12347/10007", 3, size)
    with pytest.raises(errors.MissingCoreError, match="seeded_source"):
        SeededSource(1)(memoryview(bytearray(8)))


class Wrapping(np.ndarray[Any, Any]):
    """An array of int8 that wraps Python integers, as all did before numpy 2."""

    def __setitem__(self, place: Any, value: int) -> None:  # type: ignore[override]
        super().__setitem__(place, (value + 128) % 256 - 128)


@pytest.mark.parametrize("kind", [np.ndarray, Wrapping])
def test_a_draw_of_the_twin_that_does_not_fit_is_not_told(kind: type[Any]) -> None:
    """The array holds zeros and what it held, whatever numpy makes of draws; the message none."""
    out = np.ones(50, np.int8).view(kind)
    wide = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(10**12))  # not by the package, which refuses it
    with pytest.raises(errors.RangeError) as raised:
        PythonSampler(wide).fill(out, TapeSource(random.Random(1).randbytes(20_000)))
    assert 0 in out
    assert set(out.tolist()) <= {0, 1}
    assert not any(character.isdigit() for character in str(raised.value))


@pytest.mark.parametrize("failure", [OSError(errno.EPERM, "no"), b""])
def test_getrandom_that_fails_is_an_error_of_the_twin(
    failure: OSError | bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error, or nothing at all, is an EntropyError."""

    def getrandom(_n: int) -> bytes:
        if isinstance(failure, OSError):
            raise failure
        return failure

    monkeypatch.setattr(os, "getrandom", getrandom)
    with pytest.raises(errors.EntropyError):
        reference.SystemBytes().read(8)


def test_a_uniform_integer_fits_where_it_fits() -> None:
    """UNIFORM_BELOW, which has no public function, takes 0, ..., n - 1."""
    law = LawSpec(Kind.UNIFORM_BELOW, Fraction(256))
    assert fits_range(law, 0, 255)
    assert not fits_range(law, 0, 254)
    assert not fits_range(law, 1, 256)


# --- the core's errors


@needs_the_core
def test_every_status_of_the_core_is_an_error_of_its_own() -> None:
    """No status passes for a draw."""
    from discretegauss._drawing.native import raise_for_status
    from discretegauss._native import lib

    expected = {
        lib.DG_ERR_ENTROPY: errors.EntropyError,
        lib.DG_ERR_SOURCE: errors.SourceError,
        lib.DG_ERR_NOMEM: MemoryError,
        lib.DG_ERR_STOPPED: MemoryError,  # there was none to keep what stopped it
        lib.DG_ERR_RANGE: errors.RangeError,
        lib.DG_ERR_TOO_LONG: errors.ParameterOverflowError,
        lib.DG_ERR_PARAMETER: errors.ParameterValueError,
    }
    for status, error in expected.items():
        with pytest.raises(error):
            raise_for_status(status, None)


@needs_the_core
def test_a_single_draw_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw by Algorithms 1-3 with getrandom failing: an EntropyError, no draw."""
    from discretegauss._native import lib

    class Failing:
        def __getattr__(self, name: str) -> Any:
            return getattr(lib, name)

        def dg_sampler_draw_wide(self, *_: object) -> int:
            return int(lib.DG_ERR_ENTROPY)

    law = _engine.native.NativeSampler(GAUSSIAN)
    monkeypatch.setattr(_engine.native, "lib", Failing())
    with pytest.raises(errors.EntropyError):
        law.draw("getrandom")


@needs_the_core
def test_a_law_without_a_table_is_drawn_without_one() -> None:
    """method="auto" takes another way; method="cells" says why it cannot."""
    law = dg.GeneralizedGaussian("1/3", 2**130, mu="1/3")
    with pytest.raises(errors.ParameterValueError, match="beta: so large"):
        law.sample(10, method="cells")


# --- numbers


def test_arrays_of_parameters_that_cannot_be_one_array_are_refused() -> None:
    """Arrays of unlike shapes in one list."""
    with pytest.raises(errors.ParameterValueError, match="ragged"):
        dg.discrete_gaussian([np.ones((2, 2)), np.ones((2, 3))])


def test_a_value_that_no_precision_decides_is_an_error() -> None:
    """An enclosure that never narrows ends in an ArithmeticError, not in a guess."""
    at = importlib.import_module("discretegauss._certified.interval").arithmetic(64)
    wide = Interval(at.rational(1).lower, at.rational(2).upper)
    with pytest.raises(ArithmeticError, match="bits"):
        _floats.float_value(lambda _bits: wide)


def test_laws_that_fit_one_by_one_are_drawn_together() -> None:
    """A wide law and a far one: no law that is both, which would not fit int8."""
    draws = dg.discrete_gaussian([20, "1/4"], (100, 2), mu=[0, 100], dtype=np.int8)
    assert draws.dtype == np.int8
    assert (abs(draws[:, 1] - 100) < 20).all()


def test_a_sum_whose_first_ratio_is_rounded_to_1_goes_on() -> None:
    """1 + q0 + q0 q1 + ... with q0 = exp(-2**-200), qj = q0 exp(-j)."""
    from discretegauss._certified.gaussian_tail import direct_sum

    value = direct_sum(Fraction(1, 2**200), Fraction(1), 0, 60)
    expected = 1 + sum(math.exp(-j * (j + 1) / 2) for j in range(20))
    assert value.lower <= value.upper
    assert float(value.lower) == pytest.approx(expected, rel=1e-15)


def test_no_integers_have_no_tails() -> None:
    """Nothing asked, nothing yielded."""
    from discretegauss._certified.tail_recurrence import tail_ratios

    assert list(tail_ratios(GAUSSIAN, [], 64)) == []


def test_tails_next_to_the_last_integer_of_the_fast_way_are_left_to_the_other() -> None:
    """Floats hold integers only up to a bound: a table of tails that passes it is not made."""
    from discretegauss._certified import float_arrays

    mu = float_arrays._LARGEST - 5
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100), Fraction(mu))
    assert float_arrays.tail_table(law, mu, mu + 3, most=100) is not None
    assert float_arrays.tail_table(law, mu, mu + 20, most=100) is None


def test_quantiles_of_nothing_are_nothing() -> None:
    """Empty arrays of probabilities."""
    assert dg.DiscreteGaussian(100).ppf([]).shape == (0,)
    assert dg.DiscreteGaussian(100).isf(np.empty((0, 3))).shape == (0, 3)


# --- the verifier


@pytest.fixture
def verifier() -> Any:
    """The verifier, where it can run."""
    pytest.importorskip("flint")
    if ENGINE != "native":
        pytest.skip("needs the compiled core")
    return importlib.import_module("discretegauss.verify.proof")


def test_what_no_precision_decides_is_not_proven(verifier: Any) -> None:
    """A question without an answer ends, and is not taken for a yes."""
    weights = verifier._Weights(GAUSSIAN, 0)
    assert weights.certain(lambda _weight: None) is None
    with pytest.raises(verifier.VerificationError, match="not proven: it"):
        verifier._require(None, "it")


def test_a_law_without_a_table_is_counted_as_such(
    verifier: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program says which laws have no table, and that it proved nothing is a failure."""
    mu = Fraction(1, 2) - Fraction(1, 2**300)
    law = LawSpec(Kind.GENERALIZED_GAUSSIAN, Fraction(1, 2), mu, Fraction(2**300))
    assert verifier._run([law]) == 1
    assert "no table" in capsys.readouterr().out


def test_random_laws_to_verify_are_of_all_kinds() -> None:
    """Scales, centres and exponents as promised, the same from the same generator."""
    pytest.importorskip("flint")
    cases = importlib.import_module("discretegauss.verify._cases")
    laws = list(cases.random_cases(300, random.Random(1)))
    assert laws == list(cases.random_cases(300, random.Random(1)))
    for kind in (Kind.DISCRETE_GAUSSIAN, Kind.DISCRETE_LAPLACE, Kind.GENERALIZED_GAUSSIAN):
        same = [law for law in laws if law.kind is kind]
        assert len(same) > 60
        parameters = [law.parameter for law in same]
        assert Fraction(1, 2**90) <= min(parameters) < 1
        assert 2**200 < max(parameters) <= 2**230
        denominators = {parameter.denominator for parameter in parameters}
        assert 1 in denominators
        assert any(d % 3 == 0 for d in denominators)
        assert max(denominators) >= 2**52
        assert max(abs(law.mu) for law in same) <= 10**6
        assert {1, 2} < {law.mu.denominator for law in same}
        betas = {law.beta for law in same}
        if kind is Kind.GENERALIZED_GAUSSIAN:
            assert 1 <= min(betas) <= 2
            assert 4 < max(betas) <= 31
            assert len(betas) > 30
        else:
            assert betas == {1}


def test_a_law_to_verify_is_described_in_one_line() -> None:
    """Numbers of more than 40 characters by their ends and their length."""
    pytest.importorskip("flint")
    described = importlib.import_module("discretegauss.verify._cases").described
    third, whole, long = Fraction(1, 3), Fraction(int("1234567890" * 4)), Fraction(10**40 + 7)
    assert described(LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(4), third)) == (
        "discrete Gaussian, sigma2 4, mu 1/3"
    )
    assert (
        described(LawSpec(Kind.DISCRETE_LAPLACE, whole)) == f"discrete Laplace, scale {whole}, mu 0"
    )
    assert described(LawSpec(Kind.GENERALIZED_GAUSSIAN, long, third, Fraction(3, 2))) == (
        "generalised Gaussian, scale 100000000000000000...000000000000000007 (41 characters), "
        "beta 3/2, mu 1/3"
    )


def test_a_wide_table_of_single_integers_is_proven(verifier: Any) -> None:
    """The widest core there is, but for a bit; every block has an arc, however far out."""
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(6000**2))
    table = verifier.copy_out(law, block_bits=0)
    assert table.last_block > 2**13
    assert verifier.verify(table).arcs > len(table.partial) > table.last_block


def test_what_an_arc_says_is_held_true_only_where_proven(verifier: Any) -> None:
    """Numbers that C could not hold are refuted; what cannot be decided is never taken for true."""
    from discretegauss.verify import _arcs, _weight

    table = verifier.copy_out(LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(10**6)))
    uses = list(verifier._uses(table))
    i = next(
        i for i, cell in enumerate(table.partial) if cell.level > 1 and table.arcs[i].error < 2**12
    )
    arc, use = table.arcs[i], uses[i]

    class Vague(_weight.Weight):
        """Knows nothing of how the weight bends."""

        def second(self, *_: Any) -> Any:
            return _weight.ball(0).union(_weight.ball(10**300)) - 10**299

    class Blind(_weight.Weight):
        """Knows no distance."""

        def distance_where(self, _ratio: Fraction) -> Any:
            return _weight.ball(1) / _weight.ball(0)

    class HalfBlind(Blind):
        """Knows where a level's cell begins to be cut, not where it ends."""

        def distance_where(self, ratio: Fraction) -> Any:
            if ratio * table.height == use.level + 1:
                return _weight.Weight.distance_where(self, ratio)
            return super().distance_where(ratio)

    def answer(
        kind: type[_weight.Weight], bits: int, over: Any = use, **changes: int
    ) -> bool | None:
        with _weight.precision(bits):
            weight = kind(table.spec, table.block_bits)
            return _arcs.arc_holds(arc._replace(**changes), over, table, weight)

    assert answer(_weight.Weight, 256) is True
    assert answer(_weight.Weight, 256, base=2**31) is False
    assert answer(_weight.Weight, 256, bulge=2**15) is False
    assert answer(_weight.Weight, 256, slope=2**31) is False
    nothing = {"base": 1, "slope": 0, "error": 2**16 - 1, "bulge": 0}
    assert answer(Blind, 256, **nothing) is True
    assert answer(_weight.Weight, 256, **nothing | {"error": 2**16}) is False
    assert answer(Vague, 64) is None  # the pieces get too short
    assert answer(Vague, 2000) is None  # and too many
    assert answer(Blind, 256) is None
    assert answer(HalfBlind, 256) is None
    inside = _arcs.Use(use.level, 0, 0, 1)  # where the cell is not cut at all
    assert answer(_weight.Weight, 256, over=inside, base=2**30) is True
