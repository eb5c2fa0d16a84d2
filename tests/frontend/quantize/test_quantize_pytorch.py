"""PyTorch modules and their files are quantized like ONNX models."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.errors import UserError

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")
pytest.importorskip("onnxruntime")

from tests.frontend.torch_program import networks, routes  # noqa: E402  (need torch)

pytestmark = pytest.mark.torch


def test_a_module_and_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, inputs = networks.build("cnn")
    samples = routes.samples(inputs)
    made = tvm_pulp.quantize(module, samples, example_inputs=inputs)
    assert made.accuracy.arg_max_agreement == 1 and made.accuracy.sqnr_db > 25
    # By the names of PyTorch's modules.
    assert [row.name for row in made.layers] == ["body.0.0", "body.2.0", "head"]
    made.save(tmp_path / "module.onnx")
    torch.export.save(torch.export.export(module, inputs), tmp_path / "cnn.pt2")
    np.savez(tmp_path / "c.npz", **samples)
    rest = ["--calibration", tmp_path / "c.npz", "-o", tmp_path / "file.onnx", "-q"]
    assert tvmc(capsys, "quantize", tmp_path / "cnn.pt2", *rest).status == 0
    assert (tmp_path / "file.onnx").read_bytes() == (tmp_path / "module.onnx").read_bytes()
    app = tvm_pulp.compile(tmp_path / "file.onnx", keep_layers=True)
    table = app.run([inputs[0].numpy()], layers=True).compare()
    assert table.first_wrong is None and not any("float" in row.operator for row in table.rows)


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, inputs = networks.build("cnn")
    samples = routes.samples(inputs)
    with pytest.raises(UserError, match="give example_inputs"):
        tvm_pulp.quantize(module, samples)
    with pytest.raises(UserError, match="already quantized"):
        tvm_pulp.quantize(routes.pt2e(module, inputs, "x86"), samples, example_inputs=inputs)
    with pytest.raises(UserError, match="example_inputs has no effect"):
        tvm_pulp.quantize("net.onnx", samples, example_inputs=inputs)
    (tmp_path / "bad.pt2").write_bytes(b"nothing of the kind")
    np.savez(tmp_path / "c.npz", **samples)
    arguments = [tmp_path / "bad.pt2", "--calibration", tmp_path / "c.npz", "-o", tmp_path / "q.onnx", "-q"]
    check_refused(tvmc(capsys, "quantize", *arguments), ("not a readable program of torch.export",), "quantize")
