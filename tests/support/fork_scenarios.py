"""The scenarios of test_fork.py, and the program that runs one.

    python tests/support/fork_scenarios.py SCENARIO DRAW

prints what each of its processes drew. Interpreters that are spawned import this, so it is short of
what only the tests need.
"""

from __future__ import annotations

import copy
import ctypes
import itertools
import json
import multiprocessing
import os
import pickle
import platform
import signal
import sys
import threading
import types
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import discretegauss as dg
from discretegauss.compat import SystemBits

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
        drawn = dg.discrete_gaussian(self.sigma2(VALUES), VALUES, **self.options)
        return [int(x) for x in drawn]

    def sigma2(self, n: int) -> Any:
        """Return that of n draws."""
        return SIGMA2

    def fill(self, out: Any) -> None:
        """Draw into an array."""
        dg.discrete_gaussian(self.sigma2(len(out)), out=out, **self.options)


class SumsOfObjects(Gaussian):
    """Adds noise to Python integers, some at a time."""

    def fill(self, out: Any) -> None:
        """Add noise to zeros."""
        dg.add_noise(np.array([0] * len(out), object), dg.DiscreteGaussian(SIGMA2), out=out)


class TwoGaussians(Gaussian):
    """Draws an array of two laws, each for one half."""

    def sigma2(self, n: int) -> Any:
        return np.repeat(np.array([SIGMA2, SIGMA2 + 1], object), n // 2)


class ByThreads(Gaussian):
    """The same by several threads: so many draws that each has a part; some from everywhere."""

    def __init__(self, size: int, **options: Any) -> None:
        super().__init__(**options)
        self.size = size if NATIVE else VALUES

    def __call__(self) -> list[int]:
        drawn = dg.discrete_gaussian(SIGMA2, self.size, **self.options)
        return [int(x) for x in drawn[:: self.size // VALUES]]


_counter = itertools.count()


def new_tables() -> list[int]:
    """The table of a law that was not drawn before: one thread may build it while another forks."""
    draws = dg.discrete_gaussian(SIGMA2, VALUES, mu=next(_counter), method="cells")
    return [int(x) for x in draws]


def new_laws() -> list[int]:
    """Laws that nobody drew from before: one thread may make one ready while another forks."""
    return [dg.DiscreteGaussian(SIGMA2, mu=next(_counter)).sample() for _ in range(VALUES)]


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
    "two laws": TwoGaussians(),
    "sums of objects": SumsOfObjects(dtype=object),
    "by threads": ByThreads(4100, method="reference", threads=3),
    "one by one": lambda: [dg.discrete_gaussian(SIGMA2) for _ in range(VALUES)],
    "laplace by threads": lambda: dg.discrete_laplace(
        2**55, 2100, method="reference", threads=2
    ).tolist(),
    "new laws": new_laws,
    "law, one by one": lambda: [LAWS["laplace"].sample() for _ in range(VALUES)],
}
if NATIVE:
    _bits = [SystemBits("getrandom"), SystemBits("chacha20")]
    DRAWS |= {
        "bits for numpy": lambda: _bits[0].random_raw(VALUES).tolist(),
        "bits for numpy by chacha20": lambda: _bits[1].random_raw(VALUES).tolist(),
        "cells": Gaussian(method="cells"),
        "chacha20": Gaussian(method="reference", source="chacha20"),
        "isochronous": Gaussian(method="isochronous"),
        "isochronous by chacha20": Gaussian(method="isochronous", source="chacha20"),
        "cells by chacha20": Gaussian(method="cells", source="chacha20"),
        "cells by chacha20 and threads": ByThreads(
            400_000, method="cells", source="chacha20", threads=2
        ),
        "cells of objects": Gaussian(method="cells", dtype=object),
        "new tables": new_tables,
        "generalised law, one by one": lambda: [
            LAWS["generalised"].sample() for _ in range(VALUES)
        ],
    }

#: Processes that cost more than what they draw are started once for all ways.
EVERY_WAY = "every way"


def by_every_way() -> list[int]:
    return [value for draw in DRAWS.values() for value in draw()]


_inherited = np.random.default_rng()


def _inherited_source(buffer: memoryview) -> None:
    buffer[:] = _inherited.bytes(len(buffer))


#: The controls: a generator whose state is copied by a fork, alone and as a source of ours.
CONTROLS: dict[str, Draw] = {
    "inherited": lambda: _inherited.integers(-(2**62), 2**62, VALUES).tolist(),
    "inherited source": Gaussian(method="reference", source=_inherited_source),
}

BY_NAME: dict[str, Draw] = DRAWS | CONTROLS | {EVERY_WAY: by_every_way}


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


def raw_fork() -> int:
    """Fork so that neither Python nor libc hears of it."""
    clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    return int(ctypes.PyDLL(None).syscall(clone, int(signal.SIGCHLD), 0, 0, 0, 0))


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
    connection.send(BY_NAME[name]())
    connection.close()


def by_multiprocessing(draw: Draw, method: str) -> list[list[int]]:
    """Worker processes of the standard library: four, or two where each is a new interpreter."""
    context: Any = multiprocessing.get_context(method)
    results = [draw()]
    name = next(name for name, other in BY_NAME.items() if other is draw)
    workers = []
    for _ in range(4 if method == "fork" else 2):
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

    The array is filled beforehand with a value that the law does not give, so the handler sees that
    the draw has begun and not come to its end. The beginning, from before the fork, is compared,
    and the end.
    """
    assert isinstance(draw, Gaussian)
    untouched = -(2**63)
    long = 5_000_000 if draw.options["method"] == "cells" else 300_000
    out = np.full(long if NATIVE else 50_000, untouched)
    end = out[-10 * VALUES :]
    begin = out[: 10 * VALUES]
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
    while not collected:  # a busy machine may let other threads finish before this one hears
        out.fill(untouched)
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        dg.discrete_gaussian(SIGMA2, out=out, **draw.options)
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert np.count_nonzero(out == untouched) == 0
    inside, pid = collected
    if pid == 0:
        with os.fdopen(writer, "w") as stream:
            json.dump(begin.tolist() + end.tolist(), stream)
        os._exit(0)
    drawn_inside = inside()  # first: until it is read, its process keeps the other's pipe open
    os.close(writer)
    with os.fdopen(reader) as stream:
        by_child: list[int] = json.load(stream)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(by_child) == 20 * VALUES
    return [begin.tolist() + end.tolist(), by_child, drawn_inside, draw()]


def fork_where_python_runs(draw: Draw) -> list[list[int]]:
    """A handler forks at the first call that Python makes when a part of an array is drawn.

    No timer: the signal is raised where the profiler sees that the array is half full, or that of
    two laws, whose draws go elsewhere first, the second one's turn has come.
    """
    assert isinstance(draw, Gaussian)
    untouched = -(2**63)
    out = np.full(200_000 if NATIVE else 5000, untouched, draw.options.get("dtype", np.int64))
    forked: list[int] = []
    reader, writer = os.pipe()

    fills: list[str] = []

    def look(frame: types.FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "fill":
            fills.append(event)
        half_full = out[0] != untouched and out[-1] == untouched
        if half_full or (isinstance(draw, TwoGaussians) and len(fills) == 2):
            sys.setprofile(None)
            signal.raise_signal(signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, lambda _signal, _frame: forked.append(os.fork()))
    sys.setprofile(look)
    draw.fill(out)
    sys.setprofile(None)
    assert len(forked) == 1, "Python made no call meanwhile"
    assert np.count_nonzero(out == untouched) == 0
    values = [int(x) for x in out]
    if forked == [0]:
        with os.fdopen(writer, "w") as stream:
            json.dump(values, stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        by_child: list[int] = json.load(stream)
    assert os.waitpid(forked[0], 0)[1] == 0
    return [values, by_child, draw()]


def copies_of_laws(_draw: Draw) -> list[list[int]]:
    """Laws that were drawn from, pickled, copied and inherited: here and in other processes."""

    def use(law: Any) -> list[int]:
        options = {"method": "cells"} if NATIVE else {}
        return [*law.sample(VALUES, **options).tolist(), *(law.sample() for _ in range(100))]

    results = []
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for law in LAWS.values():
            results += [draws.tolist() for draws in pool.map(law.sample, [VALUES] * 3)]
    for law in LAWS.values():
        results.append(use(law))
        duplicates = [copy.copy(law), copy.deepcopy(law), pickle.loads(pickle.dumps(law))]
        results += [use(duplicate) for duplicate in duplicates]
        collectors = [in_child(partial(use, one)) for one in [law, *duplicates]]
        results += [collect() for collect in collectors]
    return results


def main() -> None:
    """Run the scenario of the first argument with the draw of the second."""
    scenario, name = sys.argv[1:]
    json.dump(globals()[scenario](BY_NAME[name]), sys.stdout)


if __name__ == "__main__":
    main()
