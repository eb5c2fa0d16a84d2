"""Networks exported by PyTorch itself, with both of its exporters: float, quantized by onnxruntime, by PT2E."""

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.real_models import quantizers
from tests.real_models.agreement import compare
from tvm_pulp.errors import UserError

torch = pytest.importorskip("torch", reason="networks of PyTorch: pip install torch onnxscript onnxruntime")
pytest.importorskip("onnxscript", reason="PyTorch's newer exporter: pip install onnxscript")
onnxruntime = pytest.importorskip("onnxruntime")

from tests.real_models.pytorch_networks import NETWORKS  # noqa: E402  (needs torch)

EXPORTERS = {"legacy": False, "dynamo": True}
pytestmark = [pytest.mark.torch, pytest.mark.slow]


def _network(name: str) -> tuple[Any, tuple[Any, ...]]:
    torch.manual_seed(0)
    network, inputs = NETWORKS[name]()
    return network.eval(), inputs


def _exported(network: Any, inputs: tuple[Any, ...], exporter: str, path: Path) -> Any:
    extra = {"external_data": False} if EXPORTERS[exporter] else {"opset_version": 17}
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, inputs, str(path), dynamo=EXPORTERS[exporter], verbose=False, **extra)
    logging.disable(logging.NOTSET)
    return onnx.load(path)


def _feeds(model: Any, inputs: tuple[Any, ...], seed: int | None = None) -> dict[str, np.ndarray]:
    """The arrays by name; with a seed, other ones of the same kind. A mask, which has one head, stays as it is."""
    arrays = [t.numpy() for t in inputs]
    if seed is not None:
        rng = np.random.default_rng(seed)
        arrays = [a if a.ndim == 4 and a.min() <= -1e4 else rng.normal(size=a.shape).astype(a.dtype) for a in arrays]
    return dict(zip([i.name for i in model.graph.input], arrays, strict=True))


def _expected(model: Any, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_float(name: str, exporter: str, tmp_path: Path) -> None:
    network, inputs = _network(name)
    model = _exported(network, inputs, exporter, tmp_path / "float.onnx")
    (found,) = tvm_pulp.compile(tmp_path / "float.onnx").run(_feeds(model, inputs)).outputs.values()
    with torch.no_grad():
        expected = network(*inputs).numpy()
    assert np.abs(found.reshape(expected.shape) - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_quantized(name: str, exporter: str, tmp_path: Path) -> None:
    network, inputs = _network(name)
    model = _exported(network, inputs, exporter, tmp_path / "float.onnx")
    quantized = quantizers.int8(model, [_feeds(model, inputs, seed) for seed in range(4)])
    onnx.save(quantized, tmp_path / "int8.onnx")
    if (name, exporter) == ("causal_encoder", "legacy"):
        # The mask holds minus infinity, to which this quantizer gives a scale; onnxruntime itself computes no numbers.
        with pytest.raises(UserError, match="must be positive and finite: quantize the model again"):
            tvm_pulp.compile(tmp_path / "int8.onnx")
        return
    app, feeds = tvm_pulp.compile(tmp_path / "int8.onnx"), _feeds(model, inputs, 9)
    agreement = compare(quantized, app.run(feeds).outputs, _expected(quantized, feeds))
    assert agreement.holds, agreement


def test_pt2e(tmp_path: Path) -> None:
    pt2e = pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e", reason="PT2E: pip install torchao")
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    network, inputs = _network("residual")
    quantizer = x86.X86InductorQuantizer().set_global(x86.get_default_x86_inductor_quantization_config())
    prepared = pt2e.prepare_pt2e(torch.export.export(network, inputs).module(), quantizer)
    for _ in range(4):
        prepared(torch.randn(inputs[0].shape))
    model = _exported(pt2e.convert_pt2e(prepared), inputs, "dynamo", tmp_path / "pt2e.onnx")
    feeds = _feeds(model, inputs)
    found = tvm_pulp.compile(tmp_path / "pt2e.onnx").run(feeds).outputs
    agreement = compare(model, found, _expected(model, feeds))
    assert agreement.holds, agreement
