"""Columns and tables of other libraries are read exactly, or refused if masked."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once
from inputs import label, must_not_draw

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterTypeError, ParameterValueError

BIG = 2**53 + 1
"""No float is equal to it."""

NARROW = "1e-6"
"""Noise of this sigma2 is 0, except with a probability below exp(-499999)."""


class Column:
    """An array of another library, which numpy turns into floats unless asked for objects."""

    def __init__(self, values: Any, dtype: object = None, dtypes: object = None) -> None:
        self.values = values
        if dtype is not None:
            self.dtype = dtype
        if dtypes is not None:
            self.dtypes = dtypes

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype=np.float64 if dtype is None else dtype)


class RoundedColumn(Column):
    """A column that rounds even for objects; only its elements are exact."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype=np.float64).astype(dtype or np.float64)

    def __iter__(self) -> Any:
        return iter(self.values)


class RoundedTable(RoundedColumn):
    """A table like that of pandas 3, exact only as a table of objects."""

    def astype(self, dtype: object) -> Column:
        assert dtype is object
        return Column(self.values)


class RoundedFrame(RoundedColumn):
    """A table like that of polars, which rounds even for objects."""


class Held:
    """An object of another library around an array of numpy."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


COLUMNS = {
    "column of integers": Column([BIG, 1], dtype=np.dtype(np.int64)),
    "column of an unknown type": Column([BIG, 1], dtype="Int64"),
    "table of mixed types": Column([[BIG, 0.5]], dtypes=[np.dtype(np.int64), np.dtype(np.float64)]),
    "table that rounds": RoundedTable([[BIG, 0.5]], dtypes=["Int64", "Float64"]),
    "column that rounds": RoundedColumn([BIG, 1], dtype="Int64"),
}

each_column = pytest.mark.parametrize("column", COLUMNS.values(), ids=list(COLUMNS))


@each_column
def test_integers_in_the_tables_of_others_are_not_rounded(column: Column) -> None:
    """They are exact as parameters, in lists of them, and as arguments of a law's functions."""
    for mu in (column, [column], [[column]]):
        draws = dg.discrete_gaussian(NARROW, mu=mu)
        assert draws.ravel()[0] == BIG
    law = dg.DiscreteGaussian(1, mu=BIG)
    for k in (column, [column]):
        assert np.ravel(law.cdf(k))[0] == pytest.approx(law.cdf(BIG))
        assert np.ravel(law.pmf(k, bounds=True)[1])[0] >= law.pmf(BIG)
        assert np.ravel(law.tail_bound(k))[0] == law.tail_bound(BIG)


def test_floats_of_others_stay_floats() -> None:
    """They are not converted one by one."""
    for dtype in (np.dtype(np.float64), "torch.float64", None):
        column = Column([0.5, np.nan], dtype=dtype)
        law = dg.DiscreteGaussian(1)
        assert law.cdf(column).tolist() == pytest.approx([law.cdf(0), np.nan], nan_ok=True)


@pytest.mark.parametrize("missing", [None, object()], ids=["None", "object"])
def test_what_is_missing_in_a_column_is_refused_as_by_itself(missing: object) -> None:
    """None, or an object that stands for it, is refused in a column, not read as NaN."""

    class Missing(Column):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            if dtype == np.dtype(object):
                return np.array(self.values, dtype=object)
            return np.array([np.nan if x is missing else x for x in self.values])

    law = dg.DiscreteGaussian(1)
    with pytest.raises(ParameterTypeError, match="k must be a number"):
        law.cdf(missing)
    for dtype in ("Int64", "Float64"):
        column = Missing([1, missing], dtype=dtype)
        with pytest.raises(ParameterTypeError, match="k must be a number"):
            law.cdf(column)
        with pytest.raises(ParameterTypeError, match="mu must be a number"):
            dg.discrete_gaussian(1, mu=column, source=must_not_draw)


@pytest.mark.parametrize("shape", [(2,), ()])
def test_a_masked_array_that_others_hold_is_refused(shape: tuple[int, ...]) -> None:
    """Hidden values are not used, even if the mask is deep inside."""
    hidden = Held(np.ma.array(np.full(shape, 7), mask=np.ones(shape, bool)))
    for mu in (hidden, [hidden], [[hidden]]):
        with pytest.raises((ParameterValueError, ParameterTypeError), match="mu must"):
            dg.discrete_gaussian(1, mu=mu, source=must_not_draw)
    with pytest.raises((ParameterValueError, ParameterTypeError), match="k must"):
        dg.DiscreteGaussian(1).cdf(hidden)
    open_ = Held(np.ma.array(np.full(shape, 7), mask=np.zeros(shape, bool)))
    assert np.shape(dg.discrete_gaussian(1, mu=open_)) == shape


def test_an_array_of_no_axes_that_others_hold_is_a_number() -> None:
    """It is a number, like numpy's own."""
    held = Held(np.array(3))
    assert isinstance(dg.discrete_gaussian(held), int)
    assert dg.discrete_gaussian(held, mu=[1, 2]).shape == (2,)
    assert dg.discrete_gaussian([held, 4], mu=held).shape == (2,)
    assert dg.discrete_gaussian([Held(np.array([1, 2])), [3, 4]]).shape == (2, 2)
    with pytest.raises(ParameterTypeError, match="sigma2"):
        dg.discrete_gaussian([Held(np.array([1, 2], "m8[ns]"))], source=must_not_draw)
    law = dg.DiscreteGaussian(held)
    assert law == dg.DiscreteGaussian(3)
    assert law.cdf(held) == law.cdf(3)
    assert law.ppf(Held(np.array(0.5))) == law.ppf(0.5)
    assert np.isnan(law.cdf(Held(np.array(np.nan))))
    assert dg.privacy.delta(law, held) == dg.privacy.delta(law, 3)
    exact = Column(BIG, dtype=np.dtype(np.int64))
    assert dg.DiscreteGaussian(1, mu=exact).mu == BIG


@pytest.mark.parametrize(
    "table",
    [
        RoundedFrame([[BIG, 0.5], [3, 1.5]], dtypes=["Int64", "Float64"]),
        RoundedFrame([[0.5, BIG]], dtypes=["Float64", "UInt64"]),
        RoundedFrame([BIG, 3]),  # as of pyarrow, which does not tell what it holds
    ],
)
def test_what_can_only_be_had_rounded_is_refused(table: Any) -> None:
    """The table turns integers into floats; its columns, read one by one, are exact."""
    with pytest.raises(ParameterTypeError, match="mu must hold exact numbers"):
        dg.discrete_gaussian(NARROW, mu=table, source=must_not_draw)
    with pytest.raises(ParameterTypeError, match="k must hold exact numbers"):
        dg.DiscreteGaussian(1).cdf(table)


def test_floats_of_tables_may_be_of_any_size() -> None:
    """Integers up to 2^53 are exact as floats, too."""
    law = dg.DiscreteGaussian(1)
    for table in (
        RoundedFrame([[3, 1e30], [2**53 - 1, np.inf]], dtypes=["Int64", "Float64"]),
        RoundedFrame([[3, 0.5], [2**53 - 1, np.inf]]),
    ):
        assert law.cdf(table).tolist() == law.cdf(np.array(table)).tolist()


def test_integers_of_polars_and_pyarrow_are_not_rounded() -> None:
    """Series are exact; frames of several types, and nulls among integers, are refused."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    assert dg.discrete_gaussian(NARROW, mu=pl.Series([BIG, 1])).tolist() == [BIG, 1]
    assert dg.discrete_gaussian(NARROW, mu=pa.array([BIG, 1])).tolist() == [BIG, 1]
    frame = pl.DataFrame({"n": [BIG, 3], "w": [0.5, 1.5]})
    for refused in (
        frame,
        frame.to_arrow(),
        pl.Series([BIG, None]),
        pl.DataFrame({"n": [BIG, None]}),
        pa.array([BIG, None]),
    ):
        with pytest.raises(ParameterTypeError, match="mu"):
            dg.discrete_gaussian(NARROW, mu=refused, source=must_not_draw)


def test_integers_of_pandas_are_not_rounded() -> None:
    """numpy makes floats of columns of several types, and of integers beside missing values."""
    pd = pytest.importorskip("pandas")
    tables = [
        pd.DataFrame({"n": [BIG], "w": [0.5]}),
        pd.DataFrame({"dtype": [BIG], "w": [0.5]}),
        pd.Series([BIG, 1], dtype="Int64"),
        pd.Series([BIG, None], dtype=pd.CategoricalDtype([BIG]))[:1],
    ]
    for table in tables:
        assert dg.discrete_gaussian(NARROW, mu=table).ravel()[0] == BIG
        assert np.ravel(dg.DiscreteGaussian(1, mu=BIG).cdf(table))[0] == pytest.approx(
            0.69947, 1e-4
        )
    for missing in (
        pd.Series([BIG, pd.NA], dtype="Int64"),
        pd.Series([0.5, pd.NA], dtype="Float64"),
    ):
        with pytest.raises(ParameterTypeError, match="k must be a number"):
            dg.DiscreteGaussian(1).cdf(missing)
    wide = pd.Series([0.5, np.nan])
    assert np.isnan(dg.DiscreteGaussian(1).cdf(wide)).tolist() == [False, True]


@pytest.mark.parametrize(
    ("mu", "place", "error"),
    [
        ([[12, 40_000], [0, 1]], "[0, 1]", ParameterOverflowError),
        ([[12, 0.5], [0.5, 40_000.25]], "[1, 1]", ParameterOverflowError),
        ([0, 1, 40_961, 40_000], "[", ParameterOverflowError),
        ([1, 40_000, np.nan], "[2]", ParameterValueError),
        (np.array([1.5, np.inf]), "[1]", ParameterValueError),
        (["1/3", "salary 40000"], "[1]", ParameterValueError),
        ([1, 40_000, True], "[2]", ParameterTypeError),
        ([1, "1e40000"], "[1]", ParameterOverflowError),
        ([1, 2 ** (2**17)], "[1]", ParameterOverflowError),
    ],
    ids=label,
)
def test_no_element_of_an_array_of_mu_is_shown_in_an_error(
    mu: Any, place: str, error: type[Exception]
) -> None:
    """It may be data, and logs keep errors, so the message gives its place instead."""
    for function in (dg.discrete_gaussian, dg.discrete_laplace):
        with pytest.raises(error) as caught:
            function(100, mu=mu, dtype=np.int16, source=must_not_draw)
        message = str(caught.value)
        assert f"mu{place}" in message
        for told in ("40", "nan", "inf,", "inf ", "True", "131073", "12"):
            assert told not in message.replace("2**-128", "")
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


LAW = dg.DiscreteGaussian(100)

MARKED = [40_961, 40_962, 40_963]
"""Counts that a message would show as 4096."""


@at_once("name", ["dtype", "method", "source", "threads", "seed", "queries"])
@at_once(
    "counts",
    [
        *(MARKED, [MARKED], dict.fromkeys(MARKED, 1), set(MARKED), range(40_961, 40_963)),
        *(np.array(MARKED), np.array([MARKED]), np.array(MARKED) + 0.5, np.ma.array(MARKED)),
    ],
)
def test_counts_in_the_place_of_another_argument_are_not_shown(name: str, counts: Any) -> None:
    """The error names the argument and shows no count, because logs keep errors."""
    law = dg.DiscreteGaussian(100)
    calls: dict[str, Any] = {
        "seed": dg.testing.seeded_source,
        "queries": partial(dg.privacy.delta, law, 1),
    }
    options = {name: counts} if name in calls else {"source": must_not_draw, name: counts}
    with pytest.raises(TypeError, match=name) as caught:
        calls.get(name, law.sample)(**options)
    assert "4096" not in str(caught.value)


@pytest.mark.parametrize("library", ["numpy", "pandas"])
def test_counts_in_the_place_of_size_are_not_shown(library: str) -> None:
    """`law.sample(table["n"])` is an easy mistake."""
    columns: list[Any] = [
        *([*MARKED, -40_964], [*MARKED, 40_964.5], [MARKED], [2**60, *MARKED]),
        *(-np.array(MARKED), np.array([MARKED]), np.array(MARKED) + 0.5, np.array(MARKED) << 40),
    ]
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        columns = [pd.Series(MARKED), pd.DataFrame({"n": MARKED}), pd.Index(MARKED)]
    for counts in columns:
        with pytest.raises((TypeError, ValueError, OverflowError), match="size") as caught:
            dg.DiscreteGaussian(100).sample(counts, source=must_not_draw)
        assert "4096" not in str(caught.value)
        if library == "pandas":
            assert "an integer or a tuple of integers, got an object of type" in str(caught.value)


def test_a_shape_too_large_for_the_memory_is_not_shown() -> None:
    """Counts given as size may be a shape; numpy's own error would show them."""
    for counts in (MARKED, np.array(MARKED)):
        for sigma2 in (100, [100]):
            with pytest.raises(
                MemoryError, match=r"^size must [a-z ]*: there is no memory [a-z ]*$"
            ):
                dg.discrete_gaussian(sigma2, counts, source=must_not_draw)


SEVERAL: list[Any] = [MARKED, tuple(MARKED), np.array(MARKED)]
_COUNTS = (-40_961, Fraction(40_961, 7), 40_961.5, "40961", "salary 40961", Decimal("40961.5"))

SIBLINGS: dict[str, Any] = {
    "product": [lambda c: LAW.sample([*c] * 4), SEVERAL],
    "out": [lambda c: LAW.sample(c, out=np.empty(3, np.int64)), SEVERAL],
    "broadcast": [lambda c: dg.discrete_gaussian([1, 2], c, source=must_not_draw), SEVERAL],
    "size": [LAW.sample, [(3, n) for n in _COUNTS]],
    "dtype": [lambda c: LAW.sample(3, dtype=c), [(np.int64, (40_961, 40_962))]],
    "sigma2": [dg.discrete_gaussian, [[100, n] for n in (-40_961, "salary 40961", "1e40961")]],
    "gamma": [dg.bernoulli_exp, [[100, n] for n in (-40_961, "salary 40961")]],
    "scale": [
        lambda c: dg.discrete_laplace(c, dtype=np.int8, source=must_not_draw),
        [[1, 40_961], np.array([1, 40_961])],
    ],
    "k": [LAW.cdf, [["salary 40961"], np.array(["1", "salary 40961"])]],
    "tail_bound": [LAW.tail_bound, [[3, "salary 40961"]]],
    "q": [LAW.ppf, [[0.5, "salary 40961"]]],
    "interval": [LAW.interval, [[0.5, 40_961], np.array([40_961]), [0.5, "salary 40961"]]],
    "rho": [partial(dg.privacy.rho, LAW), [[1, -40_961], [1, "salary 40961"]]],
}


@pytest.mark.parametrize("name", SIBLINGS)
def test_no_element_of_any_array_is_shown_in_an_error(name: str) -> None:
    """The message has parameter and rule, but no element, product or shape of them."""
    call, arguments = SIBLINGS[name]
    parameter = {"product": "size", "broadcast": "size", "tail_bound": "k", "rho": "sensitivity"}
    for given in arguments:
        with pytest.raises((TypeError, ValueError, OverflowError)) as caught:
            call(given)
        message = str(caught.value)
        assert parameter.get(name, "confidence" if name == "interval" else name) in message
        assert "4096" not in message
        assert not re.search(r"[0-9]{17}", message.replace("1152921504606846975", ""))
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_no_element_of_scipys_k_or_loc_is_shown_in_an_error() -> None:
    dist = LAW.as_scipy()
    for k, loc, rule in (
        (["salary 40961"], 0, "k must be a number"),
        ([3, 40_961j], 0, "k must be a number"),
        (0, ["salary 40961", 1], "loc must be 0"),
        (0, [40961], "loc must be 0"),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            dist.cdf(k, loc)
        assert rule in str(caught.value)
        assert "4096" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_single_number_is_shown_in_an_error() -> None:
    """The message shows it as typed, because it stands in the program, not in the data."""
    for call, shown in (
        (partial(LAW.sample, -3), "got -3"),
        (partial(LAW.sample, 2**61), f"got {2**61}"),
        (partial(dg.discrete_gaussian, -3), "got -3"),
        (partial(LAW.cdf, "three"), "got 'three'"),
        (partial(LAW.interval, 3), "got 3"),
        (partial(dg.discrete_gaussian, [1, 9], mu=40_000, dtype="i2"), r"mu = 40000\b"),
        (partial(dg.discrete_gaussian, [1, 9], mu=np.nan), "mu must be a finite number, got nan"),
        (
            partial(dg.discrete_gaussian, 1e180, mu=1e180, dtype=np.int8),
            r"= 1e\+180, mu = 1e\+180;",
        ),
    ):
        with pytest.raises((ValueError, OverflowError), match=shown):
            call()
