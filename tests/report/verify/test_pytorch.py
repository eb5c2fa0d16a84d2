"""Programs of PyTorch beside PyTorch itself, float and quantized by PT2E."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import tvmc

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")

from tests.frontend.torch_program import networks, routes  # noqa: E402  (need torch)

pytestmark = pytest.mark.torch


def test_a_program_in_memory_and_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, inputs = networks.build("cnn")
    program = torch.export.export(module, inputs)
    result = tvm_pulp.compile(program, keep_layers=True).run([inputs[0].numpy()], layers=True)
    table = result.compare()
    assert table.framework == "PyTorch" and table.first_wrong is None and not table.unseen, table.sentence
    assert sum(bool(row.tensor) for row in table.rows) >= len(table.rows) / 2
    torch.export.save(program, tmp_path / "cnn.pt2")
    np.savez(tmp_path / "in.npz", inputs[0].numpy())
    done = tvmc(capsys, "verify", "-q", tmp_path / "cnn.pt2", "-i", tmp_path / "in.npz")
    assert done.status == 0 and "from PyTorch" in done.out


def test_a_quantized_program() -> None:
    """Its integers are found in the program, layer by layer."""
    module, inputs = networks.build("cnn")
    program = routes.pt2e(module, inputs, "xnnpack_per_channel")
    result = tvm_pulp.compile(program, example_inputs=inputs, keep_layers=True).run([inputs[0].numpy()], layers=True)
    table = result.compare()
    assert table.framework == "PyTorch" and table.first_wrong is None, table.sentence
    assert sum(bool(row.tensor) for row in table.rows) >= len(table.rows) / 2


def test_a_wrong_import(monkeypatch: pytest.MonkeyPatch) -> None:
    from tvm_pulp.frontend.torch_program import operators

    monkeypatch.setitem(operators.OPERATORS, "aten.tanh", lambda g, x: g.emit("Sin", x))
    module = torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    x = torch.linspace(-2, 2, 12)[None]
    table = tvm_pulp.compile(module, example_inputs=(x,), keep_layers=True).run([x.numpy()], layers=True).compare()
    assert table.first_wrong is not None and "is not what PyTorch computes" in table.sentence
