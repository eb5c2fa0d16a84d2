"""A list of networks as model hubs hold them, built from seeds: name, float graph, quantized file, inputs, outputs."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.frontend.single_tflite import reference_run
from tests.hub import dense_predictions, mobile_networks, residual_networks, sequences, token_networks
from tests.language_models.exact_sums import exact_sums
from tests.real_models import quantizers
from tests.real_models.agreement import Agreement, compare
from tests.real_models.exported_graph import DYNAMO, LEGACY, ExportedGraph
from tests.real_models.keras_cnn import KerasGraph, images
from tests.real_models.macs import count_macs

Feeds = dict[str, np.ndarray]
SAMPLES = 4

# Family, its builders in turn, and how many of it: at least five of each family of users' reports.
FAMILIES: dict[str, tuple[tuple[Callable[..., Any], ...], int]] = {
    "mobilenetv3": ((mobile_networks.mobilenetv3,), 5),
    "efficientnet_lite": ((mobile_networks.efficientnet_lite,), 5),
    "convnext": ((mobile_networks.convnext,), 5),
    "yolo": ((dense_predictions.yolo,), 5),
    "keywords": ((sequences.keywords_gru, sequences.keywords_lstm, sequences.keywords_rnn), 6),
    "bert": ((token_networks.bert,), 5),
    "gpt2": ((token_networks.gpt2,), 5),
    "llama": ((token_networks.llama,), 5),
    "torchvision": (
        (
            residual_networks.resnet,
            residual_networks.bottleneck_resnet,
            residual_networks.resnext,
            residual_networks.regnet,
            residual_networks.shufflenetv2,
            residual_networks.densenet,
            residual_networks.squeezenet,
            residual_networks.googlenet,
            residual_networks.inception,
            residual_networks.vgg,
            mobile_networks.mobilenetv2,
            mobile_networks.mnasnet,
            dense_predictions.deeplab,
            dense_predictions.volumes,
            token_networks.vit,
        ),
        15,
    ),
    "timm": (
        (
            mobile_networks.efficientnet,
            mobile_networks.mixnet,
            mobile_networks.ghostnet,
            residual_networks.repvgg,
            residual_networks.xception,
            residual_networks.shufflenetv1,
            token_networks.mixer,
            token_networks.poolformer,
        ),
        8,
    ),
    "pictures": (
        (
            dense_predictions.unet,
            dense_predictions.generator,
            dense_predictions.generator,
            dense_predictions.super_resolution,
            dense_predictions.hourglass,
        ),
        5,
    ),
    "sequences": (
        (
            sequences.wavenet,
            sequences.separable_sequence,
            sequences.separable_sequence,
            sequences.resnet_of_sequences,
            sequences.wavenet,
        ),
        5,
    ),
}


@dataclass(frozen=True)
class Network:
    """One of the list."""

    name: str
    family: str
    builder: Callable[..., Any]
    seed: int

    @functools.cached_property
    def float_model(self) -> Any:
        """As an exporter writes it; odd seeds in the form of the older one."""
        graph = ExportedGraph(self.family, LEGACY if self.seed % 2 else DYNAMO, self.seed)
        return self.builder(graph, np.random.default_rng([7, self.seed, *self.family.encode()]))

    @functools.cached_property
    def quantized(self) -> Any:
        """What onnxruntime's static quantizer makes of it: int8, scales of weights per channel, calibrated ranges."""
        samples = [self.sample(seed) for seed in range(1, SAMPLES + 1)]
        return quantizers.int8(self.float_model, samples)

    @property
    def macs(self) -> int:
        return count_macs(self.float_model)

    def sample(self, seed: int = 0) -> Feeds:
        """Inputs; the first were not seen by calibration."""
        rng, feeds = np.random.default_rng([9, self.seed, seed]), {}
        for value in self.float_model.graph.input:
            kind = value.type.tensor_type
            shape = [d.dim_value for d in kind.shape.dim]
            if kind.elem_type == onnx.TensorProto.FLOAT:
                offsets = rng.normal(size=[1, shape[1], *[1] * (len(shape) - 2)])
                feeds[value.name] = (0.8 * rng.normal(size=shape) + 0.8 * offsets).astype(np.float32)
            else:
                feeds[value.name] = rng.integers(0, 96, shape)
        return feeds

    def expected(self, feeds: Feeds, *, in_double: bool = False) -> dict[str, np.ndarray]:
        """onnxruntime's outputs, graph optimizations disabled; `in_double`: with its sums in double precision."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        made = self.quantized.SerializeToString()
        made = exact_sums(made) if in_double else made
        session = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        return dict(zip(names, session.run(names, feeds), strict=True))

    def agreement(self, path: Path, feeds: Feeds, found: Feeds) -> Agreement:
        """Of outputs with onnxruntime's.

        Sums of floats differ between machines in their last bits, which decide where a value lies on a half: what is
        not equal is compared with sums in double precision too.
        """
        single = compare(self.quantized, found, self.expected(feeds))
        if single.is_equal:
            return single
        double = compare(self.quantized, found, self.expected(feeds, in_double=True))
        return replace(double, remark="sums in double") if double.is_equal else single

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}.onnx"
        onnx.save(self.quantized, path)
        return path


@dataclass(frozen=True)
class KerasNetwork:
    """A CNN of depthwise windows as TFLite's converter writes it."""

    name: str
    seed: int
    family: str = "keras_depthwise"

    @functools.cached_property
    def drawn(self) -> "KerasDraw":
        draw = np.random.default_rng([8, self.seed])
        blocks = [
            (int(w), int(draw.choice([3, 5, 7])), int(draw.integers(1, 3))) for w in draw.choice([24, 32, 64, 96], 3)
        ]
        return KerasDraw(int(draw.choice([24, 32, 40])), int(draw.choice([16, 24, 32])), tuple(blocks))

    @property
    def macs(self) -> int:
        return self.drawn.macs

    def sample(self, seed: int = 0) -> Feeds:
        return {"t0": images(self.seed + 10 * seed, size=(self.drawn.size, 3))}

    def agreement(self, path: Path, feeds: Feeds, found: Feeds) -> Agreement:
        """Of the output with that of TFLite's reference kernels: equal, or not."""
        (output,), wanted = found.values(), reference_run(path, list(feeds.values()))
        steps = np.abs(output.astype(np.float64) - wanted).reshape(-1) * 256
        same = bool((steps == 0).all())
        return Agreement(float(steps.max()), float(same), float((steps == 0).mean()), same)

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}.tflite"
        drawn = self.drawn
        graph = KerasGraph(images(self.seed + 100, 8, (drawn.size, 3)))
        graph.conv(drawn.width, stride=2)
        for filters, kernel, stride in drawn.blocks:
            graph.depthwise(kernel, stride)
            graph.conv(filters, 1)
        graph.mean()
        graph.flatten()
        graph.dense(10)
        graph.write(path)
        return path


@dataclass(frozen=True)
class KerasDraw:
    """Sizes of such a network: picture, channels of the first layer, (filters, kernel, stride) of blocks."""

    size: int
    width: int
    blocks: tuple[tuple[int, int, int], ...]

    @property
    def macs(self) -> int:
        size, channels = self.size // 2, self.width
        total = size * size * channels * 27
        for filters, kernel, stride in self.blocks:
            size = -(-size // stride)
            total += size * size * channels * (kernel * kernel + filters)
            channels = filters
        return total + channels * 10


def _listed() -> dict[str, Network | KerasNetwork]:
    networks: dict[str, Network | KerasNetwork] = {}
    for seed in range(5):
        networks[f"keras_depthwise_{seed}"] = KerasNetwork(f"keras_depthwise_{seed}", seed)
    for family, (builders, count) in FAMILIES.items():
        for seed in range(count):
            builder = builders[seed % len(builders)]
            name = f"{builder.__name__}_{seed}"
            networks[name] = Network(name, family, builder, seed)
    return networks


NETWORKS = _listed()
