"""The ways by which a network of PyTorch gets here: directly, by two ONNX exporters, quantized by PT2E."""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

LEGACY, DYNAMO = "legacy", "dynamo"


def onnx_file(module: Any, inputs: Sequence[Any], exporter: str, path: Path) -> Path:
    """What one of PyTorch's ONNX exporters writes."""
    if exporter == DYNAMO:
        pytest.importorskip("onnxscript", reason="PyTorch's newer ONNX exporter: scripts/test --torch installs it")
    further = {"external_data": False} if exporter == DYNAMO else {"opset_version": 17}
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, tuple(inputs), str(path), dynamo=exporter == DYNAMO, verbose=False, **further)
    finally:
        logging.disable(disabled)
    return path


def quantizer(kind: str) -> Any:
    """One of torchao's quantizers."""
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86
    from torchao.testing.pt2e import _xnnpack_quantizer as xnnpack

    if kind.startswith("x86"):
        settings = x86.get_default_x86_inductor_quantization_config(is_dynamic=kind.endswith("dynamic"))
        return x86.X86InductorQuantizer().set_global(settings)
    config = xnnpack.get_symmetric_quantization_config(
        is_per_channel="per_channel" in kind, is_dynamic=kind.endswith("dynamic")
    )
    # Its annotation of a GRU fails without a first state: the layer stays float.
    return xnnpack.XNNPACKQuantizer().set_global(config).set_module_type(torch.nn.GRU, None)


# Where the tests take them from: per tensor and per channel, static and dynamic.
QUANTIZERS = ("x86", "x86_dynamic", "xnnpack", "xnnpack_per_channel", "xnnpack_per_channel_dynamic")


def _calibration(inputs: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The inputs and others of their kind."""
    made = [tuple(inputs)]
    for seed in range(3):
        torch.manual_seed(seed)
        made.append(tuple(torch.randn_like(t) if t.is_floating_point() else t for t in inputs))
    return made


def samples(inputs: Sequence[Any]) -> dict[str, Any]:
    """The same for `tvm_pulp.quantize`, of a network with one input."""
    return {"input": torch.cat([x for (x,) in _calibration(inputs)]).numpy()}


def pt2e(module: Any, inputs: Sequence[Any], kind: str) -> Any:
    """The network quantized by PT2E, calibrated with inputs like the given ones."""
    pytest.importorskip("torchao", reason="PT2E: scripts/test --torch installs torchao")
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = prepare_pt2e(torch.export.export(module, tuple(inputs)).module(), quantizer(kind))
        for sample in _calibration(inputs):
            prepared(*sample)
        return convert_pt2e(prepared)
