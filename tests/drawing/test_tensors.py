"""Noise in tensors: how kernels are launched, what is refused before a draw, and wiped keys."""

from __future__ import annotations

import shutil
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import parts
import pytest
from engine import needs_core
from fake_cuda import FakeGpu, Tensor
from kernel_on_cpu import head_of
from numpy.typing import NDArray

import discretegauss as dg
from discretegauss.errors import (
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
    RangeError,
)

pytestmark = [
    needs_core,
    pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang")), reason="needs C++"),
]

LAW = dg.DiscreteGaussian(10**4, mu="7/2")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    return FakeGpu(monkeypatch)


def items(law: Any, n: int, key: bytes) -> NDArray[Any]:
    """Return the noise of a key, as the core draws it."""
    out = np.zeros(n, np.int64)
    parts.NativeTable(law).noise_at(out, 0, key)
    return out


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_tensor_gets_the_noise_of_a_fresh_key(gpu: FakeGpu, dtype: str) -> None:
    """All items are drawn on the tensor's stream and device. The key is wiped, and used once."""
    tensor = Tensor(np.zeros((3, 2000), dtype), device=1)
    for _ in range(2):
        assert LAW.sample(out=tensor) is tensor
        assert (tensor.array.reshape(-1) == items(LAW, 6000, gpu.keys[-1])).all()
    answer = ["noise", "ends", "noise"]  # test_driver.py has more about it
    assert gpu.launched == [(name, 33, "primary1") for name in (*answer, "noise", "noise")]
    assert gpu.current == "none"
    assert len(set(gpu.keys)) == 3
    assert gpu.key_bytes == 0
    assert len(gpu.compiled) == 1
    assert gpu.compiled[0]["arch"] == "sm_90"


def test_noise_is_added_in_place_or_beside(gpu: FakeGpu) -> None:
    values = np.arange(5000).reshape(50, 100).T  # any dense order of axes
    tensor, beside = Tensor(values.copy("K")), Tensor(np.zeros((50, 100), np.int64).T)
    assert dg.add_noise(tensor, LAW, out=beside) is beside
    noise = items(LAW, 5000, gpu.keys[-1]).reshape(50, 100).T
    assert (tensor.array == values).all()
    assert (beside.array == values + noise).all()
    dg.add_noise(tensor, rho="0.1", rows_per_person=2, out=tensor)
    law = dg.noise_for(tensor, rho="0.1", rows_per_person=2)
    assert law == dg.noise_for(values, rho="0.1", rows_per_person=2)
    assert (tensor.array == values + items(law, 5000, gpu.keys[-1]).reshape(50, 100).T).all()
    assert [name for name, *_ in gpu.launched][-2:] == ["ends", "noise"]


def test_the_host_draws_what_the_gpu_leaves(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items in doubt are those of the key, too. More of them than the call holds are an error."""
    packed = parts.native_sampler().packed

    def without_tails(self: Any) -> Any:
        law = packed(self)
        head_of(law)["levels"] = 0
        return law

    monkeypatch.setattr(parts.native_sampler(), "packed", without_tails)
    tensor = Tensor(np.full(20_000, 1000))
    dg.add_noise(tensor, LAW, out=tensor)
    assert (tensor.array == 1000 + items(LAW, 20_000, gpu.keys[-1])).all()
    assert [name for name, *_ in gpu.launched][-3:] == ["ends", "noise", "finish"]
    with pytest.raises(RuntimeError, match="doubt"):
        LAW.sample(out=Tensor(np.zeros(10**6, np.int64)))
    assert gpu.key_bytes == 0


def test_long_tensors_are_drawn_in_several_launches(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The items of one key go on from launch to launch."""
    parts.forget_gpus(monkeypatch, items_a_launch=8192)
    tensor = Tensor(np.zeros(20_000, np.int64))
    LAW.sample(out=tensor)
    assert len(set(gpu.keys[-3:])) == 1
    assert (tensor.array == items(LAW, 20_000, gpu.keys[-1])).all()


def refusals() -> list[tuple[Any, type[Exception], str]]:
    """Return calls that are refused, each with its error and a word of the message."""
    whole = Tensor(np.zeros(8, np.int64))
    read_only = Tensor(np.zeros(8, np.int64))
    read_only.is_read_only = True
    elsewhere = Tensor(np.zeros(8, np.int64), device=1)
    full = Tensor(np.full(8, 2**63 - 50))
    shared = np.zeros(16, np.int64)
    add: Any = dg.add_noise
    return [
        (lambda: LAW.sample(out=Tensor(np.zeros(8))), ParameterTypeError, "float64"),
        (lambda: LAW.sample(out=Tensor(np.zeros(8, np.int16))), ParameterTypeError, "int16"),
        (lambda: LAW.sample(out=Tensor(shared[::2])), ParameterValueError, "gaps"),
        (lambda: LAW.sample(out=read_only), ParameterValueError, "writable"),
        (lambda: LAW.sample(9, out=whole), ParameterValueError, "shape"),
        (lambda: LAW.sample(dtype="int32", out=whole), ParameterValueError, "dtype"),
        (lambda: LAW.sample(out=whole, source="getrandom"), ParameterValueError, "source"),
        (lambda: LAW.sample(out=whole, threads=2), ParameterValueError, "threads"),
        (lambda: LAW.sample(out=whole, method="reference"), ParameterValueError, "method"),
        (lambda: dg.Skellam(3).sample(out=whole), ParameterValueError, "law"),
        (lambda: dg.DiscreteGaussian(2**110).sample(out=whole), ParameterValueError, "law"),
        (
            lambda: dg.DiscreteGaussian(2**70).sample(out=Tensor(np.zeros(8, np.int32))),
            ParameterOverflowError,
            "int32",
        ),
        (lambda: add(full, LAW, out=full), ParameterOverflowError, "might not"),
        (lambda: add(whole, LAW), ParameterTypeError, "out"),
        (lambda: add(whole, LAW, out=elsewhere), ParameterValueError, "device"),
        (lambda: add(whole, LAW, out=np.zeros(8, np.int64)), ParameterTypeError, "tensor"),
        (
            lambda: add(Tensor(shared[:8]), LAW, out=Tensor(shared[4:12])),
            ParameterValueError,
            "share",
        ),
        (lambda: add(whole, LAW, out=whole, modulus=7), ParameterTypeError, "modulus"),
    ]


@pytest.mark.parametrize(("ask", "error", "said"), refusals())
def test_what_is_wrong_is_refused_before_a_draw(
    gpu: FakeGpu, ask: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        ask()
    assert len(set(gpu.keys)) == (said == "might not")  # the known answer's
    assert gpu.current == "none"


def fake_torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a stand-in for torch among the loaded modules; its `records` is what jit says."""
    torch: Any = ModuleType("torch")
    torch.records = False

    class OfTorch(Tensor):
        def data_ptr(self) -> int:
            return int(self.array.ctypes.data)

    torch.Tensor = OfTorch
    torch.cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=44))
    jit = SimpleNamespace(is_tracing=lambda: torch.records)
    symbolic = SimpleNamespace(_is_fx_tracing_flag=False)
    functions = SimpleNamespace(get_interpreter_stack=lambda: None)
    for name, part in (
        ("torch", torch),
        ("torch.jit", jit),
        ("torch.fx._symbolic_trace", symbolic),
        ("torch._C._functorch", functions),
        ("torch._dynamo", None),
    ):
        monkeypatch.setitem(sys.modules, name, part)
    return torch


def test_what_would_repeat_a_key_is_refused(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that captures a graph, a tracer of torch and an array of jax are refused."""
    gpu.capture(33)
    with pytest.raises(ParameterValueError, match="captures"):
        LAW.sample(out=Tensor(np.zeros(8, np.int64)))
    torch = fake_torch(monkeypatch)
    tensor = torch.Tensor(np.zeros(8, np.int64))
    torch.records = True
    with pytest.raises(ParameterTypeError, match="records a graph"):
        LAW.sample(out=tensor)
    torch.records = False
    LAW.sample(out=tensor)
    assert gpu.launched[-1] == ("noise", 44, "primary0")
    as_jax = type("Array", (Tensor,), {"__module__": "jaxlib._jax"})
    with pytest.raises(ParameterTypeError, match="jax never changes"):
        LAW.sample(out=as_jax(np.zeros(8, np.int64)))
    assert len(set(gpu.keys)) == 2


def test_a_tensor_of_torch_is_one_by_its_class(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class from elsewhere that derives from torch's counts, too; its address must be torch's."""
    torch = fake_torch(monkeypatch)

    class Mine(torch.Tensor):  # type: ignore[misc, name-defined]
        __module__ = "elsewhere"

    LAW.sample(out=Mine(np.zeros(8, np.int64)))
    assert gpu.launched[-1] == ("noise", 44, "primary0")

    class Copied(Mine):
        def data_ptr(self) -> int:
            return 0

    with pytest.raises(ParameterTypeError, match=r"memory of its own.* a Copied"):
        LAW.sample(out=Copied(np.zeros(8, np.int64)))
    assert len(set(gpu.keys)) == 2


@pytest.mark.parametrize("part", ["torch.jit", "torch.fx._symbolic_trace", "torch._C._functorch"])
def test_a_torch_that_does_not_say_whether_it_records_is_refused(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """A version without one of these answers is refused, unless torch is just being imported."""
    torch = fake_torch(monkeypatch)
    assert len(LAW.sample(3)) == 3
    monkeypatch.setitem(sys.modules, part, SimpleNamespace())
    for draw in (LAW.sample, lambda: LAW.sample(3), lambda: dg.add_noise([1], LAW)):
        with pytest.raises(ParameterTypeError, match="this version of torch does not say"):
            draw()
    torch.__spec__ = SimpleNamespace(_initializing=True)
    assert len(LAW.sample(3)) == 3


def test_what_is_missing_is_said_in_a_sentence(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver, cuda-core, its NVRTC, or an NVRTC that knows the device."""
    tensor = Tensor(np.zeros(8, np.int64))

    def no_library() -> Any:
        raise RuntimeError("libnvrtc was not found\nin many folders")

    gpu.archs = [100]
    with pytest.raises(
        RuntimeError, match=r"^NVRTC 13.5 does not compile for a fake 0, sm_90: pip install '.*cu12"
    ):
        LAW.sample(out=tensor)
    monkeypatch.setattr(sys.modules["cuda.bindings"].nvrtc, "nvrtcVersion", no_library)
    with pytest.raises(ImportError, match=r"compiler NVRTC: pip install 'cuda-core\[cu13\]'$"):
        LAW.sample(out=tensor)
    for name in ("cuda", "cuda.core"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"needs NVIDIA's cuda-core: pip install 'cuda-core\["):
        LAW.sample(out=tensor)
    parts.forget_gpus(monkeypatch, driver="lib-that-is-not-there.so.1")
    with pytest.raises(RuntimeError, match="driver and a GPU; lib-that-is-not-there"):
        LAW.sample(out=tensor)


class OnHost(Tensor):
    """A tensor on the host that is read by DLPack, as torch's are."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(**asked)


@pytest.mark.skipif(
    np.__version__.startswith("1."), reason="numpy 1 makes arrays of DLPack read-only"
)
def test_tensors_on_the_host_need_no_gpu() -> None:
    """They are filled, and get noise in place; their type bounds the sums."""
    tensor = OnHost(np.zeros((20, 50), np.int32))
    assert LAW.sample(out=tensor, source="getrandom") is tensor
    assert len(np.unique(tensor.array)) > 100
    tensor.array[:] = 10**6
    assert dg.add_noise(tensor, LAW, out=tensor) is tensor
    assert abs(tensor.array - 10**6).max() < 10**4
    assert len(np.unique(tensor.array)) > 100
    tensor.array[:] = 2**31 - 1
    with pytest.raises(ParameterOverflowError, match=r"must fit int32 .* might not$"):
        dg.add_noise(tensor, LAW, out=tensor)


@pytest.mark.skipif(
    np.__version__.startswith("1."), reason="numpy 1 makes arrays of DLPack read-only"
)
def test_a_sum_that_does_not_fit_a_tensor_on_the_host_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would wrap. The ends of the type fit. The tensor keeps its values, and sums are wiped."""
    for sums, fits in (
        ([127, 0, -128], True),
        ([128, 0, 0], False),
        ([0, 0, -129], False),
    ):
        tensor, made = OnHost(np.array([1, 2, 3], np.int8)), np.array(sums)
        monkeypatch.setattr("discretegauss.data.tensors.noisy", lambda *_, made=made: (made,))
        if fits:
            dg.add_noise(tensor, dg.DiscreteGaussian(1), out=tensor)
            assert tensor.array.tolist() == sums
        else:
            with pytest.raises(RangeError, match="a draw did not fit"):
                dg.add_noise(tensor, dg.DiscreteGaussian(1), out=tensor)
            assert tensor.array.tolist() == [1, 2, 3]
        assert not made.any()


def test_torch_on_the_host() -> None:
    """Tensors of the real library, of any integers, are filled and get noise in place."""
    torch = pytest.importorskip("torch")
    for dtype in (torch.int16, torch.int32, torch.int64):
        tensor = torch.zeros((300, 40), dtype=dtype)
        assert dg.DiscreteGaussian(100).sample(out=tensor) is tensor
        assert 9 < tensor.double().std() < 11
        added = torch.full((40, 300), 1000, dtype=dtype).T
        assert dg.add_noise(added, dg.DiscreteGaussian(100), out=added) is added
        assert 999 < added.double().mean() < 1001
    for tensor, said in (
        (torch.eye(3, dtype=torch.int64).to_sparse(), "dense"),
        (torch.zeros(3, dtype=torch.int64, device="meta"), "on the host"),
        (torch.zeros(3), "integer"),
    ):
        for ask in (LAW.sample, lambda out: dg.add_noise(out, LAW, out=out)):
            with pytest.raises(ParameterTypeError, match=said):
                ask(out=tensor)


def test_jax_is_told_how() -> None:
    """Arrays of the real library are refused with a hint, also inside `jax.jit`."""
    jax = pytest.importorskip("jax")
    zeros = jax.numpy.zeros(9, "int32")
    for ask in (lambda x: LAW.sample(out=x), lambda x: dg.add_noise(x, LAW)):
        for call in (ask, jax.jit(ask)):
            with pytest.raises(ParameterTypeError, match="jax never changes"):
                call(zeros)
