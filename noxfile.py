"""The checks, as sessions: `nox --list` lists them, `nox -s lint types` runs two of them.

`.ci/run` and `tools/nightly` choose sessions, and install the Debian packages that these need. C
builds are presets of CMake: `nox -s "c(gcc)"` configures, builds and tests `cmake --preset gcc`.
Warnings are errors. Versions are those of tools/constraints.txt, unless a session tests others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

import nox

Function = Callable[..., None]

nox.needs_version = ">=2026.10"  # -j
nox.options.default_venv_backend = "uv"
nox.options.sessions = ["lint", "types"]

ROOT = Path(__file__).parent
WHEELS = ROOT / "build" / "wheels"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PINNED = ("--constraint", "tools/constraints.txt")
#: Builds that run the tests of one label only, and build only the programs of these.
LABELS = {
    "threads": ("threads", ["test_threads", "test_run", "test_sampler"]),
    "gcc-O2": ("silence", ["test_silence", "test_silence_by_steps"]),
    "clang-O2": ("silence", ["test_silence", "test_silence_by_steps"]),
}
# Without bytecode each process of a test would compile all that it imports.
for variable in (
    "DISCRETEGAUSS_PURE_PYTHON",
    "PYTHONPATH",
    "CMAKE_ARGS",
    "PYTHONDONTWRITEBYTECODE",
):
    os.environ.pop(variable, None)


def newest_python() -> str | None:
    """Return the newest installed Python from 3.12 on."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for n in range(19, 11, -1):
        for python in (f"python3.{n}", *map(str, pyenv.glob(f"3.{n}.*/bin/python3"))):
            if subprocess.run(["sh", "-c", f"{python} -c '' 2>&-"], check=False).returncode == 0:
                return python
    return None


def each(name: str, values: Iterable[str]) -> Callable[[Function], Function]:
    """Make a session for each value: `session(value)`."""
    return nox.parametrize(name, [nox.param(value, id=value) for value in values])


def install(session: nox.Session, gmp: str = "WHEEL", extras: str = "", *more: str) -> None:
    """Install the wheel of the session `wheels`, with extras, and more packages."""
    (wheel,) = (WHEELS / gmp).glob("*.whl")
    session.install(f"discretegauss{extras} @ {wheel.as_uri()}", *more)


def pytest(session: nox.Session, *arguments: str, **env: str) -> None:
    """Run pytest with warnings as errors."""
    session.run("python", "-m", "pytest", "-q", "-W", "error", *arguments, env=env)


# --- style -----------------------------------------------------------------------------------


@nox.session
def lint(session: nox.Session) -> None:
    """Check all Python by ruff, all C by clang-format, and this file by mypy."""
    session.install("ruff", "clang-format", "mypy", "nox", *PINNED)
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy", "--strict", "--config-file=", "noxfile.py")
    folders = ("csrc", "tests/c", "tests/cuda", "tests/fuzz", "tests/library", "benchmarks")
    ours = [path for folder in folders for path in ROOT.joinpath(folder).rglob("*.c*")]
    ours += [path for folder in folders for path in ROOT.joinpath(folder).rglob("*.h")]
    files = [str(path) for path in ours if path.suffix in (".c", ".cpp", ".cu", ".h")]
    session.run("clang-format", "--dry-run", "-Werror", *files, log=False)


@nox.session(requires=["wheels"])
def types(session: nox.Session) -> None:
    """Run mypy, ask it about right and wrong calls, and check who imports whom (.importlinter)."""
    install(session, "WHEEL", "[test,dev]", *PINNED)
    session.run("mypy")
    pytest(session, "-m", "repository", "tests/build/test_checkers.py")
    session.run("lint-imports", "--no-cache", silent=True)


# --- Python ----------------------------------------------------------------------------------


@nox.session
def wheels(session: nox.Session) -> None:
    """Build the wheels that other sessions install: with gmpy2's GMP and MPFR, and the system's."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    for gmp in ("WHEEL", "SYSTEM"):
        session.run(
            *("uv", "build", "--quiet", "--wheel", "--build-constraint", "tools/constraints.txt"),
            *("-C", f"discretegauss.gmp={gmp}", "--out-dir", str(WHEELS / gmp)),
        )


@nox.session(requires=["wheels"])
@each("tier", ["default", "process", "repository", "evidence"])
def tests(session: nox.Session, tier: str) -> None:
    """Run a tier of the tests, or a part: nox -s "tests(default)" -- tests/data."""
    install(session, "WHEEL", "[test]", *PINNED)
    chosen = {"default": [], "process": ["-m", "process and not evidence"]}
    parallel = [] if tier == "process" else ["-n", "2"]
    pytest(session, *parallel, *chosen.get(tier, ["-m", tier]), *session.posargs)


@nox.session(requires=["wheels"])
def engines(session: nox.Session) -> None:
    """Test the core over the system's GMP, and plain Python with the same inputs."""
    install(session, "SYSTEM", "[test]", *PINNED)
    pytest(session, "-m", "repository", "tests/build/test_build.py", "-k", "extension or libraries")
    pytest(session, "-k", "vectors or fits", "tests/drawing", "tests/inputs")
    pytest(session, "tests/inputs", "tests/drawing/test_stages.py", DISCRETEGAUSS_PURE_PYTHON="1")


@nox.session(requires=["wheels"])
def pure_python(session: nox.Session) -> None:
    """Run the default tier on the engine of pure Python."""
    install(session, "WHEEL", "[test]", *PINNED)
    pytest(session, "-n", "2", DISCRETEGAUSS_PURE_PYTHON="1")


@nox.session(python="3.11", requires=["wheels"])
@each("part", ["inputs", "whole"])
def lowest(session: nox.Session, part: str) -> None:
    """Test the lowest versions allowed: numpy 1 wraps some integers for which later ones raise."""
    groups = [EXTRAS["dependencies"], *EXTRAS["optional-dependencies"].values()]
    bounds = re.findall(r"'([a-z0-9-]+)>=([0-9.]+)", str(groups))
    constraints = Path(session.create_tmp()) / "lowest.txt"
    # the old matplotlib calls pyparsing in a form that 3.3 warns about
    constraints.write_text("\n".join([*map("==".join, bounds), "pyparsing<3.3"]))
    install(session, "SYSTEM", "[test]", "--constraint", str(constraints))
    pytest(session, *({"inputs": ["tests/inputs"], "whole": ["-n", "2"]}[part]))


@nox.session(python=newest_python(), requires=["wheels"])
@each("tier", ["process", "default"])
def newest(session: nox.Session, tier: str) -> None:
    """Test the newest installed Python: its threads, locks and end of a process differ."""
    if newest_python() is None:
        session.skip("there is no Python from 3.12 on")
    install(session, "WHEEL", "[test]", *(PINNED if tier == "process" else ()))
    pytest(session, *(["-m", "process and not evidence"] if tier == "process" else ["-n", "2"]))


@nox.session(requires=["wheels"])
def cuda(session: nox.Session) -> None:
    """Compile the GPU's kernel by NVRTC, and run it on the CPU behind a stand-in for the driver."""
    nvidia = ["nvidia-cuda-nvrtc-cu12==12.9.86", "nvidia-cuda-nvrtc==13.5.37"]
    nvidia += ["cuda-core==1.2.2", "cuda-bindings==13.5.0"]
    install(session, "WHEEL", "[test]", *nvidia, *PINNED)
    pytest(session, "-m", "not evidence", "tests/cuda", DG_NVRTC="1")


@nox.session(requires=["wheels"])
def under_load(session: nox.Session) -> None:
    """Run the default tier in random order on a busy machine, to find tests that fail by chance."""
    install(session, "WHEEL", "[test]", "pytest-random-order", *PINNED)
    session.run("tools/suite_under_load", *(session.posargs or ["3"]), external=True)


@nox.session(requires=["wheels"])
@each("part", ["python", "c"])
def mutants(session: nox.Session, part: str) -> None:
    """Plant 200 random faults, 50 of them in C; the tests have to find most of them."""
    install(session, "WHEEL", "[test]", *PINNED)
    if part == "python":
        session.run("python", "tools/mutants.py", "--count", "150", *session.posargs)
        return
    copy, site = Path(session.create_tmp()) / "copy", Path(session.create_tmp()) / "site"
    shutil.rmtree(copy, ignore_errors=True)
    session.run("python", "tools/mutants_c.py", "plant", str(copy), *session.posargs)
    build = str(copy / "build")
    configure = ("cmake", "-S", str(copy), "-B", build, "--preset", "gcc", "-DDG_WERROR=OFF")
    session.run(*configure, external=True, silent=True)
    jobs = f"-j{os.cpu_count()}"
    session.run("cmake", "--build", build, jobs, external=True, silent=True)
    session.run("uv", "pip", "install", "--no-deps", "--target", str(site), str(copy))
    session.run("python", "tools/mutants_c.py", "ask", str(copy), "--site", str(site))


@nox.session
def coverage(session: nox.Session) -> None:
    """Require tests to reach 95 % of the C core's lines and 98 % of the package's branches.

    Lines of C count if its tests, or the Python tests, run them. The tier `process` is left out:
    coverage.py takes a lock at every function that is new to it, and forks, signal handlers and
    failing allocations do not survive that.
    """
    for preset in ("coverage", "coverage-narrow"):
        shutil.rmtree(ROOT / "build" / preset, ignore_errors=True)
        build_and_test(session, preset)
    site = ROOT / "build" / "coverage" / "site"
    session.install(f"{ROOT}[test,dev]", *PINNED)
    options = [f"build-dir={site.with_name('extension')}", "discretegauss.gmp=SYSTEM"]
    options += ["cmake.build-type=Debug", "cmake.define.CMAKE_C_FLAGS_DEBUG=-g -O1"]
    settings = [f"-C{option}" for option in (*options, "cmake.define.DG_COVERAGE=ON")]
    session.run("uv", "pip", "install", "--no-deps", "--target", str(site), *settings, ".")
    env = {"PYTHONPATH": str(site), "COVERAGE_RCFILE": str(ROOT / "pyproject.toml")}
    env["COVERAGE_FILE"] = str(site.with_name("python"))
    run = ("coverage", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    session.run(*run, env=env)
    parts = ("tests/inputs", "tests/laws/test_laws.py")
    session.run(*run, *parts, env=env | {"DISCRETEGAUSS_PURE_PYTHON": "1"})
    session.run("python", "tools/coverage_c.py", "build")
    session.run("coverage", "combine", "--quiet", env=env)
    session.run("coverage", "report", env=env)


# --- C ---------------------------------------------------------------------------------------


def build_and_test(session: nox.Session, preset: str) -> None:
    """Configure, build and test a preset of CMakePresets.json; print what fails."""
    build, jobs = f"build/{preset}", ("-j", str(os.cpu_count()))
    label, targets = LABELS.get(preset, (".*", ["all"]))
    chosen = ("-L", label) if preset in LABELS else ()
    session.run("cmake", "--preset", preset, external=True, silent=True)
    session.run("cmake", "--build", build, *jobs, "--target", *targets, external=True, silent=True)
    session.run("ctest", "--test-dir", build, "--output-on-failure", *jobs, *chosen, external=True)


PRESETS = json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))["configurePresets"]
OTHERS = ("base", "checked", "searched", "by-clang", "lines", "fuzz", "coverage", "coverage-narrow")


@nox.session(venv_backend="none")
@each("preset", [preset["name"] for preset in PRESETS if preset["name"] not in OTHERS])
def c(session: nox.Session, preset: str) -> None:
    """Build the C core by a preset, and run its tests."""
    build_and_test(session, preset)


@nox.session(requires=["wheels"])
@each("part", ["quick", "whole"])
def proofs(session: nox.Session, part: str) -> None:
    """Check Gappa's lemmas, Coq's theorem and tables; both must reject planted faults."""
    install(session, "SYSTEM")
    whole = part == "whole"
    if not whole:
        session.run("python", "tools/prove.py")
    session.run("python", "tools/prove.py", "--coq", "all" if whole else "quick")
    session.run("python", "tools/coq.py", "--folder", "build/coq", *(["--whole"] if whole else []))


PROGRAMS = {
    "analysers": ["tools/analyse"],
    "fuzz": ["tests/fuzz/run.sh", "3"],  # starts from seeds, so it searches little
    "machines": ["tools/cross", "--quick", "s390x", "armhf", "arm64"],
    "system-bits": ["tools/newest", "--bits"],
}


@nox.session(venv_backend="none")
@each("program", PROGRAMS)
def run(session: nox.Session, program: str) -> None:
    """Run a program that needs no environment."""
    session.run(*PROGRAMS[program], external=True)


@nox.session(requires=["wheels"])
def library(session: nox.Session) -> None:
    """Use the C library from C, Rust and R; compare its binary interface with the last tag's."""
    install(session, "SYSTEM")
    against = []
    git = ("git", "-c", "safe.directory=*")
    tag = session.run(*git, "tag", "--sort=-creatordate", external=True, silent=True)
    if tag:
        against = ["--against", f"{session.create_tmp()}/tag"]
        session.run("rm", "-rf", against[1], external=True)
        session.run(*git, "clone", "-qs", "-b", str(tag).split()[0], ".", against[1], external=True)
    session.run("python", "tests/library/run.py", "build/library", *against)


# --- documents, and other libraries ----------------------------------------------------------


@nox.session(requires=["wheels"])
def site(session: nox.Session) -> None:
    """Build the site without a warning, and check its links."""
    install(session, "WHEEL", "[docs]", *PINNED)
    session.run("tools/site", "build/site", env={"PYTHON": "python"}, external=True)


@nox.session(requires=["wheels"])
def examples(session: nox.Session) -> None:
    """Run the examples, with scikit-learn, and the how-tos, with only what they ask for."""
    bare = Path(session.create_tmp()).absolute() / "bare"
    session.run("uv", "venv", "--quiet", "--clear", str(bare))
    (wheel,) = (WHEELS / "WHEEL").glob("*.whl")
    needed = [f"discretegauss[people,plots] @ {wheel.as_uri()}", "pandas"]
    session.run("uv", "pip", "install", "--quiet", "--python", str(bare), *needed)
    install(session, "WHEEL", "[test,examples]")
    tests = ["tests/docs/test_examples.py", "tests/docs/test_how_to.py"]
    pytest(session, "-m", "repository", *tests, DG_HOW_TO_PYTHON=str(bare / "bin" / "python"))


@nox.session(requires=["wheels"])
def clusters(session: nox.Session) -> None:
    """Test Spark, which needs Java, Dask and others."""
    install(session, "WHEEL", "[test,spark,dask,people]", "distributed", "duckdb", "ray")
    pytest(session, "-m", "cluster")


ADOPTERS = {
    "mbi": ["mbi"],
    "flwr": ["flwr"],
    # diffprivlib 0.6.6 cannot be imported with a later scikit-learn
    "diffprivlib": ["diffprivlib", "scikit-learn<1.7"],
    "opendp": ["opendp"],
    "dp_accounting": ["dp-accounting"],
    "tmlt": ["tmlt.core"],
    "opacus": ["opacus"],
    "jax_privacy": ["jax-privacy"],
}


@nox.session(requires=["wheels"])
@each("library", ADOPTERS)
def adopters(session: nox.Session, library: str) -> None:
    """Test a recipe of docs/ with the newest release of its library."""
    if library == "opacus":  # torch without CUDA, which would add gigabytes
        session.install("pip")
        listed = session.run("python", "-m", "pip", "index", "versions", "torch", silent=True)
        found = re.search(r"[0-9.]+\+cpu", str(listed)) or session.skip("no torch without CUDA")
        session.run("python", "-m", "pip", "install", "-q", f"torch=={found[0]}")
    install(
        session, "WHEEL", "", "pytest", "pytest-xdist", "hypothesis", "scipy", *ADOPTERS[library]
    )
    tests = ("-m", "repository", "tests/docs/test_adopters.py", "-k", f"with_{library}")
    pytest(session, *tests, DG_ADOPTER=library)
    if library in ("opacus", "jax_privacy"):  # with torch and jax, which the default tier lacks
        files = ("tests/drawing/test_tensors.py", "tests/drawing/test_torch.py")
        pytest(session, *files, "-k", "torch or jax")


@nox.session(requires=["wheels"])
def browser(session: nox.Session) -> None:
    """Run the wheel of plain Python in a browser's Python, if npm and its packages are there."""
    install(session, "WHEEL", "", "pip")
    session.run("tools/browser", env={"PYTHON": "python"}, external=True, success_codes=[0, 77])
