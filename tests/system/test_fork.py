"""Processes that fork draw different noise, by every method and from every source.

Each scenario (fork_scenarios.py) runs in an interpreter of its own, and prints what each of its
processes drew: at a standard deviation of 2^58 no value may occur twice. By chance that happens
with a probability below 10^-7 in any scenario here: n draws of standard deviation s have two alike
with a probability of about n^2 / (7 s).

The harness is held against numpy's default_rng, whose state a fork copies: there it has to find the
same values in parent and child.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import json
import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import fork_scenarios
import pytest
from fork_scenarios import (
    DRAWS,
    EVERY_WAY,
    NATIVE,
    VALUES,
    Draw,
    children,
    copies_of_laws,
    fork_in_a_signal_handler,
    fork_where_python_runs,
    fork_while_a_thread_draws,
    grandchild,
    in_child,
    many_children,
    multiprocessing_fork,
    multiprocessing_forkserver,
    multiprocessing_spawn,
    raw_fork,
)

import discretegauss as dg

PROGRAM = Path(fork_scenarios.__file__)

# --- the harness -----------------------------------------------------------------------------


def common_values(processes: Iterable[list[int]]) -> int:
    """How many values occur more than once, anywhere."""
    counts = Counter(value for values in processes for value in values)
    return sum(count > 1 for count in counts.values())


def run(scenario: Callable[[Draw], list[list[int]]], name: str) -> list[list[int]]:
    """Run a scenario in a fresh interpreter; one that hangs is ended and fails."""
    command = [sys.executable, "-W", "ignore", str(PROGRAM), scenario.__name__, name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=300)
    finally:  # whatever happened, none of its children is left behind
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0
    processes: list[list[int]] = json.loads(output)
    assert len(processes) >= 3
    assert all(len(values) >= VALUES for values in processes)
    return processes


BETWEEN_DRAWS = [
    children,
    pytest.param(grandchild, marks=pytest.mark.evidence),
    multiprocessing_fork,
    multiprocessing_spawn,
    multiprocessing_forkserver,
]
"""Where no draw is under way when a process begins."""

WAYS = ["reference", "cells", "chacha20", "cells by chacha20", "by threads"]
needs_the_core = pytest.mark.skipif(not NATIVE, reason="needs the compiled core")


@pytest.mark.parametrize("scenario", BETWEEN_DRAWS, ids=lambda scenario: scenario.__name__)
def test_no_value_is_drawn_in_two_processes(scenario: Callable[[Draw], list[list[int]]]) -> None:
    """Parent, children and grandchildren of every kind have no draw in common, of any way to draw.

    Which way it is that has: `python tests/support/fork_scenarios.py SCENARIO DRAW`.
    """
    processes = run(scenario, EVERY_WAY)
    assert all(len(values) >= len(DRAWS) * VALUES for values in processes)
    assert common_values(processes) == 0


@pytest.mark.parametrize("fork", [os.fork, raw_fork])
def test_libc_gives_a_child_other_bits(
    fork: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """getrandom, as the core calls it: from 2.41 on glibc keeps a state of the kernel's (vDSO).

    Parent, two children and a grandchild; a false alarm is one run in 10^13.
    """
    monkeypatch.setattr(os, "fork", fork)
    libc = ctypes.CDLL(None)

    def draw() -> list[int]:
        words = (ctypes.c_uint64 * 1000)()
        for i in range(1000):
            assert libc.getrandom(ctypes.byref(words, 8 * i), 8, 0) == 8
        return list(words)

    def with_child() -> list[int]:
        collect = in_child(draw)
        return draw() + collect()

    warm_up = draw()
    collectors = [in_child(draw), in_child(with_child)]
    words = warm_up + draw() + [word for collect in collectors for word in collect()]
    assert len(words) == len(set(words)) == 5000


BESIDE = ["reference", "one by one", "new laws", "new tables", "cells by chacha20 and threads"]
BESIDE += ["bits for numpy by chacha20"]


@pytest.mark.parametrize(
    "name",
    [name if name in BESIDE else pytest.param(name, marks=pytest.mark.evidence) for name in DRAWS],
)
def test_no_value_is_drawn_in_two_processes_forked_beside_a_draw(name: str) -> None:
    """Python integers, single draws, threads, laws as objects, tables: all survive such a fork."""
    assert common_values(run(fork_while_a_thread_draws, name)) == 0


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in DRAWS else needs_the_core) for name in WAYS]
)
def test_no_value_is_drawn_in_two_processes_forked_in_the_middle_of_a_draw(name: str) -> None:
    """By a signal handler: both processes finish the draw, and have none of it in common."""
    assert common_values(run(fork_in_a_signal_handler, name)) == 0


@pytest.mark.parametrize("name", ["sums of objects"] if NATIVE else ["objects", "two laws"])
def test_no_value_is_drawn_in_two_processes_forked_where_python_runs(name: str) -> None:
    """Nor where Python itself puts a draw together, from several calls of the core."""
    assert common_values(run(fork_where_python_runs, name)) == 0


@pytest.mark.evidence  # of eight children by default, of every way
@pytest.mark.parametrize("name", [name for name in WAYS if name in DRAWS])
def test_no_value_is_drawn_in_two_of_65_processes(name: str) -> None:
    """Sixty-four children and the parent, a thousand draws each, have none in common."""
    assert common_values(run(many_children, name)) == 0


def test_copies_of_laws_share_no_draws() -> None:
    """No law, nor a pickled or copied one, draws what another one drew, in any process."""
    assert common_values(run(copies_of_laws, "reference")) == 0


@pytest.mark.usefixtures("native_engine")
def test_what_is_made_ready_in_the_core_is_made_anew_by_a_copy() -> None:
    """What a law keeps in the C core (its constants and tables) is in no pickle."""
    from discretegauss._drawing.engines import sampler

    one = sampler(dg.DiscreteGaussian(100)._spec)
    one.int64s(4, "getrandom")
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert other.spec == one.spec
        assert other._address not in (None, one._address)
        assert other._few is None


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        (children, "inherited"),
        pytest.param(many_children, "inherited", marks=pytest.mark.evidence),
        pytest.param(grandchild, "inherited", marks=pytest.mark.evidence),
        pytest.param(multiprocessing_fork, "inherited", marks=pytest.mark.evidence),
        pytest.param(children, "inherited source", marks=pytest.mark.evidence),
        (fork_in_a_signal_handler, "inherited source"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_the_harness_catches_an_inherited_generator(
    scenario: Callable[[Draw], list[list[int]]], name: str
) -> None:
    """numpy's default_rng, inherited by a fork, is found out: a thousand values in common."""
    assert common_values(run(scenario, name)) >= VALUES
