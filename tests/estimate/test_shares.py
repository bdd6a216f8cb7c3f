"""Intervals of consistent tables and of shares hold the truth as often as they say."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from engine import needs_core

import discretegauss as dg
from discretegauss.errors import DiscreteGaussError
from discretegauss.estimate import consistent, ratio, share
from discretegauss.testing import seeded_source

pytestmark = pytest.mark.filterwarnings("ignore:draws from a seeded source")

Table = dict[str, list[Any]]
RELEASES = 20_000
G, L = dg.DiscreteGaussian, dg.DiscreteLaplace


def hits(inside: Any, least: float) -> float:
    """Require that few releases miss; a right interval fails with P below 1e-9. Return the part."""
    spread = math.sqrt(least * (1 - least) / inside.size)
    found = float(np.count_nonzero(inside) / inside.size)
    assert found >= least - 6 * spread
    return found


def cross(rows: int, columns: int, counts: Any) -> list[Table]:
    """Return the cells of a cross table, its margins, and the whole."""
    cells = list(itertools.product(range(rows), range(columns)))
    x = np.asarray(counts).reshape(rows, columns)
    return [
        {"n": [int(x.sum())]},
        {"a": [*range(rows)], "n": x.sum(axis=1).tolist()},
        {"b": [*range(columns)], "n": x.sum(axis=0).tolist()},
        {"a": [a for a, _ in cells], "b": [b for _, b in cells], "n": x.reshape(-1).tolist()},
    ]


def uneven() -> list[Table]:
    """Return nested tables whose towns have 2, 2, 3 and 1 parts, in two states."""
    cells = [("N", "a", 0), ("N", "a", 1), ("N", "b", 0), ("N", "b", 1), ("N", "c", 0)]
    cells += [("N", "c", 1), ("N", "c", 2), ("S", "d", 0)]
    return [
        {"state": ["N", "S"], "n": [70, 10]},
        {"state": [*"NNNS"], "town": [*"abcd"], "n": [20, 20, 30, 10]},
        {
            **{key: [cell[i] for cell in cells] for i, key in enumerate(("state", "town", "age"))},
            "n": [10] * 8,
        },
    ]


def matrix(tables: list[Table]) -> tuple[Any, Any]:
    """Return the matrix that says what each row sums, and the counts of the finest table."""
    finest = tables[-1]
    size, rows = len(finest["n"]), []
    for table in tables:
        keys = [key for key in table if key != "n"]
        rows += [
            [all(finest[key][i] == table[key][j] for key in keys) for i in range(size)]
            for j in range(len(table["n"]))
        ]
    return np.array(rows, float), np.array(finest["n"])


TABLES = {"cross": cross(3, 3, range(10, 19)), "nested": uneven()}


@needs_core
@pytest.mark.parametrize("law", [G(5), L(3), dg.Skellam(4), G("1/4")], ids=repr)
@pytest.mark.parametrize("name", TABLES)
def test_intervals_of_consistent_tables_hold(name: str, law: Any) -> None:
    """By the weights of the definition, and draws: each holds 95 %, and none is far too wide.

    A radius does not depend on the counts, so one call shows those of all releases.
    """
    tables = TABLES[name]
    a, _ = matrix(tables)
    weights = a @ np.linalg.pinv(a)
    noise = law.sample((RELEASES, a.shape[0]), source=seeded_source(3)) @ weights.T
    found = consistent(tables, law, "n")
    value, error, low, high = (
        np.array([x for table in found for x in table[key]])
        for key in ("n", "error", "low", "high")
    )
    radius = (high - low) / 2
    assert radius == pytest.approx(high - value)
    assert error == pytest.approx(np.sqrt(law.var() * np.square(weights).sum(axis=1)))
    for i in range(a.shape[0]):
        hits(np.abs(noise[:, i]) <= radius[i], 0.95)
    if law.var() > 1:
        assert (radius < 2.1 * error + 0.02).all()
    assert (radius < 4 * error).all()


def test_radii_depend_on_confidence_and_shape() -> None:
    """Rows of one shape have one radius, more confidence a larger one."""
    tables, law = uneven(), G(5)
    found, sure = (consistent(tables, law, "n", confidence=level) for level in (0.95, 0.999))
    radii = np.array(found[2]["high"]) - found[2]["n"]
    assert radii[:4] == pytest.approx(radii[0], rel=1e-9)
    assert radii[4:7] == pytest.approx(radii[4], rel=1e-9)
    assert len(set(np.round(radii, 9))) == 3
    assert min((np.array(sure[2]["high"]) - sure[2]["n"]) / radii) > 1.6
    # a draw alone is a count with its own interval
    (alone,) = consistent([{"a": [0, 1], "n": [7, 9]}], law, "n")
    assert np.round(alone["high"], 6).tolist() == [7 + 4, 9 + 4]


def test_rows_without_a_shape_have_the_critical_value_of_any_weights() -> None:
    """Tables that cross with combinations missing, and rows that were not released."""
    tables = cross(3, 3, range(10, 19))[1:]
    for label in tables[2]:
        tables[2][label] = tables[2][label][:-1]
    tables[0]["n"][2] -= 18
    tables[1]["n"][2] -= 18
    for table in consistent(tables, G(5), "n"):
        radii = np.array(table["high"]) - table["n"]
        assert radii == pytest.approx(2.7162 * np.array(table["error"]), rel=1e-3)
    states = uneven()
    states[0]["n"][0] = None
    found = consistent(states, G(5), "n")
    assert found[0]["high"][0] - found[0]["n"][0] == pytest.approx(
        2.7162 * found[0]["error"][0], rel=1e-3
    )


def test_rare_shapes_have_the_critical_value_of_any_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If one shape of each table has its own fit, it is the most frequent one."""
    expected = consistent(uneven(), G(5), "n")[2]
    monkeypatch.setattr("discretegauss.estimate._radii._MOST_SHAPES", 1)
    found = consistent(uneven(), G(5), "n")[2]
    assert found["high"][:4] == pytest.approx(expected["high"][:4], rel=1e-12)
    radii = np.array(found["high"]) - found["n"]
    assert radii[4:] == pytest.approx(2.7162 * np.array(found["error"][4:]), rel=1e-3)


def test_a_large_part_of_many_rows_is_known_better_with_its_whole() -> None:
    """The interval of 500 of 990 in 50 rows is less than half as wide with a table of the whole."""
    cells: Table = {"a": [*range(50)], "n": [500, *[10] * 49]}
    alone, both = (share(x, G(18), "n") for x in (cells, [{"n": [990]}, cells]))
    widths = [x["high"][0] - x["low"][0] for x in (alone, both)]
    assert 0.4 * widths[0] < widths[1] < 0.5 * widths[0]


def test_whole_numbers_have_whole_ends() -> None:
    """They are the ends of the estimates, at least 0, and reach the count."""
    tables = uneven()
    tables[2]["n"] = [0, 0, 1, 22, -1, 30, 1, 10]
    plain, made_whole = (consistent(tables, G(5), "n", integers=x) for x in (False, True))
    for before, after in zip(plain, made_whole, strict=True):
        for n, low, high, least, most in zip(
            *(after[key] for key in ("n", "low", "high")),
            before["low"],
            before["high"],
            strict=True,
        ):
            assert (type(low), type(high)) == (int, int)
            assert low == min(max(math.ceil(least), 0), n)
            assert high == max(math.floor(most), 0, n)


# --- shares


@needs_core
@pytest.mark.parametrize("law", [G(5), G("3/4"), L(1), L(4)], ids=repr)
@pytest.mark.parametrize("truth", [[40, 60], [3, 0], [30, 20, 10, 5, 0], [5, 1000]], ids=str)
def test_shares_of_a_sum_of_noisy_counts_hold(law: Any, truth: list[int]) -> None:
    """Each release is a group of its own; intervals miss as rarely as they say."""
    counts = np.tile(truth, (RELEASES, 1))
    noisy = counts + law.sample(counts.shape, source=seeded_source(5))
    table = {
        "release": np.repeat(np.arange(RELEASES), len(truth)),
        "cell": [*range(len(truth))] * RELEASES,
    }
    for level in (0.9, 0.99):
        found = share({**table, "n": noisy.reshape(-1)}, law, "n", of=["release"], confidence=level)
        low, high = (np.array(found[key]).reshape(counts.shape) for key in ("low", "high"))
        for i, p in enumerate(np.array(truth) / sum(truth)):
            hits((low[:, i] <= p) & (p <= high[:, i]), level)
        assert low.min() >= 0
        assert high.max() <= 1


def test_a_share_of_a_large_sum_is_as_narrow_as_the_noise_allows() -> None:
    """Its radius is the critical value times the first-order error, and within 3 % of normal."""
    truth = [500, *[10] * 49]
    found = share({"a": [*range(50)], "n": truth}, G(18), "n")
    p = 500 / 990
    error = math.sqrt(18 * ((1 - p) ** 2 + 49 * p**2)) / 990
    assert found["share"][0] == pytest.approx(p)
    assert found["error"][0] == pytest.approx(error)
    assert (found["high"][0] - found["low"][0]) / 2 == pytest.approx(1.96 * error, rel=0.03)
    wrong = ratio(500, 990, G(18))
    assert wrong.high - wrong.low < 0.4 * (found["high"][0] - found["low"][0])


@needs_core
@pytest.mark.parametrize("law", [G(18), L(3)], ids=repr)
def test_shares_of_consistent_tables_hold(law: Any) -> None:
    """Of the whole and of a margin, in tables that cross and in nested ones, with few counts."""
    source = seeded_source(8)
    for tables, wholes in (
        (cross(2, 3, [100, 20, 5, 0, 3, 60]), ([], ["a"])),
        (uneven(), (["state"], ["town", "state"])),
    ):
        a, x = matrix(tables)
        sizes = np.cumsum([len(table["n"]) for table in tables])[:-1]
        for of in wholes:
            group = [tuple(tables[-1][key][i] for key in of) for i in range(x.size)]
            p = np.array(
                [
                    x[i] / sum(x[j] for j in range(x.size) if group[j] == group[i])
                    for i in range(x.size)
                ]
            )
            inside = []
            for _ in range(150):
                noisy = np.split((a @ x + law.sample(a.shape[0], source=source)).astype(int), sizes)
                given = [{**t, "n": n.tolist()} for t, n in zip(tables, noisy, strict=True)]
                found = share(given, law, "n", of=of)
                assert list(found)[-4:] == ["share", "error", "low", "high"]
                inside.append((found["low"] <= p) & (p <= found["high"]))
            hits(np.array(inside), 0.95)


def test_covariances_of_consistent_tables_are_those_of_the_definition() -> None:
    """The errors of shares are by the matrix: tables that cross, and nested ones of uneven size."""
    crossed = cross(2, 3, [100, 20, 5, 10, 30, 60])
    for tables, of in ((crossed, ["a"]), ([crossed[0], crossed[-1]], []), (uneven(), ["state"])):
        laws = [G(s) for s in (3, 7, 5, 11)[: len(tables)]]
        a, x = matrix(tables)
        s = np.concatenate([[law.var()] * len(t["n"]) for t, law in zip(tables, laws, strict=True)])
        covariance = np.linalg.inv(a.T @ (a / s[:, None]))
        group = [tuple(tables[-1][key][i] for key in of) for i in range(x.size)]
        found = share(tables, laws, "n", of=of)
        for i in range(x.size):
            w = np.array([g == group[i] for g in group], float)
            unit = np.eye(x.size)[i]
            p = x[i] / (x @ w)
            error = math.sqrt((unit - p * w) @ covariance @ (unit - p * w)) / (x @ w)
            assert found["share"][i] == pytest.approx(p)
            assert found["error"][i] == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("most", [10**12, 10**6, 10, 3])
def test_ends_of_a_share_are_where_the_set_ends(most: int) -> None:
    """In rational arithmetic, each end is outside the set or is 0 or 1, and next to the set."""
    rng = np.random.default_rng(4)
    law, s = G(5), Fraction(float(G(5).var()))
    t = None
    for _ in range(60):
        a, b = (int(n) for n in rng.integers(-3, most, 2))
        found = share({"x": [0, 1], "n": [a, b]}, law, "n")
        low, high, whole = Fraction(found["low"][0]), Fraction(found["high"][0]), a + b
        if t is None:  # as `ratio` has it
            t = Fraction(float(ratio(0, 2**150, law).high * 2.0**150 / law.std()))

        def outside(p: Fraction, t: Fraction = t, a: int = a, whole: int = whole) -> bool:
            return (a - p * whole) ** 2 > t**2 * s * ((1 - p) ** 2 + p**2)

        t_less, width = t * (1 - Fraction(1, 10**7)), high - low
        assert 0 <= low <= high <= 1
        assert low in {0, high} or outside(low, t_less)
        assert high in {1, low} or outside(high, t_less)
        if width > 0:
            for p in (low + width / 1000, high - width / 1000):
                assert not outside(p, t * (1 + Fraction(1, 10**6))) or whole <= 40
        else:
            assert all(outside(Fraction(i, 50), t_less) for i in range(51))


def test_frames_come_back_with_shares() -> None:
    """A row that is alone in its whole is all of it; labels and order stay."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"town": ["b", "a", "b"], "age": [0, 0, 1], "n": [30, 5, 70]})
    found = share(frame, G(5), "n", of=["town"])
    assert list(found) == ["town", "age", "n", "share", "error", "low", "high"]
    assert found["share"].round(6).tolist() == [0.3, 1.0, 0.7]
    assert (found["low"][1], found["high"][1], found["error"][1]) == (1, 1, 0)


def test_wide_noise_of_many_rows_has_shares() -> None:
    """A sum whose law the ring has not has the critical value of any weights."""
    n = [10**9] * 5
    narrow, wide = (share({"x": [*range(5)], "n": n}, L(scale), "n") for scale in (40, 10**6))
    widths = [(x["high"][0] - x["low"][0]) / (2 * x["error"][0]) for x in (narrow, wide)]
    assert widths == pytest.approx([2.1, 3.3], rel=0.05)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: share(TABLES["nested"][2], G(5), "n", of="town"), "of must be a list"),
        (lambda: share([], G(5), "n"), "at least one table"),
        (lambda: share(TABLES["nested"][2], G(5), "n", of=["n"]), "of must have columns"),
        (lambda: share(TABLES["nested"], G(5), "n", of=["age"]), "columns of one of the tables"),
        (lambda: share({"x": [1, 2], "n": [3, None]}, G(5), "n"), "no nulls"),
        (lambda: share({"x": [1, 2], "share": [3, 4]}, G(5), "x"), "no column 'share'"),
        (lambda: share({"x": [1, 2], "n": [3, 4]}, G(5), "n", confidence=1), "confidence"),
        (lambda: share({"x": [1, 2], "n": [3, 4]}, G(5, 1), "n"), "mu = 0"),
        (lambda: consistent(TABLES["nested"], G(5), "n", confidence=0), "confidence"),
        (lambda: consistent(TABLES["nested"], G(5), "n", check=1), "check"),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_named(call: Any, named: str) -> None:
    """Errors name the parameter and its rule."""
    with pytest.raises(DiscreteGaussError, match=named):
        call()
