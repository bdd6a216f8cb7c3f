"""The benchmark's contenders, notes on the missing ones, table and picture. No test times."""

from __future__ import annotations

import importlib.util
import sys
import time
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import contenders
import measure
import throughput
import users
from contenders import CannotRunError, Contender, Missing
from discretegauss.plots import look

PEERS: dict[str, tuple[str, ...]] = {
    "opendp": ("opendp", "opendp.prelude"),
    "diffprivlib": ("diffprivlib",),
    "tumult": ("tmlt", "tmlt.core", "tmlt.core.random.discrete_gaussian"),
    "mkl": ("mkl_random",),
}


def module(name: str, **contents: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(contents)
    return made


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_that_is_missing_is_named_with_the_line_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    for one in PEERS[name]:
        monkeypatch.setitem(sys.modules, one, None)
    if name == "diffprivlib":
        monkeypatch.delitem(sys.modules, "diffprivlib")
    missing = getattr(contenders, name)()
    assert isinstance(missing, Missing)
    assert missing.install.startswith("pip install ")
    assert f"{missing.name} is not here: {missing.install}" in throughput.table_text(
        {}, {}, [], [missing]
    )


def test_peers_are_asked_for_the_law_of_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imitations, because the real ones may be missing, get sigma or sigma2."""
    asked: list[Any] = []

    def note(*values: Any) -> Any:
        asked.append(values)
        return np.zeros(3)

    class State:
        def __init__(self, brng: str) -> None:
            pass

        def normal(self, loc: float, sigma: float, n: int, method: str) -> Any:
            return note("mkl", sigma, n)

    class GaussianDiscrete:
        def __init__(self, **budget: Any) -> None:
            self._scale = 0.0

        def randomise(self, value: int) -> None:
            note("diffprivlib", self._scale, value)

    def make_gaussian(domain: Any, metric: Any, scale: float) -> Any:
        return lambda zeros: note("opendp", scale, zeros)

    names = ("enable_features", "atom_domain", "vector_domain", "l2_distance")
    prelude = module(
        "opendp.prelude",
        m=module("m", make_gaussian=make_gaussian),
        **dict.fromkeys(names, lambda *_, **__: None),
    )
    imitations = {
        "mkl_random": module("mkl_random", MKLRandomState=State),
        "tmlt.core.random.discrete_gaussian": module(
            "discrete_gaussian", sample_dgauss=lambda sigma2: note("tumult", sigma2)
        ),
        "opendp": module("opendp", prelude=prelude),
        "opendp.prelude": prelude,
        "diffprivlib": module("diffprivlib"),
        "diffprivlib.mechanisms": module("mechanisms", GaussianDiscrete=GaussianDiscrete),
    }
    for parent in ("tmlt", "tmlt.core", "tmlt.core.random"):
        monkeypatch.setitem(sys.modules, parent, module(parent))
    for name, imitation in imitations.items():
        monkeypatch.setitem(sys.modules, name, imitation)

    def draws(peer: Any, exponent: int, n: int) -> None:
        contender = peer()
        assert isinstance(contender, Contender)
        contender.prepare(exponent)(n)

    one_each = (contenders.tumult, 1), (contenders.diffprivlib, 1)
    for peer, n in ((contenders.mkl, 3), (contenders.opendp, 3), *one_each):
        draws(peer, 1, n)
    assert asked == [
        ("mkl", 10.0, 3),
        ("opendp", 10.0, [0, 0, 0]),
        ("tumult", Fraction(100)),
        ("diffprivlib", 10.0, 0),
    ]
    for peer in (contenders.mkl, contenders.opendp, contenders.diffprivlib):
        with pytest.raises(CannotRunError):
            draws(peer, 6 if peer is contenders.diffprivlib else 18, 1)


def test_contenders_that_are_always_there_draw_what_they_say() -> None:
    """Real calls draw; the deviation of the paper's algorithm fits (to 10 of its own)."""
    for contender in (*contenders.OURS, contenders.plain_python, contenders.paper):
        found = contender()
        if isinstance(found, Contender):
            assert found.exact
            assert found.secure
            found.prepare(1)(4)
            found.prepare(30)(2)
    draws = [contenders.gaussian_of_the_paper(Fraction(100)) for _ in range(1000)]
    assert {type(x) for x in draws} == {int}
    assert abs(float(np.std(draws)) - 10) < 10 * 10 / 2000**0.5
    rounded = contenders.numpy()
    assert isinstance(rounded, Contender)
    assert not rounded.exact
    assert not rounded.secure
    with pytest.raises(CannotRunError, match="64-bit"):
        rounded.prepare(100)


def test_the_plain_python_engine_takes_part_where_there_is_no_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("discretegauss.build_info", lambda: {"engine": "python"})
    found, missing = contenders.all_contenders()
    assert "discretegauss, plain Python" in [one.name for one in found]
    assert "discretegauss, default" in [one.name for one in missing]


def test_no_two_contenders_look_alike() -> None:
    """Contenders look different, so pictures of two machines can be compared."""
    looks = [one.look for one in contenders.all_contenders()[0]]
    assert len(set(looks)) == len(looks)


def made_up() -> tuple[list[Contender], list[Missing]]:
    """Return three quick contenders, one of which saturates, and a missing one."""

    def prepare(_exponent: int) -> measure.Draw:
        return lambda n: sum(range(n))

    def saturating(exponent: int) -> measure.Draw:
        contenders.need_int64(exponent)
        return prepare(exponent)

    return [
        Contender("ours", prepare),
        Contender("saturating", saturating, note="N."),
        Contender("a rounded float", prepare, exact=False, secure=False),
    ], [Missing("elsewhere", "pip install elsewhere")]


def test_the_program_prints_and_writes_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Table, lines and picture; contenders that were left out are named with a reason."""
    pytest.importorskip("matplotlib")

    def absent(_folder: Path) -> tuple[users.Call, users.Call]:
        raise ImportError("no such package")

    monkeypatch.setattr(contenders, "all_contenders", made_up)
    tasks = (
        users.Task("a task", "a peer", lambda _: (int, int)),
        users.Task("another", "nobody", absent),
    )
    monkeypatch.setattr(users, "TASKS", tasks)
    monkeypatch.setattr(throughput, "EXPONENTS", (0, 30))
    png = tmp_path / "speed.png"
    assert throughput.main(["--quick", "--png", str(png)]) == 0
    out = capsys.readouterr().out
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert "saturating: none from sigma = 10^30 on: its 64-bit result would saturate" in out
    assert "saturating: N.\n" in out
    assert "elsewhere is not here: pip install elsewhere" in out
    assert "| another | not measured: no such package | | |" in out
    rows = {line.split("|")[1].strip(): line for line in out.splitlines() if line[:1] == "|"}
    assert rows["a rounded float"].split()[-4:-1] == ["no", "|", "no"]
    assert "| a peer: " in rows["a task"]


def test_the_lines_drawn_are_the_times() -> None:
    """Lines show one over the rate, dotted if not exact; a contender without a point has none."""
    pytest.importorskip("matplotlib")
    taking_part, _ = made_up()
    rates = {("ours", 0): 1e8, ("ours", 100): 1e6, ("a rounded float", 0): 1e9}
    measured = {of: measure.Rates((rate,)) for of, rate in rates.items()}
    found: list[Any] = []

    def draw(figure: Any, panels: Any) -> None:
        throughput.draw_picture(figure, panels, measured, taking_part)
        found.extend(panels[0].get_lines())

    look.render(draw, panels=2)
    assert [line.get_label() for line in found] == ["ours", "a rounded float (not exact)"]
    assert list(found[0].get_xdata()) == [0, 100]
    assert list(found[0].get_ydata()) == [1e-8, 1e-6]
    assert [line.get_linestyle() for line in found] == ["-", ":"]


def test_places_that_cannot_be_written_are_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without matplotlib a picture is refused, with the line that installs it."""
    pytest.importorskip("matplotlib")
    for target in (tmp_path, tmp_path / "none" / "x"):
        with pytest.raises(SystemExit):
            throughput.main(["--png", str(target)])
        assert str(tmp_path) in capsys.readouterr().err
    for name in ("matplotlib", "matplotlib.style"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit):
        throughput.main(["--png", str(tmp_path / "x.png")])
    assert "pip install matplotlib" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_rates_have_three_figures() -> None:
    rates = (0.5, 999, 1000, 83_100, 999.7e6)
    assert [*map(measure.short, rates)] == ["0.5", "999", "1 k", "83.1 k", "1 G"]


def test_one_slow_call_does_not_fix_the_number_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow first call, which loads libraries, does not leave one draw in each call."""
    clock = [0.0]
    calls: list[int] = []

    def draw(n: int) -> None:
        calls.append(n)
        clock[0] += n * 1e-6 + (1.0 if len(calls) == 1 else 0.0)

    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    rates = measure.measure({"": draw}, 0.3)[""]
    assert calls[-1] == pytest.approx(10**5, rel=1e-6)
    assert rates.median == pytest.approx(10**6, rel=1e-6)


def test_a_ratio_is_the_median_over_the_rounds() -> None:
    ours, theirs = measure.Rates((20.0, 60.0, 5.0)), measure.Rates((10.0, 10.0, 10.0))
    assert (ours.median, ours.ratio_to(theirs)) == (20, 2)


def test_what_users_do_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task and its peer runs once, with a thousand counts instead of a million."""
    for name in ("pandas", "polars", "pyarrow", "dp_accounting"):
        pytest.importorskip(name)
    monkeypatch.setattr(users, "COUNTS", users.COUNTS[:1000])
    for task in users.TASKS:
        for call in task.prepare(tmp_path):
            call()
    out, theirs = ((tmp_path / f"{name}.csv").read_text() for name in ("out", "theirs"))
    assert out.count("\n") == theirs.count("\n") == 1001
