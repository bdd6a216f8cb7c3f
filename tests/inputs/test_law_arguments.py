"""The law functions take and return the same kinds of numbers as scipy's."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence_cases import crossed, evidence, some
from law_sums import GG, G, L

from discretegauss._law_functions import pointwise as _pointwise

NAMES = ["pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"]


def test_extreme_arguments_have_scipys_meaning() -> None:
    law = G(4)
    for signal in (Decimal("sNaN"), [Decimal("-sNaN1")]):
        assert np.isnan([law.cdf(signal), law.ppf(signal), law.tail_bound(signal)]).all()
    assert (law.ppf(0), law.ppf(1)) == (-math.inf, math.inf)
    assert np.isnan(law.ppf([-0.1, 1.1])).all()
    assert law.pmf([[0, 1], [2, 3]]).shape == (2, 2)
    assert type(law.pmf(0)) is float
    assert law.pmf(10**400) == 0
    assert law.logpmf(10**30) < -1e58


# --- arguments and results


def test_results_have_the_shape_of_the_argument() -> None:
    law = G(9)
    for make in (list, tuple, np.array):
        values = law.cdf(make([1, 2, 3]))
        assert values.dtype == np.float64
        assert values.tolist() == [law.cdf(1), law.cdf(2), law.cdf(3)]
    assert law.pmf([]).shape == (0,)
    assert law.pmf(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert isinstance(law.pmf(np.array(2)), float)
    lower, upper = law.sf(np.arange(6).reshape(2, 3), bounds=True)
    assert lower.shape == upper.shape == (2, 3)
    assert (lower <= upper).all()
    assert (upper <= np.nextafter(np.nextafter(lower, 1), 1)).all()


@pytest.mark.parametrize(
    ("law", "name"), crossed([G(400, "1/3"), L(7, "1/2"), GG(12, "5/2")], NAMES, n=6)
)
def test_numbers_of_every_kind_mean_the_same(law: Any, name: str) -> None:
    function = getattr(law, name)
    ks = [-300, -3, 0, 1, 2, 40, 900]
    expected = [function(k) for k in ks]
    for ks_given in (
        np.array(ks),
        np.array(ks, dtype=np.int16),
        np.array(ks, dtype=">i8"),
        np.array(ks, dtype=float),
        np.array(ks, dtype=np.float32),
        np.array(ks, dtype=object),
        [Fraction(k) for k in ks],
        [str(k) for k in ks],
    ):
        assert function(ks_given).tolist() == expected
    long = np.array(ks * 5)  # by vectors
    assert np.allclose(function(long), expected * 5, rtol=1e-14, atol=0)


@pytest.mark.parametrize("law", [G(4), GG(4, 3)], ids=str)
def test_what_is_between_integers_or_no_number(law: Any) -> None:
    """As in scipy, pmf is 0, cdf and sf are those of the integer below, and NaN gives NaN."""
    odd = [0.5, -0.5, math.inf, -math.inf, math.nan, 1e300, -1e300]
    expected = {
        "pmf": [0, 0, 0, 0, math.nan, 0, 0],
        "logpmf": [-math.inf] * 4 + [math.nan, law.logpmf(10**300), law.logpmf(10**300)],
        "cdf": [law.cdf(0), law.cdf(-1), 1, 0, math.nan, 1, 0],
        "sf": [law.sf(0), law.sf(-1), 0, 1, math.nan, 0, 1],
        "logcdf": [
            law.logcdf(0),
            law.logcdf(-1),
            0,
            -math.inf,
            math.nan,
            0,
            law.logcdf(-(10**300)),
        ],
        "logsf": [law.logsf(0), law.logsf(-1), -math.inf, 0, math.nan, law.logsf(10**300), 0],
    }
    for name, values in expected.items():
        function = getattr(law, name)
        np.testing.assert_allclose(function(odd), values, rtol=1e-15)
        np.testing.assert_allclose(function(np.array(odd)), values, rtol=1e-15)
        np.testing.assert_allclose([function(k) for k in odd], values, rtol=1e-15)
        np.testing.assert_allclose(function(np.array(odd * 4)), values * 4, rtol=1e-15)


def test_integers_beyond_64_bits() -> None:
    law = G(10**60, 10**30)
    k = 10**30
    assert law.cdf([k, k + 1, 2**64]).tolist() == [law.cdf(k), law.cdf(k + 1), law.cdf(2**64)]
    assert law.pmf(np.array([2**63, 1], dtype=np.uint64)).shape == (2,)
    assert G(4).pmf(np.array([2**64 - 1, 0], dtype=np.uint64)).tolist() == [0, G(4).pmf(0)]


@pytest.mark.parametrize(("law", "name"), crossed([G(4), G(10**38), L(10**18, 5)], NAMES))
def test_vectors_take_the_ends_of_int64(law: Any, name: str) -> None:
    """Both ends of int64 are arguments; the absolute value of the least one overflows int64."""
    function, ends = getattr(law, name), np.iinfo(np.int64)
    expected = [function(int(ends.min)), function(int(ends.max))]
    for others in ([], [0] * 16, [*range(-300, 300)]):
        values = function(np.array([ends.min] * 16 + others + [ends.max]))
        np.testing.assert_allclose(values[[0, -1]], expected, rtol=1.1e-14)


@pytest.mark.parametrize(
    "k", [None, True, b"1", 1j, "x", [1, None], np.array(["2020-01-01"], "M8")]
)
def test_what_is_no_number_is_refused(k: Any) -> None:
    for function in (G(4).pmf, G(4).cdf, G(4).ppf):
        with pytest.raises((TypeError, ValueError)):
            function(k)


def assert_within_bounds(values: Any, lower: Any, upper: Any) -> None:
    """Require values to be within certified bounds, up to one part in 10^14."""
    slack = 1e-14 * np.minimum(np.abs(lower), np.abs(upper)) + 5e-324
    assert (values >= lower - slack).all()
    assert (values <= upper + slack).all()


@pytest.mark.parametrize(
    "law",
    some(
        [
            G("1/20", "1/3"),
            G(3),
            G(10**4, "1/3"),
            G(10**9, "-7/2"),
            L("1/3", "51/100"),
            L(100, 10**6),
        ],
        3,
    ),
    ids=str,
)
@pytest.mark.parametrize("name", some(NAMES, 3))
def test_vectors_are_right_to_one_in_10_to_the_14(law: Any, name: str) -> None:
    """They are within certified bounds from the middle to below the smallest float."""
    function = getattr(law, name)
    width = max(1, math.ceil(law.std()))
    steps = np.unique(np.linspace(0, 45 * width, 40).astype(np.int64))
    ks = int(law.mu) + np.concatenate([-steps[::-1], steps])
    if width > 1000:
        ks = np.unique(np.concatenate([ks, int(law.mu) + np.arange(-40, 40)]))
    lower, upper = function(ks, bounds=True)
    everywhere = np.full(ks.size, True)
    for part in (everywhere, ks < law.mu, ks > law.mu):
        assert_within_bounds(function(ks[part]), lower[part], upper[part])


@pytest.mark.parametrize(
    ("law", "name"),
    crossed(
        [G(10**9, "-7/2"), G(10**13), G(10**200, "1/3"), L(10**9, "1/3"), L(10**12)],
        ["cdf", "logcdf", "sf", "logsf"],
        n=4,
    ),
)
def test_long_vectors_of_wide_laws_are_right_to_one_in_10_to_the_14(law: Any, name: str) -> None:
    """Tails by interpolation, or by one ratio for all, stay within certified bounds."""
    function = getattr(law, name)
    width = min(math.ceil(law.std()), 2**46)
    steps = np.linspace(0, 34, 300) ** 2 / 34
    ks = int(law.mu) + np.concatenate([-steps, steps, [0, 1e-9]]) // (1 / width)
    ks = np.append(ks.astype(np.int64), np.arange(-3, 4))
    values = function(ks)
    some = np.arange(0, ks.size, 7)
    assert_within_bounds(values[some], *function(ks[some], bounds=True))


@pytest.mark.parametrize(
    ("law", "name", "dense"),
    crossed(
        [G(10**13), G(10**17, "1/3"), L(10**9, "1/3")],
        ["cdf", "logcdf", "sf", "logsf"],
        [False, True],
        n=4,
    ),
)
def test_long_vectors_of_wide_laws_reach_below_the_smallest_floats(
    law: Any, name: str, dense: bool
) -> None:
    """They begin where terms are near the smallest floats, and end where all are 0."""
    function, side = getattr(law, name), -1 if name.endswith("cdf") else 1
    width, far = math.ceil(law.std()), 38 if isinstance(law, type(G(1))) else 520
    ks = np.arange(300) if dense else np.linspace(-far // 9, far, 300) * width
    ks = side * (far * width + ks.astype(np.int64))
    values = function(ks)
    some = np.arange(0, ks.size, 7)
    assert_within_bounds(values[some], *function(ks[some], bounds=True))


@pytest.mark.parametrize("law", [G(400, "1/3"), G("1/50", "-2/5"), L(3, "1/2"), L("1/30")], ids=str)
@pytest.mark.parametrize("name", ["cdf", "sf"])
def test_arrays_reach_from_the_middle_to_where_tails_are_no_floats(law: Any, name: str) -> None:
    """They are right at the smallest floats, and where 0 and 1 are told without any sum."""
    function = getattr(law, name)
    ends = [int(law.ppf("1e-260")), int(law.ppf("1e-290")), int(law.ppf("1e-340"))]
    ks = np.unique([*ends, *(end + i for end in ends for i in range(-6, 7)), *range(-9, 10)])
    ks = np.unique(np.concatenate([ks, -ks]))
    assert_within_bounds(function(ks), *function(ks, bounds=True))
    further = np.array([2 * ends[2], 10**6, -(10**17)] * 6)
    right = 1.0 if name == "cdf" else 0.0
    expected = np.where(further > 0, right, 1 - right)
    np.testing.assert_array_equal(function(further), expected)


@pytest.mark.parametrize(
    ("law", "name"),
    crossed([G(400, "1/3"), L(7, "1/2"), G(10**13), L(10**9)], ["pmf", "cdf", "sf"], n=4),
)
def test_arrays_are_told_by_floats(law: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certified functions, a thousand times slower, compute the smallest floats only."""
    certified: list[int] = []

    def note(_function: object, _spec: object, k: int, *, bounds: bool) -> Any:
        assert not bounds
        certified.append(k)
        return 0.5, 0.5

    monkeypatch.setattr(_pointwise, "_at_integer", note)
    ks = np.arange(-20_000, 20_000) * max(1, int(law.std()) // 300)
    getattr(law, name)(ks)
    assert len(certified) < ks.size // 20
    getattr(law, name)(ks[:3])  # few are not worth it
    assert certified[-3:] == ks[:3].tolist()


NARROW = ("1/100", "1/150", "1/200", "1/300", "1/5000", "1e-9")
WIDE = ("1e100", "1e102", "1e205", "1e250", "8e270")
MUS = ("0", "1/3", "1/2", "-7/1000", "499999/1000000", "0.5000000000000000000001")


@pytest.mark.parametrize(("make", "parameter", "mu"), crossed([G, L], [*NARROW, *WIDE], MUS, n=11))
def test_vectors_of_the_narrowest_and_widest_laws_are_right(
    make: Any, parameter: Any, mu: str
) -> None:
    """log P(X = 0) is far below 2**-53, or P(X = 0) exp(-512) is below all floats."""
    law = make(parameter, mu)
    ks = np.arange(-20, 21)
    for name in NAMES:
        function = getattr(law, name)
        assert_within_bounds(function(ks), *function(ks, bounds=True))


@pytest.mark.parametrize("law", [G(3), L(3), GG(5, 3), *evidence(G("1/2000", "1/2"), G(10**9))])
def test_numpys_error_state_is_the_callers_own(law: Any) -> None:
    """An underflow inside the package raises nothing, even if the caller makes numpy raise."""
    step = 1 if isinstance(law, G | L) else 100  # certified one by one
    arrays = [
        np.arange(-400, 400, step) * max(1, int(law.std()) // 8),
        *(np.array([np.nan, np.inf, -np.inf, 0.5, 3] * 5, t) for t in ("f2", "f4", "f8", "g")),
    ]
    odd = np.array([0, 5e-324, 1e-300, 0.3, 1, 2, np.nan, np.inf] * 3)
    probabilities = np.concatenate([odd, np.logspace(-307, 0, 300)])[:: 1 if step == 1 else 9]
    for name in (*NAMES, "ppf", "isf"):
        function = getattr(law, name)
        for array in [probabilities] if name in ("ppf", "isf") else arrays:
            expected = function(array)
            with np.errstate(all="raise"):
                assert np.array_equal(function(array), expected, equal_nan=True)
                assert np.geterr()["under"] == "raise"


def test_there_is_no_negative_zero() -> None:
    """The float next to a tiny negative number is 0.0, of a logarithm as of a variance."""
    law = G("1e-300")
    zeros = [law.var(), law.std(), law.entropy(), law.mean(), law.logpmf(0), law.logcdf(9)]
    zeros += [*law.logpmf(0, bounds=True)[1:], *law.logcdf([0, 1]), G(1).logsf(-(10**4))]
    zeros += [*law.logcdf(np.arange(30)), G("1e-6").logpmf(np.arange(30))[0]]
    assert [math.copysign(1, zero) for zero in zeros] == [1] * len(zeros)
    assert not any(zeros)
