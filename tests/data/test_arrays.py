"""`add_noise` on lists and numpy's arrays makes exact sums, a draw for each cell, or an error."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once
from inputs import must_not_draw
from same_bits import same_bits

import discretegauss as dg
from discretegauss.testing import TapeSource

LAW = dg.DiscreteGaussian(100)
LEAST, GREATEST = -(2**63), 2**63 - 1


def draws(n: int, law: dg.Law = LAW, *, dtype: Any = object) -> list[int]:
    """Return the draws that `add_noise` adds to n values in one array, by the same bits."""
    drawn: list[int] = law.sample(n, dtype=dtype, source=same_bits()).tolist()
    return drawn


DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u4", ">i8", ">u8"]


@at_once("dtype", DTYPES)
@at_once("order", ["C", "F", "strided", "read-only"])
def test_every_dtype_and_layout_gets_the_exact_sum(dtype: str, order: str) -> None:
    """The result is int64 of the same shape and layout, with the draws in its order."""
    values = np.arange(60).reshape(5, 12).astype(dtype)
    if order == "F":
        values = np.asfortranarray(values)
    if order == "strided":
        values = np.repeat(values, 2, axis=1)[:, ::2]
    values.flags.writeable = order != "read-only"
    before = values.copy()
    noisy = dg.add_noise(values, LAW, source=same_bits())
    assert (noisy.dtype, noisy.shape) == (np.int64, (5, 12))
    assert noisy.flags.f_contiguous == (order == "F")
    noise = np.subtract(noisy, values.astype(np.int64))
    assert noise.ravel(order="K").tolist() == draws(60, dtype=np.int64)  # the order of memory
    assert (values == before).all()


@pytest.mark.parametrize("count", [2**53 + 1, 2**60 + 1, 2**62, -(2**53) - 1])
@pytest.mark.parametrize("dtype", ["i8", "u8", ">i8"])
def test_counts_that_no_float_holds_keep_the_whole_law(count: int, dtype: str) -> None:
    """Each value of noise comes out, odd ones, too."""
    if count < 0 and "u" in dtype:
        return
    values = np.full(200, count, dtype)
    noisy = dg.add_noise(values, LAW, source=same_bits())
    assert [x - count for x in noisy.tolist()] == draws(200, dtype=np.int64)


def test_the_end_of_int64_keeps_the_whole_law_in_python_integers() -> None:
    """Objects and lists have room for any sum and any law."""
    for law in (LAW, dg.DiscreteGaussian(10**60)):
        values = [GREATEST] * 50
        assert dg.add_noise(values, law, source=same_bits()) == [
            GREATEST + noise for noise in draws(50, law)
        ]
        noisy = dg.add_noise(np.array(values, object), law, source=same_bits())
        assert noisy.dtype == object
        assert noisy.tolist() == [GREATEST + noise for noise in draws(50, law)]


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, GREATEST]),
        np.array([0, LEAST]),
        np.array([GREATEST - 100]),
        np.array([2**63 + 5], np.uint64),
    ],
)
def test_a_sum_that_might_not_fit_is_refused_before_a_draw(values: Any) -> None:
    """Nothing is drawn, whatever the noise might have been, and the message has no count."""
    with pytest.raises(OverflowError, match=r"overflow='saturate'") as error:
        dg.add_noise(values, LAW, source=must_not_draw)
    assert not any(str(x) in str(error.value) for x in values if x)
    with pytest.raises(OverflowError, match="values with noise must fit int64"):
        dg.add_noise(np.zeros(3, np.int8), dg.DiscreteGaussian(10**60), source=must_not_draw)
    with pytest.raises(OverflowError, match="values with noise must fit int64"):
        dg.add_noise(np.zeros(0, int), dg.DiscreteGaussian(10**60))


@pytest.mark.parametrize("law", [LAW, dg.DiscreteGaussian(10**36), dg.DiscreteGaussian(10**60)])
@pytest.mark.parametrize("dtype", ["i8", ">i8", "u8", "i1"])
def test_saturating_clamps_the_exact_sum(law: dg.Law, dtype: str) -> None:
    """It clamps even if the noise itself, or the count, is beyond int64."""
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, 0, 5] * 20, dtype)
    noisy = dg.add_noise(values, law, overflow="saturate", source=same_bits())
    assert noisy.dtype == np.int64
    noise = draws(80, law)
    for result, count, x in zip(noisy.tolist(), values.tolist(), noise, strict=True):
        assert result == min(max(count + x, LEAST), GREATEST)


@pytest.mark.parametrize("mu", [-(2**62), -(2**63) - 50])
def test_a_law_off_centre_brings_large_counts_back(mu: int) -> None:
    """Counts beyond int64 may have sums that fit, with draws that fit int64 or do not."""
    values = np.array([2**63 + 5, 2**63 + 9] * 20, np.uint64)
    law = dg.DiscreteGaussian(100, mu=mu)
    noisy = dg.add_noise(values, law, source=same_bits())
    noise = draws(40, law)
    assert noisy.dtype == np.int64
    assert noisy.tolist() == [x + y for x, y in zip(values.tolist(), noise, strict=True)]


@at_once("modulus", [2, 1000, 2**62 + 1, 2**63 - 1, 2**63, 2**63 + 9, 2**64])
@at_once("law", [LAW, dg.DiscreteGaussian(10**36), dg.DiscreteGaussian(10**60)])
def test_a_modulus_gives_residues_of_the_exact_sum(modulus: int, law: dg.Law) -> None:
    """Residues of every machine integer are int64 if that holds them, else uint64."""
    for dtype in ("i8", "u8", ">i4"):
        info = np.iinfo(dtype)
        values = np.array([info.min, info.max, 0, 5, info.max // 2] * 9, dtype)
        noisy = dg.add_noise(values, law, modulus=modulus, source=same_bits())
        assert noisy.dtype == (np.int64 if modulus <= 2**63 else np.uint64)
        noise = draws(45, law)
        sums = [(x + y) % modulus for x, y in zip(values.tolist(), noise, strict=True)]
        assert noisy.tolist() == sums
    assert dg.add_noise([7], law, modulus=10**30, source=same_bits()) == [(7 + noise[0]) % 10**30]


def test_a_mask_stays_and_what_it_covers_is_not_shown() -> None:
    """The number below may be any, even one that would not fit. The result has its own mask."""
    mask = np.zeros((4, 3), bool)
    mask[1, 2] = mask[3, 0] = True
    data = np.asfortranarray(np.where(mask, GREATEST, 10))
    values = np.ma.MaskedArray(data, mask)
    noisy = dg.add_noise(values, LAW, source=same_bits())
    assert isinstance(noisy, np.ma.MaskedArray)
    assert (noisy.mask == mask).all()
    assert not np.shares_memory(noisy.mask, values.mask)
    assert (noisy.data[mask] == 0).all()
    expected = np.array(draws(12, dtype=np.int64)).reshape(4, 3) + 10
    assert (noisy.data == np.where(mask, 0, expected)).all()
    objects: Any = np.ma.MaskedArray(np.array([2**70, 1], object), [True, False])
    assert dg.add_noise(objects, LAW).tolist()[0] is None


def test_lists_keep_nulls_and_decimals() -> None:
    """Lists keep their length; single integers and arrays without axes are counts, too."""
    noisy = dg.add_noise([1, None, Decimal(5), np.uint8(7), 2**80], LAW, source=same_bits())
    noise = draws(5)
    assert noisy == [1 + noise[0], None, 5 + noise[2], 7 + noise[3], 2**80 + noise[4]]
    assert list(map(type, noisy)) == [int, type(None), Decimal, int, int]
    assert dg.add_noise([], LAW) == []
    assert dg.add_noise(np.zeros((0, 3), int), LAW).shape == (0, 3)
    assert type(dg.add_noise(3, LAW)) is int
    assert dg.add_noise(np.array(3), LAW).shape == ()
    nested = np.array([[1, None], [2, 3]], object)
    assert dg.add_noise(nested, LAW)[0, 1] is None


def test_whole_floats_are_taken_where_they_are_asked_for() -> None:
    """A float that is not whole, or may be a rounded integer, is refused."""
    values = np.array([3.0, -2.0, 2.0**53])
    with pytest.raises(TypeError, match=r"got float64; integral_floats=True"):
        dg.add_noise(values, LAW)
    noisy = dg.add_noise(values, LAW, integral_floats=True, source=same_bits())
    assert noisy.dtype == np.int64
    assert noisy.tolist() == [int(x) + noise for x, noise in zip(values, draws(3), strict=True)]
    for wrong in (0.5, np.nan, np.inf, 2.0**53 + 2):
        with pytest.raises(ValueError, match="whole numbers so small"):
            dg.add_noise(np.array([1, wrong]), LAW, integral_floats=True)
    with pytest.raises(ValueError, match="whole numbers so small"):
        dg.add_noise(np.array([2.0**24 + 2], np.float32), LAW, integral_floats=True)
    with pytest.raises(TypeError, match="got float64; integral_floats"):
        dg.add_noise([1, 2.0], LAW)
    assert len(dg.add_noise([1, 2.0], LAW, integral_floats=True)) == 2
    with pytest.raises(ValueError, match="whole numbers"):
        dg.add_noise([Decimal("0.5")], LAW)


@pytest.mark.parametrize(
    "values",
    [
        [True],
        [[1, 2]],
        ["3"],
        [np.timedelta64(1, "s")],
        np.array([True]),
        np.array(["1"]),
        np.array([1], "m8[s]"),
        np.array([1j]),
        (1, "2"),
        {"a": [1]},
        {1, 2},
        "12",
        True,
        2.5,
        None,
        iter([1]),
    ],
)
def test_what_is_no_integers_is_refused(values: Any) -> None:
    """Bools, texts, times and other containers are refused."""
    with pytest.raises(TypeError, match=r"^values must be"):
        dg.add_noise(values, LAW)


def test_an_argument_of_other_libraries_is_refused() -> None:
    """A lazy frame of Dask or Spark, for example, would draw again at each action."""
    with pytest.raises(TypeError, match=r"got Bag"):
        dg.add_noise(type("Bag", (), {"__array__": lambda _: np.zeros(3, int)})(), LAW)


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, TypeError, "give a law, or a budget: rho, or epsilon, alone or with delta"),
    ({"law": 0.1}, TypeError, "pass a budget by name, rho=..."),
    ({"law": LAW, "rho": 1}, TypeError, "either a law or a budget: rho"),
    ({"law": LAW, "delta": 1e-6}, TypeError, "either a law or a budget: delta"),
    ({"law": LAW, "sensitivity": 2}, TypeError, "either a law or a budget: sensitivity"),
    ({"law": LAW, "rows_per_person": 2}, TypeError, "either a law or a budget: rows_per_person"),
    ({"law": LAW, "disjoint": True}, TypeError, "either a law or a budget: disjoint"),
    ({"rho": 1, "epsilon": 1, "delta": 0.1}, TypeError, "not both"),
    ({"delta": 0.1}, TypeError, "epsilon, alone or with delta"),
    ({"rho": 1, "sensitivity": 0}, ValueError, "sensitivity must be at least 1"),
    ({"rho": 1, "rows_per_person": 0}, ValueError, "rows_per_person must be at least 1"),
    ({"rho": 1, "disjoint": 1}, TypeError, "disjoint must be True or False"),
    ({"law": LAW, "overflow": "wrap"}, ValueError, "overflow must be 'raise' or 'saturate'"),
    ({"law": LAW, "modulus": 1}, ValueError, "modulus must be at least 2"),
    ({"law": LAW, "modulus": 2**64 + 1}, OverflowError, "modulus must be at most"),
    ({"law": LAW, "modulus": 9, "overflow": "saturate"}, ValueError, "overflow must be 'raise'"),
    ({"law": LAW, "columns": ["a"]}, TypeError, "columns needs a frame"),
    ({"law": LAW, "method": "fast"}, ValueError, "method must be"),
    ({"law": LAW, "threads": 0}, ValueError, "threads must be"),
    ({"law": LAW, "source": "urandom"}, ValueError, "source must be"),
]


@pytest.mark.parametrize(("options", "error", "match"), WRONG)
def test_wrong_arguments_say_what_is_wrong(
    options: dict[str, Any], error: type[Exception], match: str
) -> None:
    """Errors name the argument, and come before anything is drawn."""
    with pytest.raises(error, match=match):
        dg.add_noise(np.arange(3), **{"source": TapeSource(b"")} | options)


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([[1, 2]], r"pass numpy.array\(values\)"),
        (np.zeros(2, [("a", int)]), "records: pass one field"),
        (range(3), r"got range; pass list\(values\)"),
        ("counts.csv", "got str; discretegauss.release takes files"),
    ],
)
def test_near_misses_say_what_to_pass(values: Any, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        dg.add_noise(values, LAW)
    with pytest.raises(TypeError, match=r"such as DiscreteGaussian\(5\), got the class"):
        dg.add_noise(values, dg.DiscreteGaussian)  # type: ignore[call-overload]


def test_swapped_arguments_say_so() -> None:
    """The error of `add_noise(law, values)` says that the arguments are swapped."""
    with pytest.raises(TypeError, match="law must be a DiscreteGaussian"):
        dg.add_noise(LAW, np.arange(3))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="the law is the second argument"):
        dg.add_noise(LAW, rho=1)  # type: ignore[call-overload]


def test_a_budget_is_shared_by_all_that_one_person_changes() -> None:
    """K = rows times columns, unless the columns are of different people."""
    row = np.arange(6)
    table, cube = np.arange(12).reshape(4, 3), row.reshape(1, 2, 3)
    law = dg.privacy.calibrate(dg.DiscreteGaussian, epsilon=1, delta="1e-6", queries=12)
    cases: list[tuple[Any, Any, dict[str, Any]]] = [
        (row, 5, {}),
        (row, 45, {"sensitivity": 3}),
        (row, 20, {"rows_per_person": 4}),
        (table, 60, {"rows_per_person": 4}),
        (table, 20, {"rows_per_person": 4, "disjoint": True}),
        (cube, 30, {}),
        ([1, 2], 5, {}),
        (table, law.sigma2, {"epsilon": 1, "delta": "1e-6", "rows_per_person": 4}),
    ]
    for values, sigma2, asked in cases:
        budget = asked if "epsilon" in asked else asked | {"rho": "1/10"}
        noise = dg.DiscreteGaussian(sigma2)
        assert dg.noise_for(values, **budget) == noise
        noisy, expected = (
            dg.add_noise(values, source=same_bits(), **given) for given in (budget, {"law": noise})
        )
        assert np.array_equal(noisy, expected)
    assert dg.noise_for(row, dg.privacy.Budget(rho="1/10")) == dg.DiscreteGaussian(5)
    assert dg.noise_for(row, law) is law


@pytest.mark.parametrize(
    ("values", "n"),
    [
        ([5], 1),
        (5, 1),
        ({"a": 5, "b": 6}, 2),
        (np.array(5), 1),
        (np.arange(6).reshape(2, 3), 2),
        (np.arange(6).astype(object).reshape(2, 3), 2),
    ],
)
def test_one_person_cannot_change_more_rows_than_there_are(values: Any, n: int) -> None:
    """Such a call means that one count changes by several. The message says what to write."""
    dg.noise_for(values, rho=1, rows_per_person=n)
    for call in (dg.add_noise, dg.noise_for):
        with pytest.raises(ValueError, match=rf"rows_per_person must be at most {n}.*got 3") as e:
            call(values, rho=1, rows_per_person=3)
        assert "did you mean sensitivity=3?" in str(e.value)
        with pytest.raises(ValueError, match="did you mean sensitivity=6"):
            call(values, rho=1, rows_per_person=3, sensitivity=2)
    dg.add_noise(np.empty((0, 2), int), rho=1, rows_per_person=3)  # an empty table reveals nobody


@pytest.mark.usefixtures("native_engine")
def test_pieces_threads_and_sources_meet() -> None:
    """Many pieces, the last one short, by two threads with ChaCha20, have the law's variance."""
    values = np.arange(200_001, dtype=np.int64)
    noisy = dg.add_noise(values, LAW, threads=2, source="chacha20")
    noise = noisy - values
    # 6.5 sigma of the estimates are a false alarm below 10**-9, and 2 % more or less is caught
    assert abs(noise.var() / 100 - 1) < 6.5 * (2 / 200_001) ** 0.5
    assert abs(noise.mean()) < 6.5 * 10 / 200_001**0.5


@pytest.mark.parametrize("dtype", ["i1", "u8", "i8", ">i8"])
@pytest.mark.parametrize("law", [LAW, dg.DiscreteGaussian(10**36)])
def test_many_nulls(dtype: str, law: dg.Law) -> None:
    """Results at nulls are 0, whatever lies under them, and the others are the exact sums."""
    nulls = np.random.default_rng(3).random(1000) < 0.4
    hidden = np.full(1000, 10, dtype)
    hidden[nulls] = np.iinfo(dtype).max
    values = np.ma.MaskedArray(hidden, nulls)
    overflow: Any = "raise" if law is LAW else "saturate"
    noisy = dg.add_noise(values, law, overflow=overflow, source=same_bits())
    noise = draws(1000, law, dtype=np.int64 if law is LAW else object)
    assert (noisy.mask == nulls).all()
    for result, null, x in zip(noisy.data.tolist(), nulls, noise, strict=True):
        assert result == (0 if null else min(max(10 + x, LEAST), GREATEST))


def test_arguments_are_checked_though_there_is_nothing_to_draw() -> None:
    for option in ({"source": "urandom"}, {"method": "fast"}, {"threads": 0}):
        with pytest.raises(ValueError, match=f"^{next(iter(option))} must be"):
            dg.add_noise([], LAW, **option)
