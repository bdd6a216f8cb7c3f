"""benchmarks/bench: who takes part, what is said of the others, table, JSON and picture."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import bench
import throughput
from bench import machine, paper_python, rounds, run, table
from bench.contenders import (
    CannotRunError,
    Case,
    Contender,
    Missing,
    all_contenders,
    diffprivlib_peer,
    inexact,
    mkl_peer,
    opendp_peer,
    ours,
    paper,
    tf_privacy_peer,
    tumult_peer,
)
from discretegauss.plots import look

PEERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "OpenDP": (opendp_peer, ("opendp", "opendp.prelude")),
    "diffprivlib": (diffprivlib_peer, ("diffprivlib",)),
    "Tumult Core": (tumult_peer, ("tmlt", "tmlt.core", "tmlt.core.random.discrete_gaussian")),
    "TensorFlow Privacy": (tf_privacy_peer, ("tensorflow", "tensorflow_privacy")),
    "mkl_random rint(normal)": (mkl_peer, ("mkl_random",)),
}


def module(name: str, **contents: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(contents)
    return made


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_that_is_missing_is_named_with_the_line_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer, modules = PEERS[name]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    for one in modules:
        monkeypatch.setitem(sys.modules, one, None)
    if name == "diffprivlib":
        monkeypatch.delitem(sys.modules, "diffprivlib")
    (missing,) = peer.contenders()
    assert isinstance(missing, Missing)
    assert missing.name == name
    assert missing.install.startswith("pip install ")
    text = table.table_text([], [], [], [missing])
    assert f"{name}: {missing.install}" in text


def draws_of(peer: Any, sigma2: int, n: int = 3, shape: Any = "vector") -> Any:
    (contender,) = peer.contenders()
    assert isinstance(contender, Contender)
    return contender.prepare(Case("gaussian", sigma2, shape))(n)


def test_peers_are_asked_for_the_law_of_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """By imitations, as the real ones may be missing: sigma for some, sigma2 for others."""
    asked: list[Any] = []

    def note(*values: Any) -> Any:
        asked.append(values)
        return np.zeros(3)

    class State:
        def __init__(self, brng: str) -> None:
            pass

        def normal(self, loc: float, sigma: float, n: int, method: str) -> Any:
            return note("mkl", sigma, n)

    class Tensor:
        def numpy(self) -> Any:
            return np.zeros(3)

    def tf_sample(*, scale: int, shape: tuple[int], dtype: Any) -> Tensor:
        note("tf", scale, shape)
        return Tensor()

    class GaussianDiscrete:
        def __init__(self, **budget: Any) -> None:
            self._scale = 0.0

        def randomise(self, value: int) -> None:
            note("diffprivlib", self._scale, value)

    def make_gaussian(domain: Any, metric: Any, scale: float) -> Any:
        return lambda zeros: note("opendp", scale, zeros)

    def some(*_: Any, **__: Any) -> None:
        return None

    prelude = module(
        "opendp.prelude",
        enable_features=some,
        atom_domain=some,
        vector_domain=some,
        l1_distance=some,
        l2_distance=some,
        absolute_distance=some,
        m=module("m", make_gaussian=make_gaussian),
    )
    utils = module("discrete_gaussian_utils", sample_discrete_gaussian=tf_sample)
    imitations = {
        "mkl_random": module("mkl_random", MKLRandomState=State),
        "tmlt.core.random.discrete_gaussian": module(
            "discrete_gaussian", sample_dgauss=lambda sigma2: note("tumult", sigma2)
        ),
        "tensorflow": module("tensorflow", int64="int64"),
        "tensorflow_privacy.privacy.dp_query": module("dp_query", discrete_gaussian_utils=utils),
        "opendp": module("opendp", prelude=prelude),
        "opendp.prelude": prelude,
        "diffprivlib": module("diffprivlib"),
        "diffprivlib.mechanisms": module("mechanisms", GaussianDiscrete=GaussianDiscrete),
    }
    for parent in ("tmlt", "tmlt.core", "tmlt.core.random", "tensorflow_privacy"):
        monkeypatch.setitem(sys.modules, parent, module(parent))
    monkeypatch.setitem(sys.modules, "tensorflow_privacy.privacy", module("privacy"))
    for name, imitation in imitations.items():
        monkeypatch.setitem(sys.modules, name, imitation)

    draws_of(mkl_peer, 100)
    draws_of(tf_privacy_peer, 100)
    draws_of(opendp_peer, 100)
    draws_of(opendp_peer, 100, n=1, shape="scalar")
    draws_of(tumult_peer, 100, n=1)
    draws_of(diffprivlib_peer, 100, n=1)
    assert asked == [
        ("mkl", 10.0, 3),
        ("tf", 10, (3,)),
        ("opendp", 10.0, [0, 0, 0]),
        ("opendp", 10.0, 0),
        ("tumult", Fraction(100)),
        ("diffprivlib", 10.0, 0),
    ]
    for peer, sigma2 in ((mkl_peer, 10**200), (tf_privacy_peer, 3), (diffprivlib_peer, 10**7)):
        with pytest.raises(CannotRunError):
            draws_of(peer, sigma2)


def test_numpys_rounded_normal_is_measured_while_64_bits_hold_it() -> None:
    numpys = next(c for c in inexact.contenders() if c.name == inexact.NUMPY)
    assert isinstance(numpys, Contender)
    assert not numpys.exact(Case("gaussian", 1))
    drawn: Any = numpys.prepare(Case("gaussian", 100))(5)
    assert drawn.shape == (5,)
    with pytest.raises(CannotRunError, match="int64"):
        numpys.prepare(Case("gaussian", 10**100))


def made_up() -> tuple[list[Contender], list[Missing]]:
    """Two that draw at once, one of which saturates, and one that is not there."""

    def contender(name: str, **of: Any) -> Contender:
        return Contender(name, prepare=lambda _case: lambda n: sum(range(n)), **of)

    return [
        contender(ours.DEFAULT, secure=True, exact=lambda case: True),
        contender("saturating", secure=True, exact=lambda case: case.parameter < 10**9, note="N."),
        contender("a rounded float", secure=False, exact=lambda case: False),
    ], [Missing("elsewhere", "No module named 'elsewhere'", "pip install elsewhere")]


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Table, picture and JSON have what was measured; who was left out is there with a reason."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(run, "who_takes_part", made_up)
    picture = tmp_path / "speed.png"
    assert throughput.main(["--quick", "--png", str(picture)]) == 0
    out = capsys.readouterr().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert "saturating: none from sigma = 10^6 on: its 64-bit result would saturate" in out
    assert "  saturating: N.\n" in out
    assert "not here:\n  elsewhere: pip install elsewhere" in out
    (row,) = [line for line in out.splitlines() if line.startswith("a rounded float")]
    assert row.split()[-2:] == ["no", "no"]

    assert throughput.main(["--quick", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {one["contender"] for one in document["measured"]} == {c.name for c in made_up()[0]}
    assert {one["exponent"] for one in document["skipped"]} == {6, 9, 12, 30, 100}
    assert document["missing"][0]["install"] == "pip install elsewhere"


def test_the_lines_drawn_are_the_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """One over the rate, against the exponent; dashed if not exact; nobody without a point."""
    pytest.importorskip("matplotlib")
    from bench.picture import draw_picture

    contenders, _ = made_up()
    measured = [
        run.Measured(contenders[0].name, 0, 1e8, (1e8,)),
        run.Measured(contenders[0].name, 100, 1e6, (1e6,)),
        run.Measured(contenders[2].name, 0, 1e9, (1e9,)),
    ]
    found = []

    def draw(figure: Any, panels: Any) -> None:
        draw_picture(figure, panels, measured, contenders)
        found.extend(panels[0].get_lines())

    look.render(draw, panels=2)
    assert [line.get_label() for line in found] == [ours.DEFAULT, "a rounded float (not exact)"]
    assert list(found[0].get_xdata()) == [0, 100]
    assert list(found[0].get_ydata()) == [1e-8, 1e-6]
    assert [line.get_linestyle() for line in found] == ["-", ":"]


def test_a_contender_looks_the_same_whoever_else_takes_part() -> None:
    """And no two look alike; somebody unknown is grey."""
    pytest.importorskip("matplotlib")
    from bench.picture import _LOOKS, draw_picture

    everybody = [one for found in all_contenders() for one in found if one.name != "scipy dlaplace"]
    assert {one.name for one in everybody} <= set(_LOOKS)
    assert len({(colour, marker) for colour, marker in _LOOKS.values()}) == len(_LOOKS)

    def looks(names: list[str]) -> dict[str, tuple[str, str]]:
        found: list[Any] = []

        def draw(figure: Any, panels: Any) -> None:
            contenders = [replace(made_up()[0][0], name=name) for name in names]
            draw_picture(figure, panels, [run.Measured(n, 0, 1e8, ()) for n in names], contenders)
            found.extend(panels[0].get_lines())

        look.render(draw, panels=2)
        return {str(line.get_label()): (line.get_color(), line.get_marker()) for line in found}

    of_all = looks([*_LOOKS, "unknown"])
    assert of_all == _LOOKS | {"unknown": ("0.4", ".")}
    assert looks(["diffprivlib"]) == {"diffprivlib": of_all["diffprivlib"]}


def test_places_that_cannot_be_written_are_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And so is a picture without matplotlib, with the line that installs it."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(run, "who_takes_part", made_up)
    for target in (tmp_path, tmp_path / "none" / "x.png"):
        with pytest.raises(SystemExit):
            throughput.main(["--png", str(target)])
        assert str(tmp_path) in capsys.readouterr().err
    for name in ("matplotlib", "matplotlib.style"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit):
        throughput.main(["--png", str(tmp_path / "x.png")])
    assert "pip install matplotlib" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_plain_python_twin_takes_part_where_there_is_no_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ours, "build_info", lambda: {"engine": "python"})
    contenders, missing = run.who_takes_part()
    assert ours.TWIN in [one.name for one in contenders]
    assert ours.DEFAULT in [one.name for one in missing]
    (twin,) = [one for one in contenders if one.name == ours.TWIN]
    drawn: Any = twin.prepare(Case("gaussian", 4))(3)
    assert len(drawn) == 3


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.5, "0.5"),
        (999, "999"),
        (1000, "1 k"),
        (83_100, "83.1 k"),
        (2.345e9, "2.35 G"),
        (999.7e6, "1 G"),
    ],
)
def test_rates_have_three_figures(rate: float, text: str) -> None:
    assert table.short(rate) == text
    assert bench.all_steps(made_up()[0]) == 108


def test_contenders_that_are_always_there_draw_every_case() -> None:
    """Both laws, arrays and single draws, by real calls."""
    pytest.importorskip("scipy")
    for module_ in (ours, paper, inexact):
        for contender in module_.contenders():
            if isinstance(contender, Missing):
                assert module_ is ours
                continue
            for law in contender.laws:
                for shape in contender.shapes:
                    contender.prepare(Case(law, 2, shape))(4)
                    assert contender.exact(Case(law, 2, shape)) == (module_ is not inexact)
    assert Case("laplace", 10**6, "scalar").name == "laplace scale=10^6 scalar"
    assert Case("gaussian", 100).name == "gaussian sigma2=100 vector"
    drawn = [paper_python.discrete_gaussian(Fraction(4)) for _ in range(200)]
    assert {type(x) for x in drawn} == {int}
    assert paper_python.bernoulli_exp(Fraction(5, 2)) in (False, True)


def test_without_scipy_or_proc_it_runs_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy", "scipy.stats"):
        monkeypatch.setitem(sys.modules, name, None)
    assert [type(one) for one in inexact.contenders()] == [Contender, Missing]

    def unreadable(*_: Any, **__: Any) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", unreadable)
    assert machine.cpu_model()
    monkeypatch.setattr(machine, "PACKAGES", ("no-package-of-this-name",))
    assert machine.describe()["versions"] == {"no-package-of-this-name": None}


def test_processor_time_of_a_call() -> None:
    """Of a call that is long for its budget once, of a short one many times."""
    calls: list[int] = []
    assert rounds.seconds_per_call(lambda: calls.append(1), 1e-2) >= 0
    short = len(calls)
    assert rounds.seconds_per_call(lambda: calls.append(sum(range(10**5))), 1e-9) > 0
    assert (short > 2, len(calls)) == (True, short + 1)
    rates = rounds.Rates(1, (1.0, 3.0, 2.0))
    assert (rates.median, rates.best) == (2.0, 3.0)


def test_opendp_is_asked_for_the_laplace(monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[float] = []

    def make_laplace(domain: Any, metric: Any, scale: float) -> Any:
        scales.append(scale)
        return list

    names = ("enable_features", "atom_domain", "vector_domain", "l1_distance", "absolute_distance")
    prelude = module(
        "opendp.prelude",
        m=module("m", make_laplace=make_laplace),
        **dict.fromkeys(names, lambda *_, **__: None),
    )
    monkeypatch.setitem(sys.modules, "opendp", module("opendp", prelude=prelude))
    monkeypatch.setitem(sys.modules, "opendp.prelude", prelude)
    (peer,) = opendp_peer.contenders()
    assert isinstance(peer, Contender)
    for shape in peer.shapes:
        peer.prepare(Case("laplace", 3, shape))
    assert scales == [3.0, 3.0]
