"""The verifier proves the numbers of isochronous draws, and refutes each planted fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from law_sums import GG, G, L

pytest.importorskip("flint")
from discretegauss.errors import ParameterValueError
from discretegauss.verify._silent import Units, copy_out_units
from discretegauss.verify.proof import VerificationError, verify_units

pytestmark = pytest.mark.usefixtures("native_engine")

#: Blocks of one integer and of up to 7 bytes, mirrored laws, arcs of each shape.
LAWS = [
    G(1, "1/3"),
    G("1/4", "-1/2"),
    G(900, "49/100"),
    G(2**106, "-1/3"),
    L("1/50", "1/4"),
    L(30, "1/3"),
    GG(200, "6/5", "1/3"),
    GG(10**9, "127/2", "1/2"),
]


def units_of(law: Any) -> Units:
    return copy_out_units(law._spec)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_numbers_of_a_law_are_proven(law: Any) -> None:
    verify_units(units_of(law))


def moved(numbers: tuple[int, ...], *steps: tuple[int, int]) -> tuple[int, ...]:
    """Return the numbers, some of them changed."""
    changed = list(numbers)
    for i, step in steps:
        changed[i] += step
    return tuple(changed)


def other_share(units: Units, code: int) -> Units:
    """Return the units with an arc that is off by more than its error."""
    first, *rest = units.shares[code]
    off = (first[0], first[1] - 2 * units.err[code] - 1)
    shares = (*units.shares[:code], (off, *rest), *units.shares[code + 1 :])
    return replace(units, shares=shares)


FAULTS: dict[str, tuple[Callable[[Units], Units], str]] = {
    "a position of another code": (
        lambda u: replace(u, end=moved(u.end, (40, 1))),
        "each code has c positions",
    ),
    "an empty piece": (lambda u: replace(u, end=moved(u.end, (9, -u.end[9]))), "two pieces"),
    "another alias": (lambda u: replace(u, alias=moved(u.alias, (77, 1))), "c positions"),
    "a larger height": (lambda u: replace(u, height=u.height + 2), "covers the law"),
    "narrower blocks": (lambda u: replace(u, block_bits=u.block_bits - 1), ""),
    "another law": (
        lambda u: replace(u, spec=u.spec._replace(parameter=u.spec.parameter * 2)),
        "",
    ),
    "an arc that is off": (lambda u: other_share(u, 3), "arc of code 3"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_refuted(name: str) -> None:
    plant, fact = FAULTS[name]
    with pytest.raises(VerificationError, match=f"does not hold: .*{fact}"):
        verify_units(plant(units_of(G(900, "1/3"))))


def test_a_law_that_isochronous_draws_do_not_hold_has_no_numbers() -> None:
    with pytest.raises(ParameterValueError):
        units_of(G(2**107))
