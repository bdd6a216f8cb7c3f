"""Settings, hooks and fixtures that test files share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

import discretegauss

if not hasattr(discretegauss, "__path__"):  # before anything is imported from it
    raise pytest.UsageError(
        f"{discretegauss.__file__} hides the package discretegauss from these tests: a copy of "
        "the paper's code? Delete it, or take its folder from PYTHONPATH"
    )

# isort: split
import shims
from command import SIGNALS, Command
from engine import ENGINE
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

TESTS = Path(__file__).parent

gc.disable()  # until all tests are collected: collecting them takes two thirds of the time

# no test asserts a time, and each run tries the same examples
settings.register_profile(
    "discretegauss",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("discretegauss")

# a background job ignores SIGINT, and child processes would inherit that
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# child processes import from support/, as tests do
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(shims.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)


@given(none())
def _first_example(_nothing: None) -> None:
    """Make Hypothesis register random generators, which it does before its first example."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Register before there are tests: that collects garbage, and looks for references."""
    _first_example()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for doctests in the package only: no file of tests has any."""
    found = yield
    return [one for one in found if type(one) is pytest.Module]


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of the repository; in plain Python skip the doctest that needs the core."""
    rooms = [TESTS / room for room in ("benchmarks", "build", "docs")]
    of_repository = {path for path in {item.path for item in items} if {*path.parents} & {*rooms}}
    for item in items:
        if item.path in of_repository and not (
            item.get_closest_marker("evidence") or item.get_closest_marker("cluster")
        ):
            item.add_marker(pytest.mark.repository)
    if ENGINE != "native":
        for item in items:
            if item.name.endswith(".SystemBits"):
                item.add_marker(pytest.mark.skip(reason="the compiled core's"))


def pytest_collection_finish() -> None:
    """Freeze the thousands of tests: the collector of garbage does not look at them again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a runner of the command line in this process."""
    return Command(capsys)


@pytest.fixture
def usual_handlers() -> Iterator[None]:
    """Restore default handlers: the starter of the tests may ignore a signal, as nohup does."""
    usual: dict[signal.Signals, Any] = dict.fromkeys(SIGNALS, signal.SIG_DFL)
    usual[signal.SIGINT] = signal.default_int_handler
    before = {number: signal.signal(number, usual[number]) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def native_engine() -> None:
    """Skip where the compiled engine is not the one that draws."""
    if ENGINE != "native":
        pytest.skip("the compiled engine is not in use here")


@pytest.fixture(scope="session")
def getrandom_shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile getrandom_shim.c, for interpreters under shims.environment."""
    return shims.compiled("getrandom_shim", tmp_path_factory.mktemp("getrandom"))
