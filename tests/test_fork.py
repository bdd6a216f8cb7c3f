"""Processes that fork draw different noise.

Each scenario runs in an interpreter of its own, and prints what each of its processes drew: at
sigma2 = 2^100 (standard deviation 2^50), or 2^110, no value may occur twice. By chance that happens
with a probability below 10^-7 in any scenario here: n draws of standard deviation s have two alike
with a probability of about n^2 / (7 s).

The harness is held against numpy's default_rng, whose state a fork copies: there it has to find the
same values in parent and child.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import discretegauss as dg

VALUES = 1000
SIGMA2 = 2**100

Draw = Callable[[], list[int]]


# --- what draws ------------------------------------------------------------------------------


def draw_int64() -> list[int]:
    return [int(x) for x in dg.discrete_gaussian(SIGMA2, VALUES)]


def draw_wider() -> list[int]:
    return [int(x) for x in dg.discrete_gaussian(2**110, VALUES)]


def draw_objects() -> list[int]:
    return list(dg.discrete_gaussian(SIGMA2, VALUES, dtype=object))


def draw_one_by_one() -> list[int]:
    return [dg.discrete_gaussian(SIGMA2) for _ in range(VALUES)]


def draw_laplace_by_threads() -> list[int]:
    return [int(x) for x in dg.discrete_laplace(2**50, VALUES, threads=2)]


_inherited = np.random.default_rng()


def draw_inherited() -> list[int]:
    """The control: a generator whose state is copied by a fork."""
    return [int(x) for x in _inherited.integers(-(2**62), 2**62, VALUES)]


# --- scenarios: each returns what each process drew -------------------------------------------


def in_child(draw: Draw) -> Callable[[], list[int]]:
    """Fork; the child draws and ends. The function returned collects what it drew."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            with os.fdopen(writer, "w") as stream:
                json.dump(draw(), stream)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)

    def collect() -> list[int]:
        with os.fdopen(reader) as stream:
            values: list[int] = json.load(stream)
        assert os.waitpid(pid, 0)[1] == 0
        return values

    return collect


def children(draw: Draw, n: int = 8) -> list[list[int]]:
    """A warm-up draw, n forked children, the parent."""
    warm_up = draw()
    collectors = [in_child(draw) for _ in range(n)]
    return [warm_up, draw(), *(collect() for collect in collectors)]


def many_children(draw: Draw) -> list[list[int]]:
    """Sixty-four of them."""
    return children(draw, 64)


def grandchild(draw: Draw) -> list[list[int]]:
    """Parent, child and grandchild."""

    def child() -> list[int]:
        collect = in_child(draw)
        return draw() + collect()

    warm_up = draw()
    collect = in_child(child)
    return [warm_up, draw(), collect()]


def _work(draw: Draw, connection: Any) -> None:
    connection.send(draw())
    connection.close()


def by_multiprocessing(draw: Draw, method: str) -> list[list[int]]:
    """Four worker processes of the standard library."""
    context: Any = multiprocessing.get_context(method)
    results = [draw()]
    workers = []
    for _ in range(4):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(draw, sender))
        worker.start()
        sender.close()
        workers.append((worker, receiver))
    for worker, receiver in workers:
        results.append(receiver.recv())
        worker.join()
        assert worker.exitcode == 0
    return [*results, draw()]


def multiprocessing_fork(draw: Draw) -> list[list[int]]:
    return by_multiprocessing(draw, "fork")


def multiprocessing_spawn(draw: Draw) -> list[list[int]]:
    return by_multiprocessing(draw, "spawn")


def multiprocessing_forkserver(draw: Draw) -> list[list[int]]:
    return by_multiprocessing(draw, "forkserver")


def fork_while_a_thread_draws(draw: Draw) -> list[list[int]]:
    """One thread draws without a pause while another forks."""
    stop = threading.Event()
    begun = threading.Event()
    drawn: list[list[int]] = []

    def keep_drawing() -> None:
        while not stop.is_set():
            values = draw()
            if len(drawn) < 10:
                drawn.append(values)
            begun.set()

    thread = threading.Thread(target=keep_drawing)
    thread.start()
    begun.wait()
    collectors = [in_child(draw) for _ in range(8)]
    results = [collect() for collect in collectors]
    stop.set()
    thread.join()
    return [*results, draw(), *drawn]


def fork_in_a_signal_handler(_draw: Draw) -> list[list[int]]:
    """A handler forks in the middle of one long draw; both processes finish that draw.

    What was drawn before the fork is the same in both, rightly. The array is filled beforehand with
    a value that the law cannot give, so the handler sees how far the draw had come. The plain
    Python engine may be forked within a draw, between its last bit and its storing: that one is left out.
    """
    untouched = -(2**63)
    native = dg.build_info()["engine"] == "native"
    out = np.full(500_000 if native else 50_000, untouched)
    before: list[int] = []
    collected: list[Any] = []
    reader, writer = os.pipe()

    def handler(_signal: int, _frame: object) -> None:
        # The timer is set for one signal, and again only if that came too early: a handler that
        # interrupts itself would fork without end.
        if out[0] == untouched:
            signal.setitimer(signal.ITIMER_REAL, 0.002)
        elif not before and out[-1] == untouched:
            before.append(int(np.count_nonzero(out != untouched)))
            collected.append(in_child(draw_int64))  # a child that draws inside the handler
            collected.append(os.fork())  # and one that goes on with the draw

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    dg.discrete_gaussian(SIGMA2, out=out)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert before, "the draw was over before the signal came"
    begun = before[0] + 1
    rest = [int(x) for x in out[begun : begun + 10 * VALUES]]
    inside, pid = collected
    if pid == 0:
        with os.fdopen(writer, "w") as stream:
            json.dump(rest, stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        rest_in_child: list[int] = json.load(stream)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(rest) == len(rest_in_child) == 10 * VALUES
    return [rest, rest_in_child, inside(), draw_int64()]


# --- the harness -----------------------------------------------------------------------------


def common_values(processes: Iterable[list[int]]) -> int:
    """How many values occur more than once, anywhere."""
    counts = Counter(value for values in processes for value in values)
    return sum(count > 1 for count in counts.values())


def run(scenario: Callable[[Draw], list[list[int]]], draw: Draw) -> list[list[int]]:
    """Run a scenario in a fresh interpreter; one that hangs is ended and fails."""
    command = [sys.executable, "-W", "ignore", __file__, scenario.__name__, draw.__name__]
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


SCENARIOS = [
    children,
    grandchild,
    multiprocessing_fork,
    multiprocessing_spawn,
    multiprocessing_forkserver,
    fork_while_a_thread_draws,
    fork_in_a_signal_handler,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_no_value_is_drawn_in_two_processes(
    scenario: Callable[[Draw], list[list[int]]],
) -> None:
    """Parent, children and grandchildren of every kind have no draw in common."""
    assert common_values(run(scenario, draw_int64)) == 0


def test_no_value_is_drawn_in_two_of_65_processes() -> None:
    """Sixty-four children and the parent have no draw in common."""
    assert common_values(run(many_children, draw_wider)) == 0


@pytest.mark.parametrize(
    "draw", [draw_objects, draw_one_by_one, draw_laplace_by_threads], ids=lambda draw: draw.__name__
)
def test_no_kind_of_call_shares_draws(draw: Draw) -> None:
    """Python integers, single calls and draws by several threads survive a fork as well."""
    assert common_values(run(children, draw)) == 0


@pytest.mark.parametrize(
    "scenario", [children, grandchild, multiprocessing_fork], ids=lambda scenario: scenario.__name__
)
def test_the_harness_catches_an_inherited_generator(
    scenario: Callable[[Draw], list[list[int]]],
) -> None:
    """numpy's default_rng, inherited by a fork, is found out: a thousand values in common."""
    assert common_values(run(scenario, draw_inherited)) >= VALUES


def main() -> None:
    """Run the scenario of the first argument with the draw of the second."""
    scenario, draw = (globals()[name] for name in sys.argv[1:])
    result = scenario(draw)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
