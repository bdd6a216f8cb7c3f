"""A million draws, or ten million as evidence, follow their laws.

The harness is law_checks.py: all bins counted, exact tables, false alarms of a run below 10^-6.
With a million draws it catches, 999 times in 1000, a sigma2 off by 1.7 % (sigma2 = 1/4: 1.2 %), a
scale off by 1.2 %, and a likeliest integer whose probability is off by 0.5 % (sigma2 = 1/4) to 15 %
(sigma2 = 10^4); with the evidence run's ten million, a third of that.
`python tests/support/law_checks.py` prints the table.

The harness itself is tested, too: it lets sound samplers pass, rejects every one in
broken_samplers.py and a sigma2 off by 2 %, and its false-alarm rate is computed.

    pytest tests/drawing/test_laws_statistics.py                  # a million draws of each law
    pytest tests/drawing/test_laws_statistics.py -m evidence      # ten million
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import law_checks
import numpy as np
import pytest
from broken_cells import BROKEN_CELLS, SOUND_CELLS
from broken_samplers import BROKEN, SLIGHTLY_BROKEN, SOUND, Control
from evidence_cases import at_once, evidence
from law_checks import (
    ALPHA,
    MARGIN,
    MINIMUM_EXPECTED,
    P_VALUES_A_RUN,
    LawTable,
    bernoulli_exp_table,
    chi_square_false_alarm,
    gaussian_table,
    geometric_table,
    laplace_table,
    merge,
    rejected,
    smallest_cell_bias,
    smallest_scale_bias,
)

import discretegauss as dg
from discretegauss.testing import NotPrivateWarning, seeded_source

DRAWS = 1_000_000
EVIDENCE_DRAWS = 10_000_000
TWIN_DRAWS = 5_000

METHODS = ("reference", "auto")
"""Algorithms 1-3, and the method that the library chooses."""

Number = int | float | str


@dataclass(frozen=True)
class Law:
    """A function of the package, its arguments, and the exact law that it promises."""

    function: str
    parameter: Number
    mu: Number = 0

    @property
    def id(self) -> str:
        at_mu = f" mu={self.mu}" if self.mu else ""
        return f"{self.function} {self.parameter}{at_mu}"

    def table(self) -> LawTable:
        """Return the exact law; a float parameter means its binary value."""
        parameter, mu = Fraction(self.parameter), Fraction(self.mu)
        match self.function:
            case "discrete_gaussian":
                return gaussian_table(parameter, mu)
            case "discrete_laplace":
                return laplace_table(parameter, mu)
            case "geometric_exp":
                return geometric_table(parameter)
            case _:
                return bernoulli_exp_table(parameter)

    def call(self, n: int) -> tuple[str, tuple[Number, int], dict[str, Number]]:
        """Return the function's name and the arguments that draw n integers."""
        return self.function, (self.parameter, n), {"mu": self.mu} if self.mu else {}

    def draw(self, n: int, **options: Any) -> Any:
        """Return n draws of the package, from the system's randomness."""
        name, given, centre = self.call(n)
        return getattr(dg, name)(*given, **centre, **options)


SIGMA2: tuple[Number, ...] = ("1/4", 1, 100, "355/113", 10**4, 0.1)
SCALES: tuple[Number, ...] = ("1/2", 1, 10, 1000)

LAWS = [
    *(Law("discrete_gaussian", sigma2, mu) for sigma2 in SIGMA2 for mu in (0, "1/3")),
    *(Law("discrete_laplace", scale, mu) for scale in SCALES for mu in (0, "1/3")),
    # Centres and shapes where a shifted proposal goes wrong first.
    Law("discrete_gaussian", "1/1000", "1/2"),
    Law("discrete_gaussian", "1/1000", "-1/3"),
    Law("discrete_gaussian", "1/1000"),
    Law("discrete_gaussian", 1, "1/2"),
    Law("discrete_gaussian", "7/2", "-7/3"),
    Law("discrete_gaussian", 100, f"{3 * 10**9 + 1}/3"),
    Law("discrete_gaussian", 10, 0.49999999999999994),
    Law("discrete_gaussian", 1, -5),
    Law("discrete_laplace", "3/7", "-1/2"),
    Law("discrete_laplace", 5, "-7/3"),
    Law("discrete_laplace", "1/50", "1/2"),
    Law("discrete_laplace", 2, 10**9),
    Law("geometric_exp", "1/10"),
    Law("geometric_exp", "7/3"),
    Law("geometric_exp", "1/1000"),
    Law("bernoulli_exp", "1/3"),
    Law("bernoulli_exp", 1),
    Law("bernoulli_exp", "5/2"),
    Law("bernoulli_exp", 10),
]

TWIN_LAWS = [
    Law("discrete_gaussian", 1),
    Law("discrete_gaussian", "355/113", "1/3"),
    Law("discrete_gaussian", 10**4),
    Law("discrete_gaussian", "1/1000", "1/2"),
    Law("discrete_laplace", "1/2"),
    Law("discrete_laplace", 10, "-7/3"),
    Law("geometric_exp", "1/10"),
    Law("bernoulli_exp", "5/2"),
]

TWO_PERCENT_OFF = [
    *((gaussian_table, Law("discrete_gaussian", sigma2)) for sigma2 in SIGMA2),
    *((laplace_table, Law("discrete_laplace", scale)) for scale in SCALES[:3]),
    *evidence((laplace_table, Law("discrete_laplace", SCALES[3]))),
]


# --- the package -----------------------------------------------------------------------------


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    ("law", "method"),
    [
        *(pytest.param(law, "auto", id=f"{law.id}-auto") for law in LAWS),
        *(
            pytest.param(
                law,
                "reference",
                id=f"{law.id}-reference",
                marks=() if i % 6 == 0 else pytest.mark.evidence,
            )
            for i, law in enumerate(LAWS)
        ),
    ],
)
def test_a_million_draws_follow_the_law(law: Law, method: str) -> None:
    """The compiled engine's draws follow the exact law. Algorithms 1-3 draw every sixth law."""
    assert rejected(law.draw(DRAWS, method=method), law.table()) == []


@pytest.mark.evidence
@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
def test_ten_million_draws_follow_the_law(law: Law, method: str) -> None:
    """Ten times as many draws of the compiled engine follow the exact law, too."""
    assert rejected(law.draw(EVIDENCE_DRAWS, method=method), law.table()) == []


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    ("make", "law"), TWO_PERCENT_OFF, ids=lambda x: x.id if isinstance(x, Law) else ""
)
def test_two_percent_off_is_rejected(make: Callable[[Fraction], LawTable], law: Law) -> None:
    """The package's own draws fail against a table whose parameter is 2 % larger."""
    exact = Fraction(law.parameter)
    assert smallest_scale_bias(make, exact, DRAWS) < 0.02
    with pytest.warns(NotPrivateWarning):
        draws = law.draw(DRAWS, source=seeded_source(1))
    assert rejected(draws, make(exact * Fraction(102, 100)))


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint16", "object"])
def test_every_output_type_holds_the_same_law(dtype: str) -> None:
    """The dtype does not change the law (uint16: around mu = 1000)."""
    mu = 1000 if dtype == "uint16" else 0
    draws = dg.discrete_gaussian(60, DRAWS // 5, mu=mu, dtype=dtype)
    assert rejected(draws, gaussian_table(Fraction(60), Fraction(mu))) == []


# An argument says what to draw, because importing this file would load scipy and the harness.
_TWIN_SCRIPT = """
import json
import sys
import numpy as np
import discretegauss as dg
assert dg.build_info()["engine"] == "python"
file, calls = sys.argv[1], json.loads(sys.argv[2])
np.savez(file, *[getattr(dg, name)(*given, **more) for name, given, more in calls])
"""


def test_the_twin_follows_the_laws(tmp_path: Any) -> None:
    """For each law 5000 draws of the twin in plain Python follow it."""
    file = tmp_path / "draws.npz"
    calls = json.dumps([law.call(TWIN_DRAWS) for law in TWIN_LAWS])
    subprocess.run(
        [sys.executable, "-c", _TWIN_SCRIPT, str(file), calls],
        env=os.environ | {"DISCRETEGAUSS_PURE_PYTHON": "1"},
        check=True,
    )
    with np.load(file) as arrays:
        for i, law in enumerate(TWIN_LAWS):
            assert rejected(arrays[f"arr_{i}"], law.table()) == [], law.id


# --- the harness -----------------------------------------------------------------------------


@pytest.mark.parametrize("control", [*SOUND, *SOUND_CELLS], ids=lambda control: control.name)
def test_a_sound_sampler_passes(control: Control) -> None:
    """The samplers that the broken ones are made from are not rejected."""
    assert rejected(control.seeded(DRAWS), control.claims()) == []


@pytest.mark.parametrize("control", [*BROKEN, *BROKEN_CELLS], ids=lambda control: control.name)
def test_a_broken_sampler_is_rejected(control: Control) -> None:
    """A million draws of a sampler with one fault do not pass for the law that it claims."""
    assert rejected(control.seeded(DRAWS), control.claims())


@pytest.mark.evidence
@pytest.mark.parametrize("control", SLIGHTLY_BROKEN, ids=lambda control: control.name)
def test_a_slightly_broken_sampler_is_rejected(control: Control) -> None:
    """Thirty million draws show what a million do not."""
    assert rejected(control.seeded(3 * EVIDENCE_DRAWS), control.claims())


# Laws of thousands of cells are closer to chi2 than all the others, and slow to compute.
SAMPLES = [(law, DRAWS) for law in LAWS if law.parameter not in (1000, "1/1000")]
SAMPLES += [(law, TWIN_DRAWS) for law in TWIN_LAWS]


@pytest.mark.parametrize(
    ("law", "n"),
    [*SAMPLES[4::8], *evidence(*SAMPLES)],
    ids=lambda x: x.id if isinstance(x, Law) else str(x),
)
def test_chi_square_false_alarms_are_as_stated(law: Law, n: int) -> None:
    """Right samplers fail the chi-square at most MARGIN times as often as chi2.sf says."""
    table = law.table()
    p = np.concatenate(([0.0], table.pmf, [0.0]))
    expected = np.add.reduceat(p, merge(p * n, MINIMUM_EXPECTED)) * n
    assert chi_square_false_alarm(list(expected), ALPHA) <= MARGIN * ALPHA


@at_once("law", LAWS)
def test_tables_sum_to_one(law: Law) -> None:
    """The probabilities of a table sum to 1 to the last bits of a double."""
    assert abs(math.fsum(law.table().pmf.tolist()) - 1) < 1e-14


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
