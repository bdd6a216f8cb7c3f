"""A ledger keeps one limit over all releases, and finds what was done to its file."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest
from adaptive_analyst import Analyst, Priced, leaking, randomised_response
from evidence_cases import at_once

import discretegauss as dg
from discretegauss._system import chained_file
from discretegauss.errors import (
    LedgerError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
)
from discretegauss.privacy import Ledger, zcdp_delta, zcdp_epsilon
from discretegauss.privacy.zcdp import rho_of_pure


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Ledger]:
    """Return a function that starts a ledger, each time at the same path."""

    def new(**limit: Any) -> Ledger:
        path = tmp_path / "p.ledger"
        path.unlink(missing_ok=True)
        return Ledger.start(path, **{"unit": "a person", **(limit or {"rho": 1})})

    return new


NOTHING = (Fraction(0), Fraction(0))


def spent(ledger: Ledger) -> tuple[int, Fraction]:
    """Return the number of lines of the file, and their sum."""
    found = Ledger(ledger.path)
    return len(found.entries), found.spent[0]


# --- sums and limits -------------------------------------------------------------------------


def test_costs_add_up_exactly_to_the_limit_and_not_beyond(start: Callable[..., Ledger]) -> None:
    ledger = start(rho=1)
    for n in (1, 2, 3):
        assert ledger.spend(rho="1/3").n == n
    assert ledger.spent == (Fraction(1), Fraction(0))
    assert ledger.left == NOTHING
    with pytest.raises(LedgerError, match=r"rho = 1e-50 is more than what is left: 0 of 1$"):
        ledger.spend(rho="1e-50")
    assert spent(ledger) == (3, Fraction(1))


def test_what_is_spent_is_shown_rounded_up_and_what_is_left_down(
    start: Callable[..., Ledger],
) -> None:
    ledger = start(rho=1)
    ledger.spend(rho="1/3")
    assert "spent rho 0.333334: " in str(ledger)
    assert str(ledger).splitlines()[-2] == "left  rho 0.666666"
    with pytest.raises(LedgerError, match=r"rho = 0\.857143 is more than .* 0\.666666 of 1$"):
        ledger.spend(rho="6/7")


def test_ten_tenths_are_one(start: Callable[..., Ledger]) -> None:
    """A sum of floats would refuse the tenth."""
    ledger = start(rho=1)
    for _ in range(10):
        ledger.spend(rho="0.1")
    assert ledger.left == NOTHING


def test_long_sums_are_rounded_up_by_little(start: Callable[..., Ledger]) -> None:
    """Costs of coprime denominators would else lengthen every line."""
    ledger, costs = start(rho=1000), [Fraction(1, 10**6 + 2 * i + 1) for i in range(60)]
    for cost in costs:
        ledger.spend(rho=cost)
    excess = ledger.spent[0] - sum(costs)
    assert 0 < excess < Fraction(60, 10**60)
    assert ledger.spent[0].denominator.bit_length() <= 256
    assert Ledger(ledger.path).spent == ledger.spent
    tiny = ledger.spend(rho=Fraction(1, 2**60000))
    assert tiny.rho == Fraction(1, 10**60)


def test_a_pure_cost_is_its_epsilon_times_tanh_of_half(start: Callable[..., Ledger]) -> None:
    """It is rounded up by at most 2**-60."""
    with mpmath.workdps(60):
        for epsilon in ("1e-300", "1e-9", "0.5", "1", "2", "30", "1e9"):
            exact, e = Fraction(epsilon), mpmath.mpf(epsilon)
            found = rho_of_pure(exact)
            truth = e * mpmath.tanh(e / 2)
            ratio = mpmath.mpf(found.numerator) / found.denominator / truth
            assert 0 <= ratio - 1 < mpmath.mpf(2) ** -60
    ledger = start(rho="0.925")
    assert ledger.spend(epsilon=1).epsilon == 1
    assert float(ledger.spend(epsilon=1).spent[0]) == pytest.approx(2 * math.tanh(0.5), abs=1e-15)


def test_a_limit_of_pure_epsilon_takes_what_a_limit_in_rho_does_not(
    start: Callable[..., Ledger],
) -> None:
    """(2, 1e-6) is a rho of 0.0882, which one release of pure epsilon 1 exceeds."""
    ledger = start(epsilon=2, delta="1e-6")
    assert float(ledger.limit[0]) == pytest.approx(0.0882, abs=5e-5)
    assert 1.999 < zcdp_epsilon(ledger.limit[0], "1e-6") <= 2
    with pytest.raises(LedgerError, match=r"rho = 0\.462118 is more than what is left: 0\.088"):
        ledger.spend(epsilon=1)
    pure = start(epsilon=2)
    assert [pure.spend(epsilon=1).spent[0] for _ in range(2)] == [1, 2]
    with pytest.raises(LedgerError, match=r"epsilon = 0\.1 is more than what is left: 0 of 2"):
        pure.spend(epsilon="0.1")
    with pytest.raises(LedgerError, match="a limit of pure epsilon, which no cost in rho keeps"):
        start(epsilon=2).spend(rho="1e-9")


def test_own_delta_is_a_limit_of_its_own(start: Callable[..., Ledger]) -> None:
    ledger = start(epsilon=2, delta="1e-6", own_delta="1e-7")
    assert zcdp_delta(ledger.limit[0], 2) <= 9e-7 < zcdp_delta(ledger.limit[0] * (1 + 2**-40), 2)
    ledger.spend(epsilon="0.01", delta="9e-8")
    with pytest.raises(LedgerError, match="delta = 2e-8 is more than what is left: 1e-8 of 1e-7"):
        ledger.spend(epsilon="0.01", delta="2e-8")
    assert ledger.spend(epsilon="0.01", delta="1e-8").spent[1] == Fraction(1, 10**7)
    with pytest.raises(LedgerError, match=r"delta = 1e-9 .* 0 of 0, by own_delta of its start"):
        start(rho=1).spend(epsilon="0.01", delta="1e-9")


def test_both_kinds_of_neighbours_are_refused_in_one_ledger(start: Callable[..., Ledger]) -> None:
    """Costs of "one person more or less" and "one person replaced" do not add up."""
    ledger = start(rho=1, neighbours="replace")
    ledger.spend(rho="0.1", neighbours="replace")
    ledger.spend(rho="0.1")
    with pytest.raises(LedgerError, match=r"'replace', and the release for 'add or remove'"):
        ledger.spend(rho="0.1", neighbours="add or remove")
    assert Ledger(ledger.path).neighbours == "replace"
    assert spent(ledger)[0] == 2


REFUSED_LIMITS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"rho": 0}, ParameterValueError, "rho must be positive, got 0"),
    ({"rho": float("nan")}, ParameterValueError, "rho must be a finite number"),
    ({"rho": 1, "epsilon": 1}, ParameterTypeError, "a limit must be rho, or epsilon"),
    ({"rho": 1, "delta": "0.1"}, ParameterTypeError, "a limit must be rho, or epsilon"),
    ({"unit": "people"}, ParameterTypeError, "a limit must be rho, or epsilon"),
    ({"epsilon": 1, "delta": 1}, ParameterValueError, "delta must lie between 0 and 1"),
    ({"epsilon": 0}, ParameterValueError, "epsilon must be positive"),
    ({"epsilon": 1, "delta": "0.1", "own_delta": "0.1"}, ParameterValueError, "be below delta"),
    ({"rho": 1, "own_delta": 1}, ParameterValueError, "own_delta must be below 1"),
    ({"rho": 1, "own_delta": -1}, ParameterValueError, "own_delta must not be negative"),
    ({"rho": Fraction(2**4096)}, ParameterOverflowError, "must have at most 4096 bits"),
    ({"rho": 1, "unit": " "}, ParameterTypeError, "unit must say in words whom"),
    ({"rho": 1, "unit": 3}, ParameterTypeError, "unit must say in words whom"),
    ({"rho": 1, "neighbours": [1, 2]}, ParameterValueError, "neighbours must be 'add or remove'"),
    ({"rho": 1, "neighbours": "both"}, ParameterValueError, "neighbours must be 'add or remove'"),
    ({"rh": 1}, ParameterTypeError, "Ledger.start() has no parameter 'rh'; did you mean rho?"),
]


@at_once("limit,error,text", REFUSED_LIMITS)
def test_a_wrong_limit_makes_no_file(
    start: Callable[..., Ledger], tmp_path: Path, limit: Any, error: Any, text: str
) -> None:
    with pytest.raises(error) as refused:
        start(**limit)
    assert text in str(refused.value)
    assert list(tmp_path.iterdir()) == []


REFUSED_COSTS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"rho": 0}, ParameterValueError, "rho must be positive, got 0"),
    ({"rho": -1}, ParameterValueError, "rho must be positive, got -1"),
    ({"rho": math.inf}, ParameterValueError, "rho must be a finite number, got inf"),
    ({"rho": "one"}, ParameterValueError, "rho must be a number"),
    ({"rho": dg.Skellam(3)}, ParameterTypeError, "rho must be a number"),
    ({}, ParameterTypeError, "a cost must be rho, or epsilon with or without delta"),
    ({"rho": 1, "epsilon": 1}, ParameterTypeError, "a cost must be rho, or epsilon"),
    ({"rho": 1, "delta": "1e-9"}, ParameterTypeError, "delta must not be given with rho"),
    ({"epsilon": 0}, ParameterValueError, "epsilon must be positive"),
    ({"epsilon": 1, "delta": -1}, ParameterValueError, "delta must not be negative"),
    ({"rho": "0.1", "what": {3}}, ParameterTypeError, "what must be text, or what JSON can hold"),
    ({"rho": "0.1", "what": math.nan}, ParameterTypeError, "what must be text, or what JSON"),
    ({"rho": "0.1", "neighbours": "x"}, LedgerError, "the release for 'x'"),
    ({"rho": "0.1", "neighbours": [1]}, LedgerError, "the release for an object of type list"),
    ({"rho": 2**60000}, LedgerError, "is more than what is left: 1 of 1"),
    ({"rh": 1}, ParameterTypeError, "Ledger.spend() has no parameter 'rh'; did you mean rho?"),
]


@at_once("cost,error,text", REFUSED_COSTS)
def test_a_wrong_cost_adds_no_line(
    start: Callable[..., Ledger], cost: Any, error: Any, text: str
) -> None:
    ledger = start(rho=1)
    with pytest.raises(error) as refused:
        ledger.spend(**cost)
    assert text in str(refused.value)
    assert spent(ledger)[0] == 0


def test_noise_without_a_rho_is_refused_by_its_rho(start: Callable[..., Ledger]) -> None:
    """A Skellam law, and a sample of people: their (epsilon, delta) may enter."""
    law = dg.Skellam(100)
    with pytest.raises(ParameterValueError, match="no rho is known for a Skellam law"):
        dg.privacy.rho(law)
    with pytest.raises(ParameterValueError, match="sampling must be 1 for a rho"):
        dg.privacy.rho(dg.DiscreteGaussian(5), sampling="0.1")
    ledger = start(rho=1, own_delta="1e-6")
    ledger.spend(epsilon=dg.privacy.epsilon(law, "1e-7"), delta="1e-7")
    assert ledger.spent[1] == Fraction(1, 10**7)


# --- the theorem -----------------------------------------------------------------------------


def _menu() -> list[Priced]:
    """Return randomised response with and without a delta, and a coin that tells all."""
    menu = []
    for odds in map(Fraction, ("3/2", "2", "3")):
        pure = Fraction(math.log(odds)) + Fraction(1, 10**12)
        menu.append(Priced(rho_of_pure(pure), Fraction(0), randomised_response(odds)))
    for own in map(Fraction, ("1/50", "1/20")):
        pure = Fraction(math.log(2)) + Fraction(1, 10**12)
        pairs = leaking(randomised_response(Fraction(2)), own)
        menu.append(Priced(rho_of_pure(pure), own, pairs))
        nothing = [(Fraction(1), Fraction(1))]
        menu.append(Priced(Fraction(1, 10**9), own, leaking(nothing, own)))
    return menu


@pytest.mark.parametrize(
    ("epsilon", "rho", "own", "share"),
    [(0.5, "1/2", "0", 0.65), (1.0, "1", "1/10", 0.62), (2.0, "1/2", "1/20", 0.47)],
)
def test_no_adaptive_analyst_is_above_the_limit(
    epsilon: float, rho: str, own: str, share: float
) -> None:
    """The worst of all strategies over a menu of 7 releases, 4 deep, by exact recursion."""
    most, own_most = Fraction(rho), Fraction(own)
    analyst = Analyst(
        _menu(), lambda cost, d: cost <= most and d <= own_most, Fraction(math.exp(epsilon))
    )
    bound = own_most + Fraction(zcdp_delta(most, epsilon))
    assert share * bound < analyst.worst(4) <= bound


def test_no_adaptive_analyst_is_above_a_pure_limit() -> None:
    """Costs are binary logarithms of the odds: at most 3 in sum, with an own delta of 1/25."""
    own, menu = Fraction(1, 50), []
    for log in (1, 2):
        pairs = randomised_response(Fraction(2**log))
        menu += [
            Priced(Fraction(log), Fraction(0), pairs),
            Priced(Fraction(log), own, leaking(pairs, own)),
        ]
    analyst = Analyst(menu, lambda cost, d: cost <= 3 and d <= 2 * own, Fraction(8))
    assert Fraction(98, 100) * 2 * own < analyst.worst(4) <= 2 * own
    assert Analyst(menu, lambda cost, d: cost <= 3 and not d, Fraction(8)).worst(4) == 0
    assert Analyst(menu, lambda cost, d: cost <= 4 and not d, Fraction(8)).worst(4) > 0


def test_a_path_that_trades_rho_for_delta_breaks_its_limit(tmp_path: Path) -> None:
    """So a ledger's two limits are fixed: it refuses some of the paths of this analyst.

    Every path keeps the natural rule, delta of its own rho plus its own delta, below 0.10382. The
    delta of the whole is 0.10623.
    """
    limit, epsilon = Fraction(1, 20) + Fraction(zcdp_delta("1/2", 2)), 2
    menu = [
        one._replace(cost=Fraction(math.log(odds)) ** 2 / 2 + Fraction(1, 10**12))
        if one.cost > Fraction(1, 10**6)
        else one
        for one, odds in zip(_menu(), (1.5, 2, 3, 2, 1, 2, 1), strict=True)
    ]

    def own_delta_of(cost: Fraction, own: Fraction) -> Fraction:
        return Fraction(zcdp_delta(cost, epsilon)) + own

    analyst = Analyst(
        menu, lambda cost, own: own_delta_of(cost, own) <= limit, Fraction(math.exp(epsilon))
    )
    paths = analyst.paths(5)
    assert sum(path.p for path in paths) == sum(path.q for path in paths) == 1
    ratio = Fraction(math.exp(epsilon))
    whole = sum(max(Fraction(0), path.p - ratio * path.q) for path in paths)
    assert whole == analyst.worst(5)
    assert round(float(whole), 6) == 0.106232
    natural = max(own_delta_of(path.cost, path.own) for path in paths)
    assert round(float(natural), 6) == 0.103811
    assert natural < limit < whole
    refused = 0
    for i, path in enumerate(paths):
        ledger = Ledger.start(
            tmp_path / f"{i}.ledger", unit="a person", epsilon=2, delta=limit, own_delta="1/20"
        )
        try:
            for choice in path.chosen:
                odds = (1.5, 2, 3, 2, 1 + 1e-9, 2, 1 + 1e-9)[choice]
                ledger.spend(epsilon=math.log(odds), delta=menu[choice].own)
        except LedgerError:
            refused += 1
    assert 0 < refused < len(paths)


# --- the file --------------------------------------------------------------------------------


@pytest.fixture
def three(start: Callable[..., Ledger]) -> Ledger:
    ledger = start(rho=1)
    for i in range(3):
        ledger.spend(rho="0.1", what=f"release {i}")
    return ledger


def refusal(path: Path, data: bytes) -> str:
    """Return the message about a file of these bytes, or "opens"."""
    path.write_bytes(data)
    try:
        Ledger(path)
    except LedgerError as error:
        return str(error).removeprefix(str(path))
    return "opens"


def test_a_line_says_when_what_and_how_much(three: Ledger) -> None:
    first, *lines = [json.loads(line) for line in three.path.read_text("ascii").splitlines()]
    assert " ".join(first) == "format version time unit neighbours limit lock id hash"
    assert first["limit"] == {"rho": "1", "delta": "0"}
    assert " ".join(lines[0]) == "n time what rho delta spent hash"
    assert lines[2]["n"] == 3
    assert lines[2]["spent"] == ["3/10", "0"]
    assert stat.S_IMODE(three.path.stat().st_mode) == 0o600
    text = str(three)
    assert "   3  20" in text
    assert "rho 0.1  release 2" in text
    assert "limit rho 1: (epsilon, delta) = (7.76622, 1e-6)" in text
    assert "left  rho 0.7" in text
    assert len({*three.entries, *Ledger(three.path).entries}) == 3


def test_a_limit_is_shown_at_a_delta_above_its_own(start: Callable[..., Ledger]) -> None:
    """That is 1e-6 more, or half of what there is up to 1."""
    assert "= (7.76622, 0.100001)" in str(start(rho=1, own_delta="0.1"))
    assert ", 0.999999)\nspent" in str(start(rho=1, own_delta="0.999998"))
    assert "(inf, 1e-6)" in str(start(rho="1e400"))


def test_every_prefix_but_whole_lines_is_refused(three: Ledger, tmp_path: Path) -> None:
    """The prefixes that end at a line are old copies, which only a report's hash tells."""
    data, path = three.path.read_bytes(), tmp_path / "q.ledger"
    ends = {i + 1 for i, byte in enumerate(data) if byte == 10}
    opened = {n for n in range(len(data)) if refusal(path, data[:n]) == "opens"}
    assert opened == ends - {len(data)}
    assert "line 4 is torn, as after a power cut" in refusal(path, data[:-1])
    assert refusal(path, b"") == " is empty: it was never started; delete it first"


def test_a_line_that_is_being_written_is_waited_for(
    three: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader without the lock may see a part of it."""
    read, parts = os.read, [three.path.read_bytes()[:-5], b""]

    def first_a_part(file: int, size: int) -> bytes:
        return parts.pop(0) if parts else read(file, size)

    monkeypatch.setattr(os, "read", first_a_part)
    assert len(Ledger(three.path).entries) == 3
    assert not parts


def test_every_changed_byte_is_found(three: Ledger, tmp_path: Path) -> None:
    data, path = bytearray(three.path.read_bytes()), tmp_path / "q.ledger"
    for i in range(len(data)):
        bit = (1, 4, 128)[i % 3]
        data[i] ^= bit
        assert refusal(path, bytes(data)) != "opens", i
        data[i] ^= bit


def test_lines_that_are_moved_are_found(three: Ledger, tmp_path: Path) -> None:
    path, (a, b, c, d) = tmp_path / "q.ledger", three.path.read_bytes().splitlines(keepends=True)
    wrong = [b + c + d, a + c + d, a + b + d, a + c + b + d, a + b + d + c, b + a + c + d]
    wrong += [
        a + b + c + d + d,
        a + b + c + d + b"\n",
        b"\xef\xbb\xbf" + a,
        a.replace(b"\n", b"\r\n"),
    ]
    wrong += [b"n\n1\n", b"{}\n", b"null\n", bytes(50)]
    for data in wrong:
        assert refusal(path, data) != "opens", data
    for data in (a + b + c, a + b, a):
        assert refusal(path, data) == "opens"
    other = Ledger.start(tmp_path / "other", unit="a person", rho=1).path.read_bytes()
    assert ": line 2 was changed, or a line before it is missing" in refusal(path, other + b)


def test_an_old_copy_lacks_the_line_of_a_report(three: Ledger) -> None:
    old = three.path.read_bytes()
    entry = three.spend(rho="0.1", what="the last")
    assert Ledger(three.path).line_of(entry.hash[:16]) == entry
    three.path.write_bytes(old)
    copy = Ledger(three.path)
    assert copy.spent[0] == Fraction(3, 10)
    for hash_start in (entry.hash, entry.hash[:16], copy.entries[0].hash[:15], "", 3):
        with pytest.raises(LedgerError, match="it may be an old copy"):
            copy.line_of(hash_start)  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="lacks lines that this process has read"):
        three.spend(rho="0.1")


def test_what_is_no_file_of_a_ledger_is_refused(tmp_path: Path, three: Ledger) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, text in (("pipe", "is not a regular file"), ("", "is not a regular file")):
        with pytest.raises(LedgerError, match=text):
            Ledger(tmp_path / name)
    with pytest.raises(LedgerError, match="does not exist; start makes a new ledger"):
        Ledger(tmp_path / "none")
    with pytest.raises(LedgerError, match="exists already; a ledger is started once"):
        Ledger.start(three.path, unit="a person", rho=1)
    with pytest.raises(FileNotFoundError):
        Ledger.start(tmp_path / "no" / "folder", unit="a person", rho=1)
    with pytest.raises(ParameterTypeError, match="ledger must be a path"):
        Ledger(3)  # type: ignore[arg-type]
    link = tmp_path / "link"
    link.symlink_to(three.path)
    assert Ledger(link).path == three.path


# --- a disk and locks that fail --------------------------------------------------------------


def test_a_full_disk_leaves_the_file_as_it_was(
    three: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the line is written first, as a real disk does."""
    before, write = three.path.read_bytes(), os.write
    for room in (0, 10, 100):
        left = [room]

        def short(file: int, data: bytes, left: list[int] = left) -> int:
            n = write(file, data[: left[0]])
            left[0] -= n
            if not n:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return n

        monkeypatch.setattr(os, "write", short)
        with pytest.raises(OSError, match="No space left on device") as full:
            three.spend(rho="0.1")
        assert full.value.filename == str(three.path)
        assert three.path.read_bytes() == before
        left[0] = room
        with pytest.raises(OSError, match="No space left on device"):
            Ledger.start(tmp_path / "new", unit="a person", rho=1)
        assert not (tmp_path / "new").exists()
    monkeypatch.undo()
    assert three.spend(rho="0.1").n == 4


def test_a_line_that_the_disk_does_not_confirm_is_no_leave_to_draw(
    three: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line may stand, and then counts."""

    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="the disk did not confirm the line, so it may stand, but"):
        three.spend(rho="0.1")
    monkeypatch.undo()
    assert spent(three) == (4, Fraction(4, 10))


def no_flock(code: int) -> SimpleNamespace:
    """Return an fcntl whose flock fails."""

    def flock(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return SimpleNamespace(LOCK_EX=2, LOCK_NB=4, flock=flock)


@pytest.mark.parametrize("fcntl", [None, no_flock(errno.ENOLCK)], ids=["none", "fails"])
def test_without_flock_there_is_a_lock_file(
    start: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch, fcntl: Any
) -> None:
    """It is never broken by itself, and a ledger of flock is refused: they exclude nobody."""
    with_flock = start(rho=1)
    with monkeypatch.context() as patch:
        patch.setattr(chained_file, "fcntl", fcntl)
        patch.setattr(chained_file, "_WAIT", 0.0)
        with pytest.raises((LedgerError, OSError), match=r"needs flock|could not be locked"):
            with_flock.spend(rho="0.1")
        assert spent(with_flock)[0] == 0
        ledger = start(rho=1)
        lock = ledger.path.with_name("p.ledger.lock")
        ledger.spend(rho="0.1")
        assert not lock.exists()
        lock.touch()
        with pytest.raises(LedgerError, match=rf"one was killed: delete {lock}"):
            ledger.spend(rho="0.1")
        assert lock.exists()
        lock.unlink()
    # with flock again it still uses the file, as other hosts may do
    assert ledger.spend(rho="0.1").n == 2


def test_a_lock_that_is_held_is_waited_for(three: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(chained_file, "_WAIT", 0.0)
    with three.path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LedgerError, match=r"is locked by another process$"):
            three.spend(rho="0.1")
    assert three.spend(rho="0.1").n == 4


@pytest.mark.parametrize("step", ["before", "after"])
def test_a_lock_that_lies_is_seen_in_the_file(
    three: Ledger, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Another process writes while this one has the lock, before or after this one's line."""
    whole, fstat, fsync = three.path.read_bytes(), os.fstat, os.fsync

    def overwrites(file: int) -> int:
        other = whole + b'{"n": 4, "hash": "another host\'s"}\n'
        three.path.write_bytes(other + b" " * 300)
        return file

    with monkeypatch.context() as patch:
        if step == "before":
            patch.setattr(os, "fstat", lambda file: fstat(overwrites(file)))
        else:
            patch.setattr(os, "fsync", lambda file: fsync(overwrites(file)))
        with pytest.raises((LedgerError, OSError), match="in spite of the lock"):
            three.spend(rho="0.1")
