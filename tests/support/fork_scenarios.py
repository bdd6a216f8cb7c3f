"""The scenarios of test_fork.py, and the program that runs one.

    python tests/support/fork_scenarios.py SCENARIO DRAW

prints the draws of each of its processes. Spawned interpreters import this module, so it does not
import what only the tests need.
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


def gaussian(size: int = VALUES, **options: Any) -> Draw:
    """Return a call that draws an array, of which it tells as many values as others draw."""

    def draw() -> list[int]:
        drawn = dg.discrete_gaussian(SIGMA2, size if NATIVE else VALUES, **options)
        return [int(x) for x in drawn[:: max(1, len(drawn) // VALUES)]]

    return draw


_counter = itertools.count()


def new_tables() -> list[int]:
    """Draw a law for the first time, so one thread may build its table while another forks."""
    return gaussian(mu=next(_counter), method="cells")()


def one_by_one(law: Callable[[], Any]) -> Draw:
    return lambda: [law().sample() for _ in range(VALUES)]


LAWS: dict[str, Any] = {
    "gaussian": dg.DiscreteGaussian(SIGMA2, mu="1/3"),
    "laplace": dg.DiscreteLaplace(2**55),
}
if NATIVE:
    LAWS["generalised"] = dg.GeneralizedGaussian(2**55, 2)

#: Named, so that a command line can select one.
DRAWS: dict[str, Draw] = {
    "reference": gaussian(method="reference"),
    "objects": gaussian(dtype=object),
    "two laws": lambda: dg.discrete_gaussian([SIGMA2, SIGMA2 + 1] * 500).tolist(),
    "sums": lambda: dg.add_noise([0] * VALUES, dg.DiscreteGaussian(SIGMA2)),
    "by threads": gaussian(4100, method="reference", threads=3),
    "one by one": lambda: [dg.discrete_gaussian(SIGMA2) for _ in range(VALUES)],
    "laplace by threads": lambda: dg.discrete_laplace(
        2**55, 2100, method="reference", threads=2
    ).tolist(),
    "new laws": one_by_one(lambda: dg.DiscreteGaussian(SIGMA2, mu=next(_counter))),
    "law, one by one": one_by_one(lambda: LAWS["laplace"]),
}
if NATIVE:
    _bits = [SystemBits("getrandom"), SystemBits("chacha20")]
    DRAWS |= {
        "bits for numpy": lambda: _bits[0].random_raw(VALUES).tolist(),
        "bits for numpy by chacha20": lambda: _bits[1].random_raw(VALUES).tolist(),
        "cells": gaussian(method="cells"),
        "getrandom": gaussian(method="reference", source="getrandom"),
        "isochronous": lambda: dg.discrete_gaussian(2**100, VALUES, method="isochronous").tolist(),
        "cells by getrandom": gaussian(method="cells", source="getrandom"),
        "cells by threads": gaussian(400_000, method="cells", threads=2),
        "cells of objects": gaussian(method="cells", dtype=object),
        "new tables": new_tables,
        "generalised law, one by one": one_by_one(lambda: LAWS["generalised"]),
    }

#: One process makes all kinds of draws, if processes of a scenario cost more than their draws.
EVERY_WAY = "every way"


def by_every_way() -> list[int]:
    return [value for draw in DRAWS.values() for value in draw()]


_inherited = np.random.default_rng()


def _inherited_source(buffer: memoryview) -> None:
    buffer[:] = _inherited.bytes(len(buffer))


#: The controls: a generator whose state a fork copies, alone and as a caller's source.
CONTROLS: dict[str, Draw] = {
    "inherited": lambda: _inherited.integers(-(2**62), 2**62, VALUES).tolist(),
    "inherited source": gaussian(method="reference", source=_inherited_source),
}

BY_NAME: dict[str, Draw] = DRAWS | CONTROLS | {EVERY_WAY: by_every_way}


# --- scenarios: each returns what each process drew -------------------------------------------


def in_child(draw: Draw) -> Callable[[], list[int]]:
    """Fork a child that draws and ends. Return a function that collects its draws."""
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
    """Fork by the system call, unnoticed by Python and libc."""
    clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    return int(ctypes.PyDLL(None).syscall(clone, int(signal.SIGCHLD), 0, 0, 0, 0))


def children(draw: Draw, n: int = 3) -> list[list[int]]:
    """Return the draws of a warm-up, of the parent, and of n forked children."""
    warm_up = draw()
    collectors = [in_child(draw) for _ in range(n)]
    return [warm_up, draw(), *(collect() for collect in collectors)]


def grandchild(draw: Draw) -> list[list[int]]:
    """Return the draws of a warm-up, of the parent, and of a child with its own child."""

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
    """Return the draws of worker processes: four, or two if each is a new interpreter."""
    context: Any = multiprocessing.get_context(method)
    name = next(name for name, other in BY_NAME.items() if other is draw)
    results, workers = [draw()], []
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


def copies_of_laws(_draw: Draw) -> list[list[int]]:
    """Draw from laws that were used, pickled, copied and inherited, here and in other processes."""

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


SCENARIOS: dict[str, Callable[[Draw], list[list[int]]]] = {
    "children": children,
    "grandchild": grandchild,
    **{
        method: partial(by_multiprocessing, method=method)
        for method in ("fork", "spawn", "forkserver")
    },
    "beside a thread": fork_while_a_thread_draws,
    "copies": copies_of_laws,
}


def main() -> None:
    """Run the scenario of the first argument with the draw of the second."""
    scenario, name = sys.argv[1:]
    json.dump(SCENARIOS[scenario](BY_NAME[name]), sys.stdout)


if __name__ == "__main__":
    main()
