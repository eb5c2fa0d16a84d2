"""Networks as users bring them: a float graph in the form of an exporter, quantized by an ordinary quantizer.

`python -m tests.real_models.catalog NAME FOLDER` writes a network with inputs and onnxruntime's outputs to look at.
"""

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.real_models import (
    dscnn,
    gpt,
    llama,
    mobilenetv2,
    pt2e,
    quantizers,
    recurrent,
    resnet8,
    tcn,
    unet,
    vit,
    wide_depthwise,
    yolo,
)
from tests.real_models.exported_graph import DYNAMO, LEGACY

Feeds = dict[str, np.ndarray]
NEUREKA: Mapping[str, Any] = {"target": "uma-neureka"}
CORES: Mapping[str, Any] = {"target": "c", "soc": "siracusa"}
CALIBRATION_SAMPLES = 16


@dataclass(frozen=True)
class RealModel:
    """A network, how it was exported and quantized, and the cycles it should not exceed."""

    name: str
    build: Callable[[str], Any]
    exporter: str = LEGACY
    quantize: Callable[[Any, Sequence[Feeds]], Any] = quantizers.int8
    # Options of `tvm_pulp.compile` that the bounds are for; float ends.
    options: Mapping[str, Any] = field(default_factory=lambda: NEUREKA)
    # Cycles of a second inference, exact and with `requant=native`.
    cycle_bound: int | None = None
    native_cycle_bound: int | None = None

    def float_model(self) -> Any:
        return self.build(self.exporter)


MODELS: dict[str, RealModel] = {
    model.name: model
    for model in (
        RealModel("resnet8", resnet8.resnet8, cycle_bound=150_000, native_cycle_bound=100_000),
        RealModel("resnet8_dynamo", resnet8.resnet8, DYNAMO, cycle_bound=150_000, native_cycle_bound=100_000),
        RealModel(
            "resnet8_uint8", resnet8.resnet8, LEGACY, quantizers.uint8_per_tensor, options=CORES, cycle_bound=1_200_000
        ),
        RealModel(
            "resnet8_int16", resnet8.resnet8, LEGACY, quantizers.int16_activations, options=CORES, cycle_bound=3_000_000
        ),
        RealModel("resnet8_pt2e", resnet8.resnet8, DYNAMO, pt2e.x86_inductor),
        RealModel("resnet8_pt2e_xnnpack", resnet8.resnet8, DYNAMO, pt2e.xnnpack),
        RealModel("dscnn", dscnn.dscnn, cycle_bound=60_000, native_cycle_bound=35_000),
        RealModel("mobilenetv2", mobilenetv2.mobilenetv2, cycle_bound=1_400_000, native_cycle_bound=900_000),
        RealModel("mobilenetv3", wide_depthwise.mobilenetv3, cycle_bound=330_000),
        RealModel("efficientnet_lite", wide_depthwise.efficientnet_lite, cycle_bound=450_000),
        RealModel("convnext", wide_depthwise.convnext, cycle_bound=500_000),
        RealModel("vit", vit.vit, cycle_bound=120_000),
        RealModel("vit_dynamo", vit.vit, DYNAMO, cycle_bound=120_000),
        RealModel("gpt_prefill", gpt.gpt_prefill, cycle_bound=150_000),
        RealModel("gpt_prefill_masked_fill", gpt.gpt_prefill_masked_fill, cycle_bound=150_000),
        RealModel("gpt_prefill_dynamo", gpt.gpt_prefill, DYNAMO, cycle_bound=150_000),
        RealModel("gpt_token", gpt.gpt_token, cycle_bound=50_000),
        RealModel("gpt_token_dynamo", gpt.gpt_token, DYNAMO, cycle_bound=50_000),
        RealModel("gpt_dynamic", gpt.gpt_prefill, LEGACY, quantizers.dynamic_int8, cycle_bound=500_000),
        RealModel("gpt_dynamic_dynamo", gpt.gpt_prefill, DYNAMO, quantizers.dynamic_int8, cycle_bound=500_000),
        RealModel("llama_prefill", llama.llama_prefill, cycle_bound=150_000),
        RealModel("llama_prefill_dynamo", llama.llama_prefill, DYNAMO, cycle_bound=150_000),
        RealModel("llama_token", llama.llama_token, cycle_bound=50_000),
        RealModel("llama_token_dynamo", llama.llama_token, DYNAMO, cycle_bound=50_000),
        RealModel("unet_transpose", unet.unet_transpose, cycle_bound=900_000),
        RealModel("unet_resize", unet.unet_resize, cycle_bound=900_000),
        RealModel("unet_resize_dynamo", unet.unet_resize, DYNAMO, cycle_bound=900_000),
        RealModel("yolo", yolo.yolo, cycle_bound=400_000),
        RealModel("yolo_dynamo", yolo.yolo, DYNAMO, cycle_bound=400_000),
        RealModel("tcn", tcn.tcn, cycle_bound=110_000),
        RealModel("tcn_dynamo", tcn.tcn, DYNAMO, cycle_bound=110_000),
        RealModel("lstm", recurrent.lstm, cycle_bound=160_000),
        RealModel("lstm_dynamo", recurrent.lstm, DYNAMO, cycle_bound=160_000),
        RealModel("lstm_dynamic", recurrent.lstm, LEGACY, quantizers.dynamic_int8),
        RealModel("gru", recurrent.gru, cycle_bound=160_000),
        RealModel("gru_dynamo", recurrent.gru, DYNAMO, cycle_bound=160_000),
        RealModel("keywords_gru", recurrent.keywords_gru, cycle_bound=280_000),
        RealModel("keywords_lstm", recurrent.keywords_lstm, cycle_bound=500_000),
    )
}


# Networks that keep within their bounds, exactly and natively; the others are measured by `scripts/bench real_models`.
HELD = frozenset(
    (
        *("resnet8", "resnet8_dynamo", "resnet8_uint8", "resnet8_int16", "dscnn"),
        *(
            "dscnn",
            "tcn",
            "tcn_dynamo",
            "yolo",
            "yolo_dynamo",
            "unet_transpose",
            "lstm",
            "lstm_dynamo",
            "gru",
            "gru_dynamo",
            "keywords_gru",
            "keywords_lstm",
        ),
        *("gpt_prefill", "gpt_prefill_masked_fill", "gpt_prefill_dynamo", "vit", "vit_dynamo"),
        *("llama_prefill", "llama_prefill_dynamo", "unet_resize", "unet_resize_dynamo"),
        *("mobilenetv2", "mobilenetv3", "convnext", "efficientnet_lite", "gpt_dynamic", "gpt_dynamic_dynamo"),
        *("gpt_token", "gpt_token_dynamo", "llama_token", "llama_token_dynamo"),
    )
)
HELD_NATIVE = frozenset({"dscnn", "mobilenetv2", "resnet8", "resnet8_dynamo"})


def _sample(model: Any, rng: np.random.Generator) -> Feeds:
    """Images and sequences of varying brightness; tokens, and the position after those cached."""
    feeds: Feeds = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        if kind.elem_type == onnx.TensorProto.FLOAT:
            offsets = rng.normal(size=[1, shape[1], *[1] * (len(shape) - 2)])
            feeds[value.name] = (0.8 * rng.normal(size=shape) + 0.8 * offsets).astype(np.float32)
        elif value.name.startswith("position"):
            feeds[value.name] = np.full(shape, gpt.CONTEXT - 1, np.int64)
        else:
            feeds[value.name] = rng.integers(0, gpt.VOCABULARY, shape)
    return feeds


@functools.cache
def build(name: str) -> Any:
    """The quantized network."""
    entry = MODELS[name]
    real = entry.float_model()
    return entry.quantize(real, [_sample(real, np.random.default_rng([1, i])) for i in range(CALIBRATION_SAMPLES)])


def sample_inputs(name: str, seed: int = 0) -> Feeds:
    """Inputs that calibration has not seen."""
    return _sample(build(name), np.random.default_rng([2, seed]))


def expected_outputs(name: str, feeds: Feeds) -> dict[str, np.ndarray]:
    """onnxruntime's outputs, graph optimizations disabled."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    made = build(name).SerializeToString()
    session = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def write(name: str, folder: Path) -> Path:
    """NAME.onnx with NAME.inputs.npz and NAME.outputs.npz; the path of the network."""
    folder.mkdir(parents=True, exist_ok=True)
    path, feeds = folder / f"{name}.onnx", sample_inputs(name)
    onnx.save(build(name), path)
    np.savez(folder / f"{name}.inputs.npz", **feeds)  # type: ignore[arg-type]
    np.savez(folder / f"{name}.outputs.npz", **expected_outputs(name, feeds))  # type: ignore[arg-type]
    return path


if __name__ == "__main__":
    for chosen in [sys.argv[1]] if sys.argv[1] != "all" else MODELS:
        write(chosen, Path(sys.argv[2]))
