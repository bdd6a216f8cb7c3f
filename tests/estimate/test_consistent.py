"""Tables that add up are weighted least squares, with the exact standard errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.errors import DiscreteGaussError, ParameterValueError
from discretegauss.estimate import consistent
from discretegauss.estimate._nested import fit, sums
from discretegauss.estimate._radii import floats_err

Table = dict[str, list[Any]]


def blocks_of(tables: list[Table], keys: list[str]) -> list[Any]:
    """Return, for each table, the matrix that says which cells of the last one a row sums."""
    cells = list(zip(*(tables[-1][k] for k in keys), strict=True))
    blocks = []
    for table in tables:
        own = [k for k in keys if k in table]
        rows = list(zip(*(table[k] for k in own), strict=True)) if own else [()]
        of_cell = [tuple(cell[keys.index(k)] for k in own) for cell in cells]
        blocks.append(np.array([[float(row == part) for part in of_cell] for row in rows]))
    return blocks


def dense(
    tables: list[Table], laws: list[dg.DiscreteGaussian], keys: list[str]
) -> list[tuple[Any, Any]]:
    """Return estimates and standard errors by the definition, in floats."""
    blocks, weights, noisy = blocks_of(tables, keys), [], []
    for table, law in zip(tables, laws, strict=True):
        weights += [0.0 if n is None else 1 / law.var() for n in table["n"]]
        noisy += [n or 0 for n in table["n"]]
    a, w = np.vstack(blocks), np.array(weights)
    covariance = np.linalg.inv(a.T @ (w[:, None] * a))
    x = covariance @ (a.T @ (w * np.array(noisy)))
    return [(b @ x, np.sqrt(np.einsum("ij,jk,ik->i", b, covariance, b))) for b in blocks]


def worst_of(
    tables: list[Table], laws: list[dg.DiscreteGaussian], keys: list[str]
) -> tuple[float, float]:
    """Return how far `consistent` is from the definition in rational arithmetic.

    The first is in standard errors, apart from rounding to a float. The second is relative.
    """
    found = consistent(tables, laws, "n")
    blocks = [[[int(entry) for entry in row] for row in block] for block in blocks_of(tables, keys)]
    n = len(tables[-1]["n"])
    system = [[Fraction(0)] * (n + 1) + [Fraction(i == j) for j in range(n)] for i in range(n)]
    for block, table, law in zip(blocks, tables, laws, strict=True):
        for row, count in zip(block, table["n"], strict=True):
            for i in range(n if count is not None else 0):
                for j, entry in enumerate([*row, count]):
                    system[i][j] += row[i] * entry / Fraction(law.var())
    for i in range(n):
        system[i] = [entry / system[i][i] for entry in system[i]]
        for k in range(n):
            if k != i and (factor := system[k][i]):
                system[k] = [a - factor * b for a, b in zip(system[k], system[i], strict=True)]
    off, of_errors = 0.0, 0.0
    for block, table in zip(blocks, found, strict=True):
        for row, value, error in zip(block, table["n"], table["error"], strict=True):
            cells = [i for i in range(n) if row[i]]
            variance = float(sum(system[i][n + 1 + j] for i in cells for j in cells))
            away = abs(Fraction(value) - sum(system[i][n] for i in cells)) - Fraction(
                2.0**-52 * abs(value)
            )
            off = max(off, float(away) / math.sqrt(variance))
            of_errors = max(of_errors, abs(error / math.sqrt(variance) - 1))
    return off, of_errors


def check(tables: list[Table], laws: list[dg.DiscreteGaussian], keys: list[str]) -> None:
    """Check estimates and errors, in any order of the tables and of their rows."""
    rng = np.random.default_rng(len(tables[-1]["n"]))
    expected = dense(tables, laws, keys)
    mixed = rng.permutation(len(tables))
    orders = [rng.permutation(len(table["n"])) for table in tables]
    shuffled = [
        {label: [column[i] for i in orders[j]] for label, column in tables[j].items()}
        for j in mixed
    ]
    found = consistent(shuffled, [laws[j] for j in mixed], "n")
    for j, table in zip(mixed, found, strict=True):
        values, errors = expected[j]
        largest = np.abs(values).max() + 1
        assert np.abs(np.array(table["n"]) - values[orders[j]]).max() < 1e-9 * largest
        assert np.array(table["error"]) == pytest.approx(errors[orders[j]], rel=1e-9)
        assert (
            np.array(table["error"]) <= math.sqrt(laws[j].var()) * (1 + 1e-9)
        ).all() or None in (tables[j]["n"])


def sums_near(rows: list[Any], truth: list[int], rng: np.random.Generator) -> list[int]:
    """Return the sums of the truth over equal rows, in order, each moved by at most 1."""
    found = dict.fromkeys(rows, 0)
    for row, count in zip(rows, truth, strict=True):
        found[row] += count
    return [count + int(rng.integers(-1, 2)) for count in found.values()]


def random_laws(rng: np.random.Generator, n: int) -> list[dg.DiscreteGaussian]:
    return [
        dg.DiscreteGaussian(Fraction(round(math.exp(v) * 1000), 1000))
        for v in rng.uniform(-0.5, 6, n)
    ]


def test_nested_tables_are_weighted_least_squares() -> None:
    """60 random hierarchies of two to four levels agree; some rows have no released count."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        keys = ["a", "b", "c", "d"][: rng.integers(1, 4)]
        leaves: list[tuple[int, ...]] = [()]
        for _ in keys:
            leaves = [(*leaf, i) for leaf in leaves for i in range(rng.integers(1, 4))]
        levels = [k for k in range(len(keys)) if rng.random() < 0.8] + [len(keys)]
        tables, truth = [], rng.integers(-100, 1000, len(leaves)).tolist()
        for depth in levels:
            rows = list(dict.fromkeys(leaf[:depth] for leaf in leaves))
            counts: list[Any] = sums_near([leaf[:depth] for leaf in leaves], truth, rng)
            if depth < len(keys):
                counts = [None if rng.random() < 0.2 else x for x in counts]
            columns = {keys[i]: [row[i] for row in rows] for i in range(depth)}
            tables.append({**columns, "n": counts})
        check(tables, random_laws(rng, len(tables)), keys)


@pytest.mark.parametrize("is_product", [True, False])
def test_crossing_margins_are_weighted_least_squares(is_product: bool) -> None:
    """The analysis of variance and the equations each agree on 20 random sets of margins."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        keys = ["a", "b", "c"][: rng.integers(2, 4)]
        cells = list(itertools.product(*(range(rng.integers(2, 5)) for _ in keys)))
        if not is_product:
            cells = [cell for cell in cells if rng.random() < 0.8] or cells[:1]
        axes = range(len(keys))
        margins = [m for k in axes for m in itertools.combinations(axes, k)]
        tables, truth = [], rng.integers(-100, 1000, len(cells)).tolist()
        for margin in [*(m for m in margins if rng.random() < 0.7), tuple(axes)]:
            of_cells = [tuple(cell[i] for i in margin) for cell in cells]
            rows = list(dict.fromkeys(of_cells))
            columns = {keys[i]: [row[j] for row in rows] for j, i in enumerate(margin)}
            tables.append({**columns, "n": sums_near(of_cells, truth, rng)})
        check(tables, random_laws(rng, len(tables)), keys)


def crossed(
    size: int, missing: set[tuple[int, int]], spread: float, of_truth: float = 1
) -> list[Table]:
    """Return two margins and their cells, with cell noise of this size."""
    rng = np.random.default_rng(3)
    cells = [c for c in itertools.product(range(size), range(size)) if c not in missing]
    truth, noisy = (
        [round(x) for x in rng.normal(1000, by, len(cells))] for by in (of_truth, spread)
    )
    margins = []
    for axis in (0, 1):
        of_cells = sorted(zip((cell[axis] for cell in cells), truth, strict=True))
        margins.append(sums_near([i for i, _ in of_cells], [n for _, n in of_cells], rng))
    a, b = ([cell[i] for cell in cells] for i in (0, 1))
    sides: list[Table] = [
        {k: list(range(size)), "n": n} for k, n in zip("ab", margins, strict=True)
    ]
    return [*sides, {"a": a, "b": b, "n": noisy}]


MISSING = {(0, 1), (2, 2), (3, 0)}


@pytest.mark.parametrize("sigma2", [Fraction(1, 10), 10**8, 10**10, 10**12, 10**18, 10**30, 10**99])
def test_unlike_noise_is_solved_or_refused(sigma2: Any) -> None:
    """With some cells missing under margins of sigma2 = 1, a cell's sigma2 may be up to 10**18."""
    tables = crossed(4, MISSING, min(float(sigma2) ** 0.5, 2.0**50))
    laws = [dg.DiscreteGaussian(1), dg.DiscreteGaussian(1), dg.DiscreteGaussian(sigma2)]
    if sigma2 > 10**18:
        with pytest.raises(ParameterValueError, match="laws must have variances that differ less"):
            consistent(tables, laws, "n")
    else:
        off, of_errors = worst_of(tables, laws, ["a", "b"])
        assert off < 1e-9
        assert of_errors < 1e-6


def test_unlike_noise_of_full_and_nested_tables_is_solved() -> None:
    """No margin or variance is a sum of cells whose rounding exceeds its error.

    Cells have sigma2 10**30 under margins of 1; a branch has a nearly exact whole and sibling.
    """
    laws = [dg.DiscreteGaussian(1), dg.DiscreteGaussian(1), dg.DiscreteGaussian(10**30)]
    off, of_errors = worst_of(crossed(3, set(), 2.0**50), laws, ["a", "b"])
    assert max(off, of_errors) < 1e-9
    tables: list[Table] = [
        {"n": [20]},
        {"a": [0, 1], "n": [None, 7]},
        {"a": [0, 0, 1, 1], "b": [0, 1, 2, 3], "n": [5, 6, 3, 4]},
    ]
    laws = [dg.DiscreteGaussian("1/80"), dg.DiscreteGaussian("1/80"), dg.DiscreteGaussian(9)]
    off, of_errors = worst_of(tables, laws, ["a", "b"])
    assert max(off, of_errors) < 1e-9


def test_more_than_2000_cells_solve_the_normal_equations() -> None:
    """The weighted residuals of all counts of a cell cancel; errors are those of noisy counts."""
    tables = crossed(46, MISSING, 1e4)
    laws = [dg.DiscreteGaussian(1), dg.DiscreteGaussian(5), dg.DiscreteGaussian(10**8)]
    found = consistent(tables, laws, "n")
    cells, gradient = np.array(found[2]["n"]), 0.0
    for key, before, after, law in zip(("a", "b", None), tables, found, laws, strict=True):
        row = np.array(tables[2][key]) if key else np.arange(cells.size)
        gradient += (np.subtract(before["n"], after["n"]) / law.var())[row]
        assert after["n"] == pytest.approx(np.bincount(row, cells), rel=1e-12)
        assert after["error"] == pytest.approx([law.std()] * len(after["n"]))
    assert np.abs(gradient).max() < 1e-10  # a cell's own part is about 1e-4


@pytest.mark.parametrize("size", [6, 46])
def test_noise_that_is_too_unlike_is_refused_with_a_matrix_and_without(size: int) -> None:
    for first, last in ((1, 10**40), ("1/1000", 10**299)):
        laws = [dg.DiscreteGaussian(sigma2) for sigma2 in (first, 5, last)]
        with pytest.raises(ParameterValueError, match="that differ less"):
            consistent(crossed(size, MISSING, 1e4, of_truth=1e4), laws, "n")


def test_what_is_whole_adds_up_and_is_not_negative() -> None:
    """Of all choices in a family it is nearest to the targets. Totals are off by 1/2 at most."""
    rng = np.random.default_rng(5)
    truth = rng.poisson(1.5, (400, 4))
    wholes, parts = truth.sum(axis=1), truth.ravel()
    laws = [dg.DiscreteGaussian(s) for s in (1, 9, 4)]
    off = []
    for _ in range(20):
        noisy = [
            np.array([n]).ravel() + rng.integers(-3, 4, np.size(n))
            for n in (wholes.sum(), wholes, parts)
        ]
        tables = [
            {"n": noisy[0].tolist()},
            {"a": range(400), "n": noisy[1].tolist()},
            {"a": np.repeat(range(400), 4), "b": [*range(4)] * 400, "n": noisy[2].tolist()},
        ]
        found = consistent(tables, laws, "n", integers=True)
        top, middle, bottom = (np.array(table["n"]) for table in found)
        assert top[0] == middle.sum() == bottom.sum()
        assert (bottom.reshape(400, 4).sum(axis=1) == middle).all()
        assert min(middle.min(), bottom.min()) >= 0
        exact = consistent(tables, laws, "n")[0]["n"]
        off.append(abs(top[0] - exact[0]))
    assert max(off) <= 0.5
    for _ in range(100):
        y, total = rng.integers(-4, 8, 3), int(rng.integers(0, 8))
        law = dg.DiscreteGaussian(9)
        sure = dg.DiscreteGaussian("1/100")  # the whole is nearly exact
        parts_of = [{"n": [total]}, {"a": range(3), "n": y.tolist()}]
        best_of = np.array(consistent(parts_of, [sure, law], "n", integers=True)[1]["n"])
        targets = y + (total - y.sum()) / 3
        best = min(
            np.sum((np.array(n) - targets) ** 2)
            for n in itertools.product(range(total + 1), repeat=3)
            if sum(n) == total
        )
        assert np.sum((best_of - targets) ** 2) <= best + 1e-9


@pytest.mark.parametrize("missing", [set(), MISSING])
def test_whole_cells_of_tables_that_cross(missing: set[tuple[int, int]]) -> None:
    """Cells are the estimates, cut at 0 and rounded; margins are their sums, with larger errors."""
    tables = crossed(4, missing, 3)
    tables[2]["n"] = [n - 1000 for n in tables[2]["n"]]
    for table in tables[:2]:
        table["n"] = [2 + n % 4 for n in table["n"]]
    exact = consistent(tables, dg.DiscreteGaussian(9), "n")
    found = consistent(tables, dg.DiscreteGaussian(9), "n", integers=True)
    cells = np.maximum(np.rint(exact[2]["n"]), 0)
    assert found[2]["n"] == cells.tolist()
    for axis, key in enumerate("ab"):
        places = np.array(tables[2][key])
        assert found[axis]["n"] == [int(cells[places == i].sum()) for i in range(4)]
    for before, after in zip(exact, found, strict=True):
        moved = np.abs(np.array(after["n"]) - np.maximum(before["n"], 0))
        assert after["error"] == pytest.approx(before["error"] + moved)
    assert min(exact[2]["n"]) < -1
    assert max(np.array(found[0]["error"]) - exact[0]["error"]) > 1


@pytest.mark.parametrize("sigma2", ["1/20", "7/50", "39/200", "1/4", "1/2", "1041/1000", 5])
def test_so_many_errors_hold_for_certain(sigma2: Any) -> None:
    """From sigma2 = 1/2 on 2.72 errors hold, below it 2.72 sqrt(sigma2/variance), for sums, too.

    The noise is sub-Gaussian, which needs sqrt(2 log(40)) errors. The table has the noise alone.
    """
    law = dg.DiscreteGaussian(sigma2)
    factor = math.sqrt(law.sigma2 / law.var())
    (table,) = consistent([{"a": [1], "n": [0]}], law, "n")
    times = 2.72 * (1 if law.sigma2 >= 0.5 else factor)
    assert times > math.sqrt(2 * math.log(40)) * factor
    assert law.sf(math.floor(times * table["error"][0])) <= 0.025


def test_the_largest_counts_are_taken() -> None:
    """2**53 is the last; ``test_what_is_wrong_is_named`` has the next one."""
    (table,) = consistent([STATES | {"n": [2**53, -(2**53)]}], LAW, "n")
    assert table["n"] == [2.0**53, -(2.0**53)]


def test_frames_of_each_library_come_back() -> None:
    """Frames keep their kind, their order and their other columns."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    states: Table = {"state": ["N", "S"], "n": [1298, 5533]}
    towns: Table = {"town": ["a", "b", "d"], "n": [1204, 87, 5530], "state": ["N", "N", "S"]}
    law = dg.DiscreteGaussian(5)
    expected = consistent([states, towns], law, "n")
    kinds: list[tuple[Any, Any]] = [
        (pd.DataFrame, lambda table: table.to_dict("list")),
        (pl.DataFrame, lambda table: table.to_dict(as_series=False)),
        (pl.LazyFrame, lambda table: table.to_dict(as_series=False)),
        (pa.table, lambda table: table.to_pydict()),
    ]
    for kind, as_dict in kinds:
        found = consistent([kind(states), kind(towns)], law, "n")
        assert [as_dict(table) for table in found] == expected
        assert [list(as_dict(table)) for table in found] == [list(table) for table in expected]
    whole = consistent([pd.DataFrame(states), pd.DataFrame(towns)], law, "n", integers=True)
    assert whole[1]["n"].dtype == np.int64
    # in each library a null is a count that was not released, and a missing key is a key
    states["state"], towns["state"] = ["N", None], ["N", "N", None]
    states["n"] = [None, 5533]
    expected = consistent([states, towns], law, "n")
    assert expected[0]["n"] == pytest.approx([1204 + 87, 5531.5])
    for kind, as_dict in kinds:
        found = consistent([kind(states), kind(towns)], law, "n")
        assert [as_dict(table)["n"] for table in found] == [table["n"] for table in expected]


LAWS = [dg.DiscreteGaussian(sigma2) for sigma2 in (5, 10**31)]
LAW = LAWS[0]
HUGE: Table = {"a": [1, 2, 3], "n": [2**53, 2**53, 1 - 2**53]}
WIDE: Table = {f"column {i}": list(range(99)) for i in range(10)} | {"n": [1] * 99}
STATES: Table = {"state": ["N", "S"], "n": [7, 8]}
TOWNS: Table = {"state": ["N", "N", "S"], "town": [1, 2, 3], "n": [3, 4, 8]}
CODES: Table = {"zip": ["01", "02", "03", "04"], "n": [1] * 4}
ZIPS: Table = {"zip": ["1", "4"], "sex": ["F", "F"], "n": [1, 1]}
PAIRS: Table = {"a": [1, 1, 2, 2], "b": [3, 4, 3, 4], "n": [1, 1, 1, 1]}
THREE: Table = {"a": [1, 1, 2], "b": [3, 4, 3], "c": [5, 5, 5], "n": [1, 1, 1]}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: consistent([STATES, TOWNS], [LAW], "n"), "laws"),
        (lambda: consistent([TOWNS], dg.DiscreteGaussian(5, mu=1), "n"), "laws must have mu"),
        (lambda: consistent([STATES, TOWNS], LAW, "people"), "people"),
        (lambda: consistent([STATES, {"town": [1], "n": [1]}], LAW, "n"), "finest"),
        (lambda: consistent([STATES, TOWNS | {"state": ["N", "N", "N"]}], LAW, "n"), "has 'S' in"),
        (lambda: consistent([STATES, TOWNS | {"state": list("NXS")}], LAW, "n"), r"for \('X'\)$"),
        (
            lambda: consistent([CODES, ZIPS], LAW, "n"),
            "has '01', '02', '03' and 1 more in .* 'zip'$",
        ),
        (lambda: consistent([PAIRS, THREE], LAW, "n"), r"parts in table 2, .* none of \(2, 4\)$"),
        (lambda: consistent([STATES | {"state": ["N", "N"]}, TOWNS], LAW, "n"), "overlap"),
        (lambda: consistent([STATES, TOWNS | {"town": [1, 1, 3]}], LAW, "n"), "overlap"),
        (lambda: consistent([STATES, TOWNS | {"n": [None, 1, 2]}], LAW, "n"), "finest"),
        (lambda: consistent([STATES, TOWNS | {"error": [1, 1, 1]}], LAW, "n"), "error"),
        (lambda: consistent([{"n": [5]}, HUGE], LAWS, "n", integers=True), "must be smaller"),
        (lambda: consistent([STATES, TOWNS], LAW, "n", integers=1), "integers"),  # type: ignore[arg-type]
        (lambda: consistent([], LAW, "n"), "tables"),
        (lambda: consistent([5], LAW, "n"), "table 1"),
        (lambda: consistent([STATES], dg.DiscreteGaussian(10**400), "n"), "variances"),
        (lambda: consistent([STATES | {"n": [2**53 + 1, 1]}], LAW, "n"), "2\\*\\*53"),
        (lambda: consistent([{"n": np.ones((2, 2), int)}], LAW, "n"), "one axis"),
        (lambda: consistent([WIDE], LAW, "n"), "combinations"),
    ],
)
def test_what_is_wrong_is_named(call: Any, named: str) -> None:
    """Errors name the table whose rows overlap, lack a whole or have no parts."""
    with pytest.raises(DiscreteGaussError, match=named):
        call()


def test_weights_have_the_errors_that_are_proven_however_many_parts_are_added() -> None:
    """One whole, whose weight is a half, and a million parts of one variance that is no float."""
    n, s = 10**6, 4.2307
    var = [np.array([n * s]), np.full(n, s)]
    parents = [np.zeros(n, np.intp)]
    (found, _), _ = fit([np.ones(1), np.zeros(n)], var, parents)
    exact = n * Fraction(s) / (Fraction(n * s) + n * Fraction(s))
    assert abs(Fraction(float(found[0])) - exact) < floats_err(2, 1)
    places = np.arange(10**5) % 3
    for values in (np.full(10**5, s), np.random.default_rng(1).normal(size=10**5) * 10.0**9):
        for i, one in enumerate(sums(places, values, 3).tolist()):
            true = sum(map(Fraction, values[i::3].tolist()), Fraction(0))
            assert abs(Fraction(one) - true) <= abs(true) * Fraction(1, 2**52)
