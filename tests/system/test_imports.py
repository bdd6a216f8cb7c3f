"""Nothing is imported in the middle of a call: ``import discretegauss`` loads all that draws need.

The laws and the modules that compute are loaded when they are first named, before any call. What
names nothing, a task on a worker of a cluster, loads what it draws with.

An import takes a lock. A process forked beside one inherits the lock, held for ever, and a signal
handler that asks for the same module meets it half made. numpy loads some of its own modules at
their first use, so a call may import without an import statement.

Each scenario runs in a fresh interpreter: elsewhere pytest has imported everything already. What
imports by its nature is not here: `as_scipy`, `pld`, `dp_event`, figures and the verifier, each of
which needs a package that is optional.
"""

from __future__ import annotations

import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discretegauss as dg

OPTIONAL = {"as_scipy", "pld", "dp_event"}


def urandom(buffer: memoryview) -> None:
    buffer[:] = os.urandom(len(buffer))


Calls = Iterator[tuple[str, Callable[[], object]]]


def draws() -> Calls:
    """Each function, with what each of its arguments may be."""
    options: list[dict[str, Any]] = [
        {},
        {"size": 5},
        {"size": (5, 1000)},
        {"size": 5, "dtype": object},
        {"size": 5, "dtype": ">i2"},
        {"out": np.zeros((3, 4), np.int8).T},
        {"size": 5000, "threads": 2},
        {"size": 5, "source": urandom},
        {"size": 5, "source": "chacha20"},
        {"size": 5, "method": "cells"},
        {"size": 5, "method": "reference"},
    ]
    parameters: list[object] = [
        *(1, 0.5, "1/3", Fraction(5, 2), Decimal("2.5"), np.float64(0.1), np.longdouble(3)),
        *([1, "1/2"], [[1, 2], [3]], [1, -1]),
        *(np.arange(1, 4), np.array([0.5, 2]), np.array([1, 2], object), np.array(["1"])),
    ]
    functions: list[Callable[..., object]] = [
        dg.discrete_gaussian,
        dg.discrete_laplace,
        partial(dg.generalized_gaussian, beta=3),
        dg.geometric_exp,
        dg.bernoulli_exp,
    ]
    for function in functions:
        yield from ((f"{function} {more}", partial(function, 1, **more)) for more in options)
        yield from ((f"{function} {p!r}", partial(function, p)) for p in parameters)


def additions() -> Calls:
    """Noise on plain numbers, by a law and by a budget."""
    budgets: list[dict[str, Any]] = [{"rho": 1}, {"epsilon": 1, "delta": 1e-6}]
    budgets += [{"law": dg.DiscreteGaussian(5)}, {"law": dg.GeneralizedGaussian(5, 3)}]
    for values in (7, [1, None, 2**70], np.arange(5)):
        for more in (*budgets, {"rho": 1, "modulus": 2**70}, {"rho": 1, "overflow": "saturate"}):
            yield f"add_noise to {values!r} {more}", partial(dg.add_noise, values, **more)


def law_methods() -> Calls:
    """Every method of every law, of one number and of many."""
    laws = [
        dg.DiscreteGaussian(100),
        dg.DiscreteGaussian(10**40),
        dg.DiscreteLaplace("5/2", mu="1/3"),
        dg.GeneralizedGaussian(10, 3),
    ]
    arguments: list[tuple[object, ...]] = [(), (3,), (0.5,), ("1/2",), (np.arange(100),)]
    arguments.append((np.linspace(0.1, 0.9, 5),))
    for law in laws:
        yield f"repr of {law}", partial(repr, law)
        for name in {name for name in dir(law) if name[0] != "_"} - OPTIONAL:
            method = getattr(law, name)
            if not callable(method):
                continue
            for given in arguments:
                for more in ({}, {"bounds": True}):
                    if takes(method, *given, **more):
                        yield f"{law}.{name}{given}{more}", partial(method, *given, **more)


def calculus() -> Calls:
    """Every function of `privacy` and `utility`, with every set of arguments that it takes."""
    law, laplace = dg.DiscreteGaussian(100), dg.DiscreteLaplace(3)
    given: list[tuple[object, ...]] = [
        *((law, 0.5), (laplace, "0.5"), (dg.GeneralizedGaussian(10, 3), 1), (law,), (laplace,)),
        *((0.1, 1e-6), (1, 2), (1,)),
    ]
    budgets: list[dict[str, Any]] = [
        *({"rho": 0.1}, {"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}),
        {"epsilon": 1, "delta": 1e-6, "queries": 2},
        {"queries": 2},
    ]
    for module in (dg.privacy, dg.utility):
        for name in set(module.__all__) - OPTIONAL:
            function = getattr(module, name)
            for some in [*given, ()]:
                for more in [*budgets, {}]:
                    if takes(function, *some, **more):
                        yield f"{name}{some}{more}", partial(function, *some, **more)


def takes(function: Callable[..., object], *given: object, **more: object) -> bool:
    try:
        inspect.signature(function).bind(*given, **more)
    except TypeError:
        return False
    return True


# --- scenarios, each in an interpreter of its own: they print what they found -------------------


def what_calls_import() -> dict[str, Any]:
    """Which call loaded which modules; how many calls were made, and how many were refused."""
    found, n_calls, n_refused = {}, 0, 0
    for calls in (draws, additions, law_methods, calculus):
        for name, call in calls():
            before = set(sys.modules)
            n_calls += 1
            try:
                call()
            except (TypeError, ValueError, OverflowError, RuntimeError):
                n_refused += 1  # also what is said to a wrong argument imports nothing
            if added := set(sys.modules) - before:
                found[name] = sorted(added)
    return {"imported": found, "calls": n_calls, "refused": n_refused}


def fork_beside_the_first_draw() -> list[int]:
    """The exit codes of children that draw, forked beside the first draw of the process."""

    def draw() -> None:
        dg.discrete_gaussian([1, 4])

    thread = threading.Thread(target=draw)
    thread.start()
    children = []
    for _ in range(8):
        time.sleep(0.001)
        pid = os.fork()
        if pid == 0:
            draw()
            os._exit(0)
        children.append(pid)
    thread.join()
    return [os.waitpid(pid, 0)[1] for pid in children]


def signal_in_the_first_draw() -> list[str]:
    """What a handler got that draws in the middle of the process's first draw."""
    got: list[str] = []

    def handler(_signal: int, _frame: object) -> None:
        try:
            got.append(str(dg.discrete_gaussian([1, 4]).shape))
        except Exception as error:
            got.append(repr(error))
        signal.setitimer(signal.ITIMER_REAL, 0.001)

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    deadline = time.monotonic() + 0.05
    while time.monotonic() < deadline:
        dg.discrete_gaussian([1, 4])
    signal.setitimer(signal.ITIMER_REAL, 0)
    return got


# --- tests ------------------------------------------------------------------------------------


def run(scenario: Callable[[], object]) -> Any:
    """Run a scenario in a fresh interpreter; one that hangs is ended with its children."""
    command = [sys.executable, "-W", "ignore", __file__, scenario.__name__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=600)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0
    return json.loads(output)


def test_no_call_imports_anything() -> None:
    """No draw, method of a law or function of `privacy` and `utility` adds to sys.modules."""
    result = run(what_calls_import)
    assert result["imported"] == {}
    assert result["calls"] - result["refused"] > 300  # the calls are, for the most part, right


def test_a_child_forked_beside_the_first_draw_can_draw() -> None:
    """No lock of an import is held where a thread draws for the first time and another forks."""
    assert run(fork_beside_the_first_draw) == [0] * 8


def test_a_handler_can_draw_inside_the_first_draw() -> None:
    """A signal handler that draws in the middle of a process's first draw gets its draws."""
    got = run(signal_in_the_first_draw)
    assert got
    assert set(got) == {"(2,)"}


def loaded_after(*arguments: str) -> set[str]:
    """The modules that a fresh interpreter with these arguments loads."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.split("|")[-1].strip() for line in done.stderr.splitlines()}


def ours(modules: set[str]) -> set[str]:
    """The modules of the package, and what takes long to load."""
    heavy = {"gmpy2", "importlib.metadata", "numpy", "numpy.ma"}
    return {name for name in modules if name.startswith("discretegauss.")} | modules & heavy


COMPUTING = {f"discretegauss.{name}" for name in ("laws", "privacy", "release", "utility")}
COMPUTING |= {"discretegauss._certified", "discretegauss._law_functions", "gmpy2"}


def test_import_loads_what_draws_need_and_no_more() -> None:
    """No gmpy2, no numpy.ma, and nothing that computes probabilities."""
    by_numpy = loaded_after("-c", "import numpy")
    loaded = ours(loaded_after("-c", "import discretegauss") - by_numpy)
    assert "discretegauss._drawing.native" in loaded or dg.build_info()["engine"] == "python"
    assert not loaded & (COMPUTING | {"importlib.metadata", "numpy.ma", "discretegauss.testing"})
    draw = "import discretegauss as d; d.discrete_gaussian('1/3', 9)"
    after_a_draw = loaded_after("-c", draw)
    assert ours(after_a_draw - by_numpy) == loaded


def test_what_computes_is_loaded_when_it_is_named() -> None:
    """As an attribute, by ``from`` and by a pickle."""
    law = pickle.dumps(dg.DiscreteGaussian(5))
    for line in (
        "d.privacy.delta(d.DiscreteGaussian(1), 1)",
        "from discretegauss import privacy; privacy.rho(d.DiscreteGaussian(1))",
        f"import pickle; pickle.loads({law!r}).pmf(1)",
    ):
        loaded = loaded_after("-c", f"import discretegauss as d; {line}")
        assert {"discretegauss.laws", "gmpy2"} <= loaded
    assert set(dg.__all__) <= set(dir(dg))
    with pytest.raises(AttributeError, match="no attribute 'discrete_cauchy'"):
        dg.discrete_cauchy  # noqa: B018


@pytest.mark.parametrize("module", ["spark", "dask"])
def test_a_task_of_a_cluster_loads_what_it_draws_with(module: str) -> None:
    """Not what computes, which takes longer than the draws; and its law answers all the same."""
    task = f"""
import importlib, pickle, sys
import numpy as np
law = pickle.loads({pickle.dumps(dg.DiscreteGaussian(5))!r})
module = importlib.import_module("discretegauss.{module}")
assert (module.add_noise_here(np.arange(1000), law) != np.arange(1000)).any()
"""
    needed = {"discretegauss.laws", "discretegauss._law_functions"}
    assert not ours(loaded_after("-c", task)) & (COMPUTING - needed | {"numpy.ma"})
    assert "gmpy2" in loaded_after(
        "-c", f"{task}assert law.pmf(0) == {dg.DiscreteGaussian(5).pmf(0)}"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["release", "--help"]])
def test_the_help_is_shown_without_numpy(arguments: list[str]) -> None:
    """The command line loads what its commands need when one runs."""
    loaded = loaded_after("-m", "discretegauss", *arguments)
    assert "discretegauss._cli.release" in loaded
    assert not loaded & (COMPUTING | {"numpy"})


def main() -> None:
    """Run the scenario of the first argument."""
    json.dump(globals()[sys.argv[1]](), sys.stdout)


if __name__ == "__main__":
    main()


@pytest.mark.usefixtures("native_engine")
def test_an_mpfr_whose_threads_share_their_state_is_refused(tmp_path: Path) -> None:
    """Threads would change each other's range of exponents; simulated by one that says so."""
    maps = "import discretegauss; print(open('/proc/self/maps').read())"
    if (
        "libmpfr"
        not in subprocess.run(
            [sys.executable, "-c", maps], capture_output=True, text=True, check=True
        ).stdout
    ):  # no cover: a build with a static libmpfr
        pytest.skip("libmpfr is part of the extension")
    source, library = tmp_path / "shared.c", tmp_path / "shared.so"
    source.write_text("int mpfr_buildopt_tls_p(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = subprocess.run(
        [sys.executable, "-c", "import discretegauss"],
        env=os.environ | {"LD_PRELOAD": str(library)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "ImportError: the compiled core needs an MPFR whose state belongs to each" in done.stderr
