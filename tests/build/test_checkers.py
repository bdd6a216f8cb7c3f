"""Type checkers accept the public names and right calls, and refuse names and calls that are wrong.

pyright is asked where it is installed: it is a program of node.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import ended

import discretegauss

pytest.importorskip("mypy", reason="mypy is in the extra dev")

ROOT = Path(__file__).resolve().parents[2]

HEAD = """\
from typing import Any
import numpy as np
import discretegauss as dg
counts = np.array([3, 1, 4])
law = dg.DiscreteGaussian(5)
frame: Any = None
"""

RIGHT = """\
import discretegauss.privacy
from discretegauss import DiscreteLaplace, add_noise, errors
from discretegauss.release import Person, Plan, Table
from discretegauss.privacy import Budget, calibrate
number: int = dg.discrete_gaussian(1)
number = dg.discrete_gaussian(sigma=2)
number = dg.discrete_gaussian("1/3", mu=7)
draws: np.ndarray[Any, Any] = dg.discrete_gaussian(1, 5)
draws = dg.discrete_gaussian(sigma=[1, 2], dtype=np.int32)
draws = dg.discrete_gaussian(counts, mu=counts)
draws = dg.discrete_gaussian(1, out=counts)
dg.DiscreteGaussian(1, mu=2)
dg.DiscreteGaussian(sigma=2)
draws = dg.add_noise(counts, law)
draws = dg.add_noise(counts, rho="0.1")
draws = dg.add_noise(counts, epsilon=1, delta="1e-6", out=counts)
draws = dg.add_noise(counts, dg.privacy.Budget(rho=1), rows_per_person=2)
draws = dg.add_noise(counts, epsilon=1)
numbers: list[int] = dg.add_noise([1, 2], law)
number = dg.add_noise(3, rho=1)
dg.add_noise({"a": 3}, rho=1, source="getrandom")
dg.add_noise(frame, epsilon=1, delta="1e-6", columns=["n"])
dg.add_noise((1, 2), law, modulus=2**32)
dg.add_noise(np.int64(3), law)
dg.noise_for(counts, rho=1).interval(0.95)
epsilon: float = dg.privacy.epsilon(law, "1e-6")
noise: dg.Law = dg.privacy.calibrate(dg.DiscreteGaussian, rho=1)
dg.release.Person(3, ["town"])
dg.estimate.interval(3, law)
dg.errors.ParameterValueError("no")
""".splitlines()

WRONG = """\
from discretegauss import nope
from discretegauss import add_nosie
from discretegauss.release import execute
from discretegauss.privacy import calibration_of
from discretegauss.errors import PrivacyError
dg.add_nosie(counts, law)
dg.nope
dg.discrete_gausian(1)
dg.Any
dg.release.execute
dg.release.read_plan
dg.release.np
dg.lattice.np
dg.privacy.epsilons(law, 1)
dg.estimate.intervall(3, law)
dg.discrete_gaussian(1, sigma=2)
dg.discrete_gaussian()
dg.discrete_gaussian(1, seed=3)
dg.discrete_gaussian(1, source="numpy")
dg.DiscreteGaussian(1, sigma=2)
dg.DiscreteGaussian()
dg.add_noise(counts)
dg.add_noise(counts, delta="1e-6")
dg.add_noise(counts, rho=1, delta="1e-6")
dg.add_noise(counts, law, rho=1)
dg.add_noise(3.5, law)
dg.add_noise("abc", rho=1)
dg.add_noise([1, 2], 0.1)
dg.add_noise({3, 4}, rho=1)
dg.add_noise(counts, rho=1, seed=3)
""".splitlines()


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of right lines and of wrong ones, which are marked."""
    file = tmp_path_factory.mktemp("checked") / "lines.py"
    marked = [f"{line}  # wrong" for line in WRONG]
    file.write_text(HEAD + "\n".join([*RIGHT, *marked, ""]), "utf-8")
    return file


def refused(file: Path, numbers: set[int]) -> tuple[set[str], set[str]]:
    """Return the marked lines, and those with these numbers."""
    lines = file.read_text("utf-8").splitlines()
    return {line for line in lines if "# wrong" in line}, {lines[n - 1] for n in numbers}


def test_mypy_refuses_the_marked_lines_and_no_others(lines: Path) -> None:
    """Of 30 right and 30 wrong lines, with --strict; in the clone, whose cache it uses."""
    assert (len(RIGHT), len(WRONG)) == (30, 30)
    done = ended(sys.executable, "-m", "mypy", "--no-warn-unreachable", lines, cwd=ROOT)
    found = re.findall(r"lines\.py:(\d+): error", done.stdout)
    marked, errors = refused(lines, set(map(int, found)))
    assert errors == marked, done.stderr


@pytest.mark.skipif(not shutil.which("pyright"), reason="needs pyright")
def test_pyright_refuses_the_marked_lines_and_no_others(lines: Path) -> None:
    """It finds the package beside numpy among installed ones, which py.typed holds for."""
    site = lines.parent / "installed" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    for package in (discretegauss, np):
        (site / package.__name__).symlink_to(Path(package.__file__ or "").parent)
    config = {"venvPath": str(lines.parent), "venv": "installed", "include": ["lines.py"]}
    (lines.parent / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    done = ended("pyright", "--outputjson", "--project", lines.parent)
    said = json.loads(done.stdout)["generalDiagnostics"]
    numbers = {one["range"]["start"]["line"] + 1 for one in said if one["severity"] == "error"}
    marked, errors = refused(lines, numbers)
    assert errors == marked
