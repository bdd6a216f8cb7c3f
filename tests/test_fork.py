"""Processes that fork draw different noise, by every method and from every source.

Each scenario runs in an interpreter of its own, and prints what each of its processes drew: at a
standard deviation of 2^58 no value may occur twice. By chance that happens with a probability below
10^-7 in any scenario here: n draws of standard deviation s have two alike with a probability of
about n^2 / (7 s).

The harness is held against numpy's default_rng, whose state a fork copies: there it has to find the
same values in parent and child.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from workers import draws_by

import discretegauss as dg

VALUES = 1000
SIGMA2 = 2**116
NATIVE = dg.build_info()["engine"] == "native"

Draw = Callable[[], list[int]]


# --- what draws ------------------------------------------------------------------------------


class Gaussian:
    """Draws an array, with whatever options."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def __call__(self) -> list[int]:
        return [int(x) for x in dg.discrete_gaussian(SIGMA2, VALUES, **self.options)]


class ByThreads(Gaussian):
    """The same by several threads: as many draws as it takes to give each a part."""

    def __init__(self, size: int, **options: Any) -> None:
        super().__init__(**options)
        self.size = size if NATIVE else VALUES

    def __call__(self) -> list[int]:
        drawn = draws_by(
            self.options["threads"],
            lambda: dg.discrete_gaussian(SIGMA2, self.size, **self.options),
        )
        return [int(x) for x in drawn]


_counter = itertools.count()


def new_tables() -> list[int]:
    """The table of a law that was not drawn before: one thread may build it while another forks."""
    draws = dg.discrete_gaussian(SIGMA2, VALUES, mu=next(_counter), method="cells")
    return [int(x) for x in draws]


LAWS: dict[str, Any] = {
    "gaussian": dg.DiscreteGaussian(SIGMA2, mu="1/3"),
    "laplace": dg.DiscreteLaplace(2**55),
}
if NATIVE:
    LAWS["generalised"] = dg.GeneralizedGaussian(2**55, 2)

#: By name, so that an interpreter can be told which.
DRAWS: dict[str, Draw] = {
    "reference": Gaussian(method="reference"),
    "objects": Gaussian(dtype=object),
    "by threads": ByThreads(4100, method="reference", threads=3),
    "one by one": lambda: [dg.discrete_gaussian(SIGMA2) for _ in range(VALUES)],
    "laplace by threads": lambda: draws_by(
        2, lambda: dg.discrete_laplace(2**55, 2100, method="reference", threads=2)
    ).tolist(),
    "law, one by one": lambda: [LAWS["laplace"].sample() for _ in range(VALUES)],
}
if NATIVE:
    DRAWS |= {
        "cells": Gaussian(method="cells"),
        "chacha20": Gaussian(method="reference", source="chacha20"),
        "cells by chacha20": Gaussian(method="cells", source="chacha20"),
        "cells by chacha20 and threads": ByThreads(
            17_000, method="cells", source="chacha20", threads=2
        ),
        "cells of objects": Gaussian(method="cells", dtype=object),
        "new tables": new_tables,
        "generalised law, one by one": lambda: [
            LAWS["generalised"].sample() for _ in range(VALUES)
        ],
    }

_inherited = np.random.default_rng()


def _inherited_source(buffer: memoryview) -> None:
    buffer[:] = _inherited.bytes(len(buffer))


#: The controls: a generator whose state is copied by a fork, alone and as a source of ours.
CONTROLS: dict[str, Draw] = {
    "inherited": lambda: _inherited.integers(-(2**62), 2**62, VALUES).tolist(),
    "inherited source": Gaussian(method="reference", source=_inherited_source),
}


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


def _work(name: str, connection: Any) -> None:
    connection.send((DRAWS | CONTROLS)[name]())
    connection.close()


def by_multiprocessing(draw: Draw, method: str) -> list[list[int]]:
    """Four worker processes of the standard library."""
    context: Any = multiprocessing.get_context(method)
    results = [draw()]
    name = next(name for name, other in (DRAWS | CONTROLS).items() if other is draw)
    workers = []
    for _ in range(4):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(name, sender))
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


def fork_in_a_signal_handler(draw: Draw) -> list[list[int]]:
    """A handler forks in the middle of one long draw; both processes finish that draw.

    What was drawn before the fork is the same in both, rightly. The array is filled beforehand with
    a value that the law does not give, so the handler sees that the draw has begun and not come to
    its end, which is compared.
    """
    assert isinstance(draw, Gaussian)
    untouched = -(2**63)
    long = 20_000_000 if draw.options["method"] == "cells" else 500_000
    out = np.full(long if NATIVE else 50_000, untouched)
    end = out[-10 * VALUES :]
    collected: list[Any] = []
    reader, writer = os.pipe()

    def handler(_signal: int, _frame: object) -> None:
        # The timer is set for one signal, and again only if that came too early: a handler that
        # interrupts itself would fork without end.
        if out[0] == untouched:
            signal.setitimer(signal.ITIMER_REAL, 0.002)
        elif not collected and (end == untouched).all():
            collected.append(in_child(draw))  # a child that draws inside the handler
            collected.append(os.fork())  # and one that goes on with the draw

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    dg.discrete_gaussian(SIGMA2, out=out, **draw.options)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert collected, "the draw was over before the signal came"
    assert np.count_nonzero(out == untouched) == 0
    inside, pid = collected
    if pid == 0:
        with os.fdopen(writer, "w") as stream:
            json.dump(end.tolist(), stream)
        os._exit(0)
    drawn_inside = inside()  # first: until it is read, its process keeps the other's pipe open
    os.close(writer)
    with os.fdopen(reader) as stream:
        end_in_child: list[int] = json.load(stream)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(end_in_child) == 10 * VALUES
    return [end.tolist(), end_in_child, drawn_inside, draw()]


def copies_of_laws(_draw: Draw) -> list[list[int]]:
    """Laws that were drawn from, pickled, copied and inherited: here and in other processes."""

    def use(law: Any) -> list[int]:
        options = {"method": "cells"} if NATIVE else {}
        return [*law.sample(VALUES, **options).tolist(), *(law.sample() for _ in range(100))]

    results = []
    for law in LAWS.values():
        results.append(use(law))
        duplicates = [copy.copy(law), copy.deepcopy(law), pickle.loads(pickle.dumps(law))]
        results += [use(duplicate) for duplicate in duplicates]
        collectors = [in_child(partial(use, one)) for one in [law, *duplicates]]
        results += [collect() for collect in collectors]
        with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
            results += [draws.tolist() for draws in pool.map(law.sample, [VALUES] * 3)]
    return results


# --- the harness -----------------------------------------------------------------------------


def common_values(processes: Iterable[list[int]]) -> int:
    """How many values occur more than once, anywhere."""
    counts = Counter(value for values in processes for value in values)
    return sum(count > 1 for count in counts.values())


def run(scenario: Callable[[Draw], list[list[int]]], name: str) -> list[list[int]]:
    """Run a scenario in a fresh interpreter; one that hangs is ended and fails."""
    command = [sys.executable, "-W", "ignore", __file__, scenario.__name__, name]
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
"""Each with every method and source."""

WAYS = ["reference", "cells", "chacha20", "cells by chacha20", "by threads"]
OTHER_DRAWS = [name for name in DRAWS if name not in WAYS]
needs_the_core = pytest.mark.skipif(not NATIVE, reason="needs the compiled core")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in DRAWS else needs_the_core) for name in WAYS]
)
def test_no_value_is_drawn_in_two_processes(
    scenario: Callable[[Draw], list[list[int]]], name: str
) -> None:
    """Parent, children and grandchildren of every kind have no draw in common."""
    assert common_values(run(scenario, name)) == 0


@pytest.mark.parametrize("name", [name for name in WAYS if name in DRAWS])
def test_no_value_is_drawn_in_two_of_65_processes(name: str) -> None:
    """Sixty-four children and the parent, a thousand draws each, have none in common."""
    assert common_values(run(many_children, name)) == 0


@pytest.mark.parametrize(
    "scenario", [children, fork_while_a_thread_draws], ids=lambda scenario: scenario.__name__
)
@pytest.mark.parametrize("name", OTHER_DRAWS)
def test_no_kind_of_call_shares_draws(
    scenario: Callable[[Draw], list[list[int]]], name: str
) -> None:
    """Python integers, single draws, threads, laws as objects, tables: all survive a fork."""
    assert common_values(run(scenario, name)) == 0


def test_copies_of_laws_share_no_draws() -> None:
    """No law, nor a pickled or copied one, draws what another one drew, in any process."""
    assert common_values(run(copies_of_laws, "reference")) == 0


@pytest.mark.usefixtures("native_engine")
def test_what_is_made_ready_in_the_core_is_not_copied() -> None:
    """What a law keeps in the C core (its constants and tables) cannot be pickled or copied."""
    from discretegauss._engine import prepare, prepare_cells
    from discretegauss._spec import Kind, Spec

    for make in (prepare, prepare_cells):
        ready = make(Spec(Kind.DISCRETE_GAUSSIAN, dg.DiscreteGaussian(100).sigma2))
        for duplicate in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError):
                duplicate(ready)


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        (children, "inherited"),
        (many_children, "inherited"),
        (grandchild, "inherited"),
        (multiprocessing_fork, "inherited"),
        (children, "inherited source"),
        (fork_in_a_signal_handler, "inherited source"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_the_harness_catches_an_inherited_generator(
    scenario: Callable[[Draw], list[list[int]]], name: str
) -> None:
    """numpy's default_rng, inherited by a fork, is found out: a thousand values in common."""
    assert common_values(run(scenario, name)) >= VALUES


def main() -> None:
    """Run the scenario of the first argument with the draw of the second."""
    scenario, name = sys.argv[1:]
    json.dump(globals()[scenario]((DRAWS | CONTROLS)[name]), sys.stdout)


if __name__ == "__main__":
    main()
