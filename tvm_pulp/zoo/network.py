"""What a network of the zoo states about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.zoo.builder import Builder, Tensor
from tvm_pulp.zoo.random_stream import RandomStream


@dataclass(frozen=True)
class Network:
    """A network as code: its inputs, how to draw samples of them, and its layers."""

    name: str
    inputs: tuple[str, ...]
    # One array per input, with the model's shape and the element type that the model declares.
    sample: Callable[[RandomStream], list[np.ndarray]]
    # Appends the layers and declares the outputs.
    define: Callable[[Builder, Sequence[Tensor]], None]
    # Number of samples that calibration sees.
    calibration_samples: int = 8
    # Inputs that are the same for every sample, such as an attention mask.
    shared: tuple[str, ...] = ()
