"""The zoo as a list: kinds, inputs and sizes of its models, without building one."""

from collections.abc import Iterator
from dataclasses import dataclass

from tvm_pulp.frontend.zoo.catalog import ENCODERS, find, names, sample_inputs
from tvm_pulp.frontend.zoo.decoders import MODELS
from tvm_pulp.frontend.zoo.weights import DecoderShape

_NOTATIONS = {"pulp": "integers of the PULP dialect", "qdq": "ONNX, QDQ"}


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
        yield Listed(name, _NOTATIONS[network.notation], inputs, network.parameters)
    for name, model in MODELS.items():
        yield Listed(name, "language model", f"tokens below {model.shape.vocabulary}", matrix_elements(model.shape))


def matrix_elements(shape: DecoderShape) -> int:
    """Elements of the matrices of a decoder: its norms are a thousandth of them."""
    attention = 2 * shape.width * (shape.width + shape.kv_width)
    return shape.vocabulary * shape.width + shape.layers * (attention + 3 * shape.width * shape.hidden)
