"""The statistical harness of the tests: do draws follow their law?

A `LawTable` holds the exact probabilities of a law: exact rational exponents, exponentials and
sums in 50-digit decimals, rounded to double once at the end. `check_law` compares draws with it
and gives one p-value for each question it asks:

- cells:     chi-square, every integer a cell, cells merged from each end until enough is expected;
- classes:   chi-square, at most 32 classes of about equal probability (strong for slow trends);
- spread:    how many draws lie further than c from mu (strong for a wrong sigma2 or scale);
- peak:      how often the likeliest integer came (strong for a zero counted twice);
- location:  how many draws lie above the median (strong for a wrong mu);
- tails:     how many draws lie beyond points where 1000, 100, 30 and nearly 0 are expected;
- symmetry:  x against its mirror image, cell by cell and in total, if the law has a centre;
- pairs:     chi-square of the classes of neighbours (x[0], x[1]), ... and (x[1], x[2]), ...

All draws are counted, also those outside the table. Counts of one event are judged by the exact
binomial law; chi-squares by scipy's chi2.sf with at least `MINIMUM_EXPECTED` draws in a cell.

False alarms: a sample is rejected when any p-value is below `ALPHA`. A run of the default suite
computes at most `P_VALUES_A_RUN` of them, so by Bonferroni a right sampler fails a run with
probability `FALSE_ALARM_A_RUN` at most. chi2.sf is an approximation this far out. The function
`chi_square_false_alarm` computes what it is worth, and the tests check it.
"""

from __future__ import annotations

import decimal
import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FALSE_ALARM_A_RUN = 1e-6
P_VALUES_A_RUN = 8000
MARGIN = 3  # chi2.sf promises at most this many times too little; see chi_square_false_alarm
ALPHA = FALSE_ALARM_A_RUN / P_VALUES_A_RUN / MARGIN

MINIMUM_EXPECTED = 100
CLASSES = 32
PAIR_CLASSES = 8
TAIL_EXPECTATIONS = (1000.0, 100.0, 30.0)

DIGITS = decimal.Context(prec=50, Emin=-(10**9), Emax=10**9)
REACH = 60  # a table goes on to where the weight is exp(-REACH) of the peak's

# How many p-values this process has computed. The last test compares it with P_VALUES_A_RUN.
tally = {"p_values": 0}


# --- exact tables ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LawTable:
    """Exact probabilities of the integers first, first + 1, ...; outside lies less than 10^-25."""

    name: str
    first: int
    pmf: Floats
    mu: Fraction
    symmetric: bool

    @property
    def last(self) -> int:
        return self.first + len(self.pmf) - 1


def _decimal(value: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def _table(name: str, first: int, weights: list[Decimal], mu: Fraction, wide: bool) -> LawTable:
    """Divide the weights by their sum; symmetric laws are those around an integer or a half."""
    total = functools.reduce(DIGITS.add, weights)
    pmf = np.array([float(DIGITS.divide(weight, total)) for weight in weights])
    return LawTable(name, first, pmf, mu, symmetric=wide and (2 * mu).denominator == 1)


@functools.lru_cache(maxsize=256)
def gaussian_table(sigma2: Fraction, mu: Fraction = Fraction(0)) -> LawTable:
    """Return the table of P(x) ~ exp(-(x - mu)^2 / (2 sigma2))."""
    reach = ceil(sqrt(2 * REACH * sigma2)) + 1
    first, last = floor(mu) - reach, ceil(mu) + reach
    nearest = (min(mu - floor(mu), ceil(mu) - mu) ** 2) / (2 * sigma2)
    weights = [
        DIGITS.exp(_decimal(nearest - (x - mu) ** 2 / (2 * sigma2))) for x in range(first, last + 1)
    ]
    return _table(f"gaussian sigma2={sigma2} mu={mu}", first, weights, mu, wide=True)


@functools.lru_cache(maxsize=256)
def laplace_table(scale: Fraction, mu: Fraction = Fraction(0)) -> LawTable:
    """Return the table of P(x) ~ exp(-|x - mu| / scale)."""
    reach = ceil(REACH * scale) + 1
    ratio = DIGITS.exp(_decimal(-1 / scale))
    above = _geometric(DIGITS.exp(_decimal(-(floor(mu) + 1 - mu) / scale)), ratio, reach)
    below = _geometric(DIGITS.exp(_decimal(-(mu - floor(mu)) / scale)), ratio, reach)
    first = floor(mu) - reach + 1
    name = f"laplace scale={scale} mu={mu}"
    return _table(name, first, below[::-1] + above, mu, wide=True)


@functools.lru_cache(maxsize=256)
def generalized_table(scale: Fraction, beta: Fraction, mu: Fraction = Fraction(0)) -> LawTable:
    """Return the table of P(x) ~ exp(-(|x - mu| / scale)^beta)."""
    reach = ceil(REACH ** float(1 / beta) * scale) + 1
    first, last = floor(mu) - reach, ceil(mu) + reach
    power = _decimal(beta)

    def phi(r: Fraction) -> Decimal:
        return DIGITS.power(_decimal(r / scale), power)

    nearest = phi(min(mu - floor(mu), ceil(mu) - mu))
    weights = [
        DIGITS.exp(DIGITS.subtract(nearest, phi(abs(x - mu)))) for x in range(first, last + 1)
    ]
    name = f"generalized scale={scale} beta={beta} mu={mu}"
    return _table(name, first, weights, mu, wide=True)


@functools.lru_cache(maxsize=256)
def geometric_table(gamma: Fraction) -> LawTable:
    """Return the table of P(k) ~ exp(-gamma k), k >= 0."""
    weights = _geometric(Decimal(1), DIGITS.exp(_decimal(-gamma)), ceil(REACH / gamma) + 1)
    return _table(f"geometric gamma={gamma}", 0, weights, Fraction(0), wide=False)


@functools.lru_cache(maxsize=256)
def bernoulli_exp_table(gamma: Fraction) -> LawTable:
    """Return the table of 1 with probability exp(-gamma), else 0."""
    p = DIGITS.exp(_decimal(-gamma))
    weights = [DIGITS.subtract(Decimal(1), p), p]
    return _table(f"bernoulli_exp gamma={gamma}", 0, weights, Fraction(0), wide=False)


def table_of(law: Any) -> LawTable:
    """Return the table of a law of the package, by its name and its parameters."""
    match type(law).__name__:
        case "DiscreteGaussian":
            return gaussian_table(law.sigma2, law.mu)
        case "DiscreteLaplace":
            return laplace_table(law.scale, law.mu)
        case "GeneralizedGaussian":
            return generalized_table(law.scale, law.beta, law.mu)
        case "Geometric":
            return geometric_table(law.gamma)
        case _:
            return bernoulli_exp_table(law.gamma)


def _geometric(start: Decimal, ratio: Decimal, n: int) -> list[Decimal]:
    """Return start, start * ratio, ...; n rounded products of 50 digits are off by n * 10^-49."""
    values = [start]
    for _ in range(n - 1):
        values.append(DIGITS.multiply(values[-1], ratio))
    return values


# --- the questions ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One question and its p-value."""

    question: str
    p_value: float

    def __str__(self) -> str:
        return f"{self.question}: p = {self.p_value:.3g}"


def count_cells(draws: npt.ArrayLike, table: LawTable) -> Counts:
    """Return the counts of draws: all below the table, each of its integers, all above."""
    return np.bincount(_cells(draws, table), minlength=len(table.pmf) + 2)


def check_counts(counts: Counts, table: LawTable) -> list[Finding]:
    """Ask every question that does not depend on the order of the draws."""
    n = int(counts.sum())
    p = np.concatenate(([0.0], table.pmf, [0.0]))
    findings = [
        *_ask("cells", _chi_square, counts, p, merge(p * n, MINIMUM_EXPECTED)),
        *_ask("classes", _chi_square, counts, p, merge(p * n, max(MINIMUM_EXPECTED, n / CLASSES))),
        *_spread(counts, table),
        *_location(counts, p),
        *_peak(counts, table),
        *_tails(counts, table),
        *(_symmetry(counts, table) if table.symmetric else []),
    ]
    tally["p_values"] += len(findings)
    return findings


def check_law(draws: npt.ArrayLike, table: LawTable) -> list[Finding]:
    """Ask every question; the draws have to be in the order in which they were drawn."""
    cells = _cells(draws, table)
    p = np.concatenate(([0.0], table.pmf, [0.0]))
    pairs = _pairs(cells, p, len(cells))
    tally["p_values"] += len(pairs)
    counts = np.bincount(cells, minlength=len(p))
    return [*check_counts(counts, table), *pairs]


def rejected(draws: npt.ArrayLike, table: LawTable) -> list[Finding]:
    """Return the findings below `ALPHA`; a right sampler has some as rarely as stated above."""
    findings = check_law(draws, table)
    if not findings:
        raise ValueError(f"nothing can be asked of {table.name} with so few draws")
    return [finding for finding in findings if finding.p_value < ALPHA]


def _cells(draws: npt.ArrayLike, table: LawTable) -> Counts:
    """Return the cell of each draw; 0 is all below the table, the last all above."""
    values = np.asarray(draws)
    if values.dtype == object:
        values = np.array(
            [min(max(int(x), table.first - 1), table.last + 1) - table.first + 1 for x in values],
            dtype=np.int64,
        )
        return values
    if values.dtype.kind not in "iub":
        raise TypeError(f"draws must be integers, got {values.dtype}")
    clipped = np.clip(values.astype(np.int64, copy=False), table.first - 1, table.last + 1)
    return np.asarray(clipped - (table.first - 1), dtype=np.int64)


def merge(expected: Floats, minimum: float) -> npt.NDArray[np.intp]:
    """Return where merged bins begin; from each end a bin closes when it expects minimum."""
    n = len(expected)
    middle = int(np.searchsorted(np.cumsum(expected), expected.sum() / 2))
    left = _walk(expected[:middle], minimum)
    right = [n - end for end in _walk(expected[middle:][::-1], minimum)]
    # The cells left in the middle become a bin, or join a neighbour if they expect too little.
    starts = sorted({0, *left, *right} - {n})
    bins = np.add.reduceat(expected, starts)
    while len(starts) > 1 and bins.min() < minimum:
        smallest = int(bins.argmin())
        del starts[smallest if smallest > 0 else 1]
        bins = np.add.reduceat(expected, starts)
    return np.array(starts, dtype=np.intp)


def _walk(expected: Floats, minimum: float) -> list[int]:
    """Return the ends of the bins from the left; the last cells may belong to no bin."""
    ends = []
    held = 0.0
    for i, value in enumerate(expected.tolist(), start=1):
        held += value
        if held >= minimum:
            ends.append(i)
            held = 0.0
    return ends


def _ask(
    question: str, statistic: Callable[..., tuple[float, int]], *arguments: object
) -> list[Finding]:
    """Return the p-value of a chi-square statistic; no finding if fewer than two cells remain."""
    value, freedom = statistic(*arguments)
    return [Finding(question, float(stats.chi2.sf(value, freedom)))] if freedom > 0 else []


def _chi_square(counts: Counts, p: Floats, starts: npt.NDArray[np.intp]) -> tuple[float, int]:
    n = int(counts.sum())
    observed = np.add.reduceat(counts, starts)
    expected = np.add.reduceat(p, starts) * n
    if int(observed.sum()) != n or abs(expected.sum() / n - 1) > 1e-9:
        raise ArithmeticError("a bin was dropped")
    return float((((observed - expected) ** 2) / expected).sum()), len(starts) - 1


def _binomial(count: int, n: int, p: float) -> float:
    """Return the exact two-sided p-value of a count of n events of probability p."""
    return float(min(1.0, 2 * min(stats.binom.cdf(count, n, p), stats.binom.sf(count - 1, n, p))))


def _by_distance(table: LawTable) -> tuple[npt.NDArray[np.intp], Floats, npt.NDArray[np.bool_]]:
    """Return cells in order of |x - mu|, the probability beyond each, and whether a cut fits."""
    x = np.arange(len(table.pmf)) + (table.first - floor(table.mu))
    distance = np.abs(x - float(table.mu - floor(table.mu)))
    order = np.argsort(distance, kind="stable")
    beyond = np.append(np.cumsum(table.pmf[order][::-1])[::-1][1:], 0.0)
    # Between two cells at the same distance there is no cut.
    cut = np.append(np.diff(distance[order]) > 1e-9, True)
    return order, beyond, cut


def _further(table: LawTable, order: npt.NDArray[np.intp], i: int) -> npt.NDArray[np.bool_]:
    """Return the cells further from mu than the i-th nearest, and those beyond the table."""
    inside = np.zeros(len(table.pmf) + 2, dtype=bool)
    inside[order[: i + 1] + 1] = True
    return np.asarray(~inside)


def _outside(table: LawTable) -> npt.NDArray[np.bool_] | None:
    """Return the cells further from mu than the c that leaves about 0.15 outside, or None."""
    order, beyond, cut = _by_distance(table)
    usable = cut & (beyond > 1e-4) & (beyond < 1 - 1e-4)
    if not usable.any():
        return None
    best = int(np.argmin(np.where(usable, np.abs(beyond - 0.15), np.inf)))
    return _further(table, order, best)


def _spread(counts: Counts, table: LawTable) -> list[Finding]:
    outside = _outside(table)
    if outside is None:
        return []
    p = float(table.pmf[outside[1:-1]].sum())
    return [Finding("spread", _binomial(int(counts[outside].sum()), int(counts.sum()), p))]


def _peak(counts: Counts, table: LawTable) -> list[Finding]:
    """Ask about the likeliest integer, where a zero that is counted twice shows first."""
    i = int(table.pmf.argmax())
    return [Finding("peak", _binomial(int(counts[i + 1]), int(counts.sum()), float(table.pmf[i])))]


def _location(counts: Counts, p: Floats) -> list[Finding]:
    above = np.cumsum(p[::-1])[::-1]
    start = int(np.argmin(np.abs(above - 0.5)))
    if not 1e-4 < above[start] < 1 - 1e-4:
        return []
    seen = int(counts[start:].sum())
    return [Finding("location", _binomial(seen, int(counts.sum()), float(above[start])))]


def _tails(counts: Counts, table: LawTable) -> list[Finding]:
    """Ask about each tail and both. A right sampler hardly ever passes the last point."""
    n = int(counts.sum())
    wanted = [e for e in TAIL_EXPECTATIONS if e < n / 4] + [ALPHA / 100]
    p = np.concatenate(([0.0], table.pmf, [0.0]))
    findings = []
    for side, seen_by_cell, p_by_cell in (("right", counts, p), ("left", counts[::-1], p[::-1])):
        beyond = np.cumsum(p_by_cell[::-1])[::-1]  # from the far end: small sums first
        seen = np.cumsum(seen_by_cell[::-1])[::-1]
        for point in sorted({int(np.argmax(beyond * n <= expectation)) for expectation in wanted}):
            p_value = _binomial(int(seen[point]), n, float(beyond[point]))
            findings.append(Finding(f"{side} tail, {beyond[point] * n:.2g} expected", p_value))
    order, beyond, cut = _by_distance(table)
    for i in sorted({int(np.argmax(cut & (beyond * n <= e))) for e in wanted}):
        p_value = _binomial(int(counts[_further(table, order, i)].sum()), n, float(beyond[i]))
        findings.append(Finding(f"both tails, {beyond[i] * n:.2g} expected", p_value))
    return findings


def _symmetry(counts: Counts, table: LawTable) -> list[Finding]:
    """Ask whether either side has half of the draws at a distance from the centre."""
    twice_mu = int(2 * table.mu)
    inner = counts[1:-1]
    above = np.arange(twice_mu // 2 + 1, table.last + 1)
    mirror = twice_mu - above
    kept = mirror >= table.first
    right, left = inner[above[kept] - table.first], inner[mirror[kept] - table.first]
    expected = 2 * table.pmf[above[kept] - table.first] * counts.sum()
    if not expected.size or expected.sum() < 2 * MINIMUM_EXPECTED:
        return []
    starts = merge(expected, 2 * MINIMUM_EXPECTED)
    right_bins, left_bins = np.add.reduceat(right, starts), np.add.reduceat(left, starts)
    value = float(((right_bins - left_bins) ** 2 / np.maximum(right_bins + left_bins, 1)).sum())
    both = int(right.sum() + left.sum())
    return [
        Finding("mirror cells", float(stats.chi2.sf(value, len(starts)))),
        Finding("mirror total", _binomial(int(right.sum()), both, 0.5)),
    ]


def _pairs(cells: Counts, p: Floats, n: int) -> list[Finding]:
    """Ask whether (x[0], x[1]), (x[2], x[3]), ... are independent, and again one further on."""
    share = max(1 / PAIR_CLASSES, sqrt(2 * MINIMUM_EXPECTED / n))
    starts = merge(p, share)
    k = len(starts)
    if k < 2:
        return []
    class_p = np.add.reduceat(p, starts)
    classes = np.repeat(np.arange(k), np.diff([*starts, len(p)]))[cells]
    findings = []
    for offset in (0, 1):
        part = classes[offset : offset + (n - offset) // 2 * 2].reshape(-1, 2)
        observed = np.bincount(part[:, 0] * k + part[:, 1], minlength=k * k)
        expected = np.outer(class_p, class_p).ravel() * len(part)
        value = float(((observed - expected) ** 2 / expected).sum())
        findings.append(Finding(f"pairs from {offset}", float(stats.chi2.sf(value, k * k - 1))))
    return findings


# --- what the harness is worth ---------------------------------------------------------------


def chi_square_false_alarm(expected: Sequence[float], alpha: float) -> float:
    """Return the true probability that a right sampler's chi-square has chi2.sf below alpha.

    The counts are taken as independent Poisson variables and the statistic is compared with
    chi2(number of cells). That is the same question with one degree of freedom more. Convolving
    the laws of the terms (N - E)^2 / E on a grid answers it.
    """
    limit = float(stats.chi2.isf(alpha, len(expected)))
    step = limit / 2**15
    size = 2**17  # four times the limit: what wraps round is rarer than what is computed
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for value, times in Counter(expected).items():  # laws with a centre have each twice
        transform *= np.fft.rfft(_term_on_grid(value, step, size)) ** times
    law = np.fft.irfft(transform, size)
    return float(law[int(limit / step) + 1 :].sum())


def _term_on_grid(expected: float, step: float, size: int) -> Floats:
    """Return the law of (N - E)^2 / E, each atom shared by two grid points to keep the mean."""
    width = 40 * sqrt(expected) + 200
    n = np.arange(max(0, floor(expected - width)), ceil(expected + width) + 1)
    position = np.minimum((n - expected) ** 2 / expected / step, size - 2.0)
    lower = position.astype(np.int64)
    share = position - lower
    p = stats.poisson.pmf(n, expected)
    near, next_to_it = np.bincount(lower, p * (1 - share)), np.bincount(lower + 1, p * share)
    grid = np.zeros(size)
    grid[: len(near)] = near
    grid[: len(next_to_it)] += next_to_it
    return grid


def smallest_scale_bias(
    make: Callable[[Fraction], LawTable], parameter: Fraction, n: int, power: float = 0.999
) -> float:
    """Return the least relative increase of the parameter that spread catches with this power."""
    table = make(parameter)
    outside = _outside(table)
    if outside is None:
        return float("inf")
    inside = ~outside[1:-1]
    p = 1 - float(table.pmf[inside].sum())
    z = float(stats.norm.isf(ALPHA / 2) + stats.norm.isf(1 - power))
    change = Fraction(1, 1000)
    other = make(parameter * (1 + change))
    shift = other.first - table.first
    index = np.nonzero(inside)[0] - shift
    gain = (1 - float(other.pmf[index].sum())) - p
    return z * sqrt(p * (1 - p) / n) / (gain / float(change))


def smallest_cell_bias(table: LawTable, n: int, power: float = 0.999) -> float:
    """Return the least relative error of the largest probability that peak catches."""
    p = float(table.pmf.max())
    z = float(stats.norm.isf(ALPHA / 2) + stats.norm.isf(1 - power))
    return z * sqrt((1 - p) / (n * p))
