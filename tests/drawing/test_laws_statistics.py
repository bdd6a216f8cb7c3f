"""A million draws, or ten million as evidence, follow their laws.

The harness is law_checks.py: all bins counted, exact tables, false alarms of a run below 10^-6.
With a million draws it catches, 999 times in 1000, a sigma2 off by 1.7 % (sigma2 = 1/4: 1.2 %), a
scale off by 1.2 %, and a likeliest integer whose probability is off by 0.5 % (sigma2 = 1/4) to 15 %
(sigma2 = 10^4); with the evidence run's ten million, a third of that.

The harness itself is tested, too: it lets sound samplers pass, rejects every one in
broken_samplers.py and a sigma2 off by 2 %, and its false-alarm rate is computed.

    pytest tests/drawing/test_laws_statistics.py                  # a million draws of each law
    pytest tests/drawing/test_laws_statistics.py -m evidence      # ten million
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import law_checks
import numpy as np
import pytest
from broken_samplers import BROKEN, SLIGHTLY_BROKEN, SOUND, Control, gauss
from evidence_cases import at_once, evidence
from law_checks import (
    ALPHA,
    MARGIN,
    MINIMUM_EXPECTED,
    P_VALUES_A_RUN,
    LawTable,
    check_law,
    chi_square_false_alarm,
    gaussian_table,
    geometric_table,
    laplace_table,
    merge,
    rejected,
    smallest_cell_bias,
    smallest_scale_bias,
    table_of,
)
from law_sums import G, L

import discretegauss as dg
from discretegauss.laws import BernoulliExp, Geometric
from discretegauss.testing import NotPrivateWarning, seeded_source

DRAWS = 1_000_000
EVIDENCE_DRAWS = 10_000_000
TWIN_DRAWS = 5_000

METHODS = ("reference", "auto")
"""Algorithms 1-3, and the method that the library chooses."""

SIGMA2 = ("1/4", 1, 100, "355/113", 10**4, 0.1)
SCALES = ("1/2", 1, 10, 1000)

LAWS: list[Any] = [
    *(G(sigma2, mu) for sigma2 in SIGMA2 for mu in (0, "1/3")),
    *(L(scale, mu) for scale in SCALES for mu in (0, "1/3")),
    # Centres and shapes where a shifted proposal goes wrong first.
    *(G("1/1000", mu) for mu in ("1/2", "-1/3", 0)),
    *(G(1, "1/2"), G("7/2", "-7/3"), G(100, f"{3 * 10**9 + 1}/3"), G(10, 0.49999999999999994)),
    *(G(1, -5), L("3/7", "-1/2"), L(5, "-7/3"), L("1/50", "1/2"), L(2, 10**9)),
    *map(Geometric, ("1/10", "7/3", "1/1000")),
    *map(BernoulliExp, ("1/3", 1, "5/2", 10)),
]

TWIN_LAWS: list[Any] = [
    *(G(1), G("355/113", "1/3"), G(10**4), G("1/1000", "1/2"), L("1/2"), L(10, "-7/3")),
    *(Geometric("1/10"), BernoulliExp("5/2")),
]


# --- the package -----------------------------------------------------------------------------


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    ("law", "method"),
    [
        *((law, "auto") for law in LAWS),
        *((law, "reference") for law in LAWS[::6]),
        *evidence(*((law, "reference") for i, law in enumerate(LAWS) if i % 6 > 0)),
    ],
    ids=str,
)
def test_a_million_draws_follow_the_law(law: Any, method: str) -> None:
    """The compiled engine's draws follow the exact law. Algorithms 1-3 draw every sixth law."""
    assert rejected(law.sample(DRAWS, method=method), table_of(law)) == []


@pytest.mark.evidence
@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_ten_million_draws_follow_the_law(law: Any, method: str) -> None:
    """Ten times as many draws of the compiled engine follow the exact law, too."""
    assert rejected(law.sample(EVIDENCE_DRAWS, method=method), table_of(law)) == []


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    ("make", "law"),
    [
        *((gaussian_table, G(sigma2)) for sigma2 in SIGMA2),
        *((laplace_table, L(scale)) for scale in SCALES[:3]),
        *evidence((laplace_table, L(SCALES[3]))),
    ],
    ids=lambda x: str(x) if isinstance(x, G | L) else "",
)
def test_two_percent_off_is_rejected(make: Callable[[Fraction], LawTable], law: Any) -> None:
    """The package's own draws fail against a table whose parameter is 2 % larger."""
    exact = law.sigma2 if isinstance(law, G) else law.scale
    assert smallest_scale_bias(make, exact, DRAWS) < 0.02
    with pytest.warns(NotPrivateWarning):
        draws = law.sample(DRAWS, source=seeded_source(1))
    assert rejected(draws, make(exact * Fraction(102, 100)))


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint16", "object"])
def test_every_output_type_holds_the_same_law(dtype: str) -> None:
    """The dtype does not change the law (uint16: around mu = 1000)."""
    mu = 1000 if dtype == "uint16" else 0
    draws = dg.discrete_gaussian(60, DRAWS // 5, mu=mu, dtype=dtype)
    assert rejected(draws, gaussian_table(Fraction(60), Fraction(mu))) == []


_TWIN_SCRIPT = """
import pickle
import sys
import numpy as np
import discretegauss as dg
assert dg.build_info()["engine"] == "python"
file, laws, n = sys.argv[1], pickle.loads(bytes.fromhex(sys.argv[2])), int(sys.argv[3])
np.savez(file, *[law.sample(n) for law in laws])
"""


def test_the_twin_follows_the_laws(tmp_path: Any) -> None:
    """For each law 5000 draws of the twin in plain Python follow it."""
    file, laws = tmp_path / "draws.npz", pickle.dumps(TWIN_LAWS).hex()
    subprocess.run(
        [sys.executable, "-c", _TWIN_SCRIPT, str(file), laws, str(TWIN_DRAWS)],
        env=os.environ | {"DISCRETEGAUSS_PURE_PYTHON": "1"},
        check=True,
    )
    with np.load(file) as arrays:
        for i, law in enumerate(TWIN_LAWS):
            assert rejected(arrays[f"arr_{i}"], table_of(law)) == [], law


# --- the harness -----------------------------------------------------------------------------


def questions(control: Control, n: int) -> set[str]:
    """Return the questions that reject a control."""
    found = rejected(control.seeded(n), control.claims)
    return {finding.question.partition(",")[0] for finding in found}


@pytest.mark.parametrize("control", SOUND, ids=lambda control: control.name)
def test_a_sound_sampler_passes(control: Control) -> None:
    """The samplers that the broken ones are made from are not rejected."""
    assert questions(control, DRAWS) == set()


@pytest.mark.parametrize("control", BROKEN, ids=lambda control: control.name)
def test_a_broken_sampler_is_rejected(control: Control) -> None:
    """The questions that look for a fault reject a million draws with it."""
    assert questions(control, DRAWS) >= control.found_by


@pytest.mark.evidence
@pytest.mark.parametrize("control", SLIGHTLY_BROKEN, ids=lambda control: control.name)
def test_a_slightly_broken_sampler_is_rejected(control: Control) -> None:
    """Thirty million draws show what a million do not."""
    assert questions(control, 3 * EVIDENCE_DRAWS) >= control.found_by


def test_every_question_of_the_harness_rejects_a_broken_sampler() -> None:
    asked = {one.question.partition(",")[0] for one in check_law([0, 1] * 10**4, gauss(1))}
    assert asked == {name for control in BROKEN for name in control.found_by}


# Laws of thousands of cells are closer to chi2 than all the others, and slow to compute.
SAMPLES = [
    (law, DRAWS)
    for law in LAWS
    if getattr(law, law.__match_args__[0]) not in (1000, Fraction(1, 1000))
]
SAMPLES += [(law, TWIN_DRAWS) for law in TWIN_LAWS]


@pytest.mark.parametrize(("law", "n"), [*SAMPLES[4::8], *evidence(*SAMPLES)], ids=str)
def test_chi_square_false_alarms_are_as_stated(law: Any, n: int) -> None:
    """Right samplers fail the chi-square at most MARGIN times as often as chi2.sf says."""
    table = table_of(law)
    p = np.concatenate(([0.0], table.pmf, [0.0]))
    expected = np.add.reduceat(p, merge(p * n, MINIMUM_EXPECTED)) * n
    assert chi_square_false_alarm(list(expected), ALPHA) <= MARGIN * ALPHA


@at_once("law", LAWS)
def test_tables_sum_to_one(law: Any) -> None:
    """The probabilities of a table sum to 1 to the last bits of a double."""
    assert abs(math.fsum(table_of(law).pmf.tolist()) - 1) < 1e-14


def test_tables_agree_with_closed_forms() -> None:
    """Tables agree with closed forms: Laplace, geometric, and the Gaussian at a theta value."""
    laplace = laplace_table(Fraction(10))
    ratio = np.exp(-0.1)
    x = np.arange(laplace.first, laplace.last + 1)
    np.testing.assert_allclose(
        laplace.pmf, (1 - ratio) / (1 + ratio) * ratio ** np.abs(x), rtol=1e-12
    )
    geometric = geometric_table(Fraction(1, 10))
    k = np.arange(len(geometric.pmf))
    np.testing.assert_allclose(geometric.pmf, (1 - ratio) * ratio**k, rtol=1e-12)
    # sum over n of exp(-n^2 pi) is pi^(1/4)/Gamma(3/4): at sigma2 = 1/(2 pi) it is P(0)^-1.
    gaussian = gaussian_table(Fraction(1 / (2 * np.pi)))
    assert gaussian.pmf.max() == pytest.approx(1 / 1.0864348112133080, rel=1e-12)


def test_a_dropped_bin_is_an_error() -> None:
    """Draws beyond the table are counted, so an impossible value is always rejected."""
    draws = np.zeros(1000, dtype=np.int64)
    table = gaussian_table(Fraction(1, 1000))
    assert rejected(draws, table) == []
    for wrong in (draws.copy(), draws.astype(object)):
        wrong[500] = 10**6
        assert rejected(wrong, table)


def test_the_smallest_biases_are_as_stated() -> None:
    """The figures in this file's docstring and in tests/README.md are the ones computed."""
    for sigma2 in ("1", "355/113", "100", "10000"):
        assert 0.015 < smallest_scale_bias(gaussian_table, Fraction(sigma2), DRAWS) < 0.017
    assert smallest_scale_bias(gaussian_table, Fraction("1/4"), DRAWS) < 0.012
    for scale in ("1/2", "1", "10", "1000"):
        assert smallest_scale_bias(laplace_table, Fraction(scale), DRAWS) < 0.013
    assert smallest_cell_bias(gaussian_table(Fraction("1/4")), DRAWS) < 0.0055
    assert 0.14 < smallest_cell_bias(gaussian_table(Fraction(10**4)), DRAWS) < 0.155


def test_zz_no_more_p_values_than_planned() -> None:
    """The run has computed no more p-values than the stated false-alarm rate allows."""
    assert law_checks.tally["p_values"] <= P_VALUES_A_RUN
