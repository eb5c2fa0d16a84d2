"""The statement of a network of the zoo about itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.frontend.zoo.random_stream import RandomStream


@dataclass(frozen=True)
class ZooModel:
    """A network as code: its inputs, how to draw samples of them, and its layers."""

    name: str
    inputs: tuple[str, ...]
    # One array per input, with the model's shape and the element type that the model declares.
    sample: Callable[[RandomStream], list[np.ndarray]]
    # Appends the layers and declares the outputs; takes the builder of its notation.
    define: Callable[[Any, Sequence[Any]], None]
    # Numbers in its weights, biases and scales: to count them takes up to half a minute.
    parameters: int
    # Number of samples that calibration sees.
    calibration_samples: int = 8
    # Inputs that are the same for every sample, such as an attention mask.
    shared: tuple[str, ...] = ()
    # "pulp": the integer dialect; "qdq": float operators between QuantizeLinear and DequantizeLinear.
    notation: str = "pulp"
