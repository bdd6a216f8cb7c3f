"""The verifier proves nothing without a table or a precision; it refutes numbers C cannot hold."""

from __future__ import annotations

import importlib
import random
from fractions import Fraction
from typing import Any

import pytest
from engine import ENGINE

from discretegauss._law import Kind, LawSpec

GAUSSIAN = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100))


@pytest.fixture
def verifier() -> Any:
    """Return the verifier, or skip if it cannot run."""
    pytest.importorskip("flint")
    if ENGINE != "native":
        pytest.skip("needs the compiled core")
    return importlib.import_module("discretegauss.verify.proof")


def test_what_no_precision_decides_is_not_proven(verifier: Any) -> None:
    """A question without an answer ends, and does not count as a yes."""
    weights = verifier._WeightsOfIntegers(GAUSSIAN, 0)
    assert weights.certain(lambda _weight: None) is None
    with pytest.raises(verifier.VerificationError, match="not proven: it"):
        verifier._require(None, "it")


def test_a_law_without_a_table_is_counted_as_such(
    verifier: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program says which laws have no table, and fails if it proved nothing."""
    mu = Fraction(1, 2) - Fraction(1, 2**300)
    law = LawSpec(Kind.GENERALIZED_GAUSSIAN, Fraction(1, 2), mu, Fraction(2**300))
    assert verifier._run([law]) == 1
    assert "no table" in capsys.readouterr().out


def test_random_laws_to_verify_are_of_all_kinds() -> None:
    """Scales, centres and exponents are in the stated ranges, and equal for equal generators."""
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
    """A number of more than 40 characters is shown by its ends and its length."""
    pytest.importorskip("flint")
    one_line = importlib.import_module("discretegauss.verify._cases").one_line
    third, whole, long = Fraction(1, 3), Fraction(int("1234567890" * 4)), Fraction(10**40 + 7)
    assert one_line(LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(4), third)) == (
        "discrete Gaussian, sigma2 4, mu 1/3"
    )
    assert (
        one_line(LawSpec(Kind.DISCRETE_LAPLACE, whole)) == f"discrete Laplace, scale {whole}, mu 0"
    )
    assert one_line(LawSpec(Kind.GENERALIZED_GAUSSIAN, long, third, Fraction(3, 2))) == (
        "generalised Gaussian, scale 100000000000000000...000000000000000007 (41 characters), "
        "beta 3/2, mu 1/3"
    )


@pytest.mark.evidence
def test_a_wide_table_of_single_integers_is_proven(verifier: Any) -> None:
    """Its core has more than half the blocks that fit, and every block has an arc."""
    law = LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(6000**2))
    table = verifier.copy_out(law, block_bits=0)
    assert table.last_block > 2**13
    assert verifier.verify(table).arcs > len(table.partial) > table.last_block


def test_what_an_arc_says_is_held_true_only_where_proven(verifier: Any) -> None:
    """Numbers that C cannot hold are refuted, and an undecided claim never counts as true."""
    from discretegauss.verify import _arcs, _weight

    table = verifier.copy_out(LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(10**6)))
    uses = list(verifier._uses(table))
    i = next(
        i for i, cell in enumerate(table.partial) if cell.level > 1 and table.arcs[i].error < 2**12
    )
    arc, use = table.arcs[i], uses[i]

    class Vague(_weight.Weight):
        """A weight whose second derivative is unknown."""

        def second(self, *_: Any) -> Any:
            return _weight.ball(0).union(_weight.ball(10**300)) - 10**299

    class Blind(_weight.Weight):
        """A weight of unknown distances."""

        def distance_where(self, _ratio: Fraction) -> Any:
            return _weight.ball(1) / _weight.ball(0)

    class HalfBlind(Blind):
        """A weight that knows where the law begins to cut a cell, but not where it ends."""

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
    assert answer(Vague, 64) is None  # pieces become too short
    assert answer(Vague, 2000) is None  # and too many of them
    assert answer(Blind, 256) is None
    assert answer(HalfBlind, 256) is None
    inside = _arcs.Use(use.level, 0, 0, 1)  # the law does not cut the cell here
    assert answer(_weight.Weight, 256, over=inside, base=2**30) is True
