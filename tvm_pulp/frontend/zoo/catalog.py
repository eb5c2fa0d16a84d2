"""The list of networks, and how one is built."""

import difflib
import importlib
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.zoo.random_stream import RandomStream
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

# Name -> module of this package. Modules are imported on first use, so that listing the zoo is instant.
_MODULES = {
    "dscnn": "classifiers",
    "mobilenetv1": "classifiers",
    "resnet8": "classifiers",
    "autoencoder": "autoencoder",
    "mobilenetv1_1.0_128": "classifiers",
    "tinyllama": "tinyllama",
    "vit_block": "vit_block",
    "qdq_encoder": "qdq_encoder",
    "qdq_llama": "qdq_llama",
}
# Of sizes that are compiled on demand only: encoders for accelerators with one multiplier per tensor.
ENCODERS = (
    *("octave_attention", "octave_head", "eight_heads", "mobilebert", "mobilebert_layer", "mobilebert_narrow"),
    *("dinov2_layer", "whisper_layer"),
)

# Classifiers with a float twin, and their classes.
_CLASSES = {"dscnn": 12, "resnet8": 10, "mobilenetv1": 2}
_SAMPLES_PER_CLASS = 24


def names() -> list[str]:
    """Every network, smallest benchmarks first."""
    return list(_MODULES)


def check_name(name: str) -> None:
    """Raise where the zoo has no model of this name."""
    from tvm_pulp.frontend.zoo.decoders import MODELS

    known = [*_MODULES, *ENCODERS, *MODELS]
    if name not in known:
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        advice = f"did you mean {' or '.join(close)}" if close else f"the networks are {', '.join(known)}"
        raise UserError(f"the zoo has no network '{name}': {advice}")


def find(name: str) -> ZooModel:
    """A network by its name."""
    check_name(name)
    module_name = "tensor_wise_encoders" if name in ENCODERS else _MODULES.get(name)
    refuse_if(
        module_name is None, f"the zoo's '{name}' is a language model: compile it, or take one of {', '.join(_MODULES)}"
    )
    module: Any = importlib.import_module(f"tvm_pulp.frontend.zoo.{module_name}")
    return next(network for network in module.NETWORKS if network.name == name)


def build(name: str, seed: int = 0, weight_bits: int = 8) -> Any:
    """The network as an ONNX model, of the PULP integer dialect or as QDQ; the same arguments give the same bytes."""
    return construct(name, seed, weight_bits).model()


def construct(name: str, seed: int, weight_bits: int) -> Any:
    """The finished builder of a network: its model and what calibration saw at its outputs."""
    from tvm_pulp.frontend.zoo.builder import Builder
    from tvm_pulp.frontend.zoo.qdq_builder import QdqBuilder

    network = find(name)
    refuse_if(not 2 <= weight_bits <= 8, f"zoo network '{name}': weight_bits is {weight_bits}, choose 2 to 8")
    samples = calibration_inputs(name, seed)
    builder: Any = (QdqBuilder if network.notation == "qdq" else Builder)(name, seed, weight_bits)
    arrays = dict(zip(network.inputs, map(list, zip(*samples, strict=True)), strict=True))
    inputs = [builder.input(n, a[:1] if n in network.shared else a) for n, a in arrays.items()]
    network.define(builder, inputs)
    return builder


def float_names() -> list[str]:
    """Networks that have a float twin: classifiers."""
    return list(_CLASSES)


def build_float(name: str, seed: int = 0) -> Any:
    """The float twin of a network as an ONNX model, which tells the classes of `float_samples` apart."""
    from tvm_pulp.frontend.zoo.float_builder import FloatBuilder

    network, count = find(name), _classes(name) * _SAMPLES_PER_CLASS
    samples, labels = float_samples(name, count, seed, "fit")
    builder: Any = FloatBuilder(f"{name}_float", seed, labels)
    inputs = [builder.input(n, np.split(samples[n], count)) for n in network.inputs]
    network.define(builder, inputs)
    return builder.model()


def float_samples(name: str, count: int, seed: int = 0, part: str = "test") -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Seeded inputs of a float twin by name, one after the other along the first axis, and their classes.

    A sample is its class's to three quarters, and to one its own, in steps of 1/128. Every `part` has other samples.
    """
    network, classes = find(name), _classes(name)
    centres = [network.sample(RandomStream(name, seed, "class", c)) for c in range(classes)]
    drawn = [network.sample(RandomStream(name, seed, part, i)) for i in range(count)]
    labels = np.arange(count) % classes
    mixed = {
        n: np.concatenate([_mixed(centres[labels[i]][place], drawn[i][place]) for i in range(count)])
        for place, n in enumerate(network.inputs)
    }
    return mixed, labels


def _classes(name: str) -> int:
    refuse_if(name not in _CLASSES, f"zoo network '{name}' has no float twin: choose one of {', '.join(_CLASSES)}")
    return _CLASSES[name]


def _mixed(centre: np.ndarray, own: np.ndarray) -> np.ndarray:
    return ((3 * centre.astype(np.int64) + own.astype(np.int64)) // 4 / 128).astype(np.float32)


def calibration_inputs(name: str, seed: int = 0) -> list[list[np.ndarray]]:
    """The inputs that the requantization constants of a network were chosen from."""
    network = find(name)
    return [network.sample(RandomStream(name, seed, "calibration", i)) for i in range(network.calibration_samples)]


def sample_inputs(name: str, seed: int = 0) -> list[np.ndarray]:
    """One seeded input per graph input, in graph order and with the declared element types."""
    return find(name).sample(RandomStream(name, seed, "input"))
