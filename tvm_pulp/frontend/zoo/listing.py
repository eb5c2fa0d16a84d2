"""The zoo as a list: kinds, inputs and sizes of its models, without building one."""

from collections.abc import Iterator
from dataclasses import dataclass

from tvm_pulp.frontend.zoo.catalog import ENCODERS, find, names, sample_inputs
from tvm_pulp.frontend.zoo.decoders import MODELS
from tvm_pulp.frontend.zoo.weights import DecoderShape

_NOTATIONS = {"pulp": "integers of the PULP dialect", "qdq": "ONNX, QDQ"}
# Numbers in the weights, biases and scales of the networks: to count them takes up to half a minute.
PARAMETERS = {
    "dscnn": 23_182,
    "mobilenetv1": 213_588,
    "resnet8": 78_062,
    "autoencoder": 269_208,
    "mobilenetv1_1.0_128": 4_231_978,
    "tinyllama": 133_186,
    "vit_block": 51_169,
    "qdq_encoder": 34_929,
    "qdq_llama": 42_539,
    "octave_attention": 131_995,
    "octave_head": 33_115,
    "eight_heads": 791_326,
    "mobilebert": 15_843_576,
    "mobilebert_layer": 660_149,
    "mobilebert_narrow": 6_341_448,
    "dinov2_layer": 1_774_899,
    "whisper_layer": 1_774_899,
}


@dataclass(frozen=True)
class Listed:
    """A model of the zoo as it is shown."""

    name: str
    kind: str
    inputs: str
    parameters: int


def listing() -> Iterator[Listed]:
    """All models: networks, encoders, language models."""
    for name in (*names(), *ENCODERS):
        network = find(name)
        pairs = zip(network.inputs, sample_inputs(name), strict=True)
        inputs = ", ".join(f"{key} {array.dtype}{list(array.shape)}" for key, array in pairs)
        yield Listed(name, _NOTATIONS[network.notation], inputs, PARAMETERS[name])
    for name, model in MODELS.items():
        yield Listed(name, "language model", f"tokens below {model.shape.vocabulary}", matrix_elements(model.shape))


def matrix_elements(shape: DecoderShape) -> int:
    """Elements of the matrices of a decoder: its norms are a thousandth of them."""
    attention = 2 * shape.width * (shape.width + shape.kv_width)
    return shape.vocabulary * shape.width + shape.layers * (attention + 3 * shape.width * shape.hidden)
