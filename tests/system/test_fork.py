"""Processes that fork draw different noise, by every method and from every source.

Each scenario (fork_scenarios.py) runs in an interpreter of its own, and prints what each of its
processes drew. At a standard deviation of 2^58 no value may occur twice. By chance that happens
with a probability below 10^-7 in any scenario here, because n draws of standard deviation s have
two alike with a probability of about n^2 / (7 s).

The control is numpy's default_rng, whose state a fork copies. The harness has to find the same
values in parent and child.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import fork_scenarios
import pytest
from evidence_cases import evidence
from fork_scenarios import DRAWS, EVERY_WAY, VALUES, in_child, raw_fork

pytestmark = pytest.mark.process

PROGRAM = Path(fork_scenarios.__file__)
METHODS = ("fork", "spawn", "forkserver")
"""How multiprocessing begins a process."""


def common_values(processes: Iterable[list[int]]) -> int:
    """Return how many values occur more than once."""
    counts = Counter(value for values in processes for value in values)
    return sum(count > 1 for count in counts.values())


def run(scenario: str, name: str) -> list[list[int]]:
    """Run a scenario in a fresh interpreter; one that hangs is ended and fails."""
    command = [sys.executable, "-W", "ignore", str(PROGRAM), scenario, name]
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


@pytest.mark.parametrize("scenario", ["children", *evidence("grandchild"), *METHODS])
def test_no_value_is_drawn_in_two_processes(scenario: str) -> None:
    """Parent, children and grandchildren of every kind have no draw in common, by any method.

    `python tests/support/fork_scenarios.py SCENARIO DRAW` runs one method alone.
    """
    processes = run(scenario, EVERY_WAY)
    assert all(len(values) >= len(DRAWS) * VALUES for values in processes)
    assert common_values(processes) == 0


@pytest.mark.parametrize("fork", [os.fork, raw_fork])
def test_libc_gives_a_child_other_bits(
    fork: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It calls getrandom as the core does. From 2.41 on glibc keeps a state of the kernel's (vDSO).

    Parent, two children and a grandchild draw. A false alarm is one run in 10^13.
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


def test_copies_of_laws_share_no_draws() -> None:
    """No two laws, pickled and copied ones included, share a draw in any process."""
    assert common_values(run("copies", "reference")) == 0


@pytest.mark.evidence
@pytest.mark.parametrize("name", DRAWS)
def test_no_value_is_drawn_in_two_processes_forked_beside_a_draw(name: str) -> None:
    """One thread draws without a pause while another forks, and still the children draw."""
    assert common_values(run("beside a thread", name)) == 0


@pytest.mark.parametrize("name", ["inherited", "inherited source"])
def test_the_harness_catches_an_inherited_generator(name: str) -> None:
    """If a fork inherits numpy's default_rng, a thousand values in common show it."""
    assert common_values(run("children", name)) >= VALUES
