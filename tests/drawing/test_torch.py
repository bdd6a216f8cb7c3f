"""torch, the real library on the CPU: noise is there, or refused before a draw; never repeated."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest
from engine import needs_core
from inputs import must_not_draw

import discretegauss as dg
from discretegauss.errors import ParameterTypeError

torch: Any = pytest.importorskip("torch")

pytestmark = [
    needs_core,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

LAW = dg.DiscreteGaussian(10**12)  # a draw is 0 with probability 4 * 10^-7


class Mine(torch.Tensor):  # type: ignore[misc]
    """A subclass from a module that is not torch's."""


def zeros(*shape: int) -> Any:
    return torch.zeros(*(shape or (4,)), dtype=torch.int64)


def new_law() -> Any:
    """Return a law that no call has prepared."""
    return dg.DiscreteGaussian(10**12 + np.random.default_rng().integers(10**9))


def add(tensor: Any) -> Any:
    return dg.add_noise(tensor, LAW, out=tensor) + 0


DRAWS: dict[str, Callable[[Any], Any]] = {
    "add_noise": add,
    "sample(out=)": lambda t: t + LAW.sample(out=zeros()),
    "sample()": lambda t: t + LAW.sample(),
    "sample(4)": lambda t: t + torch.from_numpy(LAW.sample(4)),
    "a new law": lambda t: t + torch.from_numpy(new_law().sample(4)),
    "objects": lambda t: t + torch.tensor(LAW.sample(4, dtype=object).tolist()),
    "add_noise of an array": lambda t: t + torch.from_numpy(dg.add_noise(np.zeros(4, int), LAW)),
    "an array of laws": lambda t: t + torch.from_numpy(dg.discrete_gaussian([10**12, 10**11] * 2)),
    "Skellam": lambda t: t + torch.from_numpy(dg.skellam(2**70, 4, dtype=object).astype(int)),
    "a selection": lambda t: t + dg.selection.exponential(np.zeros(10**4), 1),
    "a message": lambda t: (
        t
        + torch.from_numpy(
            dg.distributed.SecureSum(
                4, clip=1, steps=200, law=LAW, most_clients=1, fewest_clients=1
            ).message(np.ones(4))
        )
    ),
    "snapping": lambda t: t + dg.snapping.snapping_laplace(0, "1/1000", 10**6, grid=1),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_torch_compile_draws_each_time(draw: Callable[[Any], Any]) -> None:
    """A compiled function leaves its graph for a draw; by chance 10^-4 one is drawn twice."""
    torch._dynamo.reset()
    compiled = torch.compile(draw, backend="eager")
    assert len({tuple(compiled(zeros()).tolist()) for _ in range(4)}) > 1


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_nothing_is_drawn_while_torch_records(draw: Callable[[Any], Any]) -> None:
    """A draw into numpy would be a constant of the graph, too."""
    model = torch.nn.Module()
    model.forward = draw
    make_fx = torch.fx.experimental.proxy_tensor.make_fx
    records: tuple[Callable[[], object], ...] = (
        lambda: torch.jit.trace(draw, zeros(), check_trace=False),
        lambda: torch.export.export(model, (zeros(),), strict=False),
        lambda: make_fx(draw)(zeros()),
        lambda: make_fx(draw, pre_dispatch=True)(zeros()),
        lambda: make_fx(draw, tracing_mode="fake")(zeros()),
    )
    for record in records:
        with pytest.raises(ParameterTypeError, match="records a graph"):
            record()
    with pytest.raises(ParameterTypeError, match=r"torch\.vmap"):
        torch.func.vmap(draw)(zeros(3, 4))


def test_nothing_is_drawn_into_a_subclass_while_torch_records() -> None:
    def noisy(tensor: Any) -> Any:
        return add(tensor.as_subclass(Mine)).as_subclass(torch.Tensor)

    with pytest.raises(ParameterTypeError, match="records a graph"):
        torch.jit.trace(noisy, zeros(), check_trace=False)


def test_torch_fx_and_vmap_do_not_get_constants() -> None:
    """Of a symbolic trace only the thread that traces is refused."""
    drawn: list[Any] = []

    def beside() -> None:
        drawn.append(LAW.sample(4))

    def traced(tensor: Any) -> Any:
        thread = Thread(target=beside)
        thread.start()
        thread.join()
        return tensor + torch.from_numpy(LAW.sample(4))

    with pytest.raises(ParameterTypeError, match="records a graph"):
        torch.fx.symbolic_trace(traced)
    assert len(drawn) == 1
    with pytest.raises(ParameterTypeError, match=r"torch\.vmap"):
        torch.func.vmap(torch.func.grad(lambda x: x * LAW.sample()))(torch.ones(3))
    noisy = torch.func.functionalize(lambda t: t + torch.from_numpy(LAW.sample(4)))
    assert noisy(zeros()).tolist() != noisy(zeros()).tolist()


def wrapped(tensor: Any) -> Any:
    """Return a wrapper that has no memory of its own."""

    class Wrapper(torch.Tensor):  # type: ignore[misc]
        @staticmethod
        def __new__(cls: Any, inner: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        @classmethod
        def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    return Wrapper(tensor)


class Copied(torch.Tensor):  # type: ignore[misc]
    """A subclass whose numpy() is a copy."""

    def numpy(self) -> Any:
        return self.as_subclass(torch.Tensor).numpy().copy()


REFUSED: dict[str, Callable[[], Any]] = {
    "sparse": lambda: torch.eye(3, dtype=torch.int64).to_sparse(),
    "CSR": lambda: torch.eye(3, dtype=torch.int64).to_sparse_csr(),
    "meta": lambda: zeros().to("meta"),
    "floats": lambda: torch.zeros(3),
    "bool": lambda: torch.zeros(3, dtype=torch.bool),
    "quantised": lambda: torch.quantize_per_tensor(torch.ones(4), 1.0, 0, torch.qint8),
    "with a gradient": lambda: torch.zeros(3, requires_grad=True),
    "negated": lambda: torch._neg_view(zeros()),
    "conjugated": lambda: torch.zeros(4, dtype=torch.complex64).conj(),
    "expanded": lambda: zeros(1).expand(4),
    "overlapping": lambda: torch.as_strided(zeros(10), (3, 4), (2, 1)),
    "zeros of autograd": lambda: torch._efficientzerotensor(4, dtype=torch.int64),
    "nested": lambda: torch.nested.nested_tensor([zeros(3), zeros(4)]),
    "jagged": lambda: torch.nested.nested_tensor([zeros(3), zeros(4)], layout=torch.jagged),
    "fake": lambda: torch._subclasses.fake_tensor.FakeTensorMode().from_tensor(zeros()),
    "a wrapper": lambda: wrapped(zeros()),
    "numpy() is a copy": lambda: zeros().as_subclass(Copied),
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_a_tensor_without_memory_of_its_own_is_refused(make: Callable[[], Any]) -> None:
    """Nothing is drawn: the source is never asked."""
    tensor = make()
    for ask in (LAW.sample, lambda out, source: dg.add_noise(out, LAW, out=out, source=source)):
        with pytest.raises((TypeError, ValueError), match=r"^(out|values) must"):
            ask(out=tensor, source=must_not_draw)


def test_transforms_that_hide_the_memory_are_refused() -> None:
    tensor = zeros()
    with pytest.raises(ParameterTypeError, match="memory of its own"):
        torch.func.functionalize(add)(tensor)
    with torch._subclasses.fake_tensor.FakeTensorMode(allow_non_fake_inputs=True):
        for ask in (add, lambda t: LAW.sample(out=t)):
            with pytest.raises(ParameterTypeError, match="memory of its own"):
                ask(tensor)
    with pytest.raises(ParameterTypeError, match="dense"):
        torch.func.grad(lambda x: (LAW.sample(out=zeros()) * x).sum())(torch.ones(4))
    assert not tensor.any()


def test_tensors_with_memory_get_noise() -> None:
    """Of all orders of axes, in place: also subclasses, parameters, views, one number and none."""
    base = zeros(8, 6)
    for tensor in (
        zeros().as_subclass(Mine),
        torch.nn.Parameter(zeros(), requires_grad=False),
        base[::2, 1:4],
        base.T,
        zeros().conj(),
        zeros(4).share_memory_(),
        torch.tensor(0),
        zeros(0),
    ):
        for _ in range(2):
            before = tensor.clone()
            assert dg.add_noise(tensor, LAW, out=tensor) is tensor
            assert tensor.numel() == 0 or (tensor != before).any()
        assert LAW.sample(out=tensor) is tensor
