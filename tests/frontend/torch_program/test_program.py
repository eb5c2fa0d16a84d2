"""Modules, exported programs and their files: one result; what cannot be taken is one sentence."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import Note, UserError
from tvm_pulp.tvmc.main import main

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")

from tests.frontend.torch_program import networks  # noqa: E402  (needs torch)
from tests.frontend.torch_program.single_operators import Function  # noqa: E402
from tvm_pulp.frontend.torch_program import as_program, load_program, onnx_model  # noqa: E402

pytestmark = pytest.mark.torch


def _near(found: np.ndarray, expected: Any) -> None:
    wanted = expected.detach().numpy()
    assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()


def test_module_program_and_file(tmp_path: Path) -> None:
    module, inputs = networks.build("cnn")
    feeds = {"x": inputs[0].numpy()}
    program = torch.export.export(module, inputs)
    torch.export.save(program, tmp_path / "cnn.pt2")
    apps = [
        tvm_pulp.compile(module, example_inputs=inputs),
        tvm_pulp.compile(program),
        tvm_pulp.compile(tmp_path / "cnn.pt2"),
    ]
    sources = [{n: t for n, t in app.files.items() if n.endswith((".c", ".h"))} for app in apps]
    assert sources[0] and sources[0] == sources[1] == sources[2]
    results = [app.run(feeds).outputs for app in apps[::2]]
    assert list(results[0]) == list(program.graph_signature.user_outputs)
    for result in results:
        _near(next(iter(result.values())), module(*inputs))


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, inputs = networks.build("cnn")
    torch.export.save(torch.export.export(module, inputs), tmp_path / "cnn.pt2")
    assert main(["explain", str(tmp_path / "cnn.pt2"), "--target=c"]) == 0
    told = capsys.readouterr().out
    # Layers of PyTorch's own by the names of modules.
    assert "body.0.0: Conv" in told and "head: Gemm" in told
    (tmp_path / "bad.pt2").write_bytes(b"nothing of the kind")
    assert main(["compile", str(tmp_path / "bad.pt2"), "-o", str(tmp_path / "x.tar")]) == 2
    assert "is not a readable program of torch.export" in capsys.readouterr().err


def test_a_module_in_training_is_exported_for_inference_and_left_as_it_was() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(4)).train()
    model = onnx_model(as_program(module, (torch.randn(2, 4),)), {})
    assert module.training and module[1].training
    # The batch norm has become part of the product.
    assert [n.op_type for n in model.graph.node if n.op_type != "Identity"] == ["Gemm"]


def _shapes(program: Any, stated: dict[str, tuple[int, ...]]) -> list[list[int]]:
    """Shapes of the inputs of what is compiled."""
    return [[d.dim_value for d in i.type.tensor_type.shape.dim] for i in onnx_model(program, stated).graph.input]


def test_dynamic_shapes() -> None:
    batch = torch.export.Dim("batch", min=3, max=8)
    module = torch.nn.Linear(4, 3)
    program = torch.export.export(module, (torch.randn(5, 4),), dynamic_shapes={"input": {0: batch}})
    with pytest.warns(Note, match=r"compiled for input:\[3,4\]: state others with --input-shapes"):
        assert _shapes(program, {}) == [[3, 4]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _shapes(program, {"input": (7, 4)}) == [[7, 4]]
        with pytest.raises(UserError, match="--input-shapes"):
            onnx_model(program, {"input": (99, 4)})


batch = torch.export.Dim("batch")


@pytest.mark.parametrize(
    ("function", "examples", "sizes", "stated", "expected"),
    [
        (lambda x: x * 2, [(2, 4)], [{0: batch}], {}, [[1, 4]]),
        (lambda x: x * 2, [(2, 4)], [{0: torch.export.Dim.AUTO}], {}, [[1, 4]]),
        # Lengths are those of the example, batches of all inputs the same.
        (lambda x, y: x + y, [(3, 7, 2)] * 2, [{0: batch, 1: torch.export.Dim.AUTO}] * 2, {}, [[1, 7, 2]] * 2),
        (lambda x, y: x + y, [(3, 4)] * 2, [{0: batch}] * 2, {"x": (5, 4)}, [[5, 4]] * 2),
        # A batch of one, and one of two, is not what the reshape can divide.
        (lambda x: x.reshape(x.shape[0] // 2, 8), [(8, 4)], [{0: torch.export.Dim.AUTO}], {}, [[4, 4]]),
        (lambda x, y: x + torch.cat([y, y]), [(6, 4), (3, 4)], [{0: 2 * batch}, {0: batch}], {}, [[2, 4], [1, 4]]),
    ],
)
def test_a_batch_that_nobody_states_is_the_smallest(
    function: Any, examples: Any, sizes: Any, stated: Any, expected: list[list[int]], tmp_path: Path
) -> None:
    inputs = tuple(torch.randn(shape) for shape in examples)
    module = Pair(function) if len(inputs) == 2 else Single(function)
    shapes = dict(zip("xy", sizes, strict=False))
    torch.export.save(torch.export.export(module, inputs, dynamic_shapes=shapes), tmp_path / "net.pt2")
    with pytest.warns(Note, match="the program leaves sizes open"):
        assert _shapes(load_program(tmp_path / "net.pt2"), stated) == expected


def test_the_command_says_which_sizes_it_took(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    module = torch.nn.Linear(4, 3)
    program = torch.export.export(module, (torch.randn(2, 4),), dynamic_shapes={"input": {0: batch}})
    torch.export.save(program, tmp_path / "net.pt2")
    assert main(["compile", str(tmp_path / "net.pt2"), "-o", str(tmp_path / "net.tar")]) == 0
    said = [line for line in capfd.readouterr().err.splitlines() if "leaves sizes open" in line]
    assert said == [
        "tvmc compile: the program leaves sizes open and is compiled for input:[1,4]: state others with --input-shapes"
    ]


class Single(torch.nn.Module):
    """A function of one tensor."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


class Pair(Single):
    """A function of two tensors."""

    def forward(self, x: Any, y: Any) -> Any:
        return self.function(x, y)


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x + self.calls


@pytest.mark.parametrize(
    ("module", "inputs", "message"),
    [
        (torch.nn.Linear(3, 2), None, "give example_inputs"),
        (Counter(), (torch.randn(2),), "changes its buffer 'calls'"),
        (Function(lambda x: torch.fft.rfft(x).abs()), (torch.randn(8),), "unsupported PyTorch operators: aten._fft"),
        (Function(lambda x: x[x > 0]), (torch.randn(8),), "has a result whose size depends on values"),
        (Function(lambda x: x.half()), (torch.randn(8),), "float16|type"),
    ],
)
def test_refusals(module: Any, inputs: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        tvm_pulp.compile(module, example_inputs=inputs)
    assert "\n" not in str(caught.value)


def test_results_that_are_inputs_constants_or_twice_the_same() -> None:
    module = Function(lambda x: (x, torch.ones(3), x + 1, x + 1))
    x = torch.randn(2)
    outputs = tvm_pulp.compile(module, example_inputs=(x,)).run([x.numpy()]).outputs
    assert len(outputs) == 4
    for found, wanted in zip(outputs.values(), module(x), strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-6)
